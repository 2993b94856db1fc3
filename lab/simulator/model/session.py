"""One client's connection as FE remembers it: who it is and which of its roles are active."""

from __future__ import annotations

from dataclasses import dataclass, field


@dataclass
class Session:
    user: str = "root"
    source: str = "client"  # client | entrypoint
    roles: frozenset[str] | None = None  # None: the account's default roles
    forward_to_leader: bool = False
    hung: bool = False  # its last statement got no answer yet; the next one is the same, tried again
    variables: dict[str, str] = field(default_factory=dict)
