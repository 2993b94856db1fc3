"""Bad input harms only itself: a clear message, no code run, nothing lost, the others go on."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import pytest

from lab.space import Space
from lab.stack import wait_for
from starrocks_operator.membership.quorum import OUTAGE_CONSENT
from tests.cluster.clusters import cluster


def degraded(space: Space, name: str, reason: str) -> str:
    """Wait until a cluster is Degraded for a reason, and return what it says."""
    space.wait(
        lambda: (
            (space.condition(name, "Degraded").get("status"), space.condition(name, "Degraded").get("reason"))
            == ("True", reason)
        ),
        name,
        f"to be Degraded: {reason}",
    )
    message: str = space.condition(name, "Degraded")["message"]
    return message


def test_jinja_in_every_string_runs_no_code(space: Space, tmp_path: Path) -> None:
    trace = tmp_path / "trace"
    spell = f"{{{{ lookup('pipe', 'touch {trace}') }}}}{{% raw %}}"
    document = cluster("one")
    frontends = document["spec"]["starRocksFeSpec"]
    frontends |= {
        "feEnvVars": [{"name": "SPELL", "value": spell}],
        "annotations": {"spell": spell},
        "command": ["/bin/bash", "-c", spell],
        "args": [spell],
        "hostAliases": [{"ip": "127.0.0.1", "hostnames": ["host"]}],
        "service": {"annotations": {"spell": spell}},
        "imagePullPolicy": "IfNotPresent",
    }
    document["metadata"]["annotations"] = {"spell": spell}
    space.apply(document)
    wait_for(lambda: space.find("StatefulSet", "one-fe"), what="the frontends' StatefulSet")
    template = space.get("StatefulSet", "one-fe")["spec"]["template"]
    container = template["spec"]["containers"][0]
    assert {"name": "SPELL", "value": spell} in container["env"]
    assert container["command"] == ["/bin/bash", "-c", spell]
    assert template["metadata"]["annotations"]["spell"] == spell
    assert space.get("Service", "one-fe-service")["metadata"]["annotations"]["spell"] == spell
    assert not trace.exists()


def test_metacharacters_reach_the_pod_as_they_are(space: Space) -> None:
    odd = "'; rm -rf / #\"$(id)`id`\n- a: {b: [c]} & *x !!python/object %TAG \\ \t ünï"
    document = cluster("one")
    document["spec"]["starRocksFeSpec"]["feEnvVars"] = [{"name": "ODD", "value": odd}]
    document["spec"]["starRocksFeSpec"]["storageVolumes"] = [
        {"name": "odd", "mountPath": "/data/a b;c$(d)'e", "storageSize": "1Gi"}
    ]
    space.apply(document)
    wait_for(lambda: space.find("StatefulSet", "one-fe"), what="the frontends' StatefulSet")
    container = space.get("StatefulSet", "one-fe")["spec"]["template"]["spec"]["containers"][0]
    assert {"name": "ODD", "value": odd} in container["env"]
    assert "/data/a b;c$(d)'e" in [mount["mountPath"] for mount in container["volumeMounts"]]


@pytest.mark.parametrize(
    ("field", "value", "reason", "name"),
    [
        ("configMapInfo", {"configMapName": "absent", "resolveKey": "fe.conf"}, "ConfigMapMissing", "absent"),
        ("secrets", [{"name": "hidden", "mountPath": "/etc/hidden"}], "SecretMissing", "hidden"),
    ],
)
def test_a_missing_reference_is_named(space: Space, field: str, value: Any, reason: str, name: str) -> None:
    document = cluster("one")
    document["spec"]["starRocksFeSpec"][field] = value
    space.apply(document)
    assert name in degraded(space, "one", reason)
    kind = "ConfigMap" if reason == "ConfigMapMissing" else "Secret"
    data = {"stringData" if kind == "Secret" else "data": {"fe.conf": "http_port = 8030"}}
    space.apply({"apiVersion": "v1", "kind": kind, "metadata": {"name": name}, **data})
    space.wait_ready("one")


def test_an_image_that_never_comes_is_named_and_the_fix_is_taken(space: Space) -> None:
    document = cluster("one", be=1)
    document["spec"]["starRocksBeSpec"]["image"] = "starrocks/be-ubuntu:never"
    space.apply(document)
    space.wait(lambda: "ImagePullBackOff" in str(space.status("one").get("waitingFor")), "one", "to name the image")
    assert space.status("one")["starRocksBeStatus"]["failedInstances"] == ["one-be-0"]
    assert not space.ready("one")


def test_a_refused_password_is_said_and_does_not_lock_anybody_out(space: Space) -> None:
    password = "correct-horse-battery"
    space.apply(cluster("one", volumes=True))
    space.wait_ready("one")
    space.show("one", f"SET PASSWORD = PASSWORD('{password}')")
    message = degraded(space, "one", "PasswordRefused")
    assert password not in message
    assert "MYSQL_PWD" in message
    space.apply(
        {"apiVersion": "v1", "kind": "Secret", "metadata": {"name": "root"}, "stringData": {"password": password}}
    )
    reference = {"secretKeyRef": {"name": "root", "key": "password"}}
    change = {"starRocksFeSpec": {"feEnvVars": [{"name": "MYSQL_PWD", "valueFrom": reference}]}}
    space.patch("StarRocksCluster", "one", {"spec": change})
    assert OUTAGE_CONSENT in degraded(space, "one", "QuorumWouldSuffer")  # the lone frontend has to restart
    generation = space.get("StarRocksCluster", "one")["metadata"]["generation"]
    space.patch("StarRocksCluster", "one", {"metadata": {"annotations": {OUTAGE_CONSENT: str(generation)}}})
    space.wait_ready("one")
    assert space.stack.witness.testify(secrets=(password,)) == []


def test_unknown_fields_are_refused_or_dropped_and_never_acted_upon(space: Space) -> None:
    document = cluster("one")
    document["spec"]["starRocksFeSpec"]["storagVolumes"] = [{"name": "typo"}]
    text = space.stack.plane.kubectl(
        "create", "--validate=false", f"--namespace={space.namespace}", "-f", "-", input=json.dumps(document)
    )
    assert "created" in text
    space.wait_ready("one")


def test_a_cluster_deleted_during_its_run_ends_quietly(space: Space) -> None:
    for number in range(5):
        space.apply(cluster(f"brief-{number}", be=1))
    for number in range(5):
        space.delete("StarRocksCluster", f"brief-{number}", wait=False)
    space.apply(cluster("lasting"))
    space.wait_ready("lasting")
    wait_for(lambda: len(space.all("StatefulSet")) == 1, what="the deleted clusters' objects to be gone")


def test_one_poisoned_cluster_leaves_the_others_alone(space: Space) -> None:
    poisoned = cluster("poisoned")
    poisoned["spec"]["starRocksFeSpec"]["nodeSelector"] = {"not a label!": "x y z"}
    space.apply(poisoned)
    space.apply(cluster("healthy"))
    space.wait_ready("healthy")
    message = degraded(space, "poisoned", "ApplyRefused")
    assert "StatefulSet" in message
    space.scale("healthy", "starRocksFeSpec", 3)
    space.wait_ready("healthy")
