"""Manifests on the lab's API server: asked about, applied, and seen to run as far as pods that are played can."""

from __future__ import annotations

import json
import subprocess
from collections.abc import Iterable, Mapping
from typing import Any

from install.identity import NAME
from lab.controlplane import binaries
from lab.controlplane.plane import ControlPlane

Json = dict[str, Any]


def as_list(items: Iterable[Mapping[str, Any]]) -> str:
    return json.dumps({"apiVersion": "v1", "kind": "List", "items": list(items)})


def apply(plane: ControlPlane, items: Iterable[Mapping[str, Any]], *arguments: str) -> None:
    plane.kubectl("apply", "--server-side", "--force-conflicts", *arguments, "-f", "-", input=as_list(items))


def make_namespace(plane: ControlPlane, name: str, *, enforce: str = "privileged") -> str:
    """A namespace with that level of Pod Security."""
    metadata = {"name": name, "labels": {"pod-security.kubernetes.io/enforce": enforce}}
    apply(plane, [{"apiVersion": "v1", "kind": "Namespace", "metadata": metadata}])
    return name


def wait_available(plane: ControlPlane, namespace: str, name: str = NAME) -> None:
    """Until the Deployment's pods are made, admitted and Ready, as pods are here."""
    wanted = "--for=condition=Available"
    plane.kubectl("wait", f"deployment/{name}", f"--namespace={namespace}", wanted, "--timeout=60s")


def remove(plane: ControlPlane, items: Iterable[Mapping[str, Any]]) -> None:
    """All of them but the CRDs, which the rest of the lab lives on."""
    gone = [item for item in items if item["kind"] != "CustomResourceDefinition"]
    plane.kubectl("delete", "--ignore-not-found", "--wait=false", "-f", "-", input=as_list(gone))


def install_olm_kinds(plane: ControlPlane) -> None:
    """OLM's own kinds, without OLM: the API server then knows what a ClusterServiceVersion may say."""
    program = binaries.ensure(print, (binaries.VALIDATORS,))["bundle-validate"]
    lines = subprocess.run([program, "--crds"], capture_output=True, text=True, check=True).stdout.splitlines()
    crds = [json.loads(line) for line in lines]
    apply(plane, crds)
    names = [f"crd/{crd['metadata']['name']}" for crd in crds]
    plane.kubectl("wait", "--for=condition=Established", "--timeout=60s", *names)
