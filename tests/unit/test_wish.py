"""What may change between a step's decision and its statement."""

from __future__ import annotations

from typing import Any

import pytest

from starrocks_operator.membership.named_loss import FORCE_DROP
from starrocks_operator.model import StarRocksCluster
from starrocks_operator.wish import wish_objection
from tests.unit.membership_world import manifest

NAMED = {FORCE_DROP: "sample-be-2@1"}


def cluster(**metadata: Any) -> StarRocksCluster:
    return StarRocksCluster.parse(manifest(**{"annotations": NAMED} | metadata))


def test_what_nobody_changed_is_still_wished() -> None:
    seen = cluster(annotations=NAMED | {"kubectl.kubernetes.io/restartedAt": "now"}, resourceVersion="7")
    assert wish_objection(seen, decided=cluster()) == ""


@pytest.mark.parametrize(
    ("metadata", "said"),
    [
        ({"generation": 2}, "the spec was changed meanwhile"),
        ({"uid": "uid-2"}, "the cluster is gone"),
        ({"deletionTimestamp": "2026-11-21T12:00:00Z"}, "the cluster is gone"),
        ({"annotations": {}}, "the annotations were changed meanwhile"),
        ({"annotations": NAMED | {"starrocks.com/ignored": "true"}}, "the annotations were changed meanwhile"),
    ],
)
def test_a_wish_that_was_taken_back_stops_the_step(metadata: dict[str, Any], said: str) -> None:
    assert wish_objection(cluster(**metadata), decided=cluster()) == said


def test_a_cluster_that_is_gone_wishes_nothing() -> None:
    assert wish_objection(None, decided=cluster()) == "the cluster is gone"
