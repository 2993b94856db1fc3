#!/bin/bash
# Stands in for the official fe_entrypoint.sh <frontend service>, with its ways: metadata starts as it is; without any,
# the service is asked for a leader, and pod 0, if it has seen nobody for 30 seconds, founds a cluster.
# shellcheck source=/dev/null
. "${SIMULATOR_HOME:-/opt/simulator}/entrypoint.sh"
home="$STARROCKS_ROOT/fe" service="$1"
link_configuration "$home"
conf="$home/conf/fe.conf"
query_port="$(configured "$conf" query_port 9030)"
edit_log_port="$(configured "$conf" edit_log_port 9010)"
self="$(find_self)"
arguments=(--host_type "${HOST_TYPE:-IP}")
[[ ${LOG_CONSOLE:-} == 1 ]] && arguments+=(--logconsole)

start() { exec "$home/bin/start_fe.sh" "${arguments[@]}" "$@"; }

# members: rows of SHOW FRONTENDS as "<host> <role>"; they are read by the names of their columns.
members() {
  ask "$service" "$query_port" "SHOW FRONTENDS" | awk -F '\t' '
    /Role/ && /EditLogPort/ { for (i = 1; i <= NF; i++) column[$i] = i; next }
    column["Role"] { print $column["IP"], $column["Role"] }'
}

[[ -e $home/meta/image/ROLE ]] && start

began="$SECONDS" seen="" leader=""
until [[ -n $leader ]]; do
  found="$(members)"
  seen="${seen:-$found}"
  leader="$(awk '$2 == "LEADER" || $2 == "MASTER" { print $1 }' <<<"$found")"
  [[ -n $leader ]] && break
  if [[ ${self%%.*} == *-0 && -z $seen ]] && ((SECONDS - began >= ${PROBE_LEADER_POD0_TIMEOUT:-30})); then
    say "nobody was seen: founding a cluster"
    start
  elif ((SECONDS - began >= ${PROBE_LEADER_PODX_TIMEOUT:-120})); then
    say "no leader found"
    exit 1
  fi
  sleep "$PROBE_INTERVAL"
done

began="$SECONDS"
until members | grep -qw "$self"; do
  if ((SECONDS - began >= ${ADD_SELF_TIMEOUT:-30})); then
    say "could not be added at $leader"
    exit 1
  fi
  ask "$leader" "$query_port" "ALTER SYSTEM ADD FOLLOWER \"$self:$edit_log_port\"" || sleep "$PROBE_INTERVAL"
done
start --helper "$leader:$edit_log_port"
