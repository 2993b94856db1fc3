#!/bin/bash
# Starts a backend or a compute node, and registers it nowhere: the operator does that, when it is wanted.
#
# The image's own script registers the node at every start, also one that was just dropped; and needs root's password
# for that. Whoever wants it so sets STARROCKS_SELF_REGISTRATION=true in the environment of the component.
#
# Usage: node_start.sh <be|cn> [frontend service]

set -uo pipefail

COMPONENT="${1:?be or cn}"
shift
ARGUMENTS="$COMPONENT $*"
# shellcheck source=starrocks_operator/scripts/pod.sh
source "${BASH_SOURCE[0]%/*}/pod.sh"

registers_itself() { case "${STARROCKS_SELF_REGISTRATION:-}" in true | True | TRUE | 1) true ;; *) false ;; esac; }

main() {
  local arguments=()
  hold_if_debugged "its process is not started"
  if registers_itself; then
    say "STARROCKS_SELF_REGISTRATION is set: handing over to the image's own script, which registers this node"
    exec "$STARROCKS/${COMPONENT}_entrypoint.sh" "$@"
  fi
  link_configuration
  mapfile -t arguments < <(console_arguments)
  say "starting; the operator registers this node"
  run_process "$COMPONENT_HOME/bin/start_$COMPONENT.sh" "${arguments[@]}"
}

main "$@"
