"""One process at work, and none beside the official operator."""

from __future__ import annotations

import asyncio
from datetime import UTC, datetime, timedelta

import pytest

from tests.unit.watcher_fakes import Clock, FakeKube, until
from watcher.lease import Lease
from watcher.rival import Rival, fresh

PATH = "/apis/coordination.k8s.io/v1/namespaces/op/leases/starrocks-operator"
RIVAL = "/apis/coordination.k8s.io/v1/leases?fieldSelector=metadata.name%3Drival"


def lease(kube: FakeKube, identity: str, *, seconds: float = 0.07, clock: Clock | None = None) -> Lease:
    return Lease(
        kube,
        namespace="op",
        name="starrocks-operator",
        identity=identity,
        seconds=seconds,
        clock=clock or asyncio.get_running_loop().time,
    )


def holder(kube: FakeKube) -> str:
    return str(kube.objects[PATH]["spec"]["holderIdentity"])


async def test_the_first_one_gets_it_and_the_second_waits() -> None:
    kube, clock = FakeKube(), Clock()
    first, second = lease(kube, "one", clock=clock), lease(kube, "two", seconds=0.0, clock=clock)
    await first.acquire()
    waiting = asyncio.create_task(second.acquire())
    for _ in range(200):
        await asyncio.sleep(0)
    assert holder(kube) == "one"
    assert not second.held
    await first.release()
    await waiting
    assert holder(kube) == "two"
    assert kube.objects[PATH]["spec"]["leaseTransitions"] == 1


async def test_an_abandoned_lease_is_taken_when_it_was_seen_unchanged_for_its_duration() -> None:
    kube, clock = FakeKube(), Clock()
    await lease(kube, "dead", seconds=15.0, clock=clock).acquire()
    heir = lease(kube, "heir", seconds=0.0, clock=clock)
    waiting = asyncio.create_task(heir.acquire())
    for _ in range(100):
        await asyncio.sleep(0)
    assert not heir.held, "its clock may be ours or not: it is seen for the first time"
    clock.forward(16.0)
    await waiting
    assert holder(kube) == "heir"


async def test_a_lease_that_is_taken_away_is_lost_at_once() -> None:
    kube = FakeKube()
    mine = lease(kube, "mine")
    await mine.acquire()
    kube.objects[PATH]["spec"]["holderIdentity"] = "thief"
    await asyncio.wait_for(mine.hold(), 5)
    assert not mine.held
    assert holder(kube) == "thief"
    await mine.release()
    assert holder(kube) == "thief", "what is not ours is not given back"


@pytest.mark.parametrize("status", [0, 409, 429, 500])
async def test_a_lease_that_cannot_be_renewed_is_lost_in_time(status: int) -> None:
    kube = FakeKube()
    mine = lease(kube, "mine")
    await mine.acquire()
    kube.fail("GET", PATH, status, times=10_000)
    await asyncio.wait_for(mine.hold(), 5)
    assert not mine.held


async def test_single_failures_are_survived() -> None:
    kube = FakeKube()
    mine = lease(kube, "mine", seconds=0.2)
    await mine.acquire()
    kube.fail("PUT", PATH, 409)
    kube.fail("PUT", PATH, 500)
    holding = asyncio.create_task(mine.hold())
    renewals = len(kube.writes)
    while len(kube.writes) < renewals + 2:
        await asyncio.sleep(0.01)
    assert mine.held
    holding.cancel()


def rival_lease(age: float, *, seconds: int = 15, holder: str = "go-operator") -> dict[str, object]:
    renewed = datetime(2026, 1, 1, tzinfo=UTC) - timedelta(seconds=age)
    return {
        "metadata": {"name": "rival", "namespace": "elsewhere"},
        "spec": {"holderIdentity": holder, "leaseDurationSeconds": seconds, "renewTime": renewed.isoformat()},
    }


@pytest.mark.parametrize(
    ("lease", "expected"),
    [
        (rival_lease(3), True),
        (rival_lease(15), True),
        (rival_lease(16), False),
        (rival_lease(3, holder=""), False),
        ({"metadata": {}, "spec": {}}, False),
        ({"metadata": {}}, False),
    ],
)
def test_fresh_means_renewed_within_its_duration(lease: dict[str, object], expected: bool) -> None:
    assert fresh(lease, datetime(2026, 1, 1, tzinfo=UTC)) is expected


async def test_we_step_aside_and_say_for_whom() -> None:
    kube = FakeKube()
    kube.objects[RIVAL] = {"items": [rival_lease(1)]}
    rival = Rival(kube, name="rival", namespaces=["op"], now=lambda: datetime(2026, 1, 1, tzinfo=UTC))
    sighting = await rival.look()
    assert sighting.active
    assert "elsewhere/rival" in rival.message
    kube.objects[RIVAL] = {"items": [rival_lease(60)]}
    assert not (await rival.look()).active
    assert rival.message == ""


async def test_where_we_may_not_look_is_said() -> None:
    kube = FakeKube()
    kube.fail("GET", "/leases?fieldSelector", 403)
    kube.fail("GET", "/namespaces/watched/", 403)
    kube.objects["/apis/coordination.k8s.io/v1/namespaces/op/leases/rival"] = rival_lease(60)
    rival = Rival(kube, name="rival", namespaces=["op", "watched"], now=lambda: datetime(2026, 1, 1, tzinfo=UTC))
    sighting = await rival.look()
    assert not sighting.active
    assert "other namespaces, watched" in sighting.message
    assert "grant" in sighting.message


async def test_an_api_server_that_fails_does_not_change_our_mind() -> None:
    kube = FakeKube()
    kube.objects[RIVAL] = {"items": [rival_lease(1)]}
    rival = Rival(kube, name="rival", namespaces=[], now=lambda: datetime(2026, 1, 1, tzinfo=UTC))
    await rival.look()
    kube.fail("GET", "fieldSelector", 500)
    assert (await rival.look()).active


async def test_until_helper_reports() -> None:
    with pytest.raises(AssertionError):
        await until(lambda: False, turns=2)
