#!/bin/bash
# start.sh <fe|be|cn> <home> [arguments of start_fe.sh and the like]: the process of a pod, in the foreground.
SIMULATOR_HOME="$(cd "$(dirname "$0")" && pwd)"
export PYTHONPATH="${SIMULATOR_PYTHONPATH:-$SIMULATOR_HOME}" PYTHONDONTWRITEBYTECODE=1
exec "${SIMULATOR_PYTHON:-python3}" -m lab.simulator.pods.agent "$@"
