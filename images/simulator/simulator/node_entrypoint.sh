#!/bin/bash
# node_entrypoint.sh <be|cn> <frontend service>: registers the node at every start, as the official entrypoints do, and
# starts it. A compute node that is told to stop drops itself, as those of most images do; not one of a warehouse.
# shellcheck source=/dev/null
. "${SIMULATOR_HOME:-/opt/simulator}/entrypoint.sh"
component="$1" service="$2" home="$STARROCKS_ROOT/$1" query_port="${FE_QUERY_PORT:-9030}"
case "$component" in be) noun=BACKEND ;; *) noun="COMPUTE NODE" ;; esac
link_configuration "$home"
self="$(find_self)"
member="$self:$(configured "$home/conf/$component.conf" heartbeat_service_port 9050)"
warehouse="${KUBE_STARROCKS_MULTI_WAREHOUSE:-}"
arguments=()
[[ ${LOG_CONSOLE:-} == 1 ]] && arguments+=(--logconsole)

began="$SECONDS"
until ask "$service" "$query_port" "SHOW ${noun}S" | grep -qw "$self"; do
  if ((SECONDS - began >= ${PROBE_TIMEOUT:-60})); then
    say "could not be added through $service"
    exit 1
  fi
  [[ -n $warehouse ]] && ask "$service" "$query_port" "CREATE WAREHOUSE IF NOT EXISTS $warehouse"
  ask "$service" "$query_port" "ALTER SYSTEM ADD $noun \"$member\"${warehouse:+ INTO WAREHOUSE $warehouse}" ||
    sleep "$PROBE_INTERVAL"
done

# As a child, not in the place of this shell: what is pid 1 cannot be killed from inside of the container.
"$home/bin/start_$component.sh" "${arguments[@]}" &
process=$!
stopping=""
trap 'stopping=1; kill -TERM "$process" 2>/dev/null' TERM
wait "$process"
code=$?
while kill -0 "$process" 2>/dev/null; do
  wait "$process"
  code=$?
done
if [[ -n $stopping && $component == cn && -z $warehouse ]]; then
  say "dropping $member"
  ask "$service" "$query_port" "ALTER SYSTEM DROP COMPUTE NODE \"$member\""
fi
sleep 1 # the preStop hook is to see the end
exit "$code"
