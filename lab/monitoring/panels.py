"""The panels of the dashboard, as a table: what is shown, and by which expressions.

`$sel` is the selection of resources, `$pods` that of StarRocks' pods: whoever looks chooses them above the panels.
"""

from __future__ import annotations

from dataclasses import dataclass, field

SELECTIONS = {
    "$sel": 'namespace=~"$namespace", name=~"$cluster"',
    "$pods": 'namespace=~"$namespace", starrocks_cluster=~"$cluster"',
}


@dataclass(frozen=True)
class Query:
    """An expression, and how its lines are called."""

    expression: str
    legend: str

    @property
    def written(self) -> str:
        text = self.expression.replace("@", "starrocks_operator_")
        for word, selection in SELECTIONS.items():
            text = text.replace(word, selection)
        return text


@dataclass(frozen=True)
class Panel:
    """kind: as Grafana calls it. width: of 24. stacked: lines add up."""

    title: str
    queries: tuple[Query, ...]
    about: str = ""
    kind: str = "timeseries"
    unit: str = "short"
    width: int = 8
    height: int = 7
    stacked: bool = False
    colours: tuple[tuple[str, float | None], ...] = field(default=())


GOOD = (("red", None), ("green", 1.0))
BAD = (("green", None), ("red", 1.0))


def stat(title: str, expression: str, about: str, *, colours: tuple[tuple[str, float | None], ...] = ()) -> Panel:
    """One number."""
    return Panel(title, (Query(expression, ""),), about, kind="stat", width=4, height=4, colours=colours)


def line(title: str, *queries: Query, about: str = "", unit: str = "short", stacked: bool = False) -> Panel:
    return Panel(title, queries, about, unit=unit, stacked=stacked)


def p95(histogram: str, legend: str) -> Query:
    return Query(f"histogram_quantile(0.95, sum by (le) (rate({histogram}_bucket[5m])))", legend)


ROWS: dict[str, tuple[Panel, ...]] = {
    "Resources": (
        stat("Resources", "count(@resource_info{$sel})", "StarRocksClusters, StarRocksWarehouses, ComputeNodeGroups."),
        stat("Ready", 'sum(@resource_condition{$sel, condition="Ready"})', "As specified.", colours=GOOD),
        stat(
            "Degraded",
            'sum(@resource_condition{$sel, condition="Degraded"})',
            "Something is known to be wrong.",
            colours=BAD,
        ),
        stat(
            "No frontend to spare",
            'sum(1 - @resource_condition{$sel, condition="QuorumSafe"})',
            "When one more frontend fails, nothing can be written.",
            colours=(("green", None), ("orange", 1.0)),
        ),
        stat("Alerts", 'count(ALERTS{alertname=~"StarRocks.*", alertstate="firing"}) or vector(0)', "", colours=BAD),
        stat("Operators at work", "sum(@lease_held)", "One should hold the Lease.", colours=GOOD),
        line(
            "Members",
            Query("sum by (member, state) (@resource_members{$sel})", "{{member}} {{state}}"),
            about="As the frontends see them.",
            stacked=True,
        ),
        line(
            "Tablets on backends that leave",
            Query("sum by (namespace, name) (@resource_leaving_tablets{$sel})", "{{namespace}}/{{name}}"),
            about="A line that no longer falls is a scale-in that gets nowhere.",
        ),
        line(
            "Findings",
            Query("sum by (reason) (@resource_finding{$sel})", "{{reason}}"),
            about="What a person should know; docs/troubleshooting.md has every reason.",
            stacked=True,
        ),
    ),
    "The operator": (
        line("Looks at resources", Query("sum by (result) (rate(@reconciles_total[5m]))", "{{result}}"), unit="ops"),
        line(
            "Ansible runs, in 5 min",
            Query("sum by (result) (increase(@ansible_runs_total[5m]))", "{{result}}"),
            Query("sum(@ansible_runs_active)", "under way"),
        ),
        line(
            "Durations, 95 %",
            p95("@ansible_run_seconds", "Ansible run"),
            p95("@frontend_look_seconds", "questions to FE"),
            p95("@reconcile_seconds", "decision"),
            unit="s",
        ),
        line(
            "Queue",
            Query("sum(@queue_depth)", "waiting or planned"),
            Query("max(@queue_overdue_seconds)", "overdue (s)"),
        ),
        line("Failures, in 5 min", Query("sum by (reason) (increase(@failures_total[5m]))", "{{reason}}")),
        line(
            "Statements and writes",
            Query("sum(rate(@frontend_statements_total[5m]))", "SQL statements"),
            Query("sum by (verb) (rate(@api_writes_total[5m]))", "{{verb}} to the API"),
            unit="ops",
        ),
        line(
            "Memory",
            Query("process_resident_memory_bytes and on (instance) @build_info", "{{instance}}"),
            about="Of the operator's first process; Ansible's come and go beside it.",
            unit="bytes",
        ),
        line(
            "CPU",
            Query("rate(process_cpu_seconds_total[5m]) and on (instance) @build_info", "{{instance}}"),
            unit="percentunit",
        ),
        line(
            "Since frontends were asked",
            Query("time() - max by (namespace, name) (@resource_looked_at_timestamp_seconds{$sel})", "{{name}}"),
            unit="s",
        ),
    ),
    "StarRocks": (
        line("Queries", Query("sum by (pod) (rate(starrocks_fe_query_total{$pods}[5m]))", "{{pod}}"), unit="ops"),
        line(
            "Queries that fail", Query("sum by (pod) (rate(starrocks_fe_query_err{$pods}[5m]))", "{{pod}}"), unit="ops"
        ),
        line(
            "Latency of queries",
            Query(
                'max by (quantile) (starrocks_fe_query_latency_ms{$pods, quantile=~"0.5|0.95|0.99"})', "{{quantile}}"
            ),
            unit="ms",
        ),
        line("Connections", Query("sum by (pod) (starrocks_fe_connection_total{$pods})", "{{pod}}")),
        line(
            "Heap of frontends",
            Query(
                'sum by (pod) (jvm_heap_size_bytes{$pods, type="used"}) '
                '/ sum by (pod) (jvm_heap_size_bytes{$pods, type="max"})',
                "{{pod}}",
            ),
            unit="percentunit",
        ),
        line(
            "Journal since the last image",
            Query("max by (pod) (starrocks_fe_meta_log_count{$pods})", "{{pod}}"),
            about="FE writes an image at 50000.",
        ),
        line(
            "Disks of backends",
            Query(
                "1 - sum by (pod, path) (starrocks_be_disks_avail_capacity{$pods}) "
                "/ sum by (pod, path) (starrocks_be_disks_total_capacity{$pods})",
                "{{pod}} {{path}}",
            ),
            unit="percentunit",
        ),
        line(
            "Memory of backends and compute nodes",
            Query("sum by (pod) (starrocks_be_process_mem_bytes{$pods})", "{{pod}}"),
            unit="bytes",
        ),
        line(
            "Compaction",
            Query(
                "max by (starrocks_cluster) (starrocks_fe_max_tablet_compaction_score{$pods})", "{{starrocks_cluster}}"
            ),
            about="The highest score of a tablet; above 100 loads are ahead of compaction.",
        ),
    ),
}
