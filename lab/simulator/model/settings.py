"""The configuration of a frontend that the simulator knows: a realistic part of what FE has, one line per key.

`name | alias | default | type | mutable` and what it is for.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass

_TEXT = """
tablet_sched_max_scheduling_tablets | max_scheduling_tablets | 10000 | int | true | tablets scheduled at a time
tablet_sched_max_balancing_tablets | max_balancing_tablets | 500 | int | true | tablets balanced at a time
tablet_sched_disable_balance | disable_balance | false | boolean | true | no balancing at all
tablet_sched_disable_colocate_balance | disable_colocate_balance | false | boolean | true | of colocated tables
tablet_sched_slot_num_per_path | schedule_slot_num_per_path | 8 | int | true | clones per disk
tablet_sched_checker_interval_seconds | tablet_checker_interval_seconds | 20 | int | true |
tablet_sched_repair_delay_factor_second | tablet_repair_delay_factor_second | 60 | long | true |
tablet_sched_balancer_strategy | tablet_balancer_strategy | disk_and_tablet | String | true |
tablet_sched_max_clone_task_timeout_sec | max_clone_task_timeout_sec | 7200 | long | true |
drop_backend_after_decommission | | true | boolean | true |
catalog_trash_expire_second | | 86400 | long | true |
heartbeat_retry_times | | 3 | int | true |
heartbeat_timeout_second | | 5 | int | true |
meta_delay_toleration_second | | 300 | int | true |
black_host_history_sec | | 120 | int | true |
black_host_connect_failures_within_time | | 5 | int | true |
qe_max_connection | | 4096 | int | true |
max_query_retry_time | | 2 | int | true |
query_queue_max_queued_queries | | 1024 | int | true |
stream_load_default_timeout_second | | 600 | int | true |
max_running_txn_num_per_db | | 1000 | int | true |
default_replication_num | | 3 | short | true |
enable_statistic_collect | | true | boolean | true |
statistic_collect_interval_sec | | 300 | long | true |
storage_usage_soft_limit_percent | storage_high_watermark_usage_percent | 90 | int | true |
storage_usage_hard_limit_percent | storage_flood_stage_usage_percent | 95 | int | true |
alter_table_timeout_second | | 86400 | int | true |
history_job_keep_max_second | | 604800 | int | true |
enable_auto_tablet_distribution | | true | boolean | true |
ignore_unknown_log_id | | false | boolean | false |
metadata_ignore_unknown_operation_type | | false | boolean | false |
lake_compaction_max_tasks | | -1 | int | true |
automated_cluster_snapshot_interval_seconds | | 600 | int | true |
sys_log_level | | INFO | String | false |
sys_log_dir | | /opt/starrocks/fe/log | String | false |
audit_log_dir | | /opt/starrocks/fe/log | String | false |
meta_dir | | /opt/starrocks/fe/meta | String | false |
http_port | | 8030 | int | false |
rpc_port | | 9020 | int | false |
query_port | | 9030 | int | false |
edit_log_port | | 9010 | int | false |
cloud_native_meta_port | | 6090 | int | false |
arrow_flight_port | | -1 | int | false |
priority_networks | | | String | false |
run_mode | | shared_nothing | String | false |
cloud_native_storage_type | | S3 | String | false |
aws_s3_path | | | String | false |
aws_s3_endpoint | | | String | false |
enable_load_volume_from_conf | | false | boolean | false |
mysql_service_nio_enabled | | true | boolean | false |
max_mysql_service_task_threads_num | | 4096 | int | false |
http_worker_threads_num | http_workers | 0 | int | false |
thrift_server_max_worker_threads | | 4096 | int | true |
bdbje_heartbeat_timeout_second | | 30 | int | false |
bdbje_lock_timeout_second | | 1 | int | false |
bdbje_replica_ack_timeout_second | | 10 | int | false |
bdbje_reset_election_group | | false | String | false |
max_bdbje_clock_delta_ms | | 5000 | long | false |
ssl_keystore_location | | | String | false |
ssl_force_secure_transport | | false | boolean | false |
enable_udf | | false | boolean | false |
authentication_chain | | native | String[] | true |
check_java_version | | true | boolean | false |
proc_profile_cpu_enable | | true | boolean | true |
plugin_dir | | /opt/starrocks/fe/plugins | String | false |
small_file_dir | | /opt/starrocks/fe/small_files | String | true |
"""


@dataclass(frozen=True)
class Setting:
    name: str
    alias: str
    default: str
    kind: str
    mutable: bool
    comment: str


def _read(line: str) -> Setting:
    name, alias, default, kind, mutable, comment = (cell.strip() for cell in line.split("|"))
    return Setting(name, alias, default, kind, mutable == "true", comment)


SETTINGS: Mapping[str, Setting] = {
    found.name: found
    for found in (_read(line if line.count("|") == 5 else f"{line} |") for line in _TEXT.strip().splitlines())
}
OLD_NAMES: Mapping[str, str] = {found.alias: name for name, found in SETTINGS.items() if found.alias}
