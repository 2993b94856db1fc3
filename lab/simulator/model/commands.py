"""What each statement does: a table from the grammar's kinds to small functions."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass, replace
from typing import TYPE_CHECKING

from lab.simulator.model import account_commands, config, membership, node_commands, shows
from lab.simulator.model.facts import Component
from lab.simulator.model.grammar import Statement
from lab.simulator.model.outcome import Done, Outcome, Rows, SqlError
from lab.simulator.model.process import FrontendProcess
from lab.simulator.model.session import Session
from lab.simulator.model.version import Features, full_version

if TYPE_CHECKING:
    from lab.simulator.model.database import Database
    from lab.simulator.model.world import World


@dataclass(frozen=True, kw_only=True)
class Call:
    """A statement about to be executed by `process`, which may be the leader on behalf of another frontend."""

    world: World
    database: Database
    process: FrontendProcess
    statement: Statement
    session: Session

    @property
    def features(self) -> Features:
        return self.world.options.features(self.process.facts.version)

    def resolve(self, host: str) -> str | None:
        container = self.world.resolve(host)
        if container is None:
            return self.world.dns(host)
        return None if container.faults.no_dns else container.facts.address


def run(call: Call) -> Outcome:
    return _HANDLERS[call.statement.kind](call)


def _lock(call: Call) -> None:
    if call.process.faults.lock_busy > 0:
        call.process.faults.lock_busy -= 1
        raise SqlError("Failed to acquire globalStateMgr lock. Try again")


def _add_frontend(call: Call) -> Outcome:
    _lock(call)
    target, role = call.statement.targets[0], call.statement["role"].upper()
    host, port = membership.host_and_port(target, "frontend")
    name = call.database.new_name(host, port)
    call.database.write(
        lambda state: membership.add_frontend(state, role=role, target=target, name=name, resolve=call.resolve)
    )
    call.database.recheck(name)
    return Done()


def _drop_frontend(call: Call) -> Outcome:
    _lock(call)
    database = call.database
    leader = database.leader.name if database.leader is not None else ""
    row = membership.frontend_to_drop(
        database.state, role=call.statement["role"].upper(), target=call.statement.targets[0], leader=leader
    )
    if not database.has_quorum():
        database.fail_write()
    # The group forgets the member first, durably; only then the journal is told, and that write needs acknowledgements
    # of the group as it is now.
    database.remove_member(row.name)
    if not database.has_quorum():
        call.world.mark(
            "quorum-lost-by-statement", database, f"DROP {row.role} {row.target} left too few live followers"
        )
        database.fail_write()
    database.write(lambda state: membership.without_frontend(state, row.name))
    return Done()


def _modify_frontend(call: Call) -> Outcome:
    _lock(call)
    old, new = call.statement.targets
    leader = call.database.leader.name if call.database.leader is not None else ""
    call.database.write(
        lambda state: membership.rename_frontend_host(state, old=old, new=new, leader=leader, resolve=call.resolve)
    )
    return Done()


def _transfer_leader(_call: Call) -> Outcome:
    raise SqlError("failed to transfer leader to the given frontend: not played here")


def _kind(call: Call) -> Component:
    return Component.BE if call.statement["what"].upper() == "BACKEND" else Component.CN


def _check_warehouse(call: Call) -> None:
    warehouse = call.statement["warehouse"]
    if warehouse and warehouse not in call.database.state.warehouses:
        raise SqlError(f"Warehouse name: {warehouse} not exist.", 5901)


def _create_warehouse(call: Call) -> Outcome:
    _check_edition(call)
    call.database.write(lambda state: membership.with_warehouse(state, call.statement["warehouse"]))
    return Done()


def _drop_warehouse(call: Call) -> Outcome:
    _check_edition(call)
    call.database.write(lambda state: membership.without_warehouse(state, call.statement["warehouse"]))
    return Done()


def _check_edition(call: Call) -> None:
    if not call.features.multi_warehouse:
        raise SqlError("Multi-Warehouse is not implemented")


def _add_nodes(call: Call) -> Outcome:
    _check_warehouse(call)
    before = {row.node_id for row in call.database.state.nodes}
    targets = call.statement.targets
    warehouse = call.statement["warehouse"] or membership.DEFAULT_WAREHOUSE
    call.database.write(
        lambda state: membership.add_nodes(state, kind=_kind(call), targets=targets, warehouse=warehouse)
    )
    for row in call.database.state.nodes:
        if row.node_id not in before:
            call.database.recheck(row.node_id)
    return Done()


def _drop_nodes(call: Call) -> Outcome:
    """One after the other: when a later one fails, the earlier ones are gone already."""
    _check_warehouse(call)
    kind = _kind(call)
    for target in call.statement.targets:
        row = membership.node_to_drop(call.database.state, kind=kind, target=target)
        forced = bool(call.statement["force"])
        if kind is Component.BE and not forced:
            call.database.tablets.check_drop(row)
        named = call.world.surroundings.given_up(call.database.cluster)
        call.database.drop_node(row.node_id, consented=forced and row.host.split(".")[0] == named)
    return Done()


def _decommission(call: Call) -> Outcome:
    rows = membership.backends_named(call.database.state, call.statement.targets)
    leaving = [row for row in rows if not row.decommissioned]
    if leaving and not call.database.shared_data:
        call.database.tablets.check_decommission(leaving)
    _flag(call, {row.node_id for row in leaving}, decommissioned=True)
    return Done()


def _cancel_decommission(call: Call) -> Outcome:
    rows = membership.backends_named(call.database.state, call.statement.targets)
    _flag(call, {row.node_id for row in rows if row.decommissioned}, decommissioned=False)
    return Done()


def _flag(call: Call, ids: set[int], *, decommissioned: bool) -> None:
    call.database.write(
        lambda state: replace(
            state,
            nodes=tuple(
                replace(row, decommissioned=decommissioned) if row.node_id in ids else row for row in state.nodes
            ),
        )
    )
    call.database.tablets.wake()


def _show_frontends(call: Call) -> Outcome:
    return shows.show_frontends(call.database, call.process, call.features, proc=False)


def _show_nodes(kind: Component) -> Callable[[Call], Outcome]:
    def show(call: Call) -> Outcome:
        return shows.show_nodes(call.database, call.database.state, kind, call.features, call.world.now)

    return show


def _show_proc(call: Call) -> Outcome:
    return shows.show_proc(call.database, call.process, call.features, call.statement.targets[0])


def _set_config(call: Call) -> Outcome:
    config.admin_set(call.database, call.statement["pairs"])
    return Done()


def _show_config(call: Call) -> Outcome:
    return config.admin_show(call.process, (call.statement.targets or ["%"])[0])


def _version(call: Call) -> Outcome:
    version, _, commit = full_version(call.process.facts.version).partition("-")
    return Rows(("current_version()",), ((f"{version} {commit}",),))


def _select_one(call: Call) -> Outcome:
    return Rows((call.statement["number"],), ((call.statement["number"],),))


def _select_variable(call: Call) -> Outcome:
    name = call.statement["variable"]
    known = {"version_comment": "StarRocks version " + call.process.facts.version, "version": "8.0.33"}
    return Rows((f"@@{name}",), ((call.session.variables.get(name, known.get(name, "")),),))


def _set_variable(call: Call) -> Outcome:
    name, value = call.statement["variable"].lower(), call.statement["value"].strip("'\" ")
    call.session.variables[name] = value
    if name == "forward_to_leader":
        call.session.forward_to_leader = value.lower() in ("1", "true", "on")
    return Done()


def _count_rows(call: Call) -> Outcome:
    return call.database.tablets.count_rows(call.statement["db"], call.statement["table"])


def _most_replicas(call: Call) -> Outcome:
    """Only tables on which one has any privilege are among them; here, root has it on all, and nobody else on any."""
    seen = call.database.tablets.tables if call.session.user == "root" else ()
    tables = [table for table in seen if table.recycled_at is None]
    which = min if call.statement["which"].upper() == "MIN" else max
    most = which((table.replication for table in tables if table.db != call.statement["db"]), default=None)
    return Rows((call.statement["alias"],), ((None if most is None else str(most),),))


def _done(_call: Call) -> Outcome:
    return Done()


_HANDLERS: Mapping[str, Callable[[Call], Outcome]] = {
    "add_frontend": _add_frontend,
    "drop_frontend": _drop_frontend,
    "modify_frontend": _modify_frontend,
    "transfer_leader": _transfer_leader,
    "add_nodes": _add_nodes,
    "drop_nodes": _drop_nodes,
    "create_warehouse": _create_warehouse,
    "drop_warehouse": _drop_warehouse,
    "decommission": _decommission,
    "cancel_decommission": _cancel_decommission,
    "create_image": node_commands.create_image,
    "show_frontends": _show_frontends,
    "show_backends": _show_nodes(Component.BE),
    "show_compute_nodes": _show_nodes(Component.CN),
    "show_proc": _show_proc,
    "set_config": _set_config,
    "show_config": _show_config,
    "current_version": _version,
    "select_one": _select_one,
    "select_variable": _select_variable,
    "set_variable": _set_variable,
    "count_rows": _count_rows,
    "most_replicas": _most_replicas,
    "blacklist": node_commands.blacklist,
    "show_blacklist": node_commands.show_blacklist,
    "show_backup": node_commands.show_jobs("backup"),
    "show_restore": node_commands.show_jobs("restore"),
    "show_databases": node_commands.show_databases,
    "ignored": _done,
    **account_commands.HANDLERS,
}
