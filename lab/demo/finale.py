"""How the demo ends: what FE itself says of its members, the objects that were made, and what to try next."""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path

from rich.console import Console
from rich.table import Table

from lab.question import ask

STATEMENTS = {
    "SHOW FRONTENDS": ("IP", "Role", "ClusterId", "Join", "Alive", "Version"),
    "SHOW BACKENDS": ("BackendId", "IP", "Alive", "SystemDecommissioned", "TabletNum", "Version"),
    "SHOW COMPUTE NODES": ("ComputeNodeId", "IP", "Alive", "SystemDecommissioned", "Version"),
}


def frontends_say(console: Console, address: str) -> None:
    """FE's own SHOW FRONTENDS, SHOW BACKENDS and SHOW COMPUTE NODES, the columns that tell most."""
    for statement, columns in STATEMENTS.items():
        table = Table(title=f"{statement}  (asked of {address}:9030)", title_justify="left")
        for column in columns:
            table.add_column(column, overflow="fold")
        for row in ask(address, statement):
            table.add_row(*(short(str(row.get(column, ""))) for column in columns))
        console.print(table)


def short(text: str) -> str:
    """A host by its pod's name alone: the rest is the same for all."""
    return text.split(".")[0] if ".svc." in text else text


def objects_made(console: Console, objects: Sequence[str]) -> None:
    kinds: dict[str, list[str]] = {}
    for name in sorted(objects):
        kind, _, rest = name.partition(" ")
        kinds.setdefault(kind, []).append(rest)
    table = Table("kind", "objects", title="What the operator made", title_justify="left")
    for kind, names in kinds.items():
        table.add_row(kind, "  ".join(names))
    console.print(table)


def next_steps(console: Console, *, kubeconfig: Path, kubectl: Path, name: str, control_port: int) -> None:
    shown = (
        kubeconfig if not kubeconfig.is_relative_to(Path.cwd()) else Path("$PWD") / kubeconfig.relative_to(Path.cwd())
    )
    lines = [
        "The lab goes on running. In this shell:",
        "",
        f"  export KUBECONFIG={shown}",
        f'  alias kubectl="{kubectl}"',
        "",
        "look at it      kubectl get src,pods        kubectl describe src " + name,
        f"scale out       kubectl patch src {name} --type merge -p "
        '\'{"spec":{"starRocksBeSpec":{"replicas":5}}}\'',
        f"fill it         .venv/bin/python -m lab.simulator table {name} orders --replication 3 --tablets 400 "
        f"--control 127.0.0.1:{control_port}",
        f"scale in        as scale out, with 3: who is leaving?  kubectl describe src {name}    "
        "(back to 5 at any moment)",
        f"autoscale       kubectl scale src {name} --replicas 3        (compute nodes)",
        f"kill a pod      kubectl delete pod {name}-fe-0        (who leads now? kubectl events --for src/{name})",
        f"break a node    .venv/bin/python -m lab.simulator kill {name}-be-1 --control 127.0.0.1:{control_port}"
        "    (and resume)",
        f"a bad manifest  kubectl patch src {name} --type merge -p "
        '\'{"spec":{"starRocksFeSpec":{"replicas":0}}}\'',
        f"delete          kubectl delete src {name}        (the volumes stay)",
        "",
        "`make down` stops what this started.",
    ]
    console.rule("What to try next", style="green")
    console.print("\n".join(lines), soft_wrap=True, highlight=False, markup=False)
