#!/bin/bash
# Stands in for the official stop_be.sh: [-g] [--timeout SECONDS].
exec /bin/bash "${SIMULATOR_HOME:-/opt/simulator}/stop.sh" be "$(cd "$(dirname "$0")/.." && pwd)" "$@"
