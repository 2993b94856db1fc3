"""`python -m lab.demo`: from nothing to a StarRocks cluster that lives, shown while it happens.

With --kubeconfig it uses a cluster of yours instead of the lab: CRDs, policies, operator and sample, but no simulator,
so the pods run what their images say. Exit status 0 when the cluster runs.
"""

from __future__ import annotations

import argparse
import sys
from pathlib import Path
from typing import Any

import yaml
from kubernetes import client, config
from rich.console import Console

from lab.controlplane import LabError
from lab.demo.finale import frontends_say, next_steps, objects_made
from lab.demo.scene import Scene, scene
from lab.demo.stage import Stage
from lab.stack import ROOT, Stack, wait_for

LISTED = {
    "StatefulSet": ("apis/apps/v1", "statefulsets"),
    "Service": ("api/v1", "services"),
    "ConfigMap": ("api/v1", "configmaps"),
    "HorizontalPodAutoscaler": ("apis/autoscaling/v2", "horizontalpodautoscalers"),
    "PodDisruptionBudget": ("apis/policy/v1", "poddisruptionbudgets"),
}
OWNER_LABEL = "app.starrocks.ownerreference/name"


class Audience:
    """Looks at one StarRocksCluster through the API, as a person with kubectl would."""

    def __init__(self, api: client.ApiClient, namespace: str, name: str) -> None:
        self._api = api
        self._namespace = namespace
        self._name = name

    def look(self) -> Scene:
        cluster = self._get(f"apis/starrocks.com/v1/namespaces/{self._namespace}/starrocksclusters/{self._name}")
        pods = self._get(f"api/v1/namespaces/{self._namespace}/pods?labelSelector={OWNER_LABEL}")["items"]
        prefix = tuple(f"{self._name}-{component}" for component in ("fe", "be", "cn"))
        ours = [pod for pod in pods if pod["metadata"]["labels"][OWNER_LABEL] in prefix]
        return scene(cluster, ours, frozenset(self._objects(cluster["metadata"]["uid"])))

    def leader_address(self) -> str:
        leader = next(member.pod for member in self.look().members.values() if member.role == "LEADER")
        pod = self._get(f"api/v1/namespaces/{self._namespace}/pods/{leader}")
        return str(pod["status"]["podIP"])

    def _objects(self, uid: str) -> list[str]:
        found = []
        for kind, (group, plural) in LISTED.items():
            listed = self._get(f"{group}/namespaces/{self._namespace}/{plural}?labelSelector={OWNER_LABEL}")["items"]
            for item in listed:
                owners = item["metadata"].get("ownerReferences", ())
                if any(owner["uid"] == uid for owner in owners):
                    found.append(f"{kind} {item['metadata']['name']}")
        return found

    def _get(self, path: str) -> Any:
        path, _, query = path.partition("?")
        parameters = [tuple(query.split("=", 1))] if query else []
        return self._api.call_api(
            f"/{path}",
            "GET",
            query_params=parameters,
            response_type="object",
            auth_settings=["BearerToken"],
            _return_http_data_only=True,
        )


def arguments() -> argparse.Namespace:
    parser = argparse.ArgumentParser(prog="python -m lab.demo", description=__doc__.splitlines()[0])
    parser.add_argument("--directory", type=Path, default=ROOT / ".lab" / "demo", help="where the lab keeps its state")
    parser.add_argument("--sample", type=Path, default=ROOT / "crds" / "samples" / "demo.yaml")
    parser.add_argument("--speed", type=float, default=5.0, help="the simulator's clock, as a multiple of real time")
    parser.add_argument("--patience", type=float, default=180.0, help="seconds to wait for the cluster to run")
    parser.add_argument("--kubeconfig", type=Path, help="use this cluster instead of the lab")
    parser.add_argument("--down", action="store_true", help="stop the lab")
    return parser.parse_args()


def perform(console: Console, stack: Stack, sample: Path, patience: float) -> None:
    """Apply the sample and show what happens until it runs."""
    document = yaml.safe_load(sample.read_text())
    name = document["metadata"]["name"]
    audience = Audience(config.new_client_from_config(str(stack.plane.kubeconfig)), "default", name)
    console.print(f"[bold]kubectl apply -f {sample.relative_to(ROOT) if sample.is_relative_to(ROOT) else sample}[/]")
    with Stage(console, title=f"StarRocksCluster {name}") as stage:
        stack.plane.kubectl("apply", "-f", str(sample))

        def finished() -> bool:
            stack.check()
            now = audience.look()
            stage.show(now)
            return now.finished

        wait_for(finished, what=f"StarRocksCluster {name} to run: see `kubectl describe src {name}`", patience=patience)
        console.print(f"[bold green]{name} runs after {stage.elapsed:.1f} s[/]")
    frontends_say(console, audience.leader_address())
    objects_made(console, sorted(audience.look().objects))
    next_steps(
        console,
        kubeconfig=stack.plane.kubeconfig,
        kubectl=stack.plane.kubectl_program,
        name=name,
        control_port=stack.control_port,
    )


def main() -> int:
    options = arguments()
    console = Console()
    try:
        if options.down:
            Stack.attach(options.directory).stop()
            console.print("The lab is stopped.")
            return 0
        stack = Stack.start(options.directory, name="demo", report=lambda line: console.print(line, style="dim"))
        stack.simulate(speed=options.speed)
        stack.operate()
        perform(console, stack, options.sample, options.patience)
    except LabError as error:
        console.print(f"[bold red]{error}[/]", highlight=False)
        return 1
    return 0


if __name__ == "__main__":
    sys.exit(main())
