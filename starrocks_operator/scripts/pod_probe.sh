#!/bin/bash
# Tells how the process in this pod is, without a password, and without asking anybody else.
#
#   waiting     the start script runs, and not yet the process: a frontend asks its peers
#   joining     the process runs and its port is closed: it joins, replays its journal, waits for a majority, loads tablets
#   serving     it answers
#   leaderless  a frontend that answers, and says that what it knows is too old: it has heard of no leader for long
#   leaving     it is being stopped, and takes nothing new
#   hung        its port is open, and nobody answers there
#   debug       it is marked for debugging, and does not run
#
# alive: fails only when hung. What waits, joins or has no leader is not helped by being killed: of frontends that all
# wait for each other none would ever come up.
# ready: passes only when serving. A frontend that has just lost its leader still answers what it can, and stays ready;
# once it says of itself that it is too far behind (meta_delay_toleration_second), clients are better served elsewhere.
# started: passes when there is an answer of any kind. For those who want a limit on the time of a start.
# A pod that is marked for debugging is alive and started, whatever it does.
#
# Usage: pod_probe.sh <fe|be|cn> <alive|ready|started|state> <port of its web server>

set -uo pipefail

COMPONENT="${1:?fe, be or cn}"
QUESTION="${2:?alive, ready, started or state}"
PORT="${3:?the port of the web server}"
# shellcheck source=starrocks_operator/scripts/pod.sh
source "${BASH_SOURCE[0]%/*}/pod.sh"
ADDRESS="${POD_IP:-127.0.0.1}"
PROBE_SECONDS="${PROBE_SECONDS:-3}"
REFUSED=7

declare -A MEANING=(
  [waiting]="its process is not started yet; the log of the container says what is waited for"
  [joining]="its process runs and port $PORT is closed: it joins, replays, loads, or waits for others"
  [serving]="it answers"
  [leaderless]="it has heard of no leader for so long that it answers nothing any more"
  [leaving]="it is being stopped"
  [hung]="port $PORT is open, and nobody has answered for $PROBE_SECONDS s"
  [debug]="it is marked for debugging, and its process does not run"
)

# answer <path> <lines>: the first lines of what the web server says to that.
answer() {
  # shellcheck disable=SC2016 # the inner shell expands it
  timeout "$PROBE_SECONDS" bash -c '
    exec 3<>"/dev/tcp/$0/$1" || exit "$4"
    printf "GET %s HTTP/1.0\r\nHost: %s\r\nConnection: close\r\n\r\n" "$2" "$0" >&3
    for ((left = $3; left > 0; left--)); do
      IFS= read -r line <&3 || { printf "%s" "$line"; break; }
      printf "%s\n" "$line"
    done' "$ADDRESS" "$PORT" "$1" "$2" "$REFUSED" 2>/dev/null
}

silent() { [[ $1 == 124 || $1 == 137 ]]; }

# What a frontend says of itself, which is not the same as whether its web server answers.
says_it_is_not_ready() {
  local said
  said="$(answer /api/bootstrap 100)"
  [[ ${said//[[:space:]]/} == *'"status":"FAILED"'* ]]
}

state() {
  local said status
  said="$(answer /api/health 1)"
  status=$?
  if silent "$status"; then
    echo hung
  elif ((status == REFUSED)) || [[ -z $said ]]; then
    if process_runs; then echo joining; elif debugged; then echo debug; else echo waiting; fi
  elif [[ $said == HTTP/*' 5'* ]]; then
    echo leaving
  elif [[ $COMPONENT == fe ]] && says_it_is_not_ready; then
    echo leaderless
  else
    echo serving
  fi
}

main() {
  local found
  found="$(state)"
  case "$QUESTION" in
    state) echo "$found" && return 0 ;;
    alive) [[ $found != hung ]] || debugged ;;
    ready) [[ $found == serving ]] ;;
    started) [[ $found == serving || $found == leaderless || $found == leaving ]] || debugged ;;
    *) echo "$QUESTION: it is alive, ready, started or state that can be asked for" && return 2 ;;
  esac && return 0
  echo "$found: ${MEANING[$found]}"
  return 1
}

main
