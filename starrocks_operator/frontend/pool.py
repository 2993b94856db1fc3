"""The threads that talk to frontends: a fixed number for the whole process, whatever hangs.

At most one conversation is under way per frontend. Whoever asks a frontend that still owes an answer is told so at
once; so one hung frontend holds one thread for some seconds, and never the process.
"""

from __future__ import annotations

import threading
import time
from collections.abc import Callable, Mapping
from concurrent.futures import Future, ThreadPoolExecutor
from concurrent.futures import TimeoutError as NotDone
from typing import Generic, TypeVar

from starrocks_operator.frontend.connection import FrontendConnection, FrontendError, Timeouts, Witness
from starrocks_operator.frontend.endpoints import Credentials, Endpoint
from starrocks_operator.frontend.logins import Logins
from starrocks_operator.observed import Outcome

T = TypeVar("T")

DEFAULT_THREADS = 16
DEFAULT_PATIENCE = 10.0
"""Seconds after which a conversation counts as hung, however many statements it has."""

Conversation = Callable[[FrontendConnection], T]


class Pending(Generic[T]):
    """A conversation that was begun, or why it was not."""

    def __init__(self, pod: str, future: Future[T] | None) -> None:
        self._pod = pod
        self._future = future

    def result(self, until: float) -> T | FrontendError:
        """What came of it, waiting at most until then (on the monotonic clock)."""
        if self._future is None:
            return FrontendError(Outcome.HUNG, f"{self._pod} still owes an answer to an earlier question")
        try:
            return self._future.result(max(0.0, until - time.monotonic()))
        except FrontendError as failure:
            return failure
        except NotDone:
            if self._future.cancel():
                return FrontendError(Outcome.FAILED, f"{self._pod} was not asked: all threads wait for hung frontends")
            return FrontendError(Outcome.HUNG, f"{self._pod} did not answer in time", lost=True)
        except Exception as failure:
            return FrontendError(Outcome.FAILED, f"{self._pod} gave an answer that was not understood: {failure!r}")


class FrontendPool:
    """The one pool of a process. Give it a witness to count the statements that are sent."""

    def __init__(
        self,
        *,
        threads: int = DEFAULT_THREADS,
        timeouts: Timeouts | None = None,
        patience: float = DEFAULT_PATIENCE,
        witness: Witness | None = None,
    ) -> None:
        self.patience = patience
        self._timeouts = timeouts or Timeouts()
        self._logins = Logins()
        self._witness = witness
        self._executor = ThreadPoolExecutor(max_workers=threads, thread_name_prefix="frontend")
        self._under_way: set[tuple[str, int]] = set()
        self._lock = threading.Lock()

    def begin(self, endpoint: Endpoint, credentials: Credentials, conversation: Conversation[T]) -> Pending[T]:
        """Start a conversation, unless this frontend still owes the answer to an earlier one."""
        key = (endpoint.address, endpoint.port)
        with self._lock:
            if key in self._under_way:
                return Pending(endpoint.pod, None)
            self._under_way.add(key)
        try:
            future = self._executor.submit(self._converse, endpoint, credentials, conversation)
        except RuntimeError:
            self._release(key)
            raise
        future.add_done_callback(lambda _: self._release(key))
        return Pending(endpoint.pod, future)

    def ask_all(
        self, conversations: Mapping[Endpoint, Conversation[T]], credentials: Credentials
    ) -> dict[Endpoint, T | FrontendError]:
        """Several frontends at once, each by itself; returns when all have answered or patience has run out."""
        until = time.monotonic() + self.patience
        begun = {endpoint: self.begin(endpoint, credentials, talk) for endpoint, talk in conversations.items()}
        return {endpoint: pending.result(until) for endpoint, pending in begun.items()}

    def close(self) -> None:
        """Begin nothing more. Conversations under way end by their own time-outs."""
        self._executor.shutdown(wait=False, cancel_futures=True)

    def _converse(self, endpoint: Endpoint, credentials: Credentials, conversation: Conversation[T]) -> T:
        with FrontendConnection(
            endpoint, credentials, timeouts=self._timeouts, witness=self._witness, logins=self._logins
        ) as connection:
            return conversation(connection)

    def _release(self, key: tuple[str, int]) -> None:
        with self._lock:
            self._under_way.discard(key)
