#!/bin/bash
# Stands in for the official start_be.sh: in the foreground, with its pid in bin/be.pid.
exec /bin/bash "${SIMULATOR_HOME:-/opt/simulator}/start.sh" be "$(cd "$(dirname "$0")/.." && pwd)" "$@"
