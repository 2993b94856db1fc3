"""Plan before act, rehearsed: what is done is what was planned, in that order, and nothing else is."""

from __future__ import annotations

from typing import Any

from hypothesis import HealthCheck, Phase, given, settings
from hypothesis import strategies as st

from lab.rehearsal import Rehearsal
from starrocks_operator.plan import Planned, covers
from starrocks_operator.step import Step, StepKind

HOUSEKEEPING = {
    StepKind.HOLD_AUTO_DROP,
    StepKind.RESTORE_AUTO_DROP,
    StepKind.HOLD_SETTING,
    StepKind.RESTORE_SETTING,
    StepKind.DIVERT_QUERIES,
    StepKind.READMIT_QUERIES,
    StepKind.CREATE_OPERATOR_ACCOUNT,
    StepKind.SET_ROOT_PASSWORD,
}
"""Steps that serve others, and that no entry of a plan names beforehand."""

EDITS = st.fixed_dictionaries(
    {
        "wish": st.fixed_dictionaries(
            {}, optional={"be": st.integers(3, 5), "cn": st.integers(0, 2), "fe": st.sampled_from([3, 5])}
        ),
        "labels": st.sets(st.sampled_from(["fe", "be", "cn"])),
    }
)


def plan(world: Rehearsal) -> dict[str, Any]:
    found: dict[str, Any] = world.raw.get("status", {}).get("plan") or {}
    return found


def entries(of: dict[str, Any]) -> list[Planned]:
    return [Planned(**step) for step in of.get("steps", ())]


def step_of(said: str) -> Step:
    kind, target = said.partition(":")[0].split(" ")
    return Step(kind=StepKind(kind), target=target, reason="", reversible=True)


@settings(
    max_examples=6,
    deadline=None,
    derandomize=True,
    phases=[Phase.explicit, Phase.generate],
    suppress_health_check=list(HealthCheck),
)
@given(edit=EDITS)
def test_what_is_done_is_what_was_planned(edit: dict[str, Any]) -> None:
    world = Rehearsal(fe=3, be=4, cn=1)
    world.until_settled()
    world.create_table("plain", replication=3, tablets=6)
    world.annotate(plan="required")
    world.let(10)
    before, pods = len(world.steps), pods_of(world)
    world.wish(**edit["wish"])
    for component in sorted(edit["labels"]):
        world.edit(component, podLabels={"round": "2"})
    world.let(60)
    agreed = plan(world)
    assert len(world.steps) == before
    assert pods_of(world) == pods
    if not agreed:
        assert world.settled
        return
    assert not agreed["approved"]
    world.annotate(approve_plan=agreed["hash"])
    planned, names = entries(agreed), [entry.name for entry in entries(agreed)]
    hashes = {agreed["hash"]}

    def done() -> bool:
        now = plan(world)
        hashes.add(now.get("hash", agreed["hash"]))
        left = [entry.name for entry in entries(now) if entry.step not in HOUSEKEEPING and entry.step != "Apply"]
        assert set(left) <= set(names), world.story()
        return world.settled

    world.until(done, "the plan to be carried out")
    assert hashes == {agreed["hash"]}
    assert not plan(world)
    taken = [step_of(said) for said in world.steps[before:] if not said.endswith(("stale", "failed"))]
    strange = [
        step for step in taken if step.kind not in HOUSEKEEPING and not any(_covered(entry, step) for entry in planned)
    ]
    assert not strange, world.story()
    replaced = [entry.object for entry in planned if entry.step == "ReplacePod"]
    rolled = [step.target for step in taken if step.kind in (StepKind.REPLACE_POD, StepKind.OFFER_TEMPLATE)]
    leaving = {entry.object for entry in planned if entry.step == "RemoveMember"}
    rolled = [pod for pod in dict.fromkeys(rolled) if pod not in leaving]
    grows = any(entry.step == "AddMember" for entry in planned)  # who comes when is not up to the plan
    assert rolled == replaced or (grows and sorted(rolled) == sorted(replaced))
    for entry in planned:
        if entry.step == "RemoveMember":
            assert any(_covered(entry, step) for step in taken)


def _covered(entry: Planned, step: Step) -> bool:
    """What the rehearsal tells of a step is its kind and its target."""
    shrinks = step.kind == StepKind.SHRINK_STATEFUL_SET and entry.step == "RemoveMember"
    return covers(entry, step) or (shrinks and entry.object.rpartition("-")[0] == step.target)


def pods_of(world: Rehearsal) -> dict[str, str]:
    found = world.kubernetes.objects
    return {key.name: raw["metadata"]["uid"] for key, raw in found.items() if key.kind == "Pod"}
