"""The files that a real node is made from, and what is said where there can be none."""

import json
import os
import platform
import shutil
from ipaddress import ip_address, ip_network
from pathlib import Path
from types import SimpleNamespace

import pytest

from lab.controlplane.layout import HIGHEST_NUMBER, LOWEST_NUMBER, Layout
from lab.node import base, components, packages, programs, settings, volumes
from lab.node.place import Place

PLACE = Place(directory=Path("/n"), number=7)
LAYOUT = Layout(directory=PLACE.plane, name="node", number=7, address=PLACE.machine_address)


@pytest.mark.parametrize("number", [LOWEST_NUMBER, HIGHEST_NUMBER])
def test_each_node_has_addresses_of_its_own(number: int) -> None:
    place = Place(directory=Path("/n"), number=number)
    wire = ip_network(f"{place.machine_address}/30", strict=False)
    assert ip_address(place.address) in wire
    assert ip_network(place.pods).is_private
    assert ip_address(place.dns_service) in ip_network(place.services)
    assert len(place.wire) < 16, "the kernel's longest name of a device"


def test_a_node_is_found_again_from_its_control_plane() -> None:
    assert Place.of(LAYOUT) == PLACE
    assert LAYOUT.services == PLACE.services
    assert PLACE.machine_address in LAYOUT.server


def test_the_configuration_files_are_what_their_names_say() -> None:
    files = settings.files(PLACE)
    assert json.loads(files["kubelet.yaml"])["clusterDNS"] == [PLACE.dns_service]
    assert json.loads(files["kube-proxy.yaml"])["mode"] == "nftables"
    assert json.loads(files["cni/10-lab.conflist"])["plugins"][0]["ipam"]["ranges"] == [[{"subnet": PLACE.pods}]]
    assert "restrict_oom_score_adj = true" in files["containerd.toml"]
    assert f"bind {PLACE.address}" in files["Corefile"]


def test_the_api_server_says_each_thing_once() -> None:
    flags = [argument.split("=")[0] for argument in components.kube_apiserver(LAYOUT)]
    assert len(flags) == len(set(flags))
    assert "--authorization-mode=Node,RBAC" in components.kube_apiserver(LAYOUT)


def test_the_plain_lab_builds_no_program_of_the_node() -> None:
    kubernetes, dns = programs.MODULES
    assert set(kubernetes.programs) == {"kubelet", "kube-proxy"}
    assert set(dns.programs) == {"coredns", "pause"}
    assert kubernetes.version.startswith("v1.")


def test_cluster_dns_is_the_process_at_the_nodes_address() -> None:
    items = {item["kind"]: item for item in json.loads(base.objects(PLACE))["items"]}
    assert items["Service"]["spec"]["clusterIP"] == PLACE.dns_service
    assert items["EndpointSlice"]["endpoints"][0]["addresses"] == [PLACE.address]
    assert items["StorageClass"]["volumeBindingMode"] == "WaitForFirstConsumer"


def test_a_volume_is_bound_to_the_claim_it_was_made_for() -> None:
    claim = SimpleNamespace(
        metadata=SimpleNamespace(namespace="ns", name="data-0", uid="u"),
        spec=SimpleNamespace(
            access_modes=["ReadWriteOnce"],
            storage_class_name="standard",
            resources=SimpleNamespace(requests={"storage": "1Gi"}),
        ),
    )
    volume = volumes.volume_of(claim, name="pvc-u", path=Path("/n/volumes/pvc-u"))
    assert volume["spec"]["claimRef"]["uid"] == "u"
    assert volume["spec"]["local"] == {"path": "/n/volumes/pvc-u"}


@pytest.mark.parametrize(
    ("system", "user", "found", "said"),
    [
        ("Darwin", 0, "/bin/x", "needs Linux, this is Darwin"),
        ("Linux", 1000, "/bin/x", "needs root"),
        ("Linux", 0, None, "without apt-get"),
        ("Linux", 0, "/bin/x", "needs namespaces"),
        ("Linux", 0, "/bin/x", None),
    ],
)
def test_where_there_can_be_no_node_it_is_said(
    monkeypatch: pytest.MonkeyPatch, system: str, user: int, found: str | None, said: str | None
) -> None:
    monkeypatch.setattr(packages, "_may_make_namespaces", lambda: said is None)
    monkeypatch.setattr(platform, "system", lambda: system)
    monkeypatch.setattr(os, "geteuid", lambda: user)
    monkeypatch.setattr(shutil, "which", lambda program: found)
    reason = packages.impossible()
    assert reason is None if said is None else reason is not None and said in reason
