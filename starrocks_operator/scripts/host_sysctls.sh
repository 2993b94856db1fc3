#!/bin/bash
# Sets parameters of the node's kernel before StarRocks starts there; needs to be privileged. What is as it shall be
# already is not written: other pods of the node live with it, too.
#
# Usage: host_sysctls.sh <at-least|exactly>:<name>=<number> ...

set -uo pipefail

PARAMETERS="${SYSCTL_DIRECTORY:-/proc/sys}"

say() { printf '%s host_sysctls: %s\n' "$(date -u '+%Y-%m-%d %H:%M:%S')" "$*" >&2; }

# settle <at-least|exactly> <name> <number>
settle() {
  local file="$PARAMETERS/${2//.//}" present
  if ! present="$(cat "$file" 2>/dev/null)"; then
    say "this node's kernel has no $2"
    return 1
  fi
  if [[ $present == "$3" ]] || { [[ $1 == at-least ]] && ((present > $3)); }; then
    say "$2 is $present already"
    return 0
  fi
  if ! { printf '%s\n' "$3" >"$file"; } 2>/dev/null || [[ $(cat "$file") != "$3" ]]; then
    say "$2 is $present and cannot be set to $3: this container must be privileged, and run as root"
    return 1
  fi
  say "$2 was $present and is $3 now"
}

main() {
  local wish rule name failed=0
  for wish in "$@"; do
    rule="${wish%%:*}" name="${wish#*:}"
    settle "$rule" "${name%%=*}" "${name#*=}" || failed=1
  done
  return "$failed"
}

main "$@"
