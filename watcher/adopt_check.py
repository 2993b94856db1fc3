"""python -m watcher.adopt_check: what would change if this operator took over what is there, clusters and warehouses.

Nothing is written. The objects of each are applied in Ansible's check mode, by the same roles and the same action as
ever, and the API server says what would become of them. Exit code: 0, no pod would be replaced; 3, pods
would be; 1, something could not be told.
"""

from __future__ import annotations

import argparse
import json
import os
import shutil
import sys
import tempfile
from collections.abc import Iterable, Mapping
from dataclasses import dataclass, field, replace
from pathlib import Path
from typing import Any

from plugins.module_utils.fresh import ApiError, ApiServer, read_fresh
from starrocks_operator.decision import WAREHOUSE
from starrocks_operator.model import KIND, WAREHOUSE_KIND, MalformedClusterError, StarRocksCluster
from starrocks_operator.model import parse as resource_of
from starrocks_operator.objects.comparison import changes
from starrocks_operator.resolve import context_of, workloads_of
from watcher.keys import host_name
from watcher.runner import environment
from watcher.settings import ROOT, parse

KINDS = {
    KIND: "/apis/starrocks.com/v1/starrocksclusters",
    WAREHOUSE_KIND: "/apis/starrocks.com/v1/starrockswarehouses",
}
PLAYBOOK = ROOT / "playbooks" / "cluster.yml"
NO_PODS, TROUBLE, NEW_PODS = 0, 1, 3
Raw = Mapping[str, Any]


@dataclass
class Findings:
    """What the check mode said of one cluster. fields: by object, "Kind name"."""

    fields: dict[str, tuple[str, ...]] = field(default_factory=dict)
    replaced: list[str] = field(default_factory=list)
    unchanged: list[str] = field(default_factory=list)
    problems: list[str] = field(default_factory=list)


def main(arguments: list[str] | None = None) -> int:
    """Look at every cluster and warehouse, or at those of one namespace, and print what would change."""
    parser = argparse.ArgumentParser(prog="python -m watcher.adopt_check", description=__doc__)
    parser.add_argument("--kubeconfig", default=os.environ.get("KUBECONFIG", ""), help="the cluster to look at")
    parser.add_argument("--namespace", default="", help="only this namespace")
    parser.add_argument("--profile", choices=("upstream", "safe"), help="compare as if the cluster asked for it")
    asked = parser.parse_args(arguments)
    if asked.kubeconfig:
        os.environ["KUBECONFIG"] = asked.kubeconfig
    os.environ.update(environment(parse([]), Path(tempfile.gettempdir())))
    try:
        clusters = _resources(ApiServer(), asked.namespace)
    except (ApiError, MalformedClusterError) as failure:
        sys.stderr.write(f"{failure}\n")
        return TROUBLE
    if not clusters:
        sys.stdout.write("There is no StarRocksCluster to look at, and no StarRocksWarehouse.\n")
        return NO_PODS
    found = _rehearse(clusters, profile=asked.profile)
    for cluster, _ in clusters:
        sys.stdout.write("\n".join((*_told(cluster, found[host_name(cluster.key)]), "")))
    if any(each.problems for each in found.values()):
        return TROUBLE
    return NEW_PODS if any(each.replaced for each in found.values()) else NO_PODS


def _resources(api: ApiServer, namespace: str) -> list[tuple[StarRocksCluster, Raw]]:
    """Clusters, then warehouses, whose CRD need not be there; each with its document."""
    documents = (
        {**raw, "kind": kind} for kind, path in KINDS.items() for raw in (api.get(path) or {}).get("items", ())
    )
    found = [(resource_of(raw), raw) for raw in documents]
    return [each for each in found if namespace in ("", each[0].namespace)]


def _rehearse(clusters: Iterable[tuple[StarRocksCluster, Raw]], *, profile: str | None) -> dict[str, Findings]:
    """One run in check mode, whose hosts are the clusters and warehouses."""
    import ansible_runner

    api, found = ApiServer(), {}
    os.umask(0o077)
    directory = Path(tempfile.mkdtemp(prefix="adopt-check-"))
    try:
        hosts = {}
        (directory / "run").mkdir()
        for cluster, raw in clusters:
            host = host_name(cluster.key)
            found[host] = Findings()
            found[host].problems += [str(violation) for violation in cluster.broken_rules()]
            path = directory / f"{host}.json"
            path.write_text(json.dumps(_document(api, cluster, raw, profile)), encoding="utf-8")
            hosts[host] = {"cluster_file": str(path), "only_objects": True}
        inventory = directory / "inventory.json"
        inventory.write_text(json.dumps({"all": {"hosts": hosts}}), encoding="utf-8")
        ansible_runner.run(
            private_data_dir=str(directory / "run"),
            project_dir=str(PLAYBOOK.parent),
            playbook=str(PLAYBOOK),
            inventory=str(inventory),
            cmdline="--check --diff",
            event_handler=lambda event: _note(found, event),
            quiet=True,
        )
    finally:
        shutil.rmtree(directory, ignore_errors=True)
    return found


def _document(api: ApiServer, cluster: StarRocksCluster, raw: Raw, profile: str | None) -> dict[str, Any]:
    """What the roles are given, with every component due. profile: None is the one that a takeover leaves it with."""
    settings = parse([])
    observed = read_fresh(api, cluster).observed
    context = context_of(
        cluster,
        observed,
        workloads_of(cluster, observed.children),
        cluster_id="",
        default_profile="upstream",
        domain=settings.dns_domain,
        customs=settings.customs,
    )
    if profile is not None:
        context = replace(context, profile=profile)
    return {
        "cluster": raw,
        "context": context.document(),
        "due": [WAREHOUSE] if cluster.kind == WAREHOUSE_KIND else list(context.components),
        "prune": [],
        "step": None,
    }


def _note(found: Mapping[str, Findings], event: Mapping[str, Any]) -> bool:
    """ansible-runner's event handler; nothing is written to disk."""
    data = event.get("event_data") or {}
    record, result = found.get(data.get("host", "")), data.get("res") or {}
    if record is None or event.get("event") not in ("runner_on_ok", "runner_on_failed"):
        return False
    if event["event"] == "runner_on_failed":
        record.problems.append(str(result.get("msg") or "no message"))
    for entry in result.get("objects") or ():
        name = f"{entry['kind']} {entry['name']}"
        if entry.get("new_pods"):
            record.replaced.append(name)
        if not entry["changed"]:
            record.unchanged.append(name)
    for difference in result.get("diff") or ():
        if isinstance(difference, Mapping) and difference.get("before_header"):
            made = not difference["before"]
            told = ("it would be made",) if made else changes(difference["before"], difference["after"])
            record.fields[difference["before_header"]] = told
    return False


def _told(cluster: StarRocksCluster, found: Findings) -> Iterable[str]:
    yield f"{cluster.kind} {cluster.namespace}/{cluster.resource_name}"
    for name, fields in found.fields.items():
        fate = "its pods would be replaced" if name in found.replaced else "no pod restarts"
        yield f"  {name}: {fate}"
        yield from (f"    {line}" for line in fields)
    if found.unchanged:
        yield f"  unchanged: {', '.join(found.unchanged)}"
    yield from (f"  problem: {problem}" for problem in found.problems)
    if found.replaced:
        yield f"  => pods of {', '.join(found.replaced)} would be replaced"
    elif not found.problems:
        yield "  => no pod would restart"


if __name__ == "__main__":
    sys.exit(main())
