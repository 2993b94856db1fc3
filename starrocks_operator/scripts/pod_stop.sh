#!/bin/bash
# Stops the process before its pod goes: it takes nothing new, ends what it does, and only so long is waited for it.
#
# Membership is not touched: who leaves the cluster is dropped by the operator, and everybody else comes back.
# A frontend says 500 to health checks while it ends its queries; a backend or compute node tells FE at its next
# heartbeat that it is shutting down, and gets no new queries.
#
# Usage: pod_stop.sh <fe|be|cn> <graceful|plain> <seconds>
#   plain: the image's stop script knows only to kill; the process itself understands more.

set -uo pipefail

COMPONENT="${1:?fe, be or cn}"
MANNER="${2:?graceful or plain}"
SECONDS_LEFT="${3:?how long it may take}"
# shellcheck source=starrocks_operator/scripts/pod.sh
source "${BASH_SOURCE[0]%/*}/pod.sh"
POD_LOG="${POD_LOG:-/proc/1/fd/2}"
STOP="$COMPONENT_HOME/bin/stop_$COMPONENT.sh"

# What a hook writes is seen by nobody; what process 1 writes is in the log of the container.
speak_in_the_log() {
  if { true >>"$POD_LOG"; } 2>/dev/null; then exec >>"$POD_LOG" 2>&1; fi
}

# Asks the process to end, and waits. True: it has ended.
ended_by_itself() {
  local until=$((SECONDS + SECONDS_LEFT))
  kill -TERM "$(process_id)" 2>/dev/null
  while process_runs; do
    ((SECONDS < until)) || return 1
    sleep 1
  done
}

main() {
  speak_in_the_log
  if ! process_runs; then
    say "no process is there to be stopped"
    return
  fi
  say "stopping: it may take $SECONDS_LEFT s to end what it does"
  if [[ $MANNER == graceful ]]; then
    timeout "$SECONDS_LEFT" "$STOP" -g
  else
    ended_by_itself || "$STOP"
  fi
  if process_runs; then say "it has not ended in $SECONDS_LEFT s: leaving it to the kubelet"; else say "it has ended"; fi
}

main
