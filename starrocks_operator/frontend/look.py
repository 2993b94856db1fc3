"""Looking at a cluster through its frontends: each one's own view, and the leader's word on all members.

A follower's SHOW FRONTENDS is forwarded to the leader and hangs without one, so every frontend is first asked for
what it knows by itself; only the one that says of itself that it leads is asked the rest.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from datetime import UTC, datetime

from starrocks_operator.frontend.connection import FrontendConnection, FrontendError
from starrocks_operator.frontend.endpoints import Credentials, Endpoint
from starrocks_operator.frontend.features import features_of
from starrocks_operator.frontend.health import health_of
from starrocks_operator.frontend.pool import FrontendPool
from starrocks_operator.frontend.rows import (
    Record,
    backend_row,
    compute_node_row,
    frontend_row,
    optional_number,
    parameter_of,
    settings_of,
    text,
)
from starrocks_operator.frontend.statements import (
    LOCAL_FRONTENDS,
    MOST_REPLICAS,
    SHOW_BACKEND_BLACKLIST,
    SHOW_BACKENDS,
    SHOW_BLACKLIST,
    SHOW_COMPUTE_NODES,
    SHOW_FRONTENDS,
    SHOW_SETTING,
)
from starrocks_operator.objects.names import same_member
from starrocks_operator.observed import (
    ComputeRow,
    FrontendAnswer,
    FrontendRow,
    FrontendView,
    Health,
    Login,
    Outcome,
    Parameter,
    Questions,
)

NOTHING_MORE = Questions()


@dataclass(frozen=True, kw_only=True)
class Testimony:
    """What one frontend said: its own view, and if it leads, the leader's word."""

    endpoint: Endpoint
    answer: FrontendAnswer
    frontends: tuple[FrontendRow, ...] | None = None
    backends: tuple[ComputeRow, ...] | None = None
    compute_nodes: tuple[ComputeRow, ...] | None = None
    settings: Mapping[str, str] | None = None
    replication: int | None = None
    blacklist: frozenset[str] | None = None
    backend_blacklist: frozenset[str] | None = None
    health: Health | None = None
    login: str = ""
    root: str = ""
    parameters: Mapping[str, Parameter] | None = None

    @property
    def cluster_id(self) -> str:
        return next((row.cluster_id for row in self.answer.rows if row.cluster_id), "")


def look(
    endpoints: Iterable[Endpoint],
    credentials: Credentials,
    *,
    pool: FrontendPool,
    thorough: bool = True,
    last: FrontendView | None = None,
    questions: Questions = NOTHING_MORE,
) -> FrontendView:
    """Ask the frontends; bounded in time (the pool's patience, twice at most) and in threads.

    thorough: every frontend. Otherwise, if all was well at the last look: the leader, and of the others one, another
        one each minute; what the rest said last stands.
    questions: what the leader is asked besides its members.
    """
    everyone = tuple(endpoints)
    chosen = everyone if thorough or last is None else _quiet_choice(everyone, last)
    testimonies = _ask(chosen, credentials, pool, questions)
    leader = leader_among(testimonies)
    rest = [endpoint for endpoint in everyone if endpoint not in chosen]
    if leader is None and rest:
        testimonies += _ask(rest, credentials, pool, questions)
        leader, rest = leader_among(testimonies), []
    left_alone = {endpoint.pod for endpoint in rest}
    carried = [answer for answer in (last.answers if last else ()) if answer.pod in left_alone]
    answers = carried + [testimony.answer for testimony in testimonies]
    return FrontendView(
        asked_at=datetime.now(UTC),
        answers=tuple(sorted(answers, key=lambda answer: (len(answer.pod), answer.pod))),
        leader=leader.endpoint.host if leader else None,
        frontends=leader.frontends if leader else None,
        backends=leader.backends if leader else None,
        compute_nodes=leader.compute_nodes if leader else None,
        settings=leader.settings if leader else None,
        replication=leader.replication if leader else None,
        blacklists=_blacklists(_compute_nodes(testimonies), left_alone, last.blacklists if last else None)
        if questions.blacklists
        else None,
        backend_blacklists=_blacklists(_backends(testimonies), left_alone, last.backend_blacklists if last else None)
        if questions.backend_blacklists
        else None,
        parameters=_parameters_of_all(testimonies, left_alone, last) if questions.parameters else None,
        login=leader.login if leader else "",
        root=leader.root if leader else "",
        health=leader.health if leader else None,
        features=features_of(leader.endpoint.address, questions.http_port)
        if leader is not None and questions.http_port
        else None,
    )


def leader_among(testimonies: Iterable[Testimony]) -> Testimony | None:
    """The one that leads. Leaders of different clusters: that of the cluster to which most frontends belong."""
    testimonies = tuple(testimonies)
    leaders = [testimony for testimony in testimonies if testimony.frontends is not None]
    if len(leaders) <= 1:
        return leaders[0] if leaders else None
    members = Counter(testimony.cluster_id for testimony in testimonies if testimony.cluster_id)
    ranked = sorted(leaders, key=lambda leader: members[leader.cluster_id], reverse=True)
    if members[ranked[0].cluster_id] == members[ranked[1].cluster_id]:
        return None
    return ranked[0]


def confirmed(
    endpoint: Endpoint, shown: tuple[FrontendRow, ...], local: tuple[FrontendRow, ...]
) -> tuple[FrontendRow, ...] | None:
    """The leader's rows, if exactly one leader is among them and it is the one that speaks.

    Some releases (3.3.0 to 3.3.3) forget the word LEADER in SHOW FRONTENDS; then its own view must have it.
    """
    for rows in (shown, local):
        leading = [row for row in rows if row.role == "LEADER"]
        if leading:
            return rows if len(leading) == 1 and is_row_of(endpoint, leading[0]) else None
    return None


def is_row_of(endpoint: Endpoint, row: FrontendRow) -> bool:
    """Whether the row is about the frontend at this endpoint."""
    return row.host == endpoint.address or same_member(row.host, endpoint.host)


def _quiet_choice(everyone: tuple[Endpoint, ...], last: FrontendView) -> tuple[Endpoint, ...]:
    answered = [answer.pod for answer in last.answers if answer.outcome == Outcome.ANSWERED]
    leader = next((endpoint for endpoint in everyone if endpoint.host == last.leader), None)
    if leader is None or {endpoint.pod for endpoint in everyone} != set(answered):
        return everyone
    others = [endpoint for endpoint in everyone if endpoint != leader]
    minute = int(last.asked_at.timestamp() // 60)
    return (leader, others[minute % len(others)]) if others else (leader,)


def _ask(
    endpoints: Iterable[Endpoint], credentials: Credentials, pool: FrontendPool, questions: Questions
) -> list[Testimony]:
    replies = pool.ask_all(dict.fromkeys(endpoints, lambda connection: _testify(connection, questions)), credentials)
    return [
        reply if isinstance(reply, Testimony) else _no_testimony(endpoint, reply) for endpoint, reply in replies.items()
    ]


def _testify(connection: FrontendConnection, questions: Questions) -> Testimony:
    endpoint = connection.endpoint
    local = tuple(frontend_row(record) for record in connection.ask(LOCAL_FRONTENDS))
    answered = FrontendAnswer(pod=endpoint.pod, outcome=Outcome.ANSWERED, rows=local)
    try:
        blacklist = _blacklist(connection) if questions.blacklists else None
        others = _blacklist(connection, SHOW_BACKEND_BLACKLIST) if questions.backend_blacklists else None
        parameters = _parameters(connection, questions.parameters)
        if not any(row.role == "LEADER" and is_row_of(endpoint, row) for row in local):
            return Testimony(
                endpoint=endpoint,
                answer=answered,
                blacklist=blacklist,
                backend_blacklist=others,
                parameters=parameters,
            )
        shown = tuple(frontend_row(record) for record in connection.ask(SHOW_FRONTENDS))
        frontends = confirmed(endpoint, shown, local)
        if frontends is None:
            return Testimony(endpoint=endpoint, answer=answered)
        return Testimony(
            endpoint=endpoint,
            answer=answered,
            frontends=frontends,
            backends=tuple(backend_row(record) for record in connection.ask(SHOW_BACKENDS)),
            compute_nodes=tuple(compute_node_row(record) for record in connection.ask(SHOW_COMPUTE_NODES)),
            settings=_settings(connection, questions.settings),
            replication=_replication(connection) if questions.replication else None,
            blacklist=blacklist,
            backend_blacklist=others,
            health=health_of(connection, questions) if questions.health else None,
            login=connection.login,
            root=connection.root_login() if questions.root else "",
            parameters=parameters,
        )
    except FrontendError as failure:
        answer = FrontendAnswer(pod=endpoint.pod, outcome=failure.outcome, error=str(failure), rows=local)
        return Testimony(endpoint=endpoint, answer=answer)


Lists = Mapping[str, frozenset[str] | None]


def _compute_nodes(testimonies: Iterable[Testimony]) -> Lists:
    return {testimony.endpoint.pod: testimony.blacklist for testimony in testimonies}


def _backends(testimonies: Iterable[Testimony]) -> Lists:
    return {testimony.endpoint.pod: testimony.backend_blacklist for testimony in testimonies}


def _blacklists(
    found: Lists, left_alone: set[str], before: Mapping[str, frozenset[str]] | None
) -> dict[str, frozenset[str]]:
    known = {pod: ids for pod, ids in found.items() if ids is not None}
    return {pod: ids for pod, ids in (before or {}).items() if pod in left_alone} | known


def _parameters_of_all(
    testimonies: Iterable[Testimony], left_alone: set[str], last: FrontendView | None
) -> dict[str, Mapping[str, Parameter]]:
    before = (last.parameters if last else None) or {}
    known = {each.endpoint.pod: each.parameters for each in testimonies if each.parameters is not None}
    return {pod: of for pod, of in before.items() if pod in left_alone} | known


def _parameters(connection: FrontendConnection, keys: Iterable[str]) -> Mapping[str, Parameter] | None:
    """None if nothing was asked; a parameter that this release does not have cannot be set."""
    found = {key: parameter_of(connection.ask(SHOW_SETTING.format(key=key)), key) for key in keys}
    return {key: one or Parameter("", mutable=False) for key, one in found.items()} or None


def _blacklist(connection: FrontendConnection, question: str = SHOW_BLACKLIST) -> frozenset[str] | None:
    """What people and operators put there; what FE itself does for a lost connection, it undoes itself."""
    try:
        rows = connection.ask(question)
    except FrontendError as failure:
        if failure.lost:
            raise
        return None
    return frozenset(
        text(record, "computenodeid") or text(record, "backendid")
        for record in rows
        if text(record, "addblacklisttype").upper() != "AUTO"
    )


def _settings(connection: FrontendConnection, keys: Iterable[str]) -> Mapping[str, str] | None:
    """None if nothing was asked; a setting that this release does not have is not among them."""
    keys = tuple(keys)
    found: dict[str, str] = {}
    for key in keys:
        found |= settings_of(connection.ask(SHOW_SETTING.format(key=key)))
    return found if keys else None


def _replication(connection: FrontendConnection) -> int | None:
    """Releases without information_schema.partitions_meta cannot tell; FE's own check remains."""
    try:
        rows = connection.ask(MOST_REPLICAS)
    except FrontendError as failure:
        if failure.lost:
            raise
        return None
    sees_all = connection.login not in (Login.ACCOUNT, Login.ACCOUNT_FORMER)
    return next((_most(record, sees_all=sees_all) for record in rows), None)


def _most(record: Record, *, sees_all: bool) -> int | None:
    """MAX of no partitions is NULL: to root, who sees them all, it says that there are none."""
    if record.get("replication", "") is None:
        return 0 if sees_all else None
    return optional_number(record, "replication")


def _no_testimony(endpoint: Endpoint, failure: FrontendError) -> Testimony:
    answer = FrontendAnswer(pod=endpoint.pod, outcome=failure.outcome, error=str(failure))
    return Testimony(endpoint=endpoint, answer=answer)
