#!/bin/bash
# Stands in for the official cn_prestop.sh.
exec "${STARROCKS_ROOT:-/opt/starrocks}/cn/bin/stop_cn.sh" -g
