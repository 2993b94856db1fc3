"""The official operator, played: it writes its cluster's objects with plain requests, and leaves its annotations.

For the tests on the lab; and for the scenario `adopt`, which calls it as a program:

python -m tests.official_operator LAB_DIRECTORY make    a cluster of it, with what the cluster refers to
python -m tests.official_operator LAB_DIRECTORY again   its objects once more, as it writes them when it comes back
"""

from __future__ import annotations

import argparse
import json
from pathlib import Path
from typing import Any

from lab.space import Document, Space, open_space
from lab.stack import Stack
from starrocks_operator.decide import IGNORED
from tests.official import BE, CN, FE, PROPERTIES, official_objects

MANAGER = "sroperator"
HASH = "app.starrocks.components/hash"
LAST_APPLIED = "starrocks.kubernetes.operator/last-applied-configuration"
NAME = "kube"


def make(space: Space) -> list[Document]:
    """What a user of it has: the resource (which this operator is to leave alone yet), what it names, the objects."""
    for component, properties in PROPERTIES.items():
        text = "".join(f"{key} = {value}\n" for key, value in properties.items())
        space.apply(_named("ConfigMap", f"{NAME}-{component}-cm", data={f"{component}.conf": text}))
    space.apply(_named("ConfigMap", "s1", data={"note": "mounted"}))
    for name in ("root", "s2"):
        space.apply(_named("Secret", name, stringData={"password": ""}))
    space.apply(_named("ServiceAccount", "frontends"))
    cluster = _named("StarRocksCluster", NAME) | {"apiVersion": "starrocks.com/v1"}
    cluster["metadata"]["annotations"] = {IGNORED: "true"}
    cluster["spec"] = {"starRocksFeSpec": FE, "starRocksBeSpec": BE, "starRocksCnSpec": CN}
    objects = official_objects(space.namespace, space.apply(cluster)["metadata"]["uid"])
    for made in objects:
        space.write_as(MANAGER, made)
        _sign(space, made, {})
    return objects


def again(space: Space) -> list[Document]:
    """It comes back, does not find its hash, and writes everything anew."""
    objects = official_objects(space.namespace, space.get("StarRocksCluster", NAME)["metadata"]["uid"])
    for made in objects:
        _sign(space, made, {"spec": made["spec"]})
    return objects


def _sign(space: Space, made: Document, change: Document) -> None:
    signed = made["kind"] != "HorizontalPodAutoscaler"
    annotations = {HASH: "1732884", LAST_APPLIED: json.dumps(made)} if signed else {}
    change = change | {"metadata": {"annotations": annotations}}
    space.patch_as(MANAGER, made["kind"], made["metadata"]["name"], change)


def _named(kind: str, name: str, **content: Any) -> Document:
    return {"apiVersion": "v1", "kind": kind, "metadata": {"name": name}, **content}


def main() -> None:
    parser = argparse.ArgumentParser(prog="python -m tests.official_operator", description=(__doc__ or "")[:110])
    parser.add_argument("directory", type=Path, help="where the lab keeps its state")
    parser.add_argument("deed", choices=("make", "again"))
    asked = parser.parse_args()
    space = open_space(Stack.attach(asked.directory), "default")
    {"make": make, "again": again}[asked.deed](space)


if __name__ == "__main__":
    main()
