#!/bin/bash
# Stands in for the official start_cn.sh: in the foreground, with its pid in bin/cn.pid.
exec /bin/bash "${SIMULATOR_HOME:-/opt/simulator}/start.sh" cn "$(cd "$(dirname "$0")/.." && pwd)" "$@"
