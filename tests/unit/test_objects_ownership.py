"""Whose fields are whose, before and after an adoption."""

from __future__ import annotations

from typing import Any

import pytest

from starrocks_operator.objects.metadata import APPLIED_HASH
from starrocks_operator.objects.ownership import former_share, is_adopted, taken_over, with_removals, without_unwanted

LABELS = {"f:labels": {".": {}, "f:app.starrocks.ownerreference/name": {}}}


def entry(manager: str, fields: dict[str, Any], *, operation: str = "Update", subresource: str = "") -> dict[str, Any]:
    found = {"manager": manager, "operation": operation, "apiVersion": "v1", "time": "t", "fieldsV1": fields}
    return found | ({"subresource": subresource} if subresource else {})


MAKER = entry("sroperator", {"f:metadata": LABELS, "f:spec": {"f:replicas": {}}})
LATER = entry("sroperator", {"f:spec": {"f:template": {}}}) | {"apiVersion": "v2"}
STATUS = entry("sroperator", {"f:status": {}}, subresource="status")
HUMAN = entry("kubectl-edit", {"f:spec": {"f:paused": {}}})
OURS = entry("starrocks-operator", {"f:metadata": {"f:annotations": {"f:x": {}}}}, operation="Apply")


def test_what_its_maker_owned_is_ours_afterwards_and_nobody_elses() -> None:
    managed = taken_over([MAKER, LATER, STATUS, HUMAN], api_version="apps/v1")
    assert managed == [
        STATUS,
        HUMAN,
        {
            "manager": "starrocks-operator",
            "operation": "Apply",
            "apiVersion": "apps/v1",
            "time": "t",
            "fieldsType": "FieldsV1",
            "fieldsV1": {"f:metadata": LABELS, "f:spec": {"f:replicas": {}, "f:template": {}}},
        },
    ]


def test_what_we_owned_already_stays_ours() -> None:
    managed = taken_over([OURS, MAKER], api_version="v1")
    assert managed is not None
    (ours,) = managed
    assert ours["fieldsV1"]["f:metadata"] == {**LABELS, "f:annotations": {"f:x": {}}}


@pytest.mark.parametrize("managed", [[], [HUMAN], [STATUS, HUMAN], [OURS]])
def test_without_a_share_of_its_maker_nothing_is_written(managed: list[dict[str, Any]]) -> None:
    assert taken_over(managed, api_version="v1") is None
    assert former_share(managed) == {}


def test_it_is_done_once() -> None:
    first = taken_over([MAKER, HUMAN], api_version="v1")
    assert first is not None
    assert taken_over(first, api_version="v1") is None
    assert is_adopted({"metadata": {"annotations": {"app.starrocks.components/hash": "1"}}})
    assert is_adopted({"metadata": {}})
    assert not is_adopted({"metadata": {"annotations": {APPLIED_HASH: "1"}}})


SHARE = {
    "f:metadata": {"f:annotations": {".": {}, "f:old": {}, "f:kept": {}}},
    "f:spec": {
        "f:ports": {
            ".": {},
            'k:{"port":80,"protocol":"TCP"}': {".": {}, "f:port": {}, "f:name": {}},
            'k:{"port":90,"protocol":"TCP"}': {".": {}, "f:port": {}},
        },
        "f:finalizers": {'v:"theirs"': {}, 'v:"ours"': {}},
        "f:selector": {},
        "f:affinity": {".": {}, "f:nodeAffinity": {}},
    },
}
LIVE = {
    "metadata": {"annotations": {"old": "1", "kept": "2", "humans": "3"}},
    "spec": {
        "ports": [{"port": 80, "name": "http"}, {"port": 90}],
        "finalizers": ["theirs", "ours", "humans"],
        "selector": {"a": "b"},
        "affinity": {"nodeAffinity": {}},
        "clusterIP": "10.0.0.1",
    },
}
WANTED = {
    "metadata": {"annotations": {"kept": "2"}},
    "spec": {"ports": [{"port": 80, "protocol": "TCP"}], "finalizers": ["ours"], "selector": {"a": "b"}},
}


def test_what_only_its_maker_wanted_goes_and_all_else_stays() -> None:
    assert without_unwanted(LIVE, SHARE, WANTED) == {
        "metadata": {"annotations": {"kept": "2", "humans": "3"}},
        "spec": {
            "ports": [{"port": 80}],
            "finalizers": ["ours", "humans"],
            "selector": {"a": "b"},
            "clusterIP": "10.0.0.1",
        },
    }


def test_nothing_goes_when_all_is_wanted() -> None:
    assert without_unwanted(LIVE, SHARE, LIVE) == LIVE


def test_one_handler_of_a_probe_takes_the_place_of_another() -> None:
    share = {
        "f:spec": {"f:c": {'k:{"name":"fe"}': {".": {}, "f:probe": {".": {}, "f:httpGet": {".": {}, "f:port": {}}}}}}
    }
    wanted = {"spec": {"c": [{"name": "fe", "probe": {"exec": {"command": ["ready"]}}}]}}
    patch = with_removals(wanted, share)
    assert patch["spec"]["c"] == [{"name": "fe", "probe": {"exec": {"command": ["ready"]}, "httpGet": None}}]
    assert "httpGet" not in wanted["spec"]["c"][0]["probe"]  # it is still what is applied


def test_what_both_have_is_patched_as_it_is() -> None:
    wanted = {"spec": {"replicas": 3}}
    assert with_removals(wanted, {"f:spec": {".": {}, "f:replicas": {}}}) == wanted
