"""Status: Ready means what it says, nothing flaps, nothing is written that the CRD would drop."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import replace
from datetime import timedelta
from typing import Any

import pytest

from starrocks_operator.model import StarRocksClusterStatus
from starrocks_operator.observed import FrontendView
from starrocks_operator.run_report import RunReport, StepOutcome
from starrocks_operator.status import status_of, transitions
from tests.unit.membership_world import NOW, World, at, claim, compute_row, frontend_row, pod

Break = Callable[[World], Any]


def status(world: World, last_run: RunReport | None = None) -> dict[str, Any]:
    return status_of(world.cluster, world.observed, world.decide(), last_run=last_run)


def condition(found: dict[str, Any], kind: str) -> dict[str, Any]:
    return next(item for item in found["conditions"] if item["type"] == kind)


def unready(world: World, name: str) -> None:
    world.get("Pod", name)["status"]["conditions"] = [{"type": "Ready", "status": "False"}]


def stuck(world: World, name: str, reason: str = "ImagePullBackOff") -> None:
    world.get("Pod", name)["status"] |= {
        "phase": "Pending",
        "conditions": [],
        "containerStatuses": [{"name": "be", "image": "nowhere/be:1", "state": {"waiting": {"reason": reason}}}],
    }


def drift(world: World) -> None:
    world.get("StatefulSet", "sample-be")["metadata"] |= {"annotations": {}, "resourceVersion": "x"}


def volume_lost(world: World) -> None:
    world.frontends[2] = frontend_row(2, alive=False)
    world.put(claim("fe-meta-sample-fe-2", created=-60))


BREAKS: dict[str, Break] = {
    "a frontend is dead": lambda world: world.frontends.__setitem__(2, frontend_row(2, alive=False)),
    "a frontend has not joined": lambda world: world.frontends.__setitem__(
        2, frontend_row(2, joined=False, alive=False)
    ),
    "a frontend is an observer": lambda world: world.frontends.__setitem__(2, frontend_row(2, role="OBSERVER")),
    "a frontend is missing": lambda world: world.frontends.pop(),
    "a frontend too many": lambda world: world.frontends.append(frontend_row(3)),
    "a frontend lost its volume": volume_lost,
    "a backend is dead": lambda world: world.backends.__setitem__(0, compute_row(0, "be", alive=False)),
    "a backend is decommissioned": lambda world: world.backends.__setitem__(
        0, compute_row(0, "be", decommissioned=True)
    ),
    "a backend is missing": lambda world: world.backends.pop(),
    "a backend is registered twice": lambda world: world.backends.append(compute_row(0, "be", id="77")),
    "a compute node is dead": lambda world: world.compute_nodes.__setitem__(0, compute_row(0, "cn", alive=False)),
    "a ghost": lambda world: world.compute_nodes.append(compute_row(5, "cn", alive=False)),
    "a pod is not ready": lambda world: unready(world, "sample-be-1"),
    "a pod cannot pull its image": lambda world: stuck(world, "sample-be-1"),
    "a pod is missing": lambda world: world.remove("Pod", "sample-be-1"),
    "a pod too many": lambda world: world.put(pod("sample-be-3", "be")),
    "a pod of the old revision": lambda world: world.get("Pod", "sample-fe-1")["metadata"]["labels"].update(
        {"controller-revision-hash": "rev-0"}
    ),
    "a StatefulSet that has not noticed": lambda world: world.get("StatefulSet", "sample-be")["metadata"].update(
        generation=2
    ),
    "a StatefulSet without status": lambda world: world.get("StatefulSet", "sample-be").pop("status"),
    "an object that drifted": drift,
    "no leader": lambda world: setattr(world, "frontends", [frontend_row(o, role="FOLLOWER") for o in range(3)]),
    "scale-in asked for": lambda world: (
        world.answers.update(
            settings={"drop_backend_after_decommission": "true", "tablet_sched_max_scheduling_tablets": "10000"}
        ),
        world.look(),
        world.raw["spec"]["starRocksBeSpec"].update(replicas=1),
    ),
    "scale-out asked for": lambda world: world.raw["spec"]["starRocksBeSpec"].update(replicas=5),
    "a missing Secret": lambda world: world.observed_extras.update(missing_references=("Secret root",)),
    "an invalid spec": lambda world: world.raw["spec"]["starRocksFeSpec"].update(replicas=0),
}


@pytest.fixture(params=sorted(BREAKS))
def broken(request: pytest.FixtureRequest) -> World:
    world = World()
    BREAKS[request.param](world)
    world.look()
    return world


def test_ready_means_as_specified() -> None:
    found = status(World())
    assert found["phase"] == "running"
    assert {item["type"]: item["status"] for item in found["conditions"]} == {
        "Ready": "True",
        "Progressing": "False",
        "Degraded": "False",
        "QuorumSafe": "True",
    }
    assert "nextStep" not in found
    assert "waitingFor" not in found


def test_whatever_is_not_as_specified_is_not_ready(broken: World) -> None:
    found = status(broken)
    assert condition(found, "Ready")["status"] == "False"
    assert condition(found, "Ready")["message"]
    assert found["phase"] != "running"
    assert found["reason"]


def test_a_status_is_its_own_fixed_point(broken: World) -> None:
    """Also a minute later: nothing in it counts seconds."""
    first = status(broken)
    broken.raw["status"] = first
    broken.remember()
    broken.now += timedelta(minutes=1)
    assert status(broken) == first
    assert transitions(first, first) == ()


def test_no_field_of_a_status_is_unknown_to_the_crd(broken: World) -> None:
    broken.raw["status"].update(reconcile={"fingerprint": "f", "lastRunAt": at(-5), "result": "succeeded"})
    found = status(broken)
    assert StarRocksClusterStatus.model_validate(found).to_dict() == found


def test_the_old_and_the_new_conditions_differ_in_time_only_if_they_turned() -> None:
    world = World()
    world.raw["status"] = status(world)
    world.now += timedelta(hours=1)
    BREAKS["a backend is dead"](world)
    world.look()
    found = status(world)
    assert condition(found, "Ready")["lastTransitionTime"] == "2026-11-21T13:00:00Z"
    assert condition(found, "QuorumSafe")["lastTransitionTime"] == "2026-11-21T12:00:00Z"


def test_a_restarted_operator_that_has_not_asked_yet_changes_nothing() -> None:
    world = World()
    world.raw["status"] = status(world)
    world.view = None
    assert status(world) == world.raw["status"]
    world.raw["metadata"]["generation"] = 2  # of a new generation nothing was said before
    assert condition(status(world), "Ready")["status"] == "False"


@pytest.mark.parametrize(
    ("fe", "alive", "verdict", "reason"),
    [
        (1, 1, "False", "SingleFrontend"),
        (2, 2, "False", "NoSpareFrontend"),
        (3, 3, "True", "SpareFrontends"),
        (3, 2, "False", "NoSpareFrontend"),
        (4, 4, "False", "EvenFrontends"),
        (5, 5, "True", "SpareFrontends"),
        (5, 4, "True", "SpareFrontends"),
        (5, 3, "False", "NoSpareFrontend"),
    ],
)
def test_whether_the_quorum_is_safe(fe: int, alive: int, verdict: str, reason: str) -> None:
    world = World(fe=fe)
    world.frontends = [frontend_row(ordinal, alive=ordinal < alive) for ordinal in range(fe)]
    world.look()
    found = condition(status(world), "QuorumSafe")
    assert (found["status"], found["reason"]) == (verdict, reason)


def test_the_quorum_before_the_founding_and_without_a_leader() -> None:
    world = World()
    world.view = FrontendView(asked_at=NOW, answers=())
    assert condition(status(world), "QuorumSafe")["reason"] == "LeaderMissing"
    del world.raw["status"]["bootstrap"]
    world.remove("ConfigMap", "sample-fe-bootstrap")
    assert condition(status(world), "QuorumSafe")["status"] == "Unknown"


def test_each_component_as_the_official_operator_reports_it() -> None:
    found = status(World())
    assert found["starRocksFeStatus"] == {
        "phase": "running",
        "serviceName": "sample-fe-service",
        "runningInstances": ["sample-fe-0", "sample-fe-1", "sample-fe-2"],
        "resourceNames": ["sample-fe"],
        "profile": "safe",
        "readyReplicas": 3,
    }
    assert found["starRocksCnStatus"] == {
        "phase": "running",
        "serviceName": "sample-cn-service",
        "runningInstances": ["sample-cn-0"],
        "resourceNames": ["sample-cn"],
        "profile": "safe",
        "readyReplicas": 1,
        "replicas": 1,
        "selector": "app.kubernetes.io/component=cn,app.starrocks.ownerreference/name=sample-cn",
        "hpaName": "sample-cn-autoscaler",
        "horizontalScaler": {"name": "sample-cn-autoscaler", "version": "v2"},
    }


def test_the_scale_subresource_has_its_selector_before_there_is_a_pod() -> None:
    world = World()
    world.objects, world.view = {}, None
    del world.raw["status"]
    found = status(world)
    assert "starRocksCnStatus" in found
    assert found["starRocksCnStatus"]["replicas"] == 0
    assert "sample-cn" in found["starRocksCnStatus"]["selector"]


@pytest.mark.parametrize("reason", ["ImagePullBackOff", "CrashLoopBackOff", "CreateContainerConfigError"])
def test_a_pod_that_cannot_start_has_failed(reason: str) -> None:
    world = World()
    stuck(world, "sample-be-1", reason)
    world.backends[1] = compute_row(1, "be", alive=False)
    world.look()
    found = status(world)
    assert found["starRocksBeStatus"]["failedInstances"] == ["sample-be-1"]
    assert found["phase"] == "failed"
    assert condition(found, "Degraded")["reason"] == "PodsFailing"
    assert reason in " ".join(found["waitingFor"])


def test_the_step_is_recorded_with_the_time_of_its_first_record() -> None:
    world = World()
    del world.backends[0]
    world.look()
    step = world.decide().step
    assert step is not None
    found = status(world)
    assert found["nextStep"]["hash"] == step.hash
    assert found["nextStep"]["recordedAt"] == "2026-11-21T12:00:00Z"
    world.raw["status"] = found
    world.now += timedelta(minutes=5)
    assert status(world)["nextStep"] == found["nextStep"]
    world.backends.insert(0, compute_row(0, "be"))
    world.look()
    assert "nextStep" not in status(world)


def run(**changes: Any) -> RunReport:
    return replace(RunReport(fingerprint="f", finished_at=NOW, succeeded=True), **changes)


def test_runs_that_fail_are_counted_once_each() -> None:
    world = World()
    drift(world)
    failed = run(succeeded=False, reason="ApplyRefused", message="StatefulSet/sample-be: refused.")
    for _ in range(2):
        world.raw["status"] = status(world, failed)
    assert world.raw["status"]["reconcile"]["failures"] == 1
    assert world.raw["status"]["phase"] == "failed"
    assert condition(world.raw["status"], "Degraded")["reason"] == "ApplyRefused"
    world.raw["status"] = status(world, replace(failed, finished_at=NOW + timedelta(seconds=9)))
    assert world.raw["status"]["reconcile"]["failures"] == 2
    world.settle()
    world.get("StatefulSet", "sample-be")["metadata"]["resourceVersion"] = "mended"
    world.raw["status"] = status(world, run(finished_at=NOW + timedelta(seconds=20)))
    assert world.raw["status"]["reconcile"]["failures"] == 0
    assert condition(world.raw["status"], "Degraded")["status"] == "False"


def test_a_failure_whose_work_is_no_longer_to_be_done_is_forgotten() -> None:
    found = status(World(), run(succeeded=False, reason="RunTimedOut", message="It took too long."))
    assert found["phase"] == "running"


def test_without_a_leader_members_stay_and_their_state_is_unknown() -> None:
    world = World()
    world.raw["status"] = status(world)
    world.view = FrontendView(asked_at=NOW, answers=())
    members = status(world)["members"]
    assert len(members) == 7
    assert {member["state"] for member in members} == {"unknown"}
    assert not any("alive" in member for member in members)
    assert "LEADER" not in {member.get("role") for member in members}


def test_members_of_others_are_shown_without_a_pod() -> None:
    world = World()
    world.compute_nodes.append(compute_row(0, "cn", host="vm-1.example.org", id="9"))
    world.look()
    found = status(world)
    stranger = next(member for member in found["members"] if member["host"] == "vm-1.example.org")
    assert "name" not in stranger
    assert found["phase"] == "running"


# Events: on transitions only.


def events(before: Break | None, after: Break | None) -> list[tuple[str, str]]:
    found: list[dict[str, Any]] = []
    for change in (before, after):
        world = World()
        world.raw["status"] = found[-1] if found else world.raw["status"]
        if change:
            change(world)
            world.look()
        found.append(status(world))
    return [(event.type, event.reason) for event in transitions(*found)]


@pytest.mark.parametrize(
    ("before", "after", "expected"),
    [
        ("a backend is dead", None, [("Normal", "Ready"), ("Normal", "MembersAlive")]),
        (None, "a backend is dead", [("Normal", "NotReady"), ("Warning", "MembersDead")]),
        (
            None,
            "a frontend is dead",
            [("Normal", "NotReady"), ("Warning", "QuorumAtRisk"), ("Warning", "MembersDead")],
        ),
        (None, "scale-in asked for", [("Normal", "NotReady"), ("Normal", "HoldAutoDropPlanned")]),
        (None, "no leader", [("Normal", "NotReady"), ("Warning", "LeaderMissing"), ("Warning", "QuorumAtRisk")]),
        (None, "a missing Secret", [("Normal", "NotReady"), ("Warning", "SecretMissing")]),
        (None, "an invalid spec", [("Normal", "NotReady"), ("Warning", "InvalidSpec")]),
        (None, "a backend is missing", [("Normal", "NotReady"), ("Normal", "AddBackendPlanned")]),
        (
            "a backend is missing",
            None,
            [("Normal", "Ready"), ("Normal", "MembersAlive"), ("Normal", "AddBackendSettled")],
        ),
    ],
)
def test_what_is_told(before: str | None, after: str | None, expected: list[tuple[str, str]]) -> None:
    pair = [BREAKS[name] if name else None for name in (before, after)]
    assert events(*pair) == expected


def test_a_new_clusters_first_status_tells_nothing_bad() -> None:
    world = World()
    world.objects, world.view = {}, None
    del world.raw["status"]
    assert transitions({}, status(world)) == ()


def test_split_brain_is_told_once() -> None:
    world = World()
    before = status(world)
    world.frontends = [replace(row, cluster_id="999") for row in world.frontends]
    world.look()
    told = transitions(before, status(world))
    assert ("Warning", "SplitBrain") in [(event.type, event.reason) for event in told]


def test_a_step_that_is_stale_again_and_again_is_said() -> None:
    world = World(be=4)
    world.raw["spec"]["starRocksBeSpec"]["replicas"] = 3
    world.answers = {"settings": {"drop_backend_after_decommission": "true"}}
    world.look()
    fingerprint, last = world.decide().fingerprint, None
    for count, reason in ((1, "Healthy"), (2, "Healthy"), (3, "StepStale"), (4, "StepStale")):
        run = RunReport(
            fingerprint=fingerprint,
            finished_at=world.now,
            succeeded=True,
            step=StepOutcome.STALE,
            said="HoldAutoDrop x: decided afresh, none is to be taken.",
        )
        last = run.after(last)
        assert last.stale == count
        assert condition(status(world, last), "Degraded")["reason"] == reason
    ready = condition(status(world, last), "Ready")
    assert ready["reason"] == "StepStale"
    assert "decided afresh, none is to be taken." in ready["message"]
    assert replace(run, fingerprint="another").after(last).stale == 1
    assert replace(run, step=StepOutcome.DONE).after(last).stale == 0
    world.raw["spec"]["starRocksBeSpec"]["replicas"] = 4
    assert condition(status(world, last), "Degraded")["reason"] == "Healthy"
