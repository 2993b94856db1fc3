"""The frontends of a ComputeNodeGroup: where they are, as whom they are asked, and what they are asked.

They belong to somebody else, and may be known by names that only their own network resolves. So they are asked where
`feInfo.addresses` says, and whichever answers is asked everything: frontends pass statements on to their leader.
"""

from __future__ import annotations

import base64
import binascii
from collections.abc import Callable, Mapping, Sequence
from dataclasses import replace
from datetime import UTC, datetime
from typing import Any

from starrocks_operator.frontend.act import perform, perform_everywhere
from starrocks_operator.frontend.connection import FrontendConnection, FrontendError
from starrocks_operator.frontend.endpoints import Credentials, Endpoint
from starrocks_operator.frontend.ladder import Ladder
from starrocks_operator.frontend.look import is_row_of
from starrocks_operator.frontend.pool import FrontendPool
from starrocks_operator.frontend.rows import compute_node_row, frontend_row, text
from starrocks_operator.frontend.statements import LOCAL_FRONTENDS, SHOW_BLACKLIST, SHOW_COMPUTE_NODES
from starrocks_operator.frontend.tls import Tls, TlsMode
from starrocks_operator.group.decide import decide_group
from starrocks_operator.model import ComputeNodeGroup
from starrocks_operator.model.compute_node_group import DEFAULT_QUERY_PORT
from starrocks_operator.observed import ComputeRow, FrontendAnswer, FrontendRow, FrontendView, Observed, Outcome
from starrocks_operator.run_report import StepOutcome
from starrocks_operator.step import LOCAL_STEPS, Step

Result = tuple[StepOutcome, str]
_Said = tuple[tuple[FrontendRow, ...], tuple[ComputeRow, ...], frozenset[str] | None]


def group_endpoints(group: ComputeNodeGroup) -> tuple[Endpoint, ...]:
    """The addresses, each once, in the order in which they are written."""
    found = {}
    for written in group.spec.fe_info.addresses:
        host, port = _split(written.strip())
        if host and 0 < port < 65536:
            found[written.strip()] = Endpoint(pod=written.strip(), host=host, address=host, port=port)
    return tuple(found.values())


def _split(written: str) -> tuple[str, int]:
    """`host:port`, `host`, `[v6]:port`; port 0: not to be understood."""
    if written.startswith("["):
        host, _, rest = written[1:].partition("]")
        port = rest.removeprefix(":")
    else:
        host, _, port = written.partition(":")
    if not port:
        return host, DEFAULT_QUERY_PORT
    return host, int(port) if port.isascii() and port.isdecimal() and len(port) < 6 else 0


def group_login(group: ComputeNodeGroup, secret: Mapping[str, Any] | None, *, tls: str = TlsMode.DISABLED) -> Ladder:
    """The account of accountSecret; without one, root with no password."""
    name = group.spec.fe_info.account_secret
    if not group_endpoints(group):
        return Ladder(problem="feInfo.addresses names no frontend as host:query_port.")
    way = Tls(mode=TlsMode(tls))
    if not name:
        return Ladder(credentials=Credentials(tls=way))
    if secret is None:
        return Ladder(problem=f"Secret {name}, which feInfo.accountSecret names, does not exist.")
    try:
        user, password = (_text(secret, key) for key in ("username", "password"))
    except (binascii.Error, UnicodeDecodeError):
        return Ladder(problem=f"Secret {name}, which feInfo.accountSecret names, holds what is no UTF-8 text.")
    version = str(secret["metadata"].get("resourceVersion", ""))
    edition = f"{group.key} {group.uid} {name}@{version}"
    return Ladder(credentials=Credentials(user=user or "root", password=password, edition=edition, tls=way))


def _text(secret: Mapping[str, Any], key: str) -> str:
    return base64.b64decode((secret.get("data") or {}).get(key, "")).decode()


def look_group(places: Sequence[Endpoint], credentials: Credentials, *, pool: FrontendPool) -> FrontendView:
    """All frontends; the compute nodes are those of the one that leads, if it is among them, else of any."""
    replies = pool.ask_all(dict.fromkeys(places, _testify), credentials)
    said = {place: reply for place, reply in replies.items() if not isinstance(reply, FrontendError)}
    answers = tuple(_answer(place, replies[place]) for place in places if place in replies)
    chosen = next((place for place in said if _leads(place, said[place][0])), next(iter(said), None))
    frontends, nodes, _ = said[chosen] if chosen is not None else (None, None, None)
    return FrontendView(
        asked_at=datetime.now(UTC),
        answers=answers,
        leader=chosen.host if chosen is not None else None,
        frontends=frontends,
        compute_nodes=nodes,
        blacklists={place.pod: shunned for place, (_, _, shunned) in said.items() if shunned is not None},
        login=credentials.login if said else "",
    )


def take_group(
    step: Step,
    *,
    group: ComputeNodeGroup,
    observed: Observed,
    credentials: Credentials,
    pool: FrontendPool,
    dry_run: bool,
    objection: Callable[[], str],
) -> Result:
    """Look at FE, decide again, and if the step is still the one to take, take it."""
    name = f"{step.kind} {step.target}"
    recorded = group.status.next_step.hash if group.status and group.status.next_step else ""
    if recorded != step.hash:
        return StepOutcome.STALE, f"{name}: it is not the step recorded in the status."
    places = group_endpoints(group)
    view = look_group(places, credentials, pool=pool)
    decision = decide_group(group, replace(observed, view=view))
    if decision.step is None or decision.step.hash != step.hash:
        why = "".join(f"; {wait}" for wait in decision.waits[:5])
        return StepOutcome.STALE, f"{name}: decided afresh, it is not to be taken{why}."
    if dry_run:
        return StepOutcome.NONE, f"{name}: it would be taken."
    if reason := objection():
        return StepOutcome.STALE, f"{name}: {reason}."
    if step.kind in LOCAL_STEPS:
        told = tuple(place for place in places if place.pod in (view.blacklists or {}))
        return perform_everywhere(step, places=told, credentials=credentials, pool=pool)
    leader = next((place for place in places if place.host == view.leader), None)
    if leader is None:  # then decide_group gives no step; said for the type checker
        return StepOutcome.STALE, f"{name}: no frontend answers."
    return perform(step, leader=leader, credentials=credentials, pool=pool)


def _testify(connection: FrontendConnection) -> _Said:
    local = tuple(frontend_row(record) for record in connection.ask(LOCAL_FRONTENDS))
    nodes = tuple(compute_node_row(record) for record in connection.ask(SHOW_COMPUTE_NODES))
    try:
        rows = connection.ask(SHOW_BLACKLIST)
    except FrontendError as failure:
        if failure.lost:
            raise
        return local, nodes, None
    return (
        local,
        nodes,
        frozenset(
            text(record, "computenodeid") for record in rows if text(record, "addblacklisttype").upper() != "AUTO"
        ),
    )


def _answer(place: Endpoint, reply: _Said | FrontendError) -> FrontendAnswer:
    if isinstance(reply, FrontendError):
        return FrontendAnswer(pod=place.pod, outcome=reply.outcome, error=str(reply))
    return FrontendAnswer(pod=place.pod, outcome=Outcome.ANSWERED, rows=reply[0])


def _leads(place: Endpoint, rows: Sequence[FrontendRow]) -> bool:
    return any(row.role == "LEADER" and is_row_of(place, row) for row in rows)
