"""The shape of a StatefulSet at every moment of a roll, and the step that replaces one pod of it."""

from __future__ import annotations

from typing import Any

import pytest

from starrocks_operator.membership import Pod
from starrocks_operator.objects.metadata import TEMPLATE_HASH
from starrocks_operator.observed import Children
from starrocks_operator.rollout.replacement import replacement
from starrocks_operator.rollout.roll import FORMER_REVISION, OFFERED_TO, WANTED_REVISION, Roll, roll_of
from starrocks_operator.rollout.shaping import is_shaped, revisions_needed, shape_of, shape_of_step
from starrocks_operator.step import StepKind

Raw = dict[str, Any]
AT_REST = {"type": "RollingUpdate", "rollingUpdate": {"partition": 0}}
ON_DELETE = {"type": "OnDelete"}
OLD, NEW = "one-x-old", "one-x-new"


def partition(number: int) -> Raw:
    return {"type": "RollingUpdate", "rollingUpdate": {"partition": number}}


def template(image: str) -> Raw:
    return {"metadata": {}, "spec": {"containers": [{"name": "main", "image": image}]}}


def desired(image: str = "new", strategy: Raw = AT_REST) -> Raw:
    return {
        "kind": "StatefulSet",
        "metadata": {"name": "one-x", "annotations": {TEMPLATE_HASH: f"hash-{image}"}},
        "spec": {"replicas": 3, "updateStrategy": strategy, "template": template(image)},
    }


def live(image: str, strategy: Raw = AT_REST, *, update: str = OLD, lag: bool = False, **marks: str) -> Raw:
    names = {"offered": OFFERED_TO, "former": FORMER_REVISION, "wanted": WANTED_REVISION}
    annotations = {TEMPLATE_HASH: f"hash-{image}", **{names[name]: value for name, value in marks.items()}}
    return {
        "kind": "StatefulSet",
        "metadata": {"name": "one-x", "uid": "u", "generation": 2, "annotations": annotations},
        "spec": {"replicas": 3, "updateStrategy": strategy, "template": template(image)},
        "status": {"observedGeneration": 1 if lag else 2, "updateRevision": update, "currentRevision": OLD},
    }


def pods(*revisions: str, deleting: int | None = None) -> dict[str, Pod]:
    made = {}
    for ordinal, revision in enumerate(revisions):
        metadata = {"name": f"one-x-{ordinal}", "uid": f"uid-{ordinal}-{revision}", "labels": {}}
        metadata["labels"] = {"controller-revision-hash": revision}
        if ordinal == deleting:
            metadata["deletionTimestamp"] = "2026-01-01T00:00:00Z"
        made[f"one-x-{ordinal}"] = Pod.of({"metadata": metadata, "status": {"phase": "Running"}})
    return made


def roll(component: str, wanted: Raw, has: Raw, members: dict[str, Pod]) -> Roll:
    return roll_of(component, wanted, has, members)


REVISIONS = {OLD: {"data": {"spec": {"template": {"$patch": "replace", **template("old")}}}}}
OFFER = {"offered": f"one-x-2@uid-2-{OLD}", "former": f"hash-old@{OLD}"}

SHAPES = {
    # component, wanted, live, pods -> (image of the template that is kept, strategy, annotations)
    "at rest": ("be", desired(), live("new", update=NEW), pods(NEW, NEW, NEW), (None, None, set())),
    "a new template is frozen": ("be", desired(), live("old"), pods(OLD, OLD, OLD), (None, partition(3), set())),
    "without pods it is applied": ("be", desired(), live("old"), {}, (None, None, set())),
    "in mid-roll the partition stays": (
        "be",
        desired(),
        live("new", partition(2), update=NEW),
        pods(OLD, OLD, NEW),
        (None, partition(2), set()),
    ),
    "not noticed yet: nothing is concluded from the old revision": (
        "be",
        desired(),
        live("new", partition(3), update=OLD, lag=True),
        pods(OLD, OLD, OLD),
        (None, partition(3), set()),
    ),
    "the first one is released, and not made yet": (
        "be",
        desired(),
        live("new", partition(2), update=NEW),
        pods(OLD, OLD, OLD),
        (None, partition(2), set()),
    ),
    "all are new": ("be", desired(), live("new", partition(2), update=NEW), pods(NEW, NEW, NEW), (None, None, set())),
    "changed once more in mid-roll": (
        "be",
        desired("newer"),
        live("new", partition(2), update=NEW),
        pods(OLD, OLD, NEW),
        (None, partition(3), set()),
    ),
    "frontends keep the former template": (
        "fe",
        desired(),
        live("old"),
        pods(OLD, OLD, OLD),
        ("old", ON_DELETE, {TEMPLATE_HASH}),
    ),
    "offered to one frontend": (
        "fe",
        desired(),
        live("new", ON_DELETE, update=NEW, **OFFER),
        pods(OLD, OLD, OLD, deleting=2),
        (None, ON_DELETE, {OFFERED_TO, FORMER_REVISION}),
    ),
    "that frontend has been made": (
        "fe",
        desired(),
        live("new", ON_DELETE, update=NEW, **OFFER),
        pods(OLD, OLD, NEW),
        ("old", ON_DELETE, {TEMPLATE_HASH, WANTED_REVISION}),
    ),
    "the last frontend has been made": (
        "fe",
        desired(),
        live("new", ON_DELETE, update=NEW, **OFFER),
        pods(NEW, NEW, NEW),
        (None, None, set()),
    ),
    "between two frontends": (
        "fe",
        desired(),
        live("old", ON_DELETE, wanted=f"hash-new@{NEW}"),
        pods(OLD, OLD, NEW),
        ("old", ON_DELETE, {TEMPLATE_HASH, WANTED_REVISION}),
    ),
    "undone between two frontends": (
        "fe",
        desired("old"),
        live("old", ON_DELETE, wanted=f"hash-new@{NEW}"),
        pods(OLD, OLD, NEW),
        (None, ON_DELETE, {WANTED_REVISION}),
    ),
    "its owner replaces them": ("be", desired(strategy=ON_DELETE), live("old"), pods(OLD), (None, None, set())),
    "the user's own partition": (
        "be",
        desired(strategy=partition(2)),
        live("new", partition(2), update=NEW),
        pods(OLD, OLD, NEW),
        (None, None, set()),
    ),
    "a broken backend out of order has been made": (
        "be",
        desired(),
        live("new", ON_DELETE, update=NEW, offered=f"one-x-0@uid-0-{OLD}"),
        pods(NEW, OLD, NEW),
        (None, partition(2), set()),
    ),
}


@pytest.mark.parametrize("case", SHAPES)
def test_shape(case: str) -> None:
    component, wanted, has, members, (image, strategy, marks) = SHAPES[case]
    shape = shape_of(roll(component, wanted, has, members), REVISIONS)
    kept = shape.template and shape.template["spec"]["containers"][0]["image"]
    assert (kept, shape.strategy, set(shape.annotations)) == (image, strategy, marks)


def test_what_is_put_back_is_the_former_template_under_its_own_hash() -> None:
    has = live("new", ON_DELETE, update=NEW, **OFFER)
    shape = shape_of(roll("fe", desired(), has, pods(OLD, OLD, NEW)), REVISIONS)
    assert shape.template == template("old")
    assert shape.annotations == {TEMPLATE_HASH: "hash-old", WANTED_REVISION: f"hash-new@{NEW}"}
    assert revisions_needed(Children.of([has])) == (OLD,)


def test_an_offer_is_withdrawn_unless_its_pod_is_going() -> None:
    has = live("new", ON_DELETE, update=NEW, **OFFER)
    waiting = shape_of(roll("fe", desired(), has, pods(OLD, OLD, OLD)), REVISIONS, withdraw=True)
    assert waiting.template == template("old")
    going = shape_of(roll("fe", desired(), has, pods(OLD, OLD, OLD, deleting=2)), REVISIONS, withdraw=True)
    assert going.template is None
    assert OFFERED_TO in going.annotations


@pytest.mark.parametrize("has", [live("old"), live("old", partition(1)), live("old", ON_DELETE)])
@pytest.mark.parametrize("component", ["fe", "be"])
def test_kept_means_that_nothing_of_template_and_strategy_changes(component: str, has: Raw) -> None:
    shape = shape_of(roll(component, desired(), has, pods(OLD, OLD, OLD)), {}, keep=True)
    assert shape.template == has["spec"]["template"]
    assert shape.strategy == has["spec"]["updateStrategy"]
    assert shape.annotations[TEMPLATE_HASH] == "hash-old"


STEPS = {
    # component, live, pods, target -> the step's kind
    "the next below the partition": ("be", live("new", partition(3), update=NEW), pods(OLD, OLD, OLD), 2, "ReplacePod"),
    "its controller waits for another": (
        "be",
        live("new", partition(2), update=NEW),
        pods(OLD, OLD, OLD),
        2,
        "DeletePod",
    ),
    "out of order": ("be", live("new", partition(3), update=NEW), pods(OLD, OLD, OLD), 0, "OfferTemplate"),
    "not written yet": ("be", live("old"), pods(OLD, OLD, OLD), 2, None),
    "not noticed yet": ("be", live("new", partition(3), lag=True), pods(OLD, OLD, OLD), 2, None),
    "it is going": ("be", live("new", partition(2), update=NEW), pods(OLD, OLD, OLD, deleting=2), 2, None),
    "a frontend": ("fe", live("old", ON_DELETE), pods(OLD, OLD, OLD), 1, "OfferTemplate"),
    "a frontend to which it is offered": (
        "fe",
        live("new", ON_DELETE, update=NEW, **OFFER),
        pods(OLD, OLD, OLD),
        2,
        "DeletePod",
    ),
}


@pytest.mark.parametrize("case", STEPS)
def test_step(case: str) -> None:
    component, has, members, ordinal, kind = STEPS[case]
    found = roll(component, desired(), has, members)
    target = next(pod for pod in found.pods if pod.ordinal == ordinal)
    step = replacement(found, target, reason="It is so.")
    assert (step and str(step.kind)) == kind
    assert step is None or step.fact("uid") == f"uid-{ordinal}-{OLD}"


def test_a_step_is_known_by_what_it_leaves_behind() -> None:
    found = roll("be", desired(), live("new", partition(3), update=NEW), pods(OLD, OLD, OLD))
    step = replacement(found, found.pods[2], reason="It is so.")
    assert step is not None
    assert step.kind == StepKind.REPLACE_POD
    assert shape_of_step(step, found).strategy == partition(2)
    assert not is_shaped(step, live("new", partition(3)))
    assert is_shaped(step, live("new", partition(2)))
    offered = replacement(found, found.pods[0], reason="It is so.")
    assert offered is not None
    assert shape_of_step(offered, found).annotations == {OFFERED_TO: f"one-x-0@uid-0-{OLD}"}
    assert is_shaped(offered, live("new", ON_DELETE, offered=f"one-x-0@uid-0-{OLD}"))
