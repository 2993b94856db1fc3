"""The state that frontends replicate through their journal: an immutable value, so that old views cost nothing."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass, field, replace

from lab.simulator.model.accounts import Account, initial_accounts
from lab.simulator.model.facts import Component


@dataclass(frozen=True, kw_only=True)
class FrontendRow:
    fid: int
    name: str
    host: str
    edit_log_port: int
    role: str  # FOLLOWER | OBSERVER; who leads is computed per query
    joined: bool = False
    alive: bool = False
    beating: bool = False  # the last heartbeat was good
    last_heartbeat: float | None = None  # while not beating
    query_port: int = 0
    rpc_port: int = 0
    start_time: float | None = None
    version: str | None = None
    error: str = ""

    @property
    def target(self) -> str:
        return f"{self.host}:{self.edit_log_port}"

    @property
    def electable(self) -> bool:
        return self.role == "FOLLOWER"


@dataclass(frozen=True, kw_only=True)
class NodeRow:
    """A backend or a compute node: they share one namespace of host and port."""

    node_id: int
    kind: Component
    host: str
    port: int
    alive: bool = False
    status: str = "CONNECTING"
    decommissioned: bool = False
    beating: bool = False
    last_heartbeat: float | None = None
    last_start: float | None = None
    be_port: int = -1
    http_port: int = -1
    brpc_port: int = -1
    version: str = ""
    error: str = ""
    warehouse: str = "default_warehouse"

    @property
    def target(self) -> str:
        return f"{self.host}:{self.port}"


@dataclass(frozen=True, kw_only=True)
class State:
    frontends: tuple[FrontendRow, ...] = ()
    nodes: tuple[NodeRow, ...] = ()
    accounts: Mapping[str, Account] = field(default_factory=initial_accounts)
    roles: Mapping[str, frozenset[str]] = field(default_factory=dict)  # created role -> SYSTEM privileges
    next_id: int = 10001
    warehouses: frozenset[str] = frozenset({"default_warehouse"})

    def frontend(self, name: str) -> FrontendRow | None:
        return next((row for row in self.frontends if row.name == name), None)

    def frontend_at(self, host: str, port: int) -> FrontendRow | None:
        return next((row for row in self.frontends if (row.host, row.edit_log_port) == (host, port)), None)

    def node(self, node_id: int) -> NodeRow | None:
        return next((row for row in self.nodes if row.node_id == node_id), None)

    def node_at(self, host: str, port: int) -> NodeRow | None:
        return next((row for row in self.nodes if (row.host, row.port) == (host, port)), None)

    def of_kind(self, kind: Component) -> tuple[NodeRow, ...]:
        return tuple(row for row in self.nodes if row.kind is kind)

    def with_frontend(self, row: FrontendRow) -> State:
        return replace(self, frontends=tuple(row if old.name == row.name else old for old in self.frontends))

    def with_node(self, row: NodeRow) -> State:
        return replace(self, nodes=tuple(row if old.node_id == row.node_id else old for old in self.nodes))


Change = Callable[[State], State]
