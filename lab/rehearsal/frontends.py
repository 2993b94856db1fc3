"""FE's SQL port without a socket: the product's pool and connection, answered by the simulator at once."""

from __future__ import annotations

from collections.abc import Mapping
from typing import TypeVar

from lab.rehearsal.gate import CallKind, Gate, LostError
from lab.simulator.model import ConnectionLost, Hang, Refused, Rows, Session
from lab.simulator.model.metrics import frontend_metrics
from lab.simulator.stage import Stage
from starrocks_operator.frontend.connection import FrontendConnection, FrontendError
from starrocks_operator.frontend.endpoints import Credentials, Endpoint
from starrocks_operator.frontend.pool import Conversation, FrontendPool
from starrocks_operator.frontend.rows import Record, records
from starrocks_operator.observed import Outcome

T = TypeVar("T")

PATIENCE = 5.0
_QUESTIONS = ("SHOW", "SELECT", "ADMIN SHOW", "DESC")
_DENIED = frozenset({1045, 1044, 1142, 1227, 5203, 5205})


class StageConnection(FrontendConnection):
    """A conversation with one frontend on the stage."""

    def __init__(self, endpoint: Endpoint, credentials: Credentials, *, stage: Stage, gate: Gate, actor: str) -> None:
        super().__init__(endpoint, credentials)
        self._stage, self._gate, self._actor = stage, gate, actor
        self._session = Session(source=actor)

    def ask(self, statement: str) -> tuple[Record, ...]:
        question = statement.upper().startswith(_QUESTIONS)
        pod = self.endpoint.pod
        container = self._stage.world.pods.get(f"default/{pod}")
        if container is None or container.facts.address != self.endpoint.address:
            raise FrontendError(Outcome.REFUSED, f"{pod} cannot be reached: no route to host")
        try:
            outcome = self._gate.through(
                actor=self._actor,
                kind=CallKind.QUESTION if question else CallKind.STATEMENT,
                what=f"{statement} at {pod}",
                do=lambda: self._stage.sql(pod, statement, self._session),
            )
        except LostError:
            raise FrontendError(Outcome.FAILED, f"{pod} broke the connection off: reset", lost=True) from None
        match outcome:
            case Rows():
                return records(outcome.columns, outcome.rows)
            case Refused():
                known = Outcome.DENIED if outcome.code in _DENIED else Outcome.FAILED
                raise FrontendError(known, outcome.text)
            case Hang():
                self._stage.after(PATIENCE)
                raise FrontendError(Outcome.HUNG, f"{pod} did not answer in time", lost=True)
            case ConnectionLost(why="connection refused"):
                raise FrontendError(Outcome.REFUSED, f"{pod} cannot be reached: connection refused")
            case ConnectionLost():
                self._stage.after(min(outcome.after, PATIENCE))
                raise FrontendError(Outcome.FAILED, f"{pod} broke the connection off: {outcome.why}", lost=True)
            case _:
                return ()

    def metrics(self, port: int) -> bytes:
        container = self._stage.world.pods.get(f"default/{self.endpoint.pod}")
        process = container.frontend if container is not None else None
        heard = process is not None and process.answers and process.facts.web_port == port
        return frontend_metrics(process).encode() if process is not None and heard else b""


class StagePool(FrontendPool):
    """Asks one frontend after the other, in this thread."""

    def __init__(self, stage: Stage, gate: Gate, actor: str) -> None:
        super().__init__(threads=1)
        self._stage, self._gate, self._actor = stage, gate, actor

    def ask_all(
        self, conversations: Mapping[Endpoint, Conversation[T]], credentials: Credentials
    ) -> dict[Endpoint, T | FrontendError]:
        return {endpoint: self._ask(endpoint, credentials, talk) for endpoint, talk in conversations.items()}

    def _ask(self, endpoint: Endpoint, credentials: Credentials, talk: Conversation[T]) -> T | FrontendError:
        connection = StageConnection(endpoint, credentials, stage=self._stage, gate=self._gate, actor=self._actor)
        try:
            return talk(connection)
        except FrontendError as failure:
            return failure
