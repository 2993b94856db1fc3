#!/bin/bash
# Stands in for the official be_prestop.sh.
exec "${STARROCKS_ROOT:-/opt/starrocks}/be/bin/stop_be.sh" -g
