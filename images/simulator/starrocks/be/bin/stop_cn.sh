#!/bin/bash
# Stands in for the official stop_cn.sh: [-g] [--timeout SECONDS].
exec /bin/bash "${SIMULATOR_HOME:-/opt/simulator}/stop.sh" cn "$(cd "$(dirname "$0")/.." && pwd)" "$@"
