"""Fewer backends: not a tablet is lost, and until a pod has gone everything can be taken back."""

from __future__ import annotations

from functools import partial

import pytest

from lab.space import Space
from tests.cluster.clusters import cluster
from tests.cluster.leaving import (
    AUTO_DROP,
    BE,
    backends,
    births,
    empty_the_bin,
    fill,
    finding,
    ids,
    leaving,
    replicas,
    restarts,
    said,
    set_config,
    setting,
    shrunk_to,
    statistic,
    tablets,
    tell,
    throw_away,
)

SCHEDULING = "tablet_sched_max_scheduling_tablets"
TABLETS = 200
PERCENT = {f"at-{percent}": percent for percent in (0, 25, 50, 75, 99)}
"""Clusters, by the share of the migration that was done when the wish came back. The rest lies in the recycle bin, so
that the migration stands still exactly there."""


@pytest.mark.parametrize("back_to", [5, 4, 7])
def test_taken_back_during_the_migration(space: Space, back_to: int) -> None:
    for name in PERCENT:
        space.apply(cluster(name, be=5, volumes=True))
    for name in PERCENT:
        space.wait_ready(name)
    for name, percent in PERCENT.items():
        fill(space, name, moving=TABLETS * percent // 100, resting=TABLETS * (100 - percent) // 100)
    before = {name: (ids(space, name), births(space, f"{name}-be")) for name in PERCENT}
    for name in PERCENT:
        space.scale(name, BE, 3)
    for name, percent in PERCENT.items():
        space.wait(partial(migrated, space, name), name, f"to have migrated {percent} %", pause=0.3)
        assert min(tablets(space, name)[f"{name}-be-{ordinal}"] for ordinal in (3, 4)) > 0
    for name in PERCENT:
        assert setting(space, name) == "false", "FE would drop the rows of those that leave by itself"
        space.scale(name, BE, back_to)
    for name in PERCENT:
        goes = {f"{name}-be-4"} if back_to == 4 else set()
        space.wait(partial(only, space, name, goes), name, f"to go on with {goes} alone", pause=0.3)
        empty_the_bin(space, name)
    for name, percent in PERCENT.items():
        space.wait_ready(name)
        registered, born = before[name]
        stay = {pod: uid for pod, uid in registered.items() if back_to != 4 or pod != f"{name}-be-4"}
        now = ids(space, name)
        assert {pod: now[pod] for pod in stay} == stay, "nobody got a new id"
        assert set(now) == {f"{name}-be-{ordinal}" for ordinal in range(back_to)}
        assert leaving(space, name) == set()
        assert shrunk_to(space, f"{name}-be") == ([4] if back_to == 4 else [])
        assert replicas(space, f"{name}-be") == back_to
        now = births(space, f"{name}-be")
        assert {pod: now[pod] for pod in stay} == {pod: born[pod] for pod in stay}, "no pod was made anew"
        assert restarts(space, f"{name}-be") == 0
        assert setting(space, name) == "true"
        assert not space.status(name).get("heldSettings")
        assert whole(space, name, TABLETS * percent // 100)


def test_five_to_three_loses_no_tablet_and_keeps_the_volumes(space: Space) -> None:
    space.apply(cluster("one", be=5, volumes=True))
    space.apply(cluster("late", be=5, volumes=True))
    for name in ("one", "late"):
        space.wait_ready(name)
        fill(space, name, moving=TABLETS)
        space.scale(name, BE, 3)
    space.wait(lambda: replicas(space, "late-be") == 4, "late", "to let its first backend go")
    space.scale("late", BE, 5)
    space.wait_ready("one")
    assert shrunk_to(space, "one-be") == [4, 3]
    assert sorted(said(space, "one", "DECOMMISSION BACKEND")) == ["one-be-3", "one-be-4"]
    assert said(space, "one", "DROP BACKEND") == ["one-be-4", "one-be-3"]
    assert set(ids(space, "one")) == {f"one-be-{ordinal}" for ordinal in range(3)}
    assert setting(space, "one") == "true"
    claims = {claim["metadata"]["name"] for claim in space.all("PersistentVolumeClaim")}
    assert {f"be-data-one-be-{ordinal}" for ordinal in range(5)} <= claims
    assert whole(space, "one", TABLETS)
    space.wait_ready("late")
    assert set(ids(space, "late")) == {f"late-be-{ordinal}" for ordinal in range(5)}
    assert leaving(space, "late") == set()
    assert setting(space, "late") == "true"
    assert whole(space, "late", TABLETS)


def test_what_is_in_the_way_is_shown_and_when_it_is_gone_it_goes_on(space: Space) -> None:
    """One scale-in stalls, since a backend that stays dies; another is not begun while FE moves no tablets."""
    for name in ("stalled", "held"):
        document = cluster(name, be=4, volumes=True)
        document["metadata"]["annotations"] = {"starrocks.com/stall-seconds": "3"}
        space.apply(document)
    for name in ("stalled", "held"):
        space.wait_ready(name)
        fill(space, name, moving=TABLETS)
    set_config(space, "held", SCHEDULING, "0")
    for name in ("stalled", "held"):
        space.scale(name, BE, 3)
    space.wait(lambda: leaving(space, "stalled"), "stalled", "to begin", pause=0.05)
    space.fault("stalled-be-1", "kill")
    space.wait(lambda: finding(space, "held", "ScaleInHeld"), "held", "to show ScaleInHeld")
    assert SCHEDULING in finding(space, "held", "ScaleInHeld")
    space.wait(lambda: finding(space, "stalled", "ScaleInStalled"), "stalled", "to show ScaleInStalled")
    message = finding(space, "stalled", "ScaleInStalled")
    causes = ("stalled-be-1 is dead", "2 backends would be left, and there are tables with replication_num 3")
    assert any(cause in message for cause in causes), message
    assert "ScaleInStalled" in space.events("stalled")
    assert tablets(space, "stalled")["stalled-be-3"] > 0
    assert said(space, "held", "DECOMMISSION BACKEND") == []
    assert [replicas(space, f"{name}-be") for name in ("stalled", "held")] == [4, 4]
    space.fault("stalled-be-1", "resume")
    set_config(space, "held", SCHEDULING, "10000")
    for name in ("stalled", "held"):
        space.wait_ready(name)
        assert set(ids(space, name)) == {f"{name}-be-{ordinal}" for ordinal in range(3)}
        assert shrunk_to(space, f"{name}-be") == [3]
        assert whole(space, name, TABLETS)


def test_a_backend_dies_while_another_leaves_and_enough_are_left(space: Space) -> None:
    space.apply(cluster("one", be=5, volumes=True))
    space.wait_ready("one")
    fill(space, "one", moving=TABLETS)
    space.scale("one", BE, 4)
    space.wait(lambda: leaving(space, "one"), "one", "to begin", pause=0.05)
    space.fault("one-be-1", "kill")
    space.wait(lambda: replicas(space, "one-be") == 4, "one", "to let its backend go")
    assert not space.ready("one"), "a backend is dead"
    space.fault("one-be-1", "resume")
    space.wait_ready("one")
    assert set(ids(space, "one")) == {f"one-be-{ordinal}" for ordinal in range(4)}
    assert whole(space, "one", TABLETS)


def test_what_somebody_else_decommissions_is_shown_and_left_alone(space: Space) -> None:
    space.apply(cluster("one", be=4, volumes=True))
    space.wait_ready("one")
    fill(space, "one", moving=10, resting=20)
    target = f"{backends(space, 'one')['one-be-1']['IP']}:9050"
    tell(space, "one", f'ALTER SYSTEM DECOMMISSION BACKEND "{target}"')
    space.wait(lambda: finding(space, "one", "ForeignDecommission"), "one", "to show ForeignDecommission")
    assert f'CANCEL DECOMMISSION BACKEND "{target}"' in finding(space, "one", "ForeignDecommission")
    space.scale("one", BE, 5)
    space.wait(lambda: len(ids(space, "one")) == 5, "one", "to grow all the same")
    assert leaving(space, "one") == {"one-be-1"}
    tell(space, "one", f'CANCEL DECOMMISSION BACKEND "{target}"')
    space.wait_ready("one")
    for verb in ("CANCEL DECOMMISSION BACKEND", "DECOMMISSION BACKEND", "DROP BACKEND"):
        assert said(space, "one", verb) == []
    assert setting(space, "one", AUTO_DROP) == "true"


def test_no_backends_with_data_is_refused_and_the_way_out_is_named(space: Space) -> None:
    space.apply(cluster("one", be=2, volumes=True))
    space.wait_ready("one")
    fill(space, "one", moving=TABLETS, replication=2)
    space.scale("one", BE, 0)
    space.wait(lambda: finding(space, "one", "ScaleInRefused"), "one", "to show ScaleInRefused")
    message = finding(space, "one", "ScaleInRefused")
    assert "no backend would be left" in message
    assert "drop the tables first" in message
    assert said(space, "one", "DECOMMISSION BACKEND") == []
    assert replicas(space, "one-be") == 2
    throw_away(space, "one", "moving")
    empty_the_bin(space, "one")
    space.wait_ready("one")
    assert backends(space, "one") == {}
    assert shrunk_to(space, "one-be") == [1, 0]
    assert setting(space, "one") == "true"


def test_backends_that_are_no_longer_in_the_spec_stay_until_there_are_none(space: Space) -> None:
    space.apply(cluster("one", be=1, volumes=True))
    space.wait_ready("one")
    document = space.get("StarRocksCluster", "one")["spec"][BE]
    space.patch("StarRocksCluster", "one", {"spec": {BE: None}})
    space.wait(lambda: finding(space, "one", "ComponentOrphaned"), "one", "to show ComponentOrphaned")
    assert replicas(space, "one-be") == 1
    assert len(ids(space, "one")) == 1
    space.patch("StarRocksCluster", "one", {"spec": {BE: {**document, "replicas": 0}}})
    space.wait_ready("one")
    assert backends(space, "one") == {}
    space.patch("StarRocksCluster", "one", {"spec": {BE: None}})
    space.wait_ready("one")
    assert replicas(space, "one-be") == 0
    assert finding(space, "one", "ComponentOrphaned") == ""
    assert len([claim for claim in space.all("PersistentVolumeClaim") if "-be-" in claim["metadata"]["name"]]) == 1


def migrated(space: Space, name: str) -> bool:
    """Both were told to leave, and nothing is left on them but what lies in the recycle bin."""
    both = leaving(space, name) == {f"{name}-be-3", f"{name}-be-4"}
    return both and statistic(space, name)["CloningTabletNum"] == "0"


def only(space: Space, name: str, goes: set[str]) -> bool:
    return leaving(space, name) == goes


def whole(space: Space, name: str, tablets_wanted: int) -> bool:
    """Every tablet has its three copies."""
    found = statistic(space, name)
    held = tablets(space, name)
    expected = (str(tablets_wanted), 3 * tablets_wanted, "0")
    return (found["TabletNum"], sum(held.values()), found["UnhealthyTabletNum"]) == expected
