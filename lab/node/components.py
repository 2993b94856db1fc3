"""The parts of a control plane with a real node, and the parts of the node: command lines, in the order of starting."""

from pathlib import Path

from lab.controlplane import components as plain
from lab.controlplane.components import Component
from lab.controlplane.layout import Layout
from lab.node.place import NODE, Place

# kubeconfig of → (user, group), as pki.CLIENTS
CLIENTS: dict[str, tuple[str, str | None]] = {
    "kubelet": (f"system:node:{NODE}", "system:nodes"),
    "kube-proxy": ("system:kube-proxy", None),
    "coredns": ("lab:coredns", None),
    "volumes": ("lab:volumes", "system:masters"),
}
# Those of a plain lab, and what real endpoints and volumes need on top.
CONTROLLERS = (
    *plain.CONTROLLERS,
    "endpoints-controller",
    "endpointslice-controller",
    "endpointslice-mirroring-controller",
    "persistentvolume-attach-detach-controller",
    "persistentvolume-expander-controller",
)


def kube_apiserver(layout: Layout) -> list[str]:
    replaced = ("--endpoint-reconciler-type=", "--authorization-mode=")
    usual = [argument for argument in plain.kube_apiserver(layout) if not argument.startswith(replaced)]
    return [
        *usual,
        "--authorization-mode=Node,RBAC",
        "--kubelet-preferred-address-types=InternalIP",
        f"--kubelet-client-certificate={layout.certificates / 'admin.crt'}",
        f"--kubelet-client-key={layout.certificates / 'admin.key'}",
    ]


def kube_controller_manager(layout: Layout) -> list[str]:
    usual = [
        argument for argument in plain.kube_controller_manager(layout) if not argument.startswith("--controllers=")
    ]
    return [*usual, f"--controllers={','.join(CONTROLLERS)}"]


PLANE = (
    Component("etcd", plain.etcd),
    Component("kube-apiserver", kube_apiserver),
    Component("kube-controller-manager", kube_controller_manager),
    Component("kube-scheduler", plain.kube_scheduler),
)


def containerd(place: Place) -> list[str]:
    return ["containerd", f"--config={place.config / 'containerd.toml'}"]


def others(place: Place, programs: dict[str, Path]) -> dict[str, list[str]]:
    """What is started on the node once containerd answers and has the pods' sandbox."""
    return {
        "kubelet": [
            str(programs["kubelet"]),
            f"--config={place.config / 'kubelet.yaml'}",
            f"--kubeconfig={place.kubeconfig('kubelet')}",
            f"--root-dir={place.kubelet}",
            f"--cert-dir={place.directory / 'kubelet-pki'}",
            f"--hostname-override={NODE}",
            f"--node-ip={place.address}",
        ],
        "kube-proxy": [str(programs["kube-proxy"]), f"--config={place.config / 'kube-proxy.yaml'}"],
        "coredns": [str(programs["coredns"]), "-conf", str(place.config / "Corefile")],
    }
