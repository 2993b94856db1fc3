# shellcheck shell=bash
# Sourced by the stand-ins of the official entrypoints: what they have in common.
# Environment: HOST_TYPE (IP unless FQDN), CONFIGMAP_MOUNT_PATH, LOG_CONSOLE, MYSQL_PWD (read by the mysql client itself).
STARROCKS_ROOT="${STARROCKS_ROOT:-/opt/starrocks}"
PROBE_INTERVAL="${PROBE_INTERVAL:-2}"

say() { echo "$(date -u '+%Y-%m-%d %H:%M:%S') entrypoint: $*" >&2; }

# link_configuration <home>: the mounted files take the place of the image's.
link_configuration() {
  local file name
  [[ -d ${CONFIGMAP_MOUNT_PATH:-} ]] || return 0
  for file in "$CONFIGMAP_MOUNT_PATH"/*; do
    name="$(basename "$file")"
    if [[ -e $1/conf/$name && ! -L $1/conf/$name ]]; then mv -f "$1/conf/$name" "$1/conf/$name.bak"; fi
    ln -sfn "$file" "$1/conf/$name"
  done
}

# configured <file> <key> <default>
configured() {
  local value
  value="$(sed -n "s/^[[:space:]]*$2[[:space:]]*=[[:space:]]*\([^[:space:]]*\).*/\1/p" "$1" 2>/dev/null | tail -n 1)"
  echo "${value:-$3}"
}

find_self() { if [[ ${HOST_TYPE:-IP} == FQDN ]]; then hostname -f; else echo "${POD_IP:-$(hostname -i)}"; fi; }

# ask <host> <port> <statement>
ask() {
  timeout 15 mysql --connect-timeout=2 --host="$1" --port="$2" --user=root --batch --execute="$3" 2>&1
}
