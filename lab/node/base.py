"""What a new node gets before anybody uses it: the pods' sandbox image, cluster DNS, a storage class."""

import json
from pathlib import Path
from typing import Any

from lab.node import images, settings, volumes
from lab.node.place import Place


def load_pause(place: Place, program: Path) -> None:
    """Give containerd the image that holds a pod's namespaces, which it would else pull."""
    archive = place.directory / "pause.tar"
    images.pack(settings.PAUSE, program, archive)
    images.ctr(place, "images", "import", str(archive))
    archive.unlink()


def objects(place: Place) -> str:
    """The objects that are there before the node is."""
    return json.dumps({"apiVersion": "v1", "kind": "List", "items": [*_dns(place), *_storage()]})


def _dns(place: Place) -> list[dict[str, Any]]:
    """CoreDNS is no pod here but a process at the node's address: the Service is told so by hand."""
    meta = {"name": "kube-dns", "namespace": "kube-system"}
    ports = [{"name": "dns", "port": 53, "protocol": "UDP"}, {"name": "dns-tcp", "port": 53, "protocol": "TCP"}]
    watched = [
        {"apiGroups": [""], "resources": ["services", "namespaces"], "verbs": ["list", "watch"]},
        {"apiGroups": ["discovery.k8s.io"], "resources": ["endpointslices"], "verbs": ["list", "watch"]},
    ]
    rbac = "rbac.authorization.k8s.io"
    return [
        {
            "apiVersion": "v1",
            "kind": "Service",
            "metadata": meta,
            "spec": {"clusterIP": place.dns_service, "ports": ports},
        },
        {
            "apiVersion": "discovery.k8s.io/v1",
            "kind": "EndpointSlice",
            "metadata": {**meta, "labels": {"kubernetes.io/service-name": "kube-dns"}},
            "addressType": "IPv4",
            "endpoints": [{"addresses": [place.address], "conditions": {"ready": True}}],
            "ports": ports,
        },
        {"apiVersion": f"{rbac}/v1", "kind": "ClusterRole", "metadata": {"name": "lab:coredns"}, "rules": watched},
        {
            "apiVersion": f"{rbac}/v1",
            "kind": "ClusterRoleBinding",
            "metadata": {"name": "lab:coredns"},
            "roleRef": {"apiGroup": rbac, "kind": "ClusterRole", "name": "lab:coredns"},
            "subjects": [{"apiGroup": rbac, "kind": "User", "name": "lab:coredns"}],
        },
        {
            # what kubeadm gives it: Kubernetes has the role, but binds it to nobody
            "apiVersion": f"{rbac}/v1",
            "kind": "ClusterRoleBinding",
            "metadata": {"name": "lab:kubelet-api"},
            "roleRef": {"apiGroup": rbac, "kind": "ClusterRole", "name": "system:kubelet-api-admin"},
            "subjects": [{"apiGroup": rbac, "kind": "User", "name": "lab:admin"}],
        },
    ]


def _storage() -> list[dict[str, Any]]:
    return [
        {
            "apiVersion": "storage.k8s.io/v1",
            "kind": "StorageClass",
            "metadata": {
                "name": "standard",
                "annotations": {"storageclass.kubernetes.io/is-default-class": "true"},
            },
            "provisioner": volumes.PROVISIONER,
            "reclaimPolicy": "Delete",
            "volumeBindingMode": "WaitForFirstConsumer",
            "allowVolumeExpansion": True,
        }
    ]
