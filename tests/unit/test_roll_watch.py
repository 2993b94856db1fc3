"""Rolls in hand-written logs: the order that is read from them, what is wrong in it, and what was not put back."""

from __future__ import annotations

from collections.abc import Iterable
from pathlib import Path
from typing import Any

import pytest

from lab.audit import lines
from lab.restored import unrestored
from lab.roll_order import CONTROLLER, at_once, out_of_order, replacements
from lab.witness import Witness
from tests.unit.test_witness import PERSON, Event, backend, deleted, judged, noted, said, stateful_set, truth, write

KUBELET = "lab:kwok"


def made(pod: str, revision: str) -> Event:
    component = pod.split("-")[1]
    owner = {"app.starrocks.ownerreference/name": f"one-{component}", "app.kubernetes.io/component": component}
    labels = {**owner, "controller-revision-hash": revision}
    containers = [{"name": "helper", "image": "x"}, {"name": component, "image": f"starrocks/{component}:{revision}"}]
    asked = {"metadata": {"name": pod, "labels": labels}, "spec": {"containers": containers}}
    return write("create", "pods", "", user=CONTROLLER, code=201, asked=asked)


def gone(pod: str, *, user: str = CONTROLLER) -> Event:
    """Told to go, and then taken away by what plays the kubelet."""
    return write("delete", "pods", pod, user=user, asked={"preconditions": {"uid": "u-1"}})


def by_operator(pod: str) -> list[Event]:
    return [noted("DeletePod", pod), deleted("pods", pod, pod.split("-")[1])]


def be(
    ordinal: int, *, lagging: int = 0, answers: bool = True, alive: bool = True, started: float = 2e9
) -> dict[str, Any]:
    extra = {"lagging": lagging, "answers": answers, "alive": alive, "started": started}
    return {**backend(ordinal), **extra}


def three(**second: Any) -> Event:
    return truth(be(0), be(1, **second), be(2))


def settled(frontends: str = "LFF") -> Event:
    """Everybody runs, with a process younger than any stop in the log."""
    event = truth(be(0), be(1), be(2), frontends=frontends)
    for row in event[1]["frontends"]:
        row |= {"answers": row["alive"], "started": 2e9}
    return event


BORN = [made(f"one-{component}-{ordinal}", "a") for component in ("fe", "be") for ordinal in range(3)]
AWAY = three(answers=False, started=0.0)

RIGHT: dict[str, list[Event]] = {
    "one backend after the other": [
        settled(),
        gone("one-be-1"),
        AWAY,
        made("one-be-1", "b"),
        settled(),
        gone("one-be-0"),
        made("one-be-0", "b"),
    ],
    "frontends with the leader last": [
        settled(),
        *by_operator("one-fe-2"),
        made("one-fe-2", "b"),
        settled(),
        *by_operator("one-fe-1"),
        made("one-fe-1", "b"),
        settled(),
        *by_operator("one-fe-0"),
        made("one-fe-0", "b"),
    ],
    "a leader that is only restarted": [settled(), *by_operator("one-fe-0"), made("one-fe-0", "a")],
    "a broken backend while another one is away": [
        settled(),
        gone("one-be-1"),
        truth(be(0), be(1, answers=False), be(2, alive=False)),
        gone("one-be-2"),
    ],
    "a person who is careless": [settled(), gone("one-be-1", user=PERSON), AWAY, gone("one-be-0", user=PERSON)],
    "what a person has just done": [settled(), gone("one-be-1", user=PERSON), three(lagging=4), gone("one-be-0")],
    "fewer backends": [
        settled(),
        stateful_set("be", 3, user=PERSON),
        stateful_set("be", 1, user=PERSON),
        gone("one-be-2"),
        gone("one-be-1"),
    ],
}

WRONG: dict[str, tuple[str, list[Event]]] = {
    "two backends at once": (
        "I11: one-be-0 was told to go while one-be-1 was not back",
        [settled(), gone("one-be-1"), AWAY, made("one-be-1", "b"), AWAY, gone("one-be-0")],
    ),
    "a backend that FE still calls alive": (
        "I11: one-be-0 was told to go while one-be-1 was not back",
        [settled(), gone("one-be-1"), three(answers=False), made("one-be-1", "b"), gone("one-be-0")],
    ),
    "before the copies are repaired": (
        "I11: one-be-0 was told to go while 4 tablets on one-be-1 were behind",
        [settled(), gone("one-be-1"), AWAY, made("one-be-1", "b"), three(lagging=4), gone("one-be-0")],
    ),
    "a frontend before the copies are repaired": (
        "I11: one-fe-2 was told to go while 4 tablets on one-be-1 were behind",
        [settled(), gone("one-be-1"), AWAY, made("one-be-1", "b"), three(lagging=4), *by_operator("one-fe-2")],
    ),
    "behind for long, whoever did it": (
        "I11: one-be-0 was told to go while 4 tablets on one-be-1 were behind",
        [*[three(lagging=4)] * 12, gone("one-be-0")],
    ),
    "two frontends at once": (
        "I11: one-fe-1 was told to go while one-fe-2 was not back",
        [settled(), *by_operator("one-fe-2"), made("one-fe-2", "b"), *by_operator("one-fe-1")],
    ),
    "the leader before the others": (
        "I11: one-fe-0 led and was replaced before one-fe-1, one-fe-2",
        [settled(), *by_operator("one-fe-0"), made("one-fe-0", "b")],
    ),
    "no majority": ("I1: without one-fe-2, 1 of 3 followers", [settled("LDF"), *by_operator("one-fe-2")]),
}


@pytest.mark.parametrize("deeds", RIGHT.values(), ids=RIGHT)
def test_what_is_right_is_passed_in_silence(tmp_path: Path, deeds: list[Event]) -> None:
    assert judged(tmp_path, [*BORN, *deeds]) == []


@pytest.mark.parametrize(("sentence", "deeds"), WRONG.values(), ids=WRONG)
def test_what_is_wrong_is_named_once(tmp_path: Path, sentence: str, deeds: list[Event]) -> None:
    found = [each for each in judged(tmp_path, [*BORN, *deeds]) if sentence in each]
    assert len(found) == 1, judged(tmp_path, [*BORN, *deeds])


# -- the order -------------------------------------------------------------------------------------------------


def order(directory: Path, events: Iterable[Event]) -> list[tuple[str, str, str, str]]:
    judged(directory, events)
    found = replacements(directory / "audit.jsonl", cluster="one")
    return [(each.component, each.pod, each.old, each.new) for each in found]


ROLL = [gone("one-be-2"), gone("one-be-2", user=KUBELET), made("one-be-2", "b"), *by_operator("one-fe-1")]


def test_the_order_is_read_from_the_audit_log(tmp_path: Path) -> None:
    assert order(tmp_path, [*BORN, *ROLL, made("one-fe-1", "b")]) == [
        ("be", "one-be-2", "a", "b"),
        ("fe", "one-fe-1", "a", "b"),
    ]
    first, second = replacements(tmp_path / "audit.jsonl")
    assert (first.old_image, first.new_image, first.by) == ("starrocks/be:a", "starrocks/be:b", CONTROLLER)
    assert first.stopped < first.back < second.stopped
    assert first.changed
    assert list(lines(tmp_path / "truth.jsonl")) == []


def test_who_dies_comes_back_as_it_was(tmp_path: Path) -> None:
    order(tmp_path, [*BORN, gone("one-be-2", user=PERSON), made("one-be-2", "a")])
    (only,) = replacements(tmp_path / "audit.jsonl")
    assert (only.changed, only.by) == (False, PERSON)


def test_what_is_out_of_order_is_said(tmp_path: Path) -> None:
    order(tmp_path, [*BORN, *ROLL, made("one-fe-1", "b"), gone("one-be-0"), made("one-be-0", "b")])
    found = replacements(tmp_path / "audit.jsonl")
    assert out_of_order(found) == ["one-be-0 was replaced after fe/fe-observer had begun"]
    assert out_of_order(found, (("fe",), ("cn",), ("be",))) == ["one-fe-1 was replaced after be had begun"]
    assert at_once(found, "be") == []


def test_two_at_once_are_said(tmp_path: Path) -> None:
    order(tmp_path, [*BORN, gone("one-be-2"), gone("one-be-1"), made("one-be-2", "b"), made("one-be-1", "b")])
    found = replacements(tmp_path / "audit.jsonl")
    assert at_once(found, "be") == ["one-be-1 was told to go before one-be-2 was back"]


# -- settings --------------------------------------------------------------------------------------------------

HELD = said('ADMIN SET FRONTEND CONFIG ("tablet_sched_max_scheduling_tablets" = "0")')


def with_settings(*settings: dict[str, str]) -> Event:
    """Of the leader first."""
    event = truth()
    for row, each in zip(event[1]["frontends"], settings, strict=True):
        row |= {"settings": each, "answers": True}
    return event


ZERO, OWN = {"tablet_sched_max_scheduling_tablets": "0"}, {"tablet_sched_max_scheduling_tablets": "7"}


@pytest.mark.parametrize(
    ("before", "after", "left"),
    [
        ([{}] * 3, [{}] * 3, 0),
        ([{}] * 3, [{}, ZERO, {}], 1),
        ([OWN] * 3, [OWN] * 3, 0),
        ([OWN] * 3, [OWN, OWN, {}], 1),
        ([OWN] * 3, [{}] * 3, 3),
    ],
)
def test_settings_are_as_before(
    tmp_path: Path, before: list[dict[str, str]], after: list[dict[str, str]], left: int
) -> None:
    judged(tmp_path, [with_settings(*before), HELD, with_settings(ZERO, ZERO, ZERO), with_settings(*after)])
    witness = Witness(audit_log=tmp_path / "audit.jsonl", statement_log=tmp_path / "statements.jsonl")
    assert len(witness.unrestored()) == left


def test_what_a_statement_did_may_be_written_down_before_it() -> None:
    events = [with_settings(*[{}] * 3), with_settings(*[ZERO] * 3), HELD, with_settings(*[{}] * 3)]
    assert list(unrestored({**line, "time": 1.0} for _, line in events)) == []


def test_settings_of_others_are_their_own(tmp_path: Path) -> None:
    entry = said('ADMIN SET FRONTEND CONFIG ("x" = "0")', source="control")
    judged(tmp_path, [with_settings({}, {}, {}), entry, with_settings(ZERO, ZERO, ZERO)])
    witness = Witness(audit_log=tmp_path / "audit.jsonl", statement_log=tmp_path / "statements.jsonl")
    assert witness.unrestored() == []
