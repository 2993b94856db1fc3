"""Which login serves at each frontend, and until when nobody tries again after all were refused.

FE may lock an account after some failures in a row, and the owner's own tools would be locked out with us. So what
served last is tried first; and where nothing served, the next attempt comes after half a minute, then after twice
that, unless the Secret changes before.
"""

from __future__ import annotations

import threading
import time
from collections import OrderedDict
from collections.abc import Callable
from dataclasses import dataclass

from starrocks_operator.frontend.endpoints import Credentials, Endpoint
from starrocks_operator.observed import Login

FIRST_PAUSE, LONGEST_PAUSE = 30.0, 600.0
REMEMBERED = 4096


@dataclass
class _Entry:
    served: Login | None = None
    refused: Exception | None = None
    pause: float = 0.0
    until: float = 0.0


class Logins:
    """Shared by all threads of a pool."""

    def __init__(self, *, clock: Callable[[], float] = time.monotonic) -> None:
        self._clock = clock
        self._entries: OrderedDict[tuple[str, str], _Entry] = OrderedDict()
        self._lock = threading.Lock()

    def refusal(self, endpoint: Endpoint, credentials: Credentials) -> Exception | None:
        """What this frontend said when all of these were refused, if that was not long enough ago."""
        with self._lock:
            entry = self._entries.get(_key(endpoint, credentials))
            if entry is None or entry.refused is None or self._clock() >= entry.until:
                return None
            return entry.refused

    def order(self, endpoint: Endpoint, credentials: Credentials) -> tuple[Credentials, ...]:
        """The logins, the one that served last first."""
        everyone = (credentials, *credentials.others)
        with self._lock:
            entry = self._entries.get(_key(endpoint, credentials))
        if entry is None or entry.served is None:
            return everyone
        return tuple(sorted(everyone, key=lambda one: one.login != entry.served))

    def served(self, endpoint: Endpoint, credentials: Credentials, login: Login) -> None:
        if credentials.edition:
            self._put(endpoint, credentials, _Entry(served=login))

    def refused(self, endpoint: Endpoint, credentials: Credentials, failure: Exception) -> None:
        if not credentials.edition:
            return
        with self._lock:
            entry = self._entries.get(_key(endpoint, credentials)) or _Entry()
        pause = min(LONGEST_PAUSE, entry.pause * 2) if entry.pause else FIRST_PAUSE
        self._put(endpoint, credentials, _Entry(refused=failure, pause=pause, until=self._clock() + pause))

    def _put(self, endpoint: Endpoint, credentials: Credentials, entry: _Entry) -> None:
        with self._lock:
            key = _key(endpoint, credentials)
            self._entries[key] = entry
            self._entries.move_to_end(key)
            while len(self._entries) > REMEMBERED:
                self._entries.popitem(last=False)


def _key(endpoint: Endpoint, credentials: Credentials) -> tuple[str, str]:
    return credentials.edition, f"{endpoint.pod} {endpoint.address}"
