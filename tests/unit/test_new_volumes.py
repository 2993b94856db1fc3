"""Pods get volumes that they did not have: who may be next, when the StatefulSet is made anew, and as what."""

from __future__ import annotations

import json
from typing import Any

import pytest

from lab.rehearsal.scenarios import SCENARIOS
from starrocks_operator.membership import Pod
from starrocks_operator.objects.metadata import TEMPLATE_HASH
from starrocks_operator.rollout.new_volumes import Remake, offering, unasked
from starrocks_operator.rollout.roll import FORMER_REVISION, OFFERED_TO, WANTED_REVISION, Method, Roll, roll_of
from starrocks_operator.rollout.shaping import shape_of
from starrocks_operator.storage.added import OFFERED_VOLUMES
from tests.unit.membership_world import World

OLD, NEW = ("data",), ("data", "spill")
FORMER_TEMPLATE = {"metadata": {"labels": {"of": "old"}}, "spec": {"containers": [{"name": "be", "image": "b"}]}}
NEW_TEMPLATE = {"metadata": {"labels": {"of": "new"}}, "spec": {"containers": [{"name": "be", "image": "b"}]}}
REVISIONS = {"rev-old": {"data": {"spec": {"template": {"$patch": "replace", **FORMER_TEMPLATE}}}}}
AT_REST = {"type": "RollingUpdate", "rollingUpdate": {"partition": 0}}


def stateful_set(volumes: tuple[str, ...], template: dict[str, Any], mark: str, **more: Any) -> dict[str, Any]:
    claims = [{"metadata": {"name": name}, "spec": {"storageClassName": more.get("of", "fast")}} for name in volumes]
    return {
        "kind": "StatefulSet",
        "metadata": {
            "name": "one-be",
            "uid": "uid-1",
            "generation": 1,
            "annotations": {TEMPLATE_HASH: mark, **more.get("annotations", {})},
        },
        "spec": {
            "replicas": 3,
            "template": template,
            "volumeClaimTemplates": claims,
            "updateStrategy": more.get("strategy", AT_REST),
        },
        "status": {"observedGeneration": more.get("noticed", 1), "updateRevision": more.get("revision", "")},
    }


def resting(**annotations: str) -> dict[str, Any]:
    return stateful_set(OLD, FORMER_TEMPLATE, "h-old", revision="rev-old", annotations=annotations)


def offering_to(pod: str, uid: str, **more: Any) -> dict[str, Any]:
    """As it is while one pod is replaced."""
    marks = {OFFERED_TO: f"{pod}@{uid}", FORMER_REVISION: "h-old@rev-old", OFFERED_VOLUMES: "spill"}
    return stateful_set(
        NEW, NEW_TEMPLATE, "h-new", revision="rev-new", strategy={"type": "OnDelete"}, annotations=marks, **more
    )


WANTED = stateful_set(NEW, NEW_TEMPLATE, "h-new")


def pod(ordinal: int, *, new: bool, going: bool = False) -> dict[str, Any]:
    return {
        "metadata": {
            "name": f"one-be-{ordinal}",
            "uid": f"{'new' if new else 'old'}-{ordinal}",
            "labels": {"controller-revision-hash": "rev-new" if new else "rev-old"},
            **({"deletionTimestamp": "2026-01-01T00:00:00Z"} if going else {}),
        },
        "spec": {"volumes": [{"name": name, "persistentVolumeClaim": {}} for name in (NEW if new else OLD)]},
        "status": {"conditions": [{"type": "Ready", "status": "True"}]},
    }


def roll(live: dict[str, Any], pods: str, *, desired: dict[str, Any] | None = None) -> Roll:
    """pods: by ordinal, `o`ld, `n`ew, old and `g`oing, or not there (`-`)."""
    made = [pod(n, new=letter == "n", going=letter == "g") for n, letter in enumerate(pods) if letter != "-"]
    return roll_of("be", desired or WANTED, live, {raw["metadata"]["name"]: Pod.of(raw) for raw in made})


KNOWN = {WANTED_REVISION: "h-new@rev-new"}


@pytest.mark.parametrize(
    ("pods", "next_ones"),
    [("ooo", [0]), ("noo", [1]), ("nno", [2]), ("ono", [0]), ("nnn", []), ("n-o", [2])],
)
def test_a_pod_is_next_only_if_all_below_it_have_the_volume(pods: str, next_ones: list[int]) -> None:
    found = roll(resting(**KNOWN), pods)
    assert found.method == Method.ANY_ORDER
    assert [item.ordinal for item in found.candidates] == next_ones


def test_without_new_volumes_every_old_pod_is_a_candidate() -> None:
    live = stateful_set(NEW, FORMER_TEMPLATE, "h-old", revision="rev-old")
    assert [item.ordinal for item in roll(live, "ooo").candidates] == [0, 1, 2]


@pytest.mark.parametrize(
    ("live", "pods", "withdraw", "becomes"),
    [
        (resting(**KNOWN), "noo", True, None),
        (resting(**KNOWN), "nnn", True, NEW),  # all of them have it, whoever put it back
        (offering_to("one-be-0", "old-0"), "ooo", False, None),  # its turn
        (offering_to("one-be-0", "old-0"), "ooo", True, OLD),  # no longer
        (offering_to("one-be-0", "old-0"), "goo", True, None),  # it stops, and comes back with it
        (offering_to("one-be-0", "old-0"), "-oo", True, None),
        (offering_to("one-be-0", "old-0"), "-o-", True, OLD),  # the other one would not come back
        (offering_to("one-be-0", "old-0"), "oo-", False, OLD),
        (offering_to("one-be-0", "old-0"), "noo", True, OLD),  # it has been made
        (offering_to("one-be-0", "old-0", noticed=0), "noo", True, None),  # its revision is not known yet
        (offering_to("one-be-2", "old-2"), "nnn", True, None),  # the last one: it stays, by an ordinary apply
    ],
)
def test_when_it_is_made_anew_whosever_turn_it_is(
    live: dict[str, Any], pods: str, withdraw: bool, becomes: tuple[str, ...] | None
) -> None:
    found = unasked(roll(live, pods), REVISIONS, withdraw=withdraw)
    assert (None if found is None else names(found)) == becomes


def names(remake: Remake) -> tuple[str, ...]:
    return tuple(item["metadata"]["name"] for item in json.loads(remake.document)["spec"]["volumeClaimTemplates"])


@pytest.mark.parametrize(
    "desired",
    [
        stateful_set(OLD, FORMER_TEMPLATE, "h-old"),
        stateful_set(NEW, FORMER_TEMPLATE, "h-third"),
        stateful_set(NEW, NEW_TEMPLATE, "h-new", of="slow"),
        stateful_set((*NEW, "more"), NEW_TEMPLATE, "h-fourth"),
    ],
    ids=["taken back", "another template", "another class", "one more"],
)
def test_a_wish_that_changes_has_it_put_back_first(desired: dict[str, Any]) -> None:
    found = unasked(roll(offering_to("one-be-0", "old-0"), "ooo", desired=desired), REVISIONS, withdraw=False)
    assert found is not None
    document = json.loads(found.document)
    assert names(found) == OLD
    assert document["spec"]["template"]["metadata"]["labels"] == {"of": "old"}
    assert document["annotations"] == {TEMPLATE_HASH: "h-old", WANTED_REVISION: "h-new@rev-new"}


def test_what_is_offered_says_to_whom_and_what_comes_back_after_that() -> None:
    found = roll(resting(**KNOWN), "noo")
    remake = offering(found, found.candidates[0])
    assert remake is not None
    document = json.loads(remake.document)
    assert names(remake) == NEW
    assert document["spec"]["updateStrategy"] == {"type": "OnDelete"}
    assert document["spec"]["template"] == NEW_TEMPLATE
    assert document["annotations"] == {
        TEMPLATE_HASH: "h-new",
        OFFERED_TO: "one-be-1@old-1",
        FORMER_REVISION: "h-old@rev-old",
        OFFERED_VOLUMES: "spill",
    }


def test_at_rest_it_keeps_its_claims_and_its_template() -> None:
    shape = shape_of(roll(resting(**KNOWN), "noo"), REVISIONS)
    assert [item["metadata"]["name"] for item in shape.claims or ()] == list(OLD)
    assert shape.template == FORMER_TEMPLATE
    assert shape.strategy == {"type": "OnDelete"}
    assert shape.annotations == {TEMPLATE_HASH: "h-old", WANTED_REVISION: "h-new@rev-new"}


def test_a_component_without_any_claim_keeps_none() -> None:
    document = shape_of(roll(stateful_set((), FORMER_TEMPLATE, "h-old"), "ooo"), REVISIONS).document()
    assert document["claims"] == []


def test_claims_that_no_pod_has_any_more_are_named_and_kept() -> None:
    world = World()
    labels = {"app.starrocks.ownerreference/name": "sample-be"}
    for name in ("spill-sample-be-0", "be-data-sample-be-7"):  # the second one waits for a pod to come back
        world.put(
            {
                "kind": "PersistentVolumeClaim",
                "metadata": {"name": name, "namespace": "default", "uid": name, "labels": labels},
            }
        )
    decision = world.decide()
    (finding,) = [finding for finding in decision.findings if finding.reason == "VolumesLeft"]
    assert finding.remark
    assert "spill-sample-be-0. " in finding.message
    assert not decision.due


@pytest.mark.parametrize(
    "scenario", ["volume-added-and-a-death", "volume-added-and-paused", "volume-not-added-to-frontends"]
)
def test_it_is_added_and_taken_back_whatever_dies(scenario: str) -> None:
    """With invariants watched, and the controller of StatefulSets as it is: stuck while a running pod lacks a claim."""
    SCENARIOS[scenario].finish(SCENARIOS[scenario].begin())
