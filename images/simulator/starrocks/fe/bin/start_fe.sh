#!/bin/bash
# Stands in for the official start_fe.sh: in the foreground, with its pid in bin/fe.pid.
exec /bin/bash "${SIMULATOR_HOME:-/opt/simulator}/start.sh" fe "$(cd "$(dirname "$0")/.." && pwd)" "$@"
