"""Which release a pod runs: its main container's, wherever that stands."""

from __future__ import annotations

import pytest

from starrocks_operator.rollout.versions import image_in

MAIN = {"name": "be", "image": "starrocks/be-ubuntu:3.5.5"}
PROXY = {"name": "proxy", "image": "example.com/proxy:1.0.0"}


@pytest.mark.parametrize("containers", [[MAIN], [MAIN, PROXY], [PROXY, MAIN]])
def test_a_sidecar_that_was_put_in_front_hides_no_release(containers: list[dict[str, str]]) -> None:
    assert image_in({"spec": {"containers": containers}}) == MAIN["image"]


@pytest.mark.parametrize("pod", [{}, {"spec": {}}, {"spec": {"containers": []}}])
def test_a_pod_without_containers_runs_nothing(pod: dict[str, object]) -> None:
    assert image_in(pod) == ""
