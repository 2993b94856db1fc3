"""The programs of a node: built from pinned Go modules when a node is first wanted, never for the plain lab."""

from collections.abc import Callable
from dataclasses import replace
from pathlib import Path

from lab.controlplane import binaries
from lab.controlplane.binaries import Module

_KUBERNETES = next(module for module in binaries.MODULES if module.name == "kubernetes")
MODULES = (
    replace(_KUBERNETES, programs={name: f"k8s.io/kubernetes/cmd/{name}" for name in ("kubelet", "kube-proxy")}),
    Module(
        name="dns",
        requirement="github.com/coredns/coredns",
        programs={"coredns": "./coredns", "pause": "./pause"},
        sources=Path(__file__).parent / "go",
    ),
)


def ensure(report: Callable[[str], None]) -> dict[str, Path]:
    """Every program that runs on the node, by name."""
    return binaries.ensure(report, MODULES)
