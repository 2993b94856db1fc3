"""Backends and compute nodes scaled in on the virtual clock, with Kubernetes and FE played, the invariants watched.

Every change of an object and every statement goes by `lab.rehearsal`'s watch; a broken invariant ends the test.
"""

from __future__ import annotations

from dataclasses import dataclass, replace

import pytest

from lab.rehearsal import Call, CallKind, Rehearsal
from lab.rehearsal.invariants import HUMAN
from lab.simulator.model.commands import _HANDLERS as HANDLERS
from lab.simulator.model.outcome import SqlError
from lab.simulator.model.version import features

NAME = "sample"
AUTO_DROP = "drop_backend_after_decommission"
SCHEDULING = "tablet_sched_max_scheduling_tablets"


def rehearsal(*, fe: int = 3, be: int = 5, cn: int = 1, tablets: int = 24, single: bool = True) -> Rehearsal:
    made = Rehearsal(fe=fe, be=be, cn=cn)
    made.until_settled()
    if tablets:
        made.create_table("plain", replication=min(3, be), tablets=tablets)
    if tablets and single:
        made.create_table("single", replication=1, tablets=tablets // 2)
    made.let(10)
    return made


def finish(made: Rehearsal) -> None:
    """As wished, even after the last heartbeats have told their news, and quiet from then on."""
    made.until_settled()
    made.let(60)
    made.until_settled()
    made.assert_whole()
    made.assert_quiet(seconds=300)
    assert set(values(made, AUTO_DROP)) == {"true"}
    assert "heldSettings" not in made.raw["status"]
    assert "memory" not in made.kubernetes.get("ConfigMap", f"{NAME}-fe-bootstrap")["data"]


def values(made: Rehearsal, key: str) -> list[str]:
    """A setting, as each frontend has it."""
    names = [member["name"] for member in made.raw["status"]["members"] if member["kind"] == "frontend"]
    return [str(made.stage.rows(name, f"ADMIN SHOW FRONTEND CONFIG LIKE '{key}'")[0]["Value"]) for name in names]


def steps(made: Rehearsal) -> list[str]:
    """The steps that were taken, without those found stale."""
    return [step.removesuffix(": done") for step in made.steps if step.endswith(": done")]


def reasons(made: Rehearsal) -> set[str]:
    return {condition["reason"] for condition in made.raw["status"]["conditions"]}


def draining(made: Rehearsal, to: int, *, moved: float) -> None:
    """The wish is uttered, and so much of what leaves (0 to 1) has moved."""
    before = made.tablets_beyond("be", to)
    made.wish(be=to)
    made.until(lambda: f"DecommissionBackend {NAME}-be-{to}" in steps(made), "all to be told")
    while made.tablets_beyond("be", to) > before * (1 - moved):
        made.let(0.5)


def member(made: Rehearsal, name: str) -> dict[str, object]:
    return next(entry for entry in made.raw["status"]["members"] if entry.get("name") == name)


def test_five_to_three_step_by_step() -> None:
    made = rehearsal()
    made.wish(be=3)
    finish(made)
    assert steps(made) == [
        f"HoldAutoDrop {AUTO_DROP}",
        "DecommissionBackend sample-be-4",
        "DecommissionBackend sample-be-3",
        "ShrinkStatefulSet sample-be",
        "ShrinkStatefulSet sample-be",
        "DropBackend sample-be-4",
        "DropBackend sample-be-3",
        f"RestoreAutoDrop {AUTO_DROP}",
    ]
    claims = {key.name for key in made.kubernetes.objects if key.kind == "PersistentVolumeClaim"}
    assert {"be-data-sample-be-3", "be-data-sample-be-4"} <= claims, "volumes stay"


@pytest.mark.parametrize("moved", [0.0, 0.25, 0.5, 0.75, 0.99])
@pytest.mark.parametrize("back", [5, 4, 7])
def test_it_is_taken_back_wholly_partly_or_beyond(back: int, moved: float) -> None:
    made = rehearsal(tablets=60)
    draining(made, 3, moved=moved)
    made.wish(be=back)
    finish(made)
    if back >= 5 and moved < 0.9:  # later, the top one may be empty and gone already
        assert not [step for step in steps(made) if step.startswith(("Shrink", "Drop"))]
    if back == 4:
        assert [step for step in steps(made) if step.startswith("Shrink")] == ["ShrinkStatefulSet sample-be"]


def test_it_is_taken_back_when_one_has_left_already() -> None:
    made = rehearsal()
    made.wish(be=3)
    made.until(lambda: "ShrinkStatefulSet sample-be" in steps(made), "the first to have gone")
    made.wish(be=5)
    finish(made)


@pytest.mark.parametrize(("component", "kind"), [("be", "Decommission"), ("cn", "DropComputeNode")])
def test_twelve_to_nine_by_number(component: str, kind: str) -> None:
    made = rehearsal(**{"be": 3, "cn": 1, component: 12})
    made.wish(**{component: 9})
    finish(made)
    if component == "be":
        told = [step.rpartition("-")[2] for step in steps(made) if step.startswith(kind)]
        assert told == ["11", "10", "9"]
    assert steps(made).count(f"ShrinkStatefulSet sample-{component}") == 3


def test_compute_nodes_go_and_come_back() -> None:
    made = rehearsal(be=3, cn=5)
    made.wish(cn=2)
    made.let(3)
    made.wish(cn=4)
    finish(made)
    made.wish(cn=1)
    finish(made)


def shut_off(made: Rehearsal) -> list[set[str]]:
    """What each frontend has on its list."""
    return [container.frontend.blacklist for container in made.stage.world.pods.values() if container.frontend]


def test_a_busy_compute_node_gets_no_new_queries_and_finishes_the_old_ones() -> None:
    made = rehearsal(be=3, cn=3, tablets=0)
    made.stage.world.options.features = lambda version: replace(features(version), compute_node_blacklist=True)
    made.stage.fault(f"{NAME}-cn-2", "queries", value=3)
    made.wish(cn=2)
    made.let(60)
    node = str(made.stage.row(made.stage.leader(NAME), "SHOW COMPUTE NODES", f"{NAME}-cn-2")["ComputeNodeId"])
    assert shut_off(made) == [{node}] * 3
    assert steps(made) == ["BlacklistComputeNode sample-cn-2"]
    assert "compute node sample-cn-2 is leaving: 3 queries still run on it" in made.raw["status"]["waitingFor"]
    made.stage.fault(made.stage.followers(NAME)[0], "crash")
    made.let(90)
    assert shut_off(made) == [{node}] * 3, "a frontend that restarted is told again"
    made.wish(cn=3)
    made.until_settled()
    assert shut_off(made) == [set()] * 3
    made.wish(cn=2)
    made.let(20)
    made.stage.fault(f"{NAME}-cn-2", "queries", value=0)
    finish(made)


def test_a_frontend_that_was_cut_off_is_told_when_it_is_back() -> None:
    """It missed that the compute node stays, and would send it no query for ever."""
    made = rehearsal(be=3, cn=3, tablets=0)
    made.stage.world.options.features = lambda version: replace(features(version), compute_node_blacklist=True)
    made.stage.fault(f"{NAME}-cn-2", "queries", value=3)
    made.wish(cn=2)
    made.until(lambda: all(shut_off(made)), "all to be told")
    cut_off = made.stage.followers(NAME)[0]
    made.stage.fault(cut_off, "hang")
    made.let(30)
    made.wish(cn=3)
    made.let(120)
    made.stage.fault(cut_off, "resume")
    finish(made)
    assert shut_off(made) == [set()] * 3
    assert "orderedBy" not in member(made, f"{NAME}-cn-2")


def test_queries_that_never_end_do_not_hold_a_compute_node_for_ever() -> None:
    made = rehearsal(be=3, cn=3, tablets=0)
    made.annotate(query_drain_seconds="120")
    made.stage.fault(f"{NAME}-cn-2", "queries", value=3)
    made.wish(cn=2)
    made.let(90)
    assert steps(made) == []
    finish(made)


def test_what_a_human_decommissions_is_shown_and_left_alone() -> None:
    made = rehearsal(tablets=60)
    made.say(f'ADMIN SET FRONTEND CONFIG ("{AUTO_DROP}" = "false")')
    made.say(f'ALTER SYSTEM DECOMMISSION BACKEND "{made.target("be", 1)}"')
    made.let(120)
    assert "ForeignDecommission" in reasons(made)
    assert not [step for step in steps(made) if "sample-be-1" in step]
    made.say(f'CANCEL DECOMMISSION BACKEND "{made.target("be", 1)}"')
    made.until_settled()
    assert values(made, AUTO_DROP) == ["false"] * 3


def test_a_human_may_begin_what_the_operator_ends() -> None:
    made = rehearsal()
    made.say(f'ADMIN SET FRONTEND CONFIG ("{AUTO_DROP}" = "false")')
    made.say(f'ALTER SYSTEM DECOMMISSION BACKEND "{made.target("be", 4)}"')
    made.wish(be=4)
    made.until_settled()
    made.assert_whole()
    assert steps(made) == ["ShrinkStatefulSet sample-be", "DropBackend sample-be-4"]


def test_frontends_that_restart_forget_the_hold_and_are_told_again() -> None:
    made = rehearsal(tablets=200)
    draining(made, 3, moved=0.2)
    for ordinal in range(3):
        made.stage.fault(f"{NAME}-fe-{ordinal}", "crash")
        made.let(40)
    finish(made)
    assert steps(made).count(f"HoldAutoDrop {AUTO_DROP}") >= 2


def test_a_value_that_was_false_before_stays_so() -> None:
    made = rehearsal()
    made.say(f'ADMIN SET FRONTEND CONFIG ("{AUTO_DROP}" = "false")')
    made.wish(be=3)
    made.until_settled()
    made.assert_whole()
    assert values(made, AUTO_DROP) == ["false"] * 3
    assert not [step for step in steps(made) if "AutoDrop" in step]


def test_no_scale_in_begins_while_tablets_are_not_moved() -> None:
    made = rehearsal()
    made.say(f'ADMIN SET FRONTEND CONFIG ("{SCHEDULING}" = "0")')
    made.wish(be=3)
    made.let(120)
    assert "ScaleInHeld" in reasons(made)
    assert steps(made) == []
    made.say(f'ADMIN SET FRONTEND CONFIG ("{SCHEDULING}" = "10000")')
    finish(made)


def test_a_stall_is_said_and_passes() -> None:
    made = rehearsal(tablets=200)
    made.annotate(stall_seconds="120")
    draining(made, 3, moved=0.2)
    made.say(f'ADMIN SET FRONTEND CONFIG ("{SCHEDULING}" = "0")')
    made.until(lambda: "ScaleInStalled" in reasons(made), "the stall to be said")
    made.let(60)
    message = made.condition("Degraded")["message"]
    assert f"{SCHEDULING} is 0" in message
    taken = steps(made)
    made.let(600)
    assert steps(made) == taken, "nothing is forced"
    made.say(f'ADMIN SET FRONTEND CONFIG ("{SCHEDULING}" = "10000")')
    finish(made)


def test_tablets_in_the_recycle_bin_hold_it_up() -> None:
    made = rehearsal(single=False)
    made.annotate(stall_seconds="120")
    tablets = made.stage.database(NAME).tablets
    tablets.drop_table("db", "plain")
    made.wish(be=3)
    made.until(lambda: "ScaleInStalled" in reasons(made), "the stall to be said")
    assert "the cause is not known yet" in made.condition("Degraded")["message"]
    made.until(lambda: "recycle bin" in made.condition("Degraded")["message"], "the cause to be said")
    tablets.empty_recycle_bin()
    finish(made)


def test_a_backend_dies_while_another_leaves() -> None:
    made = rehearsal(tablets=100, single=False)
    draining(made, 4, moved=0.1)
    made.stage.fault(f"{NAME}-be-0", "kill")
    made.let(120)
    made.stage.fault(f"{NAME}-be-0", "resume")
    finish(made)


def test_a_leaving_backend_that_dies_is_rebuilt_from_the_other_copies() -> None:
    made = rehearsal(tablets=100, single=False)
    draining(made, 4, moved=0.1)
    made.stage.fault(f"{NAME}-be-4", "kill")
    finish(made)


def test_a_leaving_backend_with_the_only_copies_must_come_back() -> None:
    made = rehearsal(tablets=100)
    made.annotate(stall_seconds="120")
    draining(made, 4, moved=0.1)
    made.stage.fault(f"{NAME}-be-4", "kill")
    made.until(lambda: "ScaleInStalled" in reasons(made), "the stall to be said")
    made.let(300)
    assert "ShrinkStatefulSet sample-be" not in steps(made)
    made.stage.fault(f"{NAME}-be-4", "resume")
    finish(made)


def test_backends_to_none_are_refused_while_there_is_data() -> None:
    made = rehearsal(be=3)
    made.wish(be=0)
    made.let(120)
    assert "ScaleInRefused" in reasons(made)
    assert steps(made) == []
    made.wish(be=3)
    finish(made)


def test_too_few_for_the_replicas_is_refused_before_anything_moves() -> None:
    made = rehearsal(be=4)
    made.wish(be=2)
    made.let(60)
    assert "ScaleInRefused" in reasons(made)
    assert "replication_num 3" in made.condition("Ready")["message"]
    assert steps(made) == []
    made.wish(be=3)
    finish(made)


def test_a_release_that_does_not_tell_replication_judges_by_itself(monkeypatch: pytest.MonkeyPatch) -> None:
    """One by one: those that may go do, the one too many is refused in FE's words, and nothing is lost."""

    def unknown(_: object) -> None:
        raise SqlError("Getting analyzing error. Detail message: Unknown table 'partitions_meta'.")

    monkeypatch.setitem(HANDLERS, "most_replicas", unknown)
    made = rehearsal()
    made.wish(be=2)
    made.until(lambda: "StepFailed" in reasons(made), "FE to refuse")
    assert "insufficient BE number" in made.condition("Degraded")["message"]
    made.let(600)
    assert not [step for step in steps(made) if "sample-be-2" in step]
    assert "judges by itself" in " ".join(made.raw["status"]["waitingFor"])
    assert made.raw["status"]["members"][-2]["name"] == "sample-be-2", "the two others have left"
    made.wish(be=3)
    finish(made)


def test_what_fe_refuses_is_said_in_its_words() -> None:
    made = rehearsal(be=3, tablets=0)
    made.stage.database(NAME).tablets.create_table("_statistics_", "columns", replication=3, tablets=3)
    made.wish(be=2)
    made.let(60)
    assert "insufficient BE number" in made.condition("Ready")["message"]
    assert not [step for step in steps(made) if step.startswith("Shrink")]
    made.wish(be=3)
    finish(made)


def test_progress_is_told_while_it_lasts() -> None:
    made = rehearsal(tablets=300)
    draining(made, 3, moved=0.3)
    made.let(5)
    told = member(made, f"{NAME}-be-4")
    assert told["state"] == "draining"
    assert {"tabletsLeft", "tabletsPerMinute", "estimatedEnd", "progressAt"} <= set(told)
    assert any("tablets are left on it" in wait for wait in made.raw["status"]["waitingFor"])
    finish(made)
    assert "leavingSince" not in str(made.raw["status"]["members"])


def test_a_lost_status_leaves_what_was_ordered_as_if_somebody_else_had() -> None:
    """What we ordered is known from the status alone; without it, nothing is taken back, and nothing is lost."""
    made = rehearsal(tablets=200)
    draining(made, 3, moved=0.2)
    made.kubernetes.put({**made.raw, "status": {}}, by="human")
    made.until_settled()
    made.assert_whole()


@pytest.mark.parametrize("when", ["before", "after"])
def test_a_pod_that_restarts_on_its_way_out_gets_no_second_row(when: str) -> None:
    made = rehearsal(tablets=100)
    draining(made, 4, moved=0.5 if when == "before" else 1.0)
    made.kubernetes.delete("Pod", f"{NAME}-be-4", by="human")
    finish(made)


@pytest.mark.parametrize("back", [3, 4, 5])
@pytest.mark.parametrize("moved", [0.0, 0.5, 0.99])
def test_a_lost_status_is_made_good_for(back: int, moved: float) -> None:
    """What we ordered is still known as ours: it goes on, or is taken back; and FE's setting is restored."""
    made = rehearsal(tablets=60)
    draining(made, 3, moved=moved)
    made.lose_status()
    made.add_operator("operator")
    made.wish(be=back)
    finish(made)
    assert "ForeignDecommission" not in reasons(made)


def test_without_status_and_marker_nothing_is_lost_and_a_person_is_told() -> None:
    made = rehearsal(tablets=60)
    draining(made, 3, moved=0.25)
    made.kubernetes.delete("ConfigMap", f"{NAME}-fe-bootstrap", by=HUMAN)
    made.lose_status()
    made.add_operator("operator")
    made.wish(be=5)
    made.let(120)
    ready = made.condition("Ready")
    assert ready["reason"] == "ForeignDecommission"
    assert "CANCEL DECOMMISSION BACKEND" in ready["message"]
    for ordinal in (3, 4):
        made.say(f'CANCEL DECOMMISSION BACKEND "{made.target("be", ordinal)}"')
    made.until_settled()
    made.assert_whole()


def test_compute_nodes_are_let_work_again_though_the_status_was_lost() -> None:
    made = rehearsal(be=3, cn=5)
    made.stage.world.options.features = lambda version: replace(features(version), compute_node_blacklist=True)
    made.stage.fault(f"{NAME}-cn-4", "queries", value=3)
    made.wish(cn=2)
    made.until(lambda: any(step.startswith("BlacklistComputeNode") for step in steps(made)), "one to be told")
    made.lose_status()
    made.wish(cn=5)
    finish(made)
    assert not any(shut_off(made))


@dataclass
class Rethinks:
    """A person sets the replicas back while FE is looked at for the last time before a step of this kind."""

    made: Rehearsal
    kind: str
    back: dict[str, int]
    done: bool = False

    def before(self, call: Call) -> None:
        recorded = self.made.raw.get("status", {}).get("nextStep", {}).get("kind")
        if not self.done and recorded == self.kind and call.kind == CallKind.QUESTION:
            self.done = True
            self.made.wish(**self.back)

    def after(self, call: Call) -> None:
        """Nothing."""


@pytest.mark.parametrize(
    ("kind", "wish", "back"),
    [
        ("ShrinkStatefulSet", {"be": 4}, {"be": 5}),
        ("DecommissionBackend", {"be": 4}, {"be": 5}),
        ("ShrinkStatefulSet", {"fe": 4}, {"fe": 5}),
        ("DropFollower", {"fe": 3}, {"fe": 5}),
    ],
)
def test_a_wish_that_changes_while_fe_is_looked_at_still_counts(
    kind: str, wish: dict[str, int], back: dict[str, int]
) -> None:
    made = rehearsal(fe=5)
    rethinks = Rethinks(made, kind, back)
    made.gate.troubles.append(rethinks)
    made.wish(**wish)
    made.until(lambda: rethinks.done, "the person to act")
    taken = [step for step in made.steps if step.startswith(kind)]
    finish(made)
    assert taken[-1].endswith(": stale")
    assert [step for step in made.steps if step.startswith(kind) and step.endswith("done")] == taken[:-1]


def test_removing_backends_from_the_spec_takes_the_scale_in_back() -> None:
    """Orphaned, not deleted: those that had not gone stay, as members, with their tablets."""
    made = rehearsal(tablets=60)
    draining(made, 3, moved=0.25)
    raw = made.raw
    spec = {name: value for name, value in raw["spec"].items() if name != "starRocksBeSpec"}
    metadata = {**raw["metadata"], "generation": raw["metadata"]["generation"] + 1}
    made.kubernetes.put({**raw, "spec": spec, "metadata": metadata}, by=HUMAN)
    made.until(lambda: not any(row.decommissioned for row in made.stage.database(NAME).state.nodes), "all to stay")
    made.until(lambda: set(values(made, AUTO_DROP)) == {"true"}, "FE's setting to be as it was")
    assert not [step for step in steps(made) if step.startswith(("Shrink", "DropBackend"))]
    assert "ComponentOrphaned" in reasons(made)


def test_a_new_image_and_fewer_backends_in_one_edit() -> None:
    """All pods are replaced, one by one, and none leaves its StatefulSet with a tablet on it."""
    made = rehearsal(be=5, tablets=60)
    made.edit("be", replicas=3, image="starrocks/be-ubuntu:3.3.10")
    finish(made)
    assert made.tablets_beyond("be", 3) == 0


def test_a_leaving_backend_whose_pod_cannot_start_is_rebuilt_from_the_others() -> None:
    made = rehearsal(tablets=24, single=False)
    made.stage.fault(f"{NAME}-be-4", "kill")
    made.let(60)
    made.wish(be=4)
    finish(made)
