"""ALTER SYSTEM as pure functions from state to state, with FE's own error texts (reference: starrocks-sql §2)."""

from __future__ import annotations

import ipaddress
from collections.abc import Callable
from dataclasses import replace

from lab.simulator.model.facts import Component
from lab.simulator.model.outcome import SqlError
from lab.simulator.model.rows import FrontendRow, NodeRow, State

DEFAULT_WAREHOUSE = "default_warehouse"
_WORD = {Component.BE: "Backend", Component.CN: "Compute node"}
Resolves = Callable[[str], str | None]  # host -> address, as the leader's DNS has it


def host_and_port(text: str, what: str) -> tuple[str, int]:
    host, colon, port = text.strip().rpartition(":")
    if not colon or not host or not port.isdigit() or not 0 < int(port) < 65536:
        raise SqlError(f"{what} host or port is wrong!")
    return host, int(port)


def is_address(host: str) -> bool:
    try:
        ipaddress.ip_address(host)
    except ValueError:
        return False
    return True


def add_frontend(state: State, *, role: str, target: str, name: str, resolve: Resolves) -> State:
    host, port = host_and_port(target, "frontend")
    address = host if is_address(host) else resolve(host)
    if address is None:
        raise SqlError(f"unknown fqdn host: {host}")
    for row in state.frontends:
        if host == row.host or address == (resolve(row.host) or row.host):
            raise SqlError(f"FE with the same host: {host} already exists")
    if state.frontend(name) is not None:
        raise SqlError(f"frontend name already exists {name}. Try again")
    fid = max((row.fid for row in state.frontends), default=0) + 1
    row = FrontendRow(fid=fid, name=name, host=host, edit_log_port=port, role=role)
    return replace(state, frontends=(*state.frontends, row))


def frontend_to_drop(state: State, *, role: str, target: str, leader: str) -> FrontendRow:
    host, port = host_and_port(target, "frontend")
    row = state.frontend_at(host, port)
    if row is None:
        raise SqlError(f"frontend does not exist[{host}:{port}]")
    if row.name == leader:
        raise SqlError("can not drop current master node.")
    if row.role != role:
        raise SqlError(f"{role} does not exist[{host}:{port}]")
    return row


def without_frontend(state: State, name: str) -> State:
    return replace(state, frontends=tuple(row for row in state.frontends if row.name != name))


def rename_frontend_host(state: State, *, old: str, new: str, leader: str, resolve: Resolves) -> State:
    if is_address(new):
        raise SqlError("Can't change ip to ip" if is_address(old) else f"unknown host {new}")
    row = next((row for row in state.frontends if row.host == old), None)
    if row is None:
        raise SqlError(f"frontend [{old}] not found")
    if row.name == leader:
        raise SqlError("can not modify current master node.")
    if resolve(new) is None:
        raise SqlError(f"unknown host {new}")
    if any(other.host == new for other in state.frontends):
        raise SqlError(f"frontend with host [{new}] already exists ")
    return state.with_frontend(replace(row, host=new))


def add_nodes(state: State, *, kind: Component, targets: list[str], warehouse: str = DEFAULT_WAREHOUSE) -> State:
    """Duplicates are found by string only: one process by address and by name becomes two rows."""
    pairs = [host_and_port(target, _WORD[kind].lower()) for target in targets]
    for host, port in pairs:
        existing = state.node_at(host, port)
        if existing is not None:
            raise SqlError(f"{_WORD[existing.kind]} already exists with same host {host} and port {port}")
    for host, port in pairs:
        row = NodeRow(node_id=state.next_id, kind=kind, host=host, port=port, warehouse=warehouse)
        state = replace(state, nodes=(*state.nodes, row), next_id=state.next_id + 1)
    return state


def node_to_drop(state: State, *, kind: Component, target: str) -> NodeRow:
    host, port = host_and_port(target, _WORD[kind].lower())
    row = state.node_at(host, port)
    if row is None or row.kind is not kind:
        raise SqlError(f"{_WORD[kind].lower()} does not exists[{host}:{port}]")
    return row


def without_node(state: State, node_id: int) -> State:
    return replace(state, nodes=tuple(row for row in state.nodes if row.node_id != node_id))


def with_warehouse(state: State, name: str) -> State:
    return replace(state, warehouses=state.warehouses | {name})


def without_warehouse(state: State, name: str) -> State:
    """That one with compute nodes is refused is an assumption: no document says what FE does with them."""
    if any(row.warehouse == name for row in state.nodes):
        raise SqlError(f"Warehouse {name} still has compute nodes.")
    return replace(state, warehouses=state.warehouses - {name})


def backends_named(state: State, targets: list[str]) -> list[NodeRow]:
    """For DECOMMISSION and CANCEL: all names are checked before anything is done."""
    found = []
    for target in targets:
        host, port = host_and_port(target, "backend")
        row = state.node_at(host, port)
        if row is None or row.kind is not Component.BE:
            raise SqlError(f"Backend does not exist[{host}:{port}]")
        found.append(row)
    return found
