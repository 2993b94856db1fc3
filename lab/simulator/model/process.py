"""The processes inside the pods, and the faults that can be laid on a node."""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import TYPE_CHECKING

from lab.simulator.model.facts import PodFacts
from lab.simulator.model.volume import Volume

if TYPE_CHECKING:
    from lab.simulator.model.database import Database


@dataclass
class Faults:
    """Switches per pod name; they survive restarts of the container and of the pod until they are cleared."""

    hang: bool = False  # the process is there and answers nobody (SIGSTOP)
    down: bool = False  # the container does not start
    lag: float = 0.0  # journal replay stops until it trails by so many seconds
    lag_since: float = 0.0
    no_dns: bool = False  # others cannot resolve this host
    clock_skew: bool = False  # more than 5 s: the node never joins
    low_disk: bool = False  # less than 5 GB on the meta disk: the node never joins
    wrong_address: bool = False  # a backend that finds another address than FE has saved
    foreign_storage: bool = False  # a backend whose storage belongs to another cluster
    lock_busy: int = 0  # so many of the next membership statements find the catalog lock taken
    lose_reply: int = 0  # the n-th statement from now is executed and its reply lost
    lose_request: int = 0  # the n-th statement from now never reaches FE
    errors: list[tuple[int, str]] = field(default_factory=list)  # answered instead of the next statements


@dataclass(eq=False)
class FrontendProcess:
    facts: PodFacts
    faults: Faults
    volume: Volume
    started: float
    config: dict[str, str] = field(default_factory=dict)  # ADMIN SET: in memory, gone with the process
    blacklist: set[str] = field(default_factory=set)  # nodes without queries from here, by id: in memory, too
    database: Database | None = None
    name: str = ""
    serving: bool = False  # ports open
    leaving: bool = False  # graceful exit: health answers 500
    deposed: bool = False  # led, hung, and was replaced meanwhile
    removed_at: float | None = None  # dropped while alive: serves old reads until it stops
    leaderless_since: float | None = None
    waiting: str = ""
    images: int = 0  # written as a leader, since it started
    gone: bool = False

    @property
    def connected(self) -> bool:
        """Takes part in the replication group."""
        return not self.gone and not self.faults.hang and self.removed_at is None

    @property
    def answers(self) -> bool:
        return self.serving and not self.gone and not self.faults.hang


@dataclass(eq=False)
class NodeProcess:
    """A backend or a compute node."""

    facts: PodFacts
    faults: Faults
    volume: Volume
    started: float
    stopping: bool = False
    gone: bool = False

    @property
    def answers(self) -> bool:
        return not self.gone and not self.faults.hang


Process = FrontendProcess | NodeProcess
