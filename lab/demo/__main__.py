"""`python -m lab.demo`: from nothing to a StarRocks cluster that lives, shown while it happens.

With --kubeconfig it uses a cluster of yours instead of the lab: CRDs, policies, operator and sample, but no simulator,
so the pods run what their images say. Exit status 0 when the cluster runs.
"""

from __future__ import annotations

import argparse
import sys
from collections.abc import Iterator
from pathlib import Path

import yaml
from rich.console import Console

from lab.controlplane import LabError
from lab.demo.finale import frontends_say, next_steps, objects_made
from lab.demo.scene import COMPONENTS, Scene, scene
from lab.demo.stage import Stage
from lab.question import leader_address
from lab.space import Space, open_space
from lab.stack import ROOT, Stack, wait_for

MADE = ("StatefulSet", "Service", "ConfigMap", "HorizontalPodAutoscaler", "PodDisruptionBudget")
OWNER_LABEL = "app.starrocks.ownerreference/name"


def look(space: Space, name: str) -> Scene:
    """One look at a cluster through the API, as a person with kubectl would take it."""
    cluster = space.get("StarRocksCluster", name)
    workloads = {f"{name}-{component}" for component in COMPONENTS}
    pods = [pod for pod in space.all("Pod") if pod["metadata"].get("labels", {}).get(OWNER_LABEL) in workloads]
    return scene(cluster, pods, frozenset(made(space, cluster["metadata"]["uid"])))


def made(space: Space, uid: str) -> Iterator[str]:
    """What the cluster with this uid owns, as "Kind name"."""
    for kind in MADE:
        for item in space.all(kind):
            if any(owner["uid"] == uid for owner in item["metadata"].get("ownerReferences", ())):
                yield f"{kind} {item['metadata']['name']}"


def arguments() -> argparse.Namespace:
    parser = argparse.ArgumentParser(prog="python -m lab.demo", description=__doc__.splitlines()[0])
    parser.add_argument("--directory", type=Path, default=ROOT / ".lab" / "demo", help="where the lab keeps its state")
    parser.add_argument("--sample", type=Path, default=ROOT / "crds" / "samples" / "demo.yaml")
    parser.add_argument("--speed", type=float, default=5.0, help="the simulator's clock, as a multiple of real time")
    parser.add_argument("--patience", type=float, default=180.0, help="seconds to wait for the cluster to run")
    parser.add_argument("--kubeconfig", type=Path, help="use this cluster instead of the lab")
    parser.add_argument("--down", action="store_true", help="stop the lab")
    return parser.parse_args()


def on_given_cluster(console: Console, options: argparse.Namespace) -> None:
    """The same on a cluster that was named. The operator runs here, and ends with the demo."""
    stack = Stack.on(options.kubeconfig, ROOT / ".lab" / "given")
    stack.operate(kubeconfig=options.kubeconfig)
    try:
        perform(console, stack, options.sample, options.patience)
    finally:
        stack.end("operator")
        console.print(
            "The operator that ran here is stopped; what it made stays. `make run KUBECONFIG=…` runs it again."
        )


def perform(console: Console, stack: Stack, sample: Path, patience: float) -> None:
    """Apply the sample and show what happens until it runs."""
    document = yaml.safe_load(sample.read_text())
    name = document["metadata"]["name"]
    space = open_space(stack, "default")
    console.print(f"[bold]kubectl apply -f {sample.relative_to(ROOT) if sample.is_relative_to(ROOT) else sample}[/]")
    with Stage(console, title=f"StarRocksCluster {name}") as stage:
        stack.plane.kubectl("apply", "-f", str(sample))

        def finished() -> bool:
            stack.check()
            now = look(space, name)
            stage.show(now)
            return now.finished

        wait_for(finished, what=f"StarRocksCluster {name} to run: see `kubectl describe src {name}`", patience=patience)
        console.print(f"[bold green]{name} runs after {stage.elapsed:.1f} s[/]")
    frontends_say(console, leader_address(stack.plane, "default", name))
    objects_made(console, sorted(look(space, name).objects))
    if stack.control_port:  # it is the lab, with its simulator
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
        if options.kubeconfig:
            on_given_cluster(console, options)
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
