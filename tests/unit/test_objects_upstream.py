"""Profile `upstream`: a full-featured cluster, object by object as the official operator makes it.

The pod templates are what matters most: a single difference would restart every pod of an adopted cluster.
"""

from __future__ import annotations

from typing import Any

from starrocks_operator.objects.metadata import APPLIED_HASH, PROFILE, TEMPLATE_HASH, TEMPLATE_SOURCE, content_hash
from tests.official import BE, CN, FE, PROPERTIES, official_objects
from tests.unit.object_samples import UID, built, cluster

KUBE = cluster(fe=FE, be=BE, cn=CN)


def without_hash(made: dict[str, Any]) -> dict[str, Any]:
    annotations = {key: value for key, value in made["metadata"]["annotations"].items() if key != APPLIED_HASH}
    metadata = {**made["metadata"], "annotations": annotations}
    if not annotations:
        del metadata["annotations"]
    return {**made, "metadata": metadata}


def test_every_object_is_as_the_official_operator_makes_it() -> None:
    made = built(KUBE, properties=PROPERTIES, cluster_id="1234567")
    marker = made.pop("ConfigMap/kube-fe-bootstrap")
    assert marker["data"] == {"cluster-id": "1234567", "owner-uid": UID}
    expected = official_objects("db", UID)
    for workload in expected:
        if workload["kind"] == "StatefulSet":  # what we note on it, and not on its pods
            noted = {PROFILE: "upstream", TEMPLATE_HASH: content_hash(workload["spec"]["template"])}
            source = made[f"StatefulSet/{workload['metadata']['name']}"]["metadata"]["annotations"][TEMPLATE_SOURCE]
            workload["metadata"]["annotations"] = {**noted, TEMPLATE_SOURCE: source}
    assert [without_hash(one) for one in made.values()] == expected


def test_the_order_inside_containers_is_the_official_one() -> None:
    """Equal dicts may differ in order; lists (env, volumes, ports) are compared in order by the test above."""
    made = built(KUBE, properties=PROPERTIES)["StatefulSet/kube-fe"]
    names = [entry["name"] for entry in made["spec"]["template"]["spec"]["containers"][0]["env"]]
    assert names == [
        "TZ",
        "MYSQL_PWD",
        "POD_NAME",
        "POD_IP",
        "HOST_IP",
        "POD_NAMESPACE",
        "HOST_TYPE",
        "COMPONENT_NAME",
        "FE_SERVICE_NAME",
        "CONFIGMAP_MOUNT_PATH",
    ]


def test_every_object_carries_the_hash_of_what_was_wanted() -> None:
    for made in built(KUBE).values():
        assert made["metadata"]["annotations"][APPLIED_HASH] == content_hash(without_hash(made))


def test_the_pod_templates_carry_nothing_of_ours() -> None:
    for made in built(KUBE).values():
        template = made.get("spec", {}).get("template", {})
        assert APPLIED_HASH not in template.get("metadata", {}).get("annotations", {})


def test_building_twice_gives_the_same() -> None:
    assert built(KUBE) == built(KUBE)
