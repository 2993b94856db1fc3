#!/bin/bash
# Stands in for the official stop_fe.sh: [-g] [--timeout SECONDS].
exec /bin/bash "${SIMULATOR_HOME:-/opt/simulator}/stop.sh" fe "$(cd "$(dirname "$0")/.." && pwd)" "$@"
