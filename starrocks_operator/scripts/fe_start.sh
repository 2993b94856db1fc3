#!/bin/bash
# Starts a frontend so that there is never a second cluster.
#
# A frontend with metadata starts as it is. One without metadata asks its peers, each by itself; if one of them names
# a leader it joins that. Only when nobody answers does the marker decide, which the operator keeps in a ConfigMap:
# once a cluster was founded, nobody founds another. A frontend that the marker names as leaving waits until it is
# stopped, or wanted again. One follower joins after the other: until it has caught up, each makes the quorum harder to
# reach. An observer asks the frontends, which have a StatefulSet of their own (FE_GROUP), and never founds a cluster,
# whatever they say or do not say. Nothing is ever deleted here.
#
# Usage: fe_start.sh <frontend service>
# The password of root comes in MYSQL_PWD, which the mysql client reads itself. A container keeps the one it was started
# with, so a frontend that is refused for long ends: the next start has what the Secret says by then.

set -uo pipefail

COMPONENT=fe
ARGUMENTS="$*"
# shellcheck source=starrocks_operator/scripts/pod.sh
source "${BASH_SOURCE[0]%/*}/pod.sh"
MARKER_DIRECTORY="${FE_MARKER_DIRECTORY:-/etc/starrocks/bootstrap}"
PROBE_TIMEOUT="${FE_PROBE_TIMEOUT:-15}"    # a frontend without a leader hangs: no question takes longer
CONNECT_TIMEOUT="${FE_CONNECT_TIMEOUT:-2}"
DENIED_SECONDS="${FE_DENIED_SECONDS:-60}"  # how long the password may be refused before this container ends
SETTLE_SECONDS="${FE_SETTLE_SECONDS:-30}"  # how long nobody must have answered before a cluster is founded
TURN_SECONDS="${FE_TURN_SECONDS:-60}"      # how long another one that joins is waited for; it may never come

# A missing program must not look like a silent peer.
check_tools() {
  local tool
  for tool in mysql getent timeout awk; do
    if ! command -v "$tool" >/dev/null; then
      say "the image has no '$tool', which starting safely needs: use an image of StarRocks, or profile upstream"
      exit 1
    fi
  done
}

# ---- configuration -------------------------------------------------------------------------------------------------

read_configuration() {
  EDIT_LOG_PORT="$(configured edit_log_port 9010)"
  QUERY_PORT="$(configured query_port 9030)"
  META="$(configured meta_dir "$COMPONENT_HOME/meta")"
  # shellcheck disable=SC2016 # the configuration file spells it so
  META="${META//'${STARROCKS_HOME}'/$COMPONENT_HOME}"
}

# ---- who am I, and who are my peers --------------------------------------------------------------------------------

role() { case "${IS_FE_OBSERVER:-}" in true | True | TRUE | 1) echo OBSERVER ;; *) echo FOLLOWER ;; esac; }
observer() { [[ $(role) == OBSERVER ]]; }

# The pod's name in DNS, by which the other frontends know it; and the group of those that may be asked: for a frontend
# its own, for an observer <StatefulSet>.<Service> as FE_GROUP says.
find_self() {
  SELF="$(hostname -f 2>/dev/null)"
  until [[ $SELF == *.*.* ]]; do
    say "the pod has no full name yet (hostname -f says '$SELF'): waiting"
    wait_a_little
    SELF="$(hostname -f 2>/dev/null)"
  done
  POD="${SELF%%.*}"
  DOMAIN="${SELF#*.}"
  ORDINAL="${POD##*-}"
  STATEFUL_SET="${POD%-*}"
  if observer && [[ ${FE_GROUP:-} == *.* ]]; then
    STATEFUL_SET="${FE_GROUP%%.*}"
    DOMAIN="${FE_GROUP#*.}.${DOMAIN#*.}"
  fi
}

addresses_of() { getent ahosts "$1" 2>/dev/null | awk '{ print $1 }'; }

# Addresses of all other frontend pods: what the headless service resolves to, and every ordinal that has a name.
peers() {
  local everybody own ordinal=0 unknown=0 found
  own="$(addresses_of "$SELF") ${POD_IP:-}"
  everybody="$(addresses_of "$DOMAIN")"
  while (( unknown < 2 || ordinal <= ORDINAL )); do
    if [[ $STATEFUL_SET-$ordinal != "$POD" ]]; then
      found="$(addresses_of "$STATEFUL_SET-$ordinal.$DOMAIN")"
      if [[ -n $found ]]; then unknown=0; else unknown=$((unknown + 1)); fi
      everybody+=$'\n'"$found"
    fi
    ordinal=$((ordinal + 1))
  done
  printf '%s\n' "$everybody" | awk -v own="$own" '
    BEGIN { split(own, list); for (i in list) mine[list[i]] = 1 }
    NF && !($1 in mine) && !seen[$1]++ { print $1 }'
}

# ---- asking --------------------------------------------------------------------------------------------------------

# sql <host> <port> <statement>: rows with their column names, or an error text and a status.
sql() {
  timeout "$PROBE_TIMEOUT" mysql --connect-timeout="$CONNECT_TIMEOUT" --host="$1" --port="$2" --user=root \
    --batch --execute="$3" 2>&1
}

# From the rows of SHOW FRONTENDS, by column name: the leader, how it lists us, and who joins before us: a follower that
# was added earlier, and has not joined or was never seen alive.
# Prints: <leader host> <edit log port> <query port> <cluster id> <absent|added|joined> <host|->, or nothing without a
# leader.
read_frontends() {
  awk -F '\t' -v self="$SELF" '
    !named && /Role/ && /EditLogPort/ { for (i = 1; i <= NF; i++) column[$i] = i; named = 1; next }
    !named { next }
    {
      host = $(("IP" in column) ? column["IP"] : column["Host"]); role = $column["Role"]
      if (role == "LEADER" || role == "MASTER") {
        leaders++; leader = host; edit = $column["EditLogPort"]; query = $column["QueryPort"]
        cluster = $column["ClusterId"]
      }
      added = $column["Name"]; sub(/.*_/, "", added)
      young = $column["Join"] != "true" || (("StartTime" in column) && $column["StartTime"] == "NULL")
      if (tolower(host) == tolower(self)) { listed = ($column["Join"] == "true") ? "joined" : "added"; own = added }
      else if (role == "FOLLOWER" && young) joining[host] = added
    }
    END {
      first = "-"
      for (host in joining) if (!listed || joining[host] < own || (joining[host] == own && host < self)) first = host
      if (leaders == 1) print leader, edit, query, cluster, (listed ? listed : "absent"), first
    }'
}

# ask <address>: one line about one peer.
#   leader <host> <edit log port> <query port> <cluster id> <absent|added|joined> <host|->   it named a leader
#   silent        nothing listens there
#   <other word>  somebody is there, but could not tell: leaderless, hung, denied, failed, running
ask() {
  local answer status facts
  answer="$(sql "$1" "$QUERY_PORT" 'SHOW FRONTENDS')"
  status=$?
  facts="$(read_frontends <<<"$answer")"
  if [[ $status == 0 && -z $facts ]]; then # some releases show every frontend as a follower there
    facts="$(sql "$1" "$QUERY_PORT" "SHOW PROC '/frontends'" | read_frontends)"
  fi
  if (( status == 0 )); then
    if [[ -n $facts ]]; then echo "leader $facts"; else echo leaderless; fi
  elif (( status == 124 || status == 137 )); then
    echo hung
  elif [[ $answer =~ ERROR\ (2002|2003|2005) ]]; then
    # Without a leader the query port is closed, but a frontend process holds its edit log port open.
    # shellcheck disable=SC2016 # the inner shell expands it
    if timeout "$CONNECT_TIMEOUT" bash -c ': <"/dev/tcp/$0/$1"' "$1" "$EDIT_LOG_PORT" 2>/dev/null; then
      echo running
    else
      echo silent
    fi
  elif [[ $answer =~ ERROR\ 1045 ]]; then
    echo denied
  else
    echo failed
  fi
}

# All peers at once, so that hanging ones do not add up.
ask_everybody() {
  local address
  for address in $(peers); do ask "$address" & done
  wait
}

# ---- deciding ------------------------------------------------------------------------------------------------------

# Whether the operator takes this very frontend out of the cluster: then it must not come back by itself.
leaving() { named_in "$MARKER_DIRECTORY/leaving"; }

marker_id() { tr -d '[:space:]' <"$MARKER_DIRECTORY/cluster-id" 2>/dev/null; }

start() {
  local arguments=(--host_type "${HOST_TYPE:-FQDN}")
  [[ ${LOG_CONSOLE:-} == 1 ]] && arguments+=(--logconsole)
  run_process "$COMPONENT_HOME/bin/start_fe.sh" "${arguments[@]}" "$@"
}

start_with_metadata() {
  if ! compgen -G "$META/image/image.*" >/dev/null; then
    say "metadata in $META has a ROLE and no image: a first start was interrupted. If the frontend now exits with" \
      "'current node is not added to the cluster', and other frontends live, delete this pod's metadata volume."
  fi
  say "metadata found in $META: starting as the frontend it says"
  start
}

# add_self <leader host> <edit log port> <query port>: whether it worked is seen when the peers are asked again.
add_self() {
  local role answer
  role="$(role)"
  say "asking leader $1 to add $SELF:$EDIT_LOG_PORT as $role"
  answer="$(sql "$1" "$3" "ALTER SYSTEM ADD $role \"$SELF:$EDIT_LOG_PORT\"")" ||
    say "the leader refused: ${answer:-no answer in $PROBE_TIMEOUT s}"
}

# turn_of <host|->: whether it is our turn to join, or that of another one, which is waited for only so long. An observer
# has no vote, and waits for nobody.
turn_of() {
  local now
  if [[ $1 == - ]] || observer; then return 0; fi
  now="$(date +%s)"
  : "${turn_since:=$now}"
  if (( now - turn_since >= TURN_SECONDS )); then
    say "$1 has not joined in $TURN_SECONDS s: not waiting for it any longer"
    return 0
  fi
  say "waiting until $1 has joined: one frontend after the other"
  return 1
}

# Takes one decision from a round of answers. Starts the frontend, or returns when it must be asked again.
consider() {
  local answers="$1" leader edit_log_port query_port cluster_id listed first founded
  founded="$(marker_id)"
  read -r _ leader edit_log_port query_port cluster_id listed first < <(grep -m1 '^leader ' <<<"$answers") || true
  if [[ -z ${leader:-} ]]; then
    without_leader "$answers" "$founded"
    return
  fi
  quiet_since=""
  denied_since=""
  if [[ $(grep '^leader ' <<<"$answers" | cut -d ' ' -f 5 | sort -u | wc -l) -gt 1 ]]; then
    say "peers belong to different clusters ($(grep '^leader ' <<<"$answers" | cut -d ' ' -f 5 | sort -u | xargs)):" \
      "joining none of them; a person must decide which one to keep"
  elif [[ -n $founded && $founded != "$cluster_id" ]]; then
    say "leader $leader has cluster id $cluster_id, but this cluster is $founded: not joining a foreign cluster"
  elif [[ $leader == "$SELF" ]]; then
    say "peers still name this very frontend as leader, though its metadata is gone: waiting for another leader"
  elif leaving; then
    say "$SELF is leaving the cluster of leader $leader: not joining it, unless it is wanted again"
  elif [[ $listed == joined ]]; then
    say "leader $leader lists $SELF as joined, but its metadata is gone: waiting until the operator has dropped it"
  elif ! turn_of "$first"; then
    return
  elif [[ $listed == added ]]; then
    say "joining the cluster of leader $leader"
    start --helper "$leader:$edit_log_port"
  else
    [[ $query_port == 0 ]] && query_port="$QUERY_PORT"
    add_self "$leader" "$edit_log_port" "$query_port"
  fi
}

# end_if_denied <answers> <now>: a changed password reaches this container only by a new start.
end_if_denied() {
  if ! grep -q '^denied$' <<<"$1"; then
    denied_since=""
    return
  fi
  : "${denied_since:=$2}"
  if (( $2 - denied_since >= DENIED_SECONDS )); then
    say "frontends have refused root's password (MYSQL_PWD) for $DENIED_SECONDS s: ending, so that the next start of" \
      "this container takes the one that is in the Secret by then"
    exit 1
  fi
}

# Nobody named a leader. Founds a cluster only if nobody is there, this is ordinal 0, and the marker allows it.
without_leader() {
  local present founded="$2" now
  present="$(grep -vE '^(silent)?$' <<<"$1" | sort | uniq -c | xargs)"
  now="$(date +%s)"
  end_if_denied "$1" "$now"
  if [[ -n $present ]]; then
    quiet_since=""
    say "frontends are there but name no leader ($present): waiting for one"
  elif [[ -n $founded ]]; then
    say "no peer answers, and cluster $founded was founded before: waiting for its frontends, never founding another"
  elif observer; then
    say "no peer answers: an observer never founds a cluster, waiting for the frontends of $STATEFUL_SET"
  elif [[ $ORDINAL != 0 ]]; then
    say "no peer answers: waiting for $STATEFUL_SET-0 to found the cluster"
  elif [[ ! -f $MARKER_DIRECTORY/cluster-id ]]; then
    say "no peer answers and the bootstrap marker is missing: waiting for the operator to write it"
  elif [[ -n $(ls -A "$META/bdb" 2>/dev/null) ]]; then
    say "no peer answers, and $META holds a journal without a ROLE: not founding a cluster over it; a person must look"
  else
    : "${quiet_since:=$now}"
    if (( now - quiet_since >= SETTLE_SECONDS )); then
      say "nobody has answered for $SETTLE_SECONDS s and no cluster was ever founded: founding it"
      start
    fi
    say "no peer answers: founding the cluster in $((SETTLE_SECONDS - now + quiet_since)) s if that stays so"
  fi
}

main() {
  quiet_since="" denied_since="" turn_since=""
  end_when_told
  hold_if_debugged "its process is not started"
  link_configuration
  read_configuration
  [[ -e $META/image/ROLE ]] && start_with_metadata
  check_tools
  find_self
  say "no metadata in $META: asking the other frontends of $DOMAIN"
  while true; do
    consider "$(ask_everybody)"
    wait_a_little
  done
}

main "$@"
