"""A second place for what must not be forgotten while members leave: the marker ConfigMap.

The status can be lost, as when the cluster's resource is restored from a backup. What we ordered would then look like
somebody else's work: never taken back, and FE's setting never restored. So orders, dropped frontends and the old
values of settings are also written to the marker, before FE is told; where the status tells of no member, it counts.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping

from starrocks_operator.membership.frontend_table import DROPPED
from starrocks_operator.model.status import Member

US = "operator"
_NONE = "-"


def lines_of(members: Iterable[Member], held: Mapping[str, str]) -> tuple[str, ...]:
    """What is written, a line each; nothing while nobody leaves."""
    found = [
        " ".join(("member", m.kind, m.id or _NONE, m.host, m.ordered_at or m.leaving_since or _NONE, _state(m)))
        for m in members
        if m.ordered_by == US or (m.kind == "frontend" and m.id and (m.leaving_since or m.state == DROPPED))
    ]
    return (*sorted(found), *(f"setting {name} {was}" for name, was in sorted(held.items())))


def members_in(text: str) -> Iterator[Member]:
    """The members of such lines. What is no such line is passed over."""
    for words in map(str.split, text.splitlines()):
        if len(words) != 6 or words[0] != "member":
            continue
        _, kind, identity, host, when, state = words
        at, told = (None if when == _NONE else when), kind != "frontend"
        yield Member(
            kind=kind,
            name=host.split(".")[0],
            host=host,
            id=None if identity == _NONE else identity,
            ordered_by=US if told else None,
            ordered_at=at if told else None,
            leaving_since=at,
            state=None if state == _NONE else state,
        )


def held_in(text: str) -> dict[str, str]:
    """The settings of such lines, with their old values."""
    lines = [words for words in map(str.split, text.splitlines()) if len(words) == 3 and words[0] == "setting"]
    return {name: was for _, name, was in lines}


def quiet_in(text: str) -> tuple[str, ...]:
    """Whom such lines tell that we keep queries from."""
    return tuple(words[1] for words in map(str.split, text.splitlines()) if len(words) == 2 and words[0] == "quiet")


def _state(member: Member) -> str:
    return DROPPED if member.state == DROPPED else _NONE
