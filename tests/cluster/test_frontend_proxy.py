"""The frontend proxy comes with its spec, is watched over, and goes with its spec."""

from __future__ import annotations

from lab.space import Space
from tests.cluster.clusters import cluster

OBJECTS = (("Deployment", "one-fe-proxy"), ("ConfigMap", "one-fe-proxy"), ("Service", "one-fe-proxy-service"))


def test_the_proxy_comes_is_mended_and_goes(space: Space) -> None:
    space.apply(cluster("one", starRocksFeProxySpec={"replicas": 2, "resolver": "10.96.0.10"}))
    space.wait_ready("one")
    assert space.status("one")["starRocksFeProxyStatus"]["phase"] == "running"
    assert len(space.status("one")["starRocksFeProxyStatus"]["runningInstances"]) == 2
    space.delete("ConfigMap", "one-fe-proxy", wait=False)
    space.wait(lambda: space.find("ConfigMap", "one-fe-proxy"), "one", "to have its proxy's configuration back")
    space.patch("StarRocksCluster", "one", {"spec": {"starRocksFeProxySpec": None}})
    for kind, name in OBJECTS:
        space.wait(lambda kind=kind, name=name: not space.find(kind, name), "one", f"to be rid of {kind} {name}")
    space.wait_ready("one")
    assert "starRocksFeProxyStatus" not in space.status("one")
