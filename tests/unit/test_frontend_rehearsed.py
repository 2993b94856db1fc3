"""Frontends scaled in and out on the virtual clock, with Kubernetes and FE played, and the invariants watched.

Every change of an object and every statement goes by `lab.rehearsal`'s watch; a broken invariant ends the test.
"""

from __future__ import annotations

import random
from collections.abc import Callable

import pytest

from lab.rehearsal import Rehearsal
from lab.simulator.model.rows import FrontendRow

NAME = "sample"


def rehearsal(fe: int, *, seed: int = 0, leader: int | None = None) -> Rehearsal:
    """A settled cluster; with `leader`, one that this ordinal leads."""
    for attempt in range(40):
        made = Rehearsal(fe=fe, be=1, cn=0, seed=seed * 1000 + attempt)
        made.until_settled()
        if leader is None or move_leader(made, leader):
            return made
    raise AssertionError(f"frontend {leader} never led")


def move_leader(made: Rehearsal, leader: int) -> bool:
    """Let whoever leads crash until this one does."""
    for _ in range(12):
        if made.stage.leader(NAME) == f"{NAME}-fe-{leader}":
            made.until_settled()
            return True
        made.stage.fault(made.stage.leader(NAME), "crash")
        made.let(60)
        made.until_settled()
    return False


def finish(made: Rehearsal) -> None:
    """As wished, even after the last heartbeats have told their news, and quiet from then on."""
    made.until_settled()
    made.let(60)
    made.until_settled()
    made.assert_whole()
    made.assert_quiet(seconds=120)


def members(made: Rehearsal) -> list[str]:
    return sorted(row.host.split(".")[0] for row in made.stage.database(NAME).state.frontends)


def steps(made: Rehearsal) -> list[str]:
    """The steps that were taken, without those found stale."""
    return [step.removesuffix(": done") for step in made.steps if step.endswith(": done")]


def claim(made: Rehearsal, ordinal: int) -> str:
    found = made.kubernetes.get("PersistentVolumeClaim", f"fe-meta-{NAME}-fe-{ordinal}")
    return str(found["metadata"]["uid"]) if found else ""


@pytest.mark.parametrize("leader", range(5))
def test_five_to_three_whoever_leads(leader: int) -> None:
    made = rehearsal(5, leader=leader)
    made.wish(fe=3)
    finish(made)
    taken = [step for step in steps(made) if not step.startswith("DeletePod")]
    assert taken[:2] == ["ShrinkStatefulSet sample-fe", "DropFollower sample-fe-4"]
    assert sorted(taken[2:]) == ["DropFollower sample-fe-3", "ShrinkStatefulSet sample-fe"]
    assert claim(made, 3)
    assert claim(made, 4), "volumes stay"


@pytest.mark.parametrize(("fe", "leader"), [(4, 3), (5, 3), (5, 4)])
def test_there_is_always_one_to_spare(fe: int, leader: int) -> None:
    """Whoever leads: before a frontend goes from four, another one leads, so that it can be dropped."""
    made = rehearsal(fe, leader=leader)
    made.let(400)
    made.wish(fe=3)
    database, least = made.stage.database(NAME), 9

    def spare() -> int:
        return len(database.live_electable()) - len(database.electable()) // 2 - 1

    def done() -> bool:
        nonlocal least
        least = min(least, spare())
        return made.settled

    made.let(1)
    made.until(done, "three")
    finish(made)
    handed_over = [step for step in steps(made) if step.startswith("DeletePod")]
    assert len(handed_over) <= 2
    assert least >= (1 if not handed_over and fe == 5 else 0), made.story()


@pytest.mark.parametrize("wished", [5, 3])
def test_seven_leave_one_at_a_time(wished: int) -> None:
    made = rehearsal(7)
    fewest, was = 7, set(members(made))

    def one_by_one() -> bool:
        nonlocal fewest, was
        now = set(members(made))
        assert len(was - now) <= 1
        fewest, was = min(fewest, len(now)), now
        return made.settled

    made.wish(fe=wished)
    made.let(1)
    made.until(one_by_one, "seven to become fewer")
    finish(made)
    assert fewest == wished


def test_to_one_is_refused_and_nothing_is_touched() -> None:
    made = rehearsal(3)
    made.wish(fe=1)
    made.let(300)
    assert members(made) == [f"{NAME}-fe-{ordinal}" for ordinal in range(3)]
    assert made.condition("Ready")["reason"] == "ScaleInRefused"
    assert steps(made) == []
    made.wish(fe=3)
    finish(made)
    assert steps(made) == []


def test_to_two_is_done_with_consent_and_warned_of() -> None:
    made = rehearsal(3)
    made.wish(fe=2)
    made.let(120)
    assert steps(made) == []
    assert made.condition("Ready")["reason"] == "ScaleInRefused"
    made.annotate(accept_frontend_outage_at_generation=str(made.raw["metadata"]["generation"]))
    finish(made)
    assert made.condition("QuorumSafe")["status"] == "False"


def test_a_frontend_dies_during_anothers_removal() -> None:
    """The one that is on its way is forgotten, and then everything waits for the dead one."""
    made = rehearsal(5)
    made.wish(fe=3)
    made.until(lambda: "ShrinkStatefulSet sample-fe" in steps(made), "the first pod to go")
    victim = next(f"{NAME}-fe-{o}" for o in range(3) if made.stage.leader(NAME) != f"{NAME}-fe-{o}")
    made.stage.fault(victim, "kill")
    made.let(300)
    assert members(made) == [f"{NAME}-fe-{ordinal}" for ordinal in range(4)]
    assert made.condition("Ready")["status"] == "False"
    assert any(victim in wait for wait in made.raw["status"]["waitingFor"])
    made.stage.fault(victim, "resume")
    finish(made)


def test_the_leaving_one_dies_before_its_turn() -> None:
    made = rehearsal(5, leader=0)
    made.stage.fault(f"{NAME}-fe-3", "kill")
    made.let(40)
    made.wish(fe=3)
    finish(made)
    assert steps(made)[0] == "DropFollower sample-fe-3"


def test_a_dead_one_that_is_dropped_in_its_place_and_wanted_again() -> None:
    made = rehearsal(5, leader=0)
    old = claim(made, 3)
    made.stage.fault(f"{NAME}-fe-3", "kill")
    made.let(40)
    made.wish(fe=3)
    made.until(lambda: "DropFollower sample-fe-3" in steps(made), "the dead one to be dropped")
    made.wish(fe=5)
    made.stage.fault(f"{NAME}-fe-3", "resume")
    finish(made)
    assert claim(made, 3) != old
    assert claim(made, 4)


def test_the_wish_comes_back_after_the_shrink_and_before_the_drop() -> None:
    made = rehearsal(5)
    before = made.stage.database(NAME).state.frontends
    volume = claim(made, 4)
    made.wish(fe=3)
    made.until(lambda: "ShrinkStatefulSet sample-fe" in steps(made), "the first pod to go")
    made.wish(fe=5)
    finish(made)
    assert {row.name for row in made.stage.database(NAME).state.frontends} == {row.name for row in before}
    assert claim(made, 4) == volume, "as if never asked"


def test_the_wish_comes_back_after_the_drop_and_before_the_shrink() -> None:
    """What was dropped cannot be taken back: it joins anew, with nothing on its volume."""
    made = rehearsal(4, leader=0)
    volume = claim(made, 3)
    made.wish(fe=3)
    while not steps(made):
        made.let(0.5)
    assert steps(made) == ["DropFollower sample-fe-3"]
    made.wish(fe=4)
    finish(made)
    assert claim(made, 3) != volume


@pytest.mark.parametrize("back", [4, 5, 7])
@pytest.mark.parametrize("after", range(1, 60, 10))
def test_the_wish_comes_back_at_any_moment(after: int, back: int) -> None:
    made = rehearsal(5, seed=after)
    made.wish(fe=3)
    made.let(after)
    made.wish(fe=back)
    finish(made)
    assert len(members(made)) == back


def test_a_dropped_ordinal_joins_anew() -> None:
    made = rehearsal(5)
    volumes = [claim(made, ordinal) for ordinal in range(5)]
    names = {row.name for row in made.stage.database(NAME).state.frontends}
    made.wish(fe=3)
    finish(made)
    made.wish(fe=5)
    finish(made)
    now = [claim(made, ordinal) for ordinal in range(5)]
    assert now[:3] == volumes[:3]
    assert set(now[3:]).isdisjoint(volumes)
    assert len(names & {row.name for row in made.stage.database(NAME).state.frontends}) == 3
    assert len(made.stage.world.databases) == 1


def lose_volume(made: Rehearsal) -> None:
    made.lose_volume("fe", 3)


def crash(made: Rehearsal) -> None:
    made.stage.fault(f"{NAME}-fe-3", "crash")


def new_operator(made: Rehearsal) -> None:
    made.add_operator("operator")


@pytest.mark.parametrize("trouble", [lose_volume, crash, new_operator])
@pytest.mark.parametrize("after", [0.5, 4.0])
def test_trouble_with_one_that_leaves(trouble: Callable[[Rehearsal], None], after: float) -> None:
    made = rehearsal(5)
    made.wish(fe=3)
    made.let(after)
    trouble(made)
    finish(made)


@pytest.mark.parametrize("seed", range(8))
def test_random_wishes_and_crashes(seed: int) -> None:
    chance = random.Random(seed)
    made = Rehearsal(fe=chance.choice([3, 4, 5, 7]), be=1, cn=0, seed=seed)
    made.until_settled()
    for _ in range(8):
        if chance.random() < 0.6:
            made.wish(fe=chance.randint(2, 7))
        else:
            made.stage.fault(chance.choice(sorted(made.stage.followers(NAME))), "crash")
        made.let(chance.choice([1, 3, 8, 20, 50]))
    made.let(60)
    if made.wished("fe") == 2 and len(members(made)) > 2:
        made.annotate(accept_frontend_outage_at_generation=str(made.raw["metadata"]["generation"]))
    finish(made)


@pytest.mark.parametrize("leader", [0, 4])
def test_a_new_image_and_fewer_frontends_in_one_edit(leader: int) -> None:
    """Kubernetes replaces the pods first; none leaves while one of them may be missing."""
    made = rehearsal(5, leader=leader)
    made.edit("fe", replicas=3, image="starrocks/fe-ubuntu:3.3.10")
    fewest = 9

    def done() -> bool:
        nonlocal fewest
        database = made.stage.database(NAME)
        fewest = min(fewest, len(database.live_electable()) - len(database.electable()) // 2 - 1)
        return made.settled

    made.let(1)
    made.until(done, "three of the new image")
    finish(made)
    assert fewest >= 0, made.story()
    images = {raw["spec"]["containers"][0]["image"] for raw in made.kubernetes.objects.values() if raw["kind"] == "Pod"}
    assert "starrocks/fe-ubuntu:3.3.10" in images
    assert "starrocks/fe-ubuntu:3.3.9" not in images


def test_a_bad_image_and_fewer_frontends_in_one_edit() -> None:
    """What cannot be applied holds the scale-in, too, and says so; put right, both are done."""
    made = rehearsal(4)
    volumes = made.raw["spec"]["starRocksFeSpec"]["storageVolumes"]
    made.edit("fe", replicas=3, storageVolumes=[{**volumes[0], "name": "other"}])
    made.let(120)
    assert steps(made) == []
    assert made.condition("Degraded")["reason"] == "VolumeChangeNotSupported"
    assert any("it is held" in wait for wait in made.raw["status"]["waitingFor"])
    made.edit("fe", storageVolumes=volumes)
    finish(made)


@pytest.mark.parametrize("fe", [1, 3])
def test_new_frontends_join_one_after_the_other(fe: int) -> None:
    made, joining = rehearsal(fe), [0]
    made.stage.world.on_truth = lambda database: joining.append(len(database.joining))
    made.wish(fe=fe + 2)
    finish(made)
    assert max(joining) == 1


def test_one_that_never_joins_does_not_keep_others_out() -> None:
    made = rehearsal(3)
    made.wish(fe=5)
    made.until(lambda: f"default/{NAME}-fe-3" in made.stage.world.pods, "its pod")
    made.stage.fault(f"{NAME}-fe-3", "kill")
    made.until(lambda: any(f"{NAME}-fe-4" in row.host and row.alive for row in rows(made)), "the other to be alive")
    made.stage.fault(f"{NAME}-fe-3", "resume")
    finish(made)


def rows(made: Rehearsal) -> tuple[FrontendRow, ...]:
    return made.stage.database(NAME).state.frontends
