"""What /metrics shows. Names follow Prometheus' habits: a unit, and `_total` for counters."""

from __future__ import annotations

from prometheus_client import Counter, Gauge, Histogram

P = "starrocks_operator"
ONE = [
    "kind",
    "namespace",
    "name",
]  # a resource; so few lines of each that a fleet of hundreds is nothing to Prometheus

QUEUE_DEPTH = Gauge(f"{P}_queue_depth", "Clusters waiting to be looked at, the planned ones included.")
QUEUE_OVERDUE = Gauge(f"{P}_queue_overdue_seconds", "How long the oldest waiting cluster has been due.")
EVENTS = Counter(
    f"{P}_watch_events_total", "Watch events by kind, and whether they changed anything.", ["kind", "news"]
)
RECONCILES = Counter(f"{P}_reconciles_total", "Looks at a cluster, by what came of them.", ["result"])
RECONCILE_SECONDS = Histogram(
    f"{P}_reconcile_seconds",
    "CPU-bound part of a look: parse, decide, status.",
    buckets=(0.0005, 0.001, 0.002, 0.005, 0.01, 0.02, 0.05, 0.1, 0.5),
)
RUNS = Counter(f"{P}_ansible_runs_total", "Ansible runs, by result.", ["result"])
RUN_HOSTS = Counter(
    f"{P}_ansible_run_clusters_total", "Clusters in Ansible runs, by reason of failure or none.", ["reason"]
)
RUN_SECONDS = Histogram(
    f"{P}_ansible_run_seconds", "Duration of Ansible runs.", buckets=(0.5, 1, 2, 5, 10, 20, 30, 60, 120, 300, 600)
)
RUNS_ACTIVE = Gauge(f"{P}_ansible_runs_active", "Ansible runs under way.")
SKIPS = Counter(f"{P}_skips_total", "Looks that found nothing to do, by why.", ["why"])
FAILURES = Counter(f"{P}_failures_total", "What went wrong, by reason.", ["reason"])
API_REQUESTS = Counter(f"{P}_api_writes_total", "Requests of the watcher itself that write.", ["verb", "code"])
LOOKS = Counter(f"{P}_frontend_looks_total", "Rounds of questions to a cluster's frontends, by outcome.", ["outcome"])
STATEMENTS = Counter(f"{P}_frontend_statements_total", "SQL statements sent to frontends.")
LOOK_SECONDS = Histogram(f"{P}_frontend_look_seconds", "Duration of a round of questions.")
CLUSTERS = Gauge(f"{P}_clusters", "StarRocksClusters, by phase.", ["phase"])
WAREHOUSES = Gauge(f"{P}_warehouses", "StarRocksWarehouses, by phase.", ["phase"])
GROUPS = Gauge(f"{P}_compute_node_groups", "ComputeNodeGroups, by phase.", ["phase"])
MEMBERS = Gauge(f"{P}_members", "Members of all of these, by kind and state.", ["kind", "state"])
TABLETS_LEFT = Gauge(f"{P}_leaving_tablets", "Tablets that leaving backends still have to give away.")
LEADER = Gauge(f"{P}_lease_held", "1 while this process holds the Lease.")
RIVAL = Gauge(f"{P}_rival_active", "1 while the official operator holds a fresh Lease.")
INDEXED = Gauge(f"{P}_index_objects", "Objects in the index.")
BUILD = Gauge(f"{P}_build_info", "Always 1.", ["version"])

RESOURCE = Gauge(f"{P}_resource_info", "Always 1: phase and release of each resource.", [*ONE, "phase", "version"])
CONDITION = Gauge(
    f"{P}_resource_condition", "1: the condition is True, 0: False; none: that is unknown.", [*ONE, "condition"]
)
FINDING = Gauge(f"{P}_resource_finding", "1 as long as the operator finds this of a resource.", [*ONE, "reason"])
RESOURCE_MEMBERS = Gauge(f"{P}_resource_members", "Members of each, by kind and state.", [*ONE, "member", "state"])
RESOURCE_TABLETS = Gauge(f"{P}_resource_leaving_tablets", "Tablets that backends on their way out still have.", ONE)
FAILED_RUNS = Gauge(f"{P}_resource_failed_runs", "Ansible runs for a resource that failed in a row.", ONE)
LOOKED = Gauge(f"{P}_resource_looked_at_timestamp_seconds", "When its frontends were asked last.", ONE)
