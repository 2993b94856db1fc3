"""What is worth an Event: the differences between two statuses that a person wants to be told of once."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from datetime import datetime
from typing import Any

from starrocks_operator.status.rolls import roll_transitions
from starrocks_operator.status.transition import NORMAL, WARNING, Transition

__all__ = ["NORMAL", "WARNING", "Transition", "transitions"]

Status = Mapping[str, Any]

_GOOD = {"Ready": "True", "Degraded": "False", "QuorumSafe": "True"}
_TOLD_WHEN_NOT_READY = frozenset(
    {
        "ScaleInBlocked",
        "ScaleInRefused",
        "ScaleInHeld",
        "ForeignDecommission",
        "ComponentOrphaned",
        "VolumeGrowthRefused",
        "VolumeShrinkRefused",
        "CanaryWaits",
    }
)


def transitions(before: Status, after: Status, *, now: datetime | None = None) -> tuple[Transition, ...]:
    """The Events that going from one status to the other gives; none for equal ones. now: when that is."""
    return (
        *_founding(before, after),
        *_conditions(before, after),
        *_leader(before, after),
        *_members(before, after),
        *_departures(before, after),
        *_losses(before, after),
        *roll_transitions(before, after, now=now),
        *_steps(before, after),
    )


def _founding(before: Status, after: Status) -> Iterator[Transition]:
    was, now = (_of(status, "bootstrap").get("clusterId", "") for status in (before, after))
    if now and not was:
        yield Transition(type=NORMAL, reason="Founded", message=f"The cluster was founded; its id is {now}.")


def _conditions(before: Status, after: Status) -> Iterator[Transition]:
    was, now = (_by(status, "conditions", "type") for status in (before, after))
    for kind, good in _GOOD.items():
        old, new = was.get(kind, {}), now.get(kind)
        if new is None:
            continue
        turned = old.get("status") != new["status"]
        if new["status"] == good:
            # At the first sight of a cluster only its being ready is news.
            if turned and (old.get("status") not in (None, "Unknown") or kind == "Ready"):
                yield Transition(type=NORMAL, reason=_good_news(kind), message=new["message"])
        elif kind == "Ready":
            told = new["reason"] in _TOLD_WHEN_NOT_READY and old.get("reason") != new["reason"]
            if told or old.get("status") == "True":
                reason = new["reason"] if told else "NotReady"
                yield Transition(type=WARNING if told else NORMAL, reason=reason, message=new["message"])
        elif kind == "Degraded":
            if turned or old.get("reason") != new["reason"]:
                yield Transition(type=WARNING, reason=new["reason"], message=new["message"])
        elif old.get("status") == "True":
            yield Transition(type=WARNING, reason="QuorumAtRisk", message=new["message"])


def _good_news(kind: str) -> str:
    return {"Ready": "Ready", "Degraded": "Recovered", "QuorumSafe": "QuorumSafe"}[kind]


def _leader(before: Status, after: Status) -> Iterator[Transition]:
    was, now = (_leader_of(status) for status in (before, after))
    if was == now:
        return
    if now and was:
        yield Transition(type=NORMAL, reason="LeaderChanged", message=f"{now} leads now; {was} did.")
    elif now:
        yield Transition(type=NORMAL, reason="LeaderFound", message=f"{now} leads.")


def _leader_of(status: Status) -> str:
    """Only a leader that is known to be alive counts: without one, members keep the role they had."""
    return next(
        (
            member.get("name") or member["host"]
            for member in status.get("members") or ()
            if member.get("role") == "LEADER" and member.get("alive")
        ),
        "",
    )


def _members(before: Status, after: Status) -> Iterator[Transition]:
    """Each group in one Event, however many there are."""
    was = {_label(member): member for member in before.get("members") or ()}
    now = {_label(member): member for member in after.get("members") or ()}
    joined = [label for label, member in now.items() if member.get("alive") and _newly_alive(was.get(label))]
    died = [label for label, member in now.items() if member.get("state") == "dead" and _was_alive(was.get(label))]
    left = [label for label in was if label not in now]
    for names, kind, reason, verb in (
        (joined, NORMAL, "MembersAlive", "alive"),
        (died, WARNING, "MembersDead", "no longer alive"),
        (left, NORMAL, "MembersLeft", "no longer registered"),
    ):
        if names:
            message = f"{', '.join(names)} {'is' if len(names) == 1 else 'are'} {verb}."
            yield Transition(type=kind, reason=reason, message=message)


_GOING = {"draining": "NodeDraining", "drained": "NodeDrained"}


def _departures(before: Status, after: Status) -> Iterator[Transition]:
    """How nodes get on that are on their way out: each turn once, not each tablet."""
    was = {_label(member): member for member in before.get("members") or ()}
    for member in after.get("members") or ():
        old, state = was.get(_label(member), {}), member.get("state")
        if state not in _GOING or old.get("state") in (state, "unknown", "stalled"):
            continue
        left = f"{member['tabletsLeft']} tablets are left on it." if member.get("tabletsLeft") else "It is empty."
        words = left if state == "drained" or member.get("tabletsLeft") is not None else "It finishes its queries."
        yield Transition(
            type=NORMAL, reason=_GOING[state], message=f"{_label(member).capitalize()} is leaving. {words}"
        )


def _losses(before: Status, after: Status) -> Iterator[Transition]:
    """A backend that was given up is gone, and what was on it."""
    there = {(member.get("host"), member.get("id")) for member in after.get("members") or ()}
    for member in before.get("members") or ():
        if member.get("state") == "given-up" and (member.get("host"), member.get("id")) not in there:
            message = (
                f"{_label(member).capitalize()} was dropped with FORCE, as its owner named it: {member['tabletsLeft']} "
                "tablets were left on it, and those without a copy on another backend are lost. Its volume stays."
            )
            yield Transition(type=WARNING, reason="BackendForceDropped", message=message)


def _label(member: Mapping[str, Any]) -> str:
    words = {"frontend": "frontend", "backend": "backend", "computeNode": "compute node"}
    return f"{words.get(member['kind'], member['kind'])} {member.get('name') or member['host']}"


def _newly_alive(member: Mapping[str, Any] | None) -> bool:
    return member is None or member.get("alive") is False


def _was_alive(member: Mapping[str, Any] | None) -> bool:
    return member is not None and bool(member.get("alive"))


def _steps(before: Status, after: Status) -> Iterator[Transition]:
    old, new = _of(before, "nextStep"), _of(after, "nextStep")
    if new and new.get("hash") != old.get("hash"):
        message = f"{new['kind']} {new['target']}: {new['reason']}"
        yield Transition(type=NORMAL, reason=f"{new['kind']}Planned", message=message)
    if old and old.get("hash") != new.get("hash"):
        message = f"{old['kind']} {old['target']}: it is done, or no longer to be done."
        yield Transition(type=NORMAL, reason=f"{old['kind']}Settled", message=message)


def _of(status: Status, key: str) -> Mapping[str, Any]:
    return status.get(key) or {}


def _by(status: Status, key: str, name: str) -> dict[str, Mapping[str, Any]]:
    return {item[name]: item for item in status.get(key) or ()}
