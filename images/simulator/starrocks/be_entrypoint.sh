#!/bin/bash
# Stands in for the official be_entrypoint.sh <frontend service>.
exec /bin/bash "${SIMULATOR_HOME:-/opt/simulator}/node_entrypoint.sh" be "$@"
