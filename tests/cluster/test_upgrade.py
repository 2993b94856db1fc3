"""Rolls of whole clusters on the lab: the order, what a bad image may do, and whoever dies meanwhile.

The order is read from the API server's audit log; that no load failed and no tablet was lost, from the simulator.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator
from contextlib import contextmanager
from typing import Any

from lab.roll_order import Replacement, at_once, out_of_order
from lab.space import Document, Space
from tests.cluster.clusters import cluster
from tests.cluster.leaving import births, setting, statistic
from tests.cluster.operators import Operators

BE, CN, FE = "starRocksBeSpec", "starRocksCnSpec", "starRocksFeSpec"
KINDS = {BE: "be", CN: "cn", FE: "fe"}
SCHEDULING = "tablet_sched_max_scheduling_tablets"
CANARY, APPROVAL = "starrocks.com/canary", "starrocks.com/approve-canary"
PATIENCE = 240.0


def test_an_upgrade_goes_backends_first_and_leader_last_while_loads_come_in(space: Space) -> None:
    begin(space, be=3, cn=1)
    before = settings(space)
    counted = statistic(space, "one")["TabletNum"]
    images(space, "3.4.2", BE, CN, FE)
    space.wait_ready("one", patience=PATIENCE)
    rolled = replaced(space)
    assert out_of_order(rolled) == []
    assert [problem for kind in KINDS.values() for problem in at_once(rolled, kind)] == []
    assert pods(rolled)[:4] == ["one-be-2", "one-be-1", "one-be-0", "one-cn-0"]
    assert sorted(pods(rolled)[4:]) == ["one-fe-0", "one-fe-1", "one-fe-2"]
    assert leader_at(space, rolled[-1].stopped) == rolled[-1].pod
    assert {(each.old_image[-5:], each.new_image[-5:]) for each in rolled} == {("3.3.9", "3.4.2")}
    assert {row["Version"][:5] for row in space.show("one", "SHOW FRONTENDS")} == {"3.4.2"}
    assert settings(space) == before
    assert statistic(space, "one")["TabletNum"] == counted
    nothing_is_wrong(space)


def test_a_bad_image_stops_after_one_pod_and_the_fix_or_the_image_before_mends_it(space: Space) -> None:
    begin(space, be=3)
    for component, steady, ends in ((BE, "3.3.9", "3.3.10"), (FE, "3.3.9", "3.3.9")):
        kind, since = KINDS[component], len(replaced(space))
        images(space, "3.3.10-broken", component)
        space.wait(lambda kind=kind: stopped_by(space, kind), "one", "to say that the first pod does not start")
        rollout = space.status("one")["rollout"]
        bad = replaced(space)[since:]
        assert pods(bad) == [rollout["pod"]]
        assert rollout["done"] == rollout["total"] - len(births(space, f"one-{kind}-"))
        assert "NewGenerationAlive" in rollout["gate"]
        images(space, ends, component)
        space.wait_ready("one", patience=PATIENCE)
        mended = replaced(space)[since + 1 :]
        assert mended[0].pod == bad[0].pod, "the broken one goes first"
        others = set(births(space, f"one-{kind}-")) - {bad[0].pod}
        assert set(pods(mended[1:])) == (set() if ends == steady else others)
        assert len(mended) == (1 if ends == steady else 3)
    nothing_is_wrong(space)


def test_the_leader_of_that_moment_goes_last_when_it_moves_in_mid_roll(space: Space) -> None:
    """A backup holds the roll while its leader is deleted: it comes back as it was, and another one leads."""
    begin(space)
    former = leader(space)
    space.patch("StarRocksCluster", "one", {"spec": {FE: {"podLabels": {"round": "2"}}}})
    space.wait(lambda: len(replaced(space)) == 1, "one", "to replace a follower", pause=0.02)
    backup(space, "POST")
    space.wait(lambda: space.status("one")["rollout"].get("gate") == "NoBackup", "one", "to wait for the backup")
    first = replaced(space)[0]
    old = space.get("Pod", former)["metadata"]
    space.delete("Pod", former, wait=False)
    space.wait(lambda: space.find("Pod", former) and leader(space) not in ("", former), "one", "to have a new leader")
    space.wait(lambda: joined(space) == 3, "one", "to see its former leader again")
    again = space.get("Pod", former)["metadata"]
    assert again["uid"] != old["uid"]
    assert again["labels"]["controller-revision-hash"] == old["labels"]["controller-revision-hash"]
    backup(space, "DELETE")
    space.wait_ready("one", patience=PATIENCE)
    rolled = replaced(space)
    assert pods(rolled)[0] == first.pod
    assert sorted(pods(rolled)) == ["one-fe-0", "one-fe-1", "one-fe-2"]
    assert first.pod != former
    assert leader_at(space, rolled[1].stopped) != rolled[1].pod, "a leader went before a follower"
    assert at_once(rolled, "fe") == []
    nothing_is_wrong(space)


def test_an_operator_that_dies_between_off_and_on_is_made_good_by_the_next_one(operators: Operators) -> None:
    """Killed when FE has heard `off` and nobody has the reply; and again when it is about to say `on`."""
    space = operators.space
    operators.start("first")
    begin(space, be=3)
    tell_all(space, SCHEDULING, "5000")
    before = settings(space)
    with held_back(space, f'ADMIN SET .*"{SCHEDULING}" = "0"', afterwards=True) as halted:
        images(space, "3.4.2", BE)
        space.wait(halted, "one", "to be told not to repair tablets", pause=0.02)
        operators.kill("first")
    assert setting(space, "one", SCHEDULING) == "0"
    with held_back(space, f'ADMIN SET .*"{SCHEDULING}" = "5000"', afterwards=False) as halted:
        operators.start("second")
        space.wait(halted, "one", "to be told to repair tablets again", pause=0.02)
        operators.kill("second")
    assert replaced(space)
    operators.start("third")
    space.wait_ready("one", patience=PATIENCE)
    assert pods(replaced(space)) == ["one-be-2", "one-be-1", "one-be-0"]
    assert settings(space) == before
    nothing_is_wrong(space)
    operators.end()


def test_a_canary_waits_for_its_owner_who_approves_or_goes_back(space: Space) -> None:
    begin(space, fe=1, be=3)
    space.patch("StarRocksCluster", "one", {"metadata": {"annotations": {CANARY: "true"}}})
    images(space, "3.3.10", BE)
    space.wait(lambda: waits_for_approval(space), "one", "to stop after the canary")
    assert pods(replaced(space)) == ["one-be-2"]
    generation = space.get("StarRocksCluster", "one")["metadata"]["generation"]
    space.patch("StarRocksCluster", "one", {"metadata": {"annotations": {APPROVAL: f"be@{generation}"}}})
    space.wait_ready("one", patience=PATIENCE)
    assert pods(replaced(space)) == ["one-be-2", "one-be-1", "one-be-0"]
    images(space, "3.3.11", BE)
    space.wait(lambda: waits_for_approval(space), "one", "to stop after the second canary")
    images(space, "3.3.10", BE)
    space.wait_ready("one", patience=PATIENCE)
    assert pods(replaced(space))[3:] == ["one-be-2", "one-be-2"], "only the canary went, and went back"
    assert {row["Version"][:6] for row in space.show("one", "SHOW BACKENDS")} == {"3.3.10"}
    nothing_is_wrong(space)


# What a user does


def begin(space: Space, *, fe: int = 3, be: int = 1, cn: int | None = None) -> None:
    """A cluster with a table that is loaded all the time."""
    space.apply(cluster("one", fe=fe, be=be, cn=cn, volumes=True))
    space.wait_ready("one")
    table = {"cluster": "one", "namespace": space.namespace, "name": "orders", "written": True}
    space.simulator("POST", "/tables", {**table, "replication": min(be, 3), "tablets": 12})


def images(space: Space, tag: str, *components: str) -> None:
    spec = {each: {"image": f"starrocks/{KINDS[each]}-ubuntu:{tag}"} for each in components}
    space.patch("StarRocksCluster", "one", {"spec": spec})


def backup(space: Space, method: str) -> None:
    space.simulator(method, "/backups", {"cluster": "one", "namespace": space.namespace, "name": "snapshot"})


def tell_all(space: Space, key: str, value: str) -> None:
    """Set on every frontend, as the operator does: each has its own."""
    for pod in births(space, "one-fe-"):
        sql = f'ADMIN SET FRONTEND CONFIG ("{key}" = "{value}")'
        space.simulator("POST", "/sql", {"pod": pod, "namespace": space.namespace, "sql": sql})


@contextmanager
def held_back(space: Space, pattern: str, *, afterwards: bool) -> Iterator[Callable[[], bool]]:
    """The next statement like this is held, or its reply; yields whether it is."""
    halt = {"pattern": pattern, "number": 1, "afterwards": afterwards}
    space.simulator("POST", "/halt", {**halt, "namespace": space.namespace})
    try:
        yield lambda: bool(space.simulator("GET", "/halt")["statement"])
    finally:
        space.simulator("DELETE", "/halt")


# What is seen


def replaced(space: Space) -> list[Replacement]:
    """The steps of rolls, in order: pods that came back with another revision."""
    return [each for each in space.stack.witness.replacements(namespace=space.namespace) if each.changed]


def pods(rolled: list[Replacement]) -> list[str]:
    return [each.pod for each in rolled]


def stopped_by(space: Space, kind: str) -> bool:
    """Whether the roll waits for its first pod, and that is told as trouble."""
    rollout = space.status("one").get("rollout", {})
    degraded = space.condition("one", "Degraded")
    return bool(rollout.get("component") == kind and rollout.get("gate") and degraded.get("status") == "True")


def waits_for_approval(space: Space) -> bool:
    return space.status("one").get("rollout", {}).get("gate") == "CanaryApproved" and "CanaryWaits" in space.events(
        "one"
    )


def leader(space: Space) -> str:
    members = space.status("one").get("members", ())
    return next((str(member["name"]) for member in members if member.get("role") == "LEADER"), "")


def leader_at(space: Space, moment: float) -> str:
    """Who really led then."""
    truths = [each for each in space.stack.witness.truths(namespace=space.namespace) if each["time"] <= moment]
    told = truths[-1]
    return next(str(row["host"]).split(".")[0] for row in told["frontends"] if row["name"] == told["leader"])


def joined(space: Space) -> int:
    members = space.status("one")["members"]
    return sum(member.get("alive") is True for member in members if member["kind"] == "frontend")


def settings(space: Space) -> dict[str, Any]:
    """Every setting of each frontend."""
    names = births(space, "one-fe-")
    return {pod: _settings(space, pod) for pod in names}


def _settings(space: Space, pod: str) -> dict[str, str]:
    question = {"pod": pod, "namespace": space.namespace, "sql": "ADMIN SHOW FRONTEND CONFIG"}
    rows: list[Document] = space.simulator("POST", "/sql", question)["rows"]
    return {row["Key"]: row["Value"] for row in rows}


def nothing_is_wrong(space: Space) -> None:
    """No load was refused, nothing lost, nothing forgotten, and no pod was stopped but by whom it should be."""
    witness = space.stack.witness
    assert witness.marks(namespace=space.namespace) == []
    assert witness.unrestored(namespace=space.namespace) == []
    assert int(statistic(space, "one")["UnhealthyTabletNum"]) == 0
