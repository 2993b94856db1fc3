#!/bin/bash
# stop.sh <fe|be|cn> <home> [-g] [--timeout SECONDS]: ends the process whose pid is in bin/<component>.pid, and waits
# until it is gone. What a plain and a graceful stop are differs: backends and compute nodes are killed unless told -g.
component="$1" home="$2"
shift 2
case "$component" in fe) plain=TERM graceful=USR1 ;; *) plain=KILL graceful=TERM ;; esac
signal="$plain" timeout=""
while (($#)); do
  case "$1" in
    -g | --graceful) signal="$graceful" ;;
    --timeout) timeout="$2"; shift ;;
    *) echo "stop_$component.sh: unknown argument '$1'" >&2; exit 1 ;;
  esac
  shift
done

file="$home/bin/$component.pid"
if [[ ! -r $file ]]; then
  echo "stop_$component.sh: no $file: nothing runs here" >&2
  exit 1
fi
pid="$(cat "$file")"
if ! grep -qz "lab.simulator.pods.agent" "/proc/$pid/cmdline" 2>/dev/null; then
  echo "stop_$component.sh: pid $pid in $file is no process of ours" >&2
  exit 1
fi
kill "-$signal" "$pid"
began="$SECONDS"
while kill -0 "$pid" 2>/dev/null; do
  if [[ -n $timeout ]] && ((SECONDS - began >= timeout)); then
    kill -KILL "$pid"
  fi
  sleep 0.2
done
rm -f "$file"
