"""What is dropped of a pod does not change what is thought of its volumes."""

from __future__ import annotations

from typing import Any

import pytest

from starrocks_operator.membership.lost_volume import meta_born_at
from starrocks_operator.membership.pods import Pod
from tests.unit.membership_world import at, claim, pod
from watcher.trim import trim

CLAIMS = {"fe-meta-sample-fe-0": claim("fe-meta-sample-fe-0", created=-500)}
SOURCES: dict[str, dict[str, Any]] = {
    "claim": {"persistentVolumeClaim": {"claimName": "fe-meta-sample-fe-0"}},
    "emptyDir": {"emptyDir": {}},
    "ephemeral": {"ephemeral": {"volumeClaimTemplate": {"spec": {}}}},
    "hostPath": {"hostPath": {"path": "/meta"}},
}


@pytest.mark.parametrize("root", ["/opt/starrocks", "/srv/starrocks"])
@pytest.mark.parametrize("source", [*SOURCES, "none"])
def test_the_age_of_the_metadata_is_the_same(source: str, root: str) -> None:
    raw = pod("sample-fe-0", "fe")
    container = raw["spec"]["containers"][0]
    if root != "/opt/starrocks":
        container["env"] = [{"name": "OTHER", "value": "x"}, {"name": "STARROCKS_ROOT", "value": root}]
    if source != "none":
        raw["spec"]["volumes"] = [{"name": "fe-meta", **SOURCES[source]}]
        container["volumeMounts"] = [{"name": "fe-meta", "mountPath": f"{root}/fe/meta", "readOnly": False}]
    born = meta_born_at(Pod.of(raw), CLAIMS)
    assert meta_born_at(Pod.of(trim(raw)), CLAIMS) == born
    expected = {"claim": at(-500), "hostPath": None}.get(source, at(-90000))
    assert (born and born.strftime("%Y-%m-%dT%H:%M:%SZ")) == expected
