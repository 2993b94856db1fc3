"""TLS from the operator to frontends on the lab: verified by name, and refused when the authority is another."""

from __future__ import annotations

import base64
from typing import Any

from lab.certificates import Authority
from lab.space import Space
from tests.cluster.clusters import cluster

STORE_PASSWORD = "changeit"
CONF = f"""ssl_keystore_location = /opt/starrocks/fe/keystore/fe.p12
ssl_keystore_password = {STORE_PASSWORD}
ssl_key_password = {STORE_PASSWORD}
ssl_force_secure_transport = true
"""


def encrypted(space: Space, authority: Authority, **annotations: str) -> dict[str, Any]:
    """A cluster that is spoken to over TLS or not at all, with everything that it refers to."""
    host = f"*.one-fe-search.{space.namespace}.svc.cluster.local"
    store = base64.b64encode(authority.keystore([host], STORE_PASSWORD)).decode()
    space.apply({"apiVersion": "v1", "kind": "Secret", "metadata": {"name": "keystore"}, "data": {"fe.p12": store}})
    for kind, name, data in (
        ("ConfigMap", "fe-conf", {"fe.conf": CONF}),
        ("ConfigMap", "ca", {"ca.crt": authority.pem}),
    ):
        space.apply({"apiVersion": "v1", "kind": kind, "metadata": {"name": name}, "data": data})
    document = cluster(be=1)
    document["metadata"]["annotations"] = {
        f"starrocks.com/fe-ssl-{name}": word for name, word in ({"ca": "configmap/ca"} | annotations).items()
    }
    document["spec"]["starRocksFeSpec"] |= {
        "configMapInfo": {"configMapName": "fe-conf", "resolveKey": "fe.conf"},
        "secrets": [{"name": "keystore", "mountPath": "/opt/starrocks/fe/keystore"}],
    }
    return document


def test_frontends_are_asked_over_tls_and_only_if_they_are_who_they_say(space: Space) -> None:
    space.apply(encrypted(space, Authority.make("theirs"), mode="VERIFY_IDENTITY"))
    space.wait_ready("one", patience=240)
    other = Authority.make("somebody else's")
    space.apply({"apiVersion": "v1", "kind": "ConfigMap", "metadata": {"name": "ca"}, "data": {"ca.crt": other.pem}})
    space.wait(lambda: "TlsRefused" in space.reasons("one"), "one", "to say that it trusts nobody", patience=240)
    assert "its certificate does not pass" in space.condition("one", "Degraded")["message"]
    space.patch("StarRocksCluster", "one", {"metadata": {"annotations": {"starrocks.com/fe-ssl-mode": "DISABLED"}}})
    space.wait(
        lambda: "it demands TLS" in space.condition("one", "Degraded").get("message", ""),
        "one",
        "to say so",
        patience=240,
    )
    space.patch("StarRocksCluster", "one", {"metadata": {"annotations": {"starrocks.com/fe-ssl-mode": "REQUIRED"}}})
    space.wait_ready("one", patience=240)
