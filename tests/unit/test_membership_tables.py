"""The truth tables cell by cell: every standing is brought about in a whole world, and the decision is looked at."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import replace
from itertools import product
from typing import Any

import pytest

from starrocks_operator.membership import frontends
from starrocks_operator.observed import FrontendAnswer, Outcome
from starrocks_operator.step import StepKind
from tests.unit.membership_world import World, at, claim, compute_row, frontend_row, host


def test_the_table_has_every_cell() -> None:
    assert set(frontends.TABLE) == set(product(frontends.Wish, frontends.Standing))


# Frontends: what is done to sample-fe-2 of three, by its standing.


def joining(world: World) -> None:
    world.frontends[2] = frontend_row(2, joined=False, alive=False)


def dead(world: World) -> None:
    world.frontends[2] = frontend_row(2, alive=False)


def volume_lost(world: World) -> None:
    dead(world)
    world.put(claim("fe-meta-sample-fe-2", created=-60))


def observer(world: World) -> None:
    world.frontends[2] = frontend_row(2, role="OBSERVER")


def absent_pod_starting(world: World) -> None:
    del world.frontends[2]
    world.get("Pod", "sample-fe-2")["status"]["containerStatuses"][0]["state"]["running"]["startedAt"] = at(-5)


def absent_no_pod(world: World) -> None:
    del world.frontends[2]
    world.remove("Pod", "sample-fe-2")


def overdue(world: World) -> None:
    del world.frontends[2]


def nothing(world: World) -> None:
    del world


@pytest.mark.parametrize(
    ("bring_about", "kind", "wait", "finding"),
    [
        pytest.param(nothing, None, "", "", id="alive"),
        pytest.param(joining, None, "sample-fe-2 has not joined", "", id="joining"),
        pytest.param(dead, None, "sample-fe-2 is not alive", "", id="dead"),
        pytest.param(volume_lost, StepKind.DROP_FOLLOWER, "dropped and added anew", "", id="volume lost"),
        pytest.param(observer, None, "", "UnexpectedRole", id="other role"),
        pytest.param(absent_pod_starting, None, "sample-fe-2 has not joined", "", id="absent, its pod starts"),
        pytest.param(absent_no_pod, None, "its pod does not exist", "", id="absent, no pod"),
        pytest.param(overdue, StepKind.ADD_FOLLOWER, "it is being added", "", id="overdue"),
    ],
)
def test_a_wanted_frontend(
    bring_about: Callable[[World], None], kind: StepKind | None, wait: str, finding: str
) -> None:
    world = World()
    bring_about(world)
    world.look()
    decision = world.decide()
    assert (decision.step.kind if decision.step else None) == kind
    assert wait in " ".join(decision.waits)
    assert [found.reason for found in decision.findings] == ([finding] if finding else [])
    if kind:
        assert decision.step is not None
        assert decision.step.target == f"{host('sample-fe-2', 'fe')}:9010"


@pytest.mark.parametrize("alive", [True, False])
def test_a_ghost_beyond_the_replicas_is_dropped_when_it_is_dead(alive: bool) -> None:
    world = World()
    world.frontends.append(frontend_row(3, alive=alive))
    world.look()
    decision = world.decide()
    assert (decision.step is None) == alive
    if decision.step:
        assert decision.step.kind == StepKind.DROP_FOLLOWER
        assert decision.step.target.startswith("sample-fe-3.")
    assert "frontend sample-fe-3 is leaving" in " ".join(decision.waits)
    assert decision.findings == ()


def test_the_drop_names_the_very_member() -> None:
    world = World()
    volume_lost(world)
    world.look()
    step = world.decide().step
    assert step is not None
    assert dict(step.expects) == {"name": world.frontends[2].name, "alive": "false", "role": "FOLLOWER"}
    assert not step.reversible


def test_after_the_drop_it_is_added_anew() -> None:
    world = World()
    volume_lost(world)
    del world.frontends[2]
    world.look()
    step = world.decide().step
    assert step is not None
    assert step.kind == StepKind.ADD_FOLLOWER


@pytest.mark.parametrize(
    ("bring_about", "said"),
    [
        pytest.param(
            lambda world: world.frontends.__setitem__(1, frontend_row(1, alive=False)),
            "which is no majority",
            id="another one is dead",
        ),
        pytest.param(lambda world: None, "", id="all is well otherwise"),
    ],
)
def test_a_lost_volume_is_replaced_only_if_the_quorum_allows(bring_about: Callable[[World], None], said: str) -> None:
    world = World()
    volume_lost(world)
    bring_about(world)
    world.look()
    decision = world.decide()
    if said:
        assert decision.step is None
        assert [found.reason for found in decision.findings] == ["FrontendVolumeLost"]
        assert said in decision.findings[0].message
        assert said in " ".join(decision.waits)
    else:
        assert decision.step is not None


def test_one_view_that_differs_is_enough_to_wait() -> None:
    world = World()
    volume_lost(world)
    world.look()
    assert world.view is not None
    sees_it_alive = (*world.frontends[:2], frontend_row(2))
    answers = (
        world.view.answers[0],
        FrontendAnswer(pod="sample-fe-1", outcome=Outcome.ANSWERED, rows=sees_it_alive),
    )
    world.view = replace(world.view, answers=answers)
    decision = world.decide()
    assert decision.step is None
    assert "sample-fe-1 still sees it alive" in decision.findings[0].message


@pytest.mark.parametrize(("created", "lost"), [(-90000, False), (-86400 + 4, False), (-86400 + 6, True), (-60, True)])
def test_a_volume_is_lost_if_it_is_younger_than_the_membership(created: float, lost: bool) -> None:
    world = World()
    dead(world)
    world.put(claim("fe-meta-sample-fe-2", created=created))
    world.look()
    assert (world.decide().step is not None) == lost


def test_metadata_in_an_emptydir_is_as_old_as_the_pod() -> None:
    world = World()
    del world.raw["spec"]["starRocksFeSpec"]["storageVolumes"]
    world.raw["metadata"]["uid"] = "uid-empty-dir"
    world.objects = {key: raw for key, raw in world.objects.items() if key[0] in ("Pod", "PersistentVolumeClaim")}
    world.settle()
    dead(world)
    world.look()
    assert world.decide().step is None
    world.get("Pod", "sample-fe-2")["metadata"]["creationTimestamp"] = at(-60)
    assert world.decide().step is not None


def test_only_one_frontend_is_added_at_a_time() -> None:
    world = World(fe=5)
    world.frontends[3] = frontend_row(3, joined=False, alive=False)
    del world.frontends[4]
    world.look()
    decision = world.decide()
    assert decision.step is None
    assert "frontend sample-fe-4 is added when sample-fe-3 has joined" in decision.waits


def test_nobody_is_overdue_before_the_founding_is_recorded() -> None:
    world = World()
    overdue(world)
    del world.backends[1]
    del world.raw["status"]["bootstrap"]
    world.look()
    assert world.decide().step is None
    world.raw["status"]["bootstrap"] = {"clusterId": "1206449193", "at": at(-10)}
    assert world.decide().step is None
    world.raw["status"]["bootstrap"]["at"] = at(-16)
    assert world.decide().step is not None


def test_the_cluster_domain_is_the_one_that_fe_uses() -> None:
    world = World()
    overdue(world)
    world.frontends = [
        replace(row, host=row.host.replace("cluster.local", "k8s.example.org")) for row in world.frontends
    ]
    world.look()
    step = world.decide().step
    assert step is not None
    assert step.target == "sample-fe-2.sample-fe-search.default.svc.k8s.example.org:9010"


# Backends and compute nodes: what is done to the one with ordinal 0.


@pytest.mark.parametrize("component", ["be", "cn"])
@pytest.mark.parametrize(
    ("changes", "pod", "kind", "wait", "finding"),
    [
        pytest.param({}, True, None, "", "", id="alive"),
        pytest.param({"alive": False, "last_start_time": ""}, True, None, "has not joined", "", id="joining"),
        pytest.param({"alive": False}, True, None, "is not alive", "", id="dead"),
        pytest.param({"alive": False}, False, None, "its pod does not exist", "", id="gone"),
        pytest.param({"decommissioned": True}, True, None, "", "ForeignDecommission", id="decommissioned"),
        pytest.param(None, True, "Add", "it is being added", "", id="overdue"),
        pytest.param(None, False, None, "its pod does not exist", "", id="absent"),
    ],
)
def test_a_wanted_node(
    component: str, changes: dict[str, Any] | None, pod: bool, kind: str | None, wait: str, finding: str
) -> None:
    world = World()
    rows = world.backends if component == "be" else world.compute_nodes
    rows[0:1] = [] if changes is None else [replace(rows[0], **changes)]
    if not pod:
        world.remove("Pod", f"sample-{component}-0")
    world.look()
    decision = world.decide()
    added = {"be": StepKind.ADD_BACKEND, "cn": StepKind.ADD_COMPUTE_NODE}[component] if kind else None
    assert (decision.step.kind if decision.step else None) == added
    assert wait in " ".join(decision.waits)
    assert bool(wait) == bool(decision.waits)
    assert [found.reason for found in decision.findings] == ([finding] if finding else [])


def test_ghosts_go_from_the_highest_ordinal_down() -> None:
    world = World()
    world.compute_nodes += [compute_row(ordinal, "cn", alive=False) for ordinal in (2, 10, 9)]
    world.look()
    step = world.decide().step
    assert step is not None
    assert step.target.startswith("sample-cn-10.")


@pytest.mark.parametrize(
    "where",
    [
        host("sample-b-cn-5", "cn", cluster="sample-b"),
        "10.1.2.3",
        "sample-cn-5.sample-cn-search.other.svc.cluster.local",
        "vm-5.example.org",
    ],
)
def test_nodes_of_others_are_never_touched(where: str) -> None:
    world = World()
    world.compute_nodes.append(compute_row(5, "cn", alive=False, host=where))
    world.backends.append(compute_row(5, "be", alive=False, host=where.replace("-cn", "-be")))
    world.look()
    decision = world.decide()
    assert decision.step is None
    assert decision.waits == ()
    assert decision.findings == ()


def test_a_backend_known_by_its_address_is_not_registered_twice() -> None:
    world = World()
    address = world.get("Pod", "sample-be-0")["status"]["podIP"]
    world.backends[0] = replace(world.backends[0], host=address)
    world.look()
    assert world.decide().step is None


def test_frontends_go_before_backends_before_compute_nodes() -> None:
    world = World()
    del world.frontends[2], world.backends[1], world.compute_nodes[0]
    world.look()
    kinds = []
    restores: list[Callable[[], object]] = [
        lambda: world.frontends.append(frontend_row(2)),
        lambda: world.backends.append(compute_row(1, "be")),
        lambda: None,
    ]
    for restore in restores:
        step = world.decide().step
        assert step is not None
        kinds.append(step.kind)
        restore()
        world.look()
    assert kinds == [StepKind.ADD_FOLLOWER, StepKind.ADD_BACKEND, StepKind.ADD_COMPUTE_NODE]
