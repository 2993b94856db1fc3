"""What a control plane stands on: KWOK's pretended nodes, unless somebody brings a real one (lab/node)."""

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field

from lab.controlplane.components import Component
from lab.controlplane.layout import Layout


@dataclass(frozen=True)
class Site:
    """What is brought along: the parts to start instead of the usual ones, and how the place is made."""

    components: Sequence[Component]
    address: Callable[[Layout], str]  # where the API server listens
    prepare: Callable[[Layout], None]  # called when the lab's number is known and nothing runs yet
    clients: Mapping[str, tuple[str, str | None]] = field(default_factory=dict)  # as pki.CLIENTS
