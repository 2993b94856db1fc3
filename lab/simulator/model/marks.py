"""Red marks: what a careless operator leaves behind. They are never taken back."""

from __future__ import annotations

from dataclasses import asdict, dataclass
from typing import Any


@dataclass(frozen=True, kw_only=True)
class Mark:
    at: float
    kind: str  # second-cluster | quorum-lost-by-statement | tablet-lost | meta-lost | drop-with-tablets | …
    cluster: str
    text: str

    def as_dict(self) -> dict[str, Any]:
        return asdict(self)
