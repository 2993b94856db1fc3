# shellcheck shell=bash
# What the scripts inside of StarRocks pods have in common. They source it, and say before what COMPONENT they are.
#
# COMPONENT: fe, be or cn: the program in the image. Nothing here knows a password; MYSQL_PWD is read by the mysql client.

STARROCKS="${STARROCKS_ROOT:-/opt/starrocks}"
COMPONENT_HOME="$STARROCKS/${COMPONENT:?}"
CONFIGURATION="$COMPONENT_HOME/conf/$COMPONENT.conf"
DEBUG_DIRECTORY="${DEBUG_DIRECTORY:-/etc/starrocks/debug}"
POD_INTERVAL="${POD_INTERVAL:-2}" # seconds between two looks at what is waited for
POD="${POD_NAME:-${HOSTNAME%%.*}}"
LAST_LINES=30

say() {
  local script="${0##*/}"
  printf '%s %s: %s\n' "$(date -u '+%Y-%m-%d %H:%M:%S')" "${script%.sh}" "$*" >&2
}

wait_a_little() { sleep "$POD_INTERVAL"; }

# As process 1 a shell ignores the signal to end unless it is told what to do with it.
end_when_told() { trap 'exit 143' TERM INT; }

# named_in <file>: whether this pod is among the names in a mounted file.
named_in() {
  local names
  names="$(tr -s '[:space:],' ' ' 2>/dev/null <"$1")"
  [[ " $names " == *" $POD "* ]]
}

# ---- configuration -------------------------------------------------------------------------------------------------

# The files of the mounted ConfigMap take the place of the image's, which are kept with the ending .bak.
link_configuration() {
  local directory="${CONFIGMAP_MOUNT_PATH:-}" file name
  [[ -n $directory && -d $directory ]] || return 0
  for file in "$directory"/*; do
    [[ -e $file ]] || continue
    name="$(basename "$file")"
    if [[ -e $COMPONENT_HOME/conf/$name && ! -L $COMPONENT_HOME/conf/$name ]]; then
      mv -f "$COMPONENT_HOME/conf/$name" "$COMPONENT_HOME/conf/$name.bak"
    fi
    ln -sfn "$file" "$COMPONENT_HOME/conf/$name"
  done
  say "configuration files are linked from $directory"
}

# configured <key> <default>: a value of the configuration file; the last of equal keys counts.
configured() {
  local value=""
  if [[ -r $CONFIGURATION ]]; then
    value="$(awk -v key="$1" '
      { line = $0; sub(/^[ \t]+/, "", line) }
      substr(line, 1, 1) == "#" { next }
      { at = index(line, "="); if (!at) next
        name = substr(line, 1, at - 1); gsub(/[ \t]+$/, "", name)
        if (name == key) { value = substr(line, at + 1); gsub(/^[ \t]+|[ \t\r]+$/, "", value) } }
      END { print value }' "$CONFIGURATION")"
  fi
  printf '%s' "${value:-$2}"
}

# ---- debugging -----------------------------------------------------------------------------------------------------

# Whether the owner wants to look into this very pod. A start by hand, from inside of it, is what he does there.
debugged() { [[ ${START_BY_HAND:-} != 1 ]] && named_in "$DEBUG_DIRECTORY/pods"; }

# hold_if_debugged <why>: keeps the container up without its process. When the mark is gone it ends, and starts anew:
# whatever was started by hand ends with it.
hold_if_debugged() {
  debugged || return 0
  end_when_told
  say "$POD is marked for debugging: $1. Look around with: kubectl exec -it $POD -- bash"
  say "To start the process by hand, from there: START_BY_HAND=1 bash $0 ${ARGUMENTS:-}"
  while debugged; do wait_a_little; done
  say "the mark is gone: ending, so that the container starts anew"
  exit 0
}

# ---- the process ---------------------------------------------------------------------------------------------------

process_id() { cat "$COMPONENT_HOME/bin/$COMPONENT.pid" 2>/dev/null; }

process_runs() {
  local id
  id="$(process_id)"
  [[ -n $id ]] && kill -0 "$id" 2>/dev/null
}

# kubelet calls a preStop hook failed if its container ends before it does. (The brackets: grep does not find itself.)
let_the_hook_end() {
  local round
  for round in 1 2 3 4 5; do
    grep -qs 'pod_sto[p]' /proc/[0-9]*/cmdline || return 0
    sleep "$round"
  done
}

# run_process <program> [argument...]: runs it to its end, and ends as it did. It is a child, so that its last words can
# be told, and so that a container that is being debugged can outlive it.
run_process() {
  local child status told=""
  "$@" &
  child=$!
  trap 'told=yes; kill -TERM "$child" 2>/dev/null' TERM INT
  while true; do
    wait "$child"
    status=$?
    kill -0 "$child" 2>/dev/null || break
  done
  if ((status != 0)) && [[ -z $told ]]; then
    say "$1 has ended with $status"
    if [[ ${LOG_CONSOLE:-} != 1 && -r $COMPONENT_HOME/log/$COMPONENT.out ]]; then
      say "the last lines of $COMPONENT_HOME/log/$COMPONENT.out:"
      tail -n "$LAST_LINES" "$COMPONENT_HOME/log/$COMPONENT.out" >&2
    fi
    hold_if_debugged "its process has ended with $status"
  fi
  let_the_hook_end
  exit "$status"
}

console_arguments() { [[ ${LOG_CONSOLE:-} == 1 ]] && echo --logconsole; }
