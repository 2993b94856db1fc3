"""Whether the admission policies of deletionProtection are there, and the namespace has its label: rarely asked.

Only for clusters that ask for it; the policies once for all of them. Where we may not look, that is the answer.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from typing import Generic, TypeVar

from starrocks_operator.observed import Protection
from starrocks_operator.protection import LABEL, POLICIES, whole
from watcher.kube import METADATA_ONLY, ApiError, Json, Kube

T = TypeVar("T")

POLICY = "/apis/admissionregistration.k8s.io/v1/validatingadmissionpolicies"
BINDING = "/apis/admissionregistration.k8s.io/v1/validatingadmissionpolicybindings"
GOOD, WANTING = 300.0, 20.0  # seconds that an answer is good for: all is there, or something is missing


def pause_of(protection: Protection) -> float:
    """After how many seconds it is worth another look."""
    return (GOOD if whole(protection) else WANTING) + 1


@dataclass(frozen=True)
class _Kept(Generic[T]):
    answer: T
    until: float


class Guardian:
    """Looks for policies and labels, and remembers what it saw."""

    def __init__(self, kube: Kube, *, clock: Callable[[], float]) -> None:
        self._kube, self._clock = kube, clock
        self._missing: _Kept[tuple[str, ...] | None] | None = None
        self._labelled: dict[str, _Kept[bool | None]] = {}

    async def look(self, namespace: str) -> Protection:
        missing = await self._policies()
        labelled = await self._label(namespace)
        return Protection(policies=None if missing is None else not missing, missing=missing or (), namespace=labelled)

    async def _policies(self) -> tuple[str, ...] | None:
        """The names of those that are not in force; None: we may not look."""
        if self._missing is None or self._clock() >= self._missing.until:
            try:
                missing: tuple[str, ...] | None = tuple([name for name in POLICIES if not await self._in_force(name)])
            except ApiError as error:
                _must_be_hidden(error)
                missing = None
            self._missing = _Kept(missing, self._clock() + (GOOD if missing == () else WANTING))
        return self._missing.answer

    async def _in_force(self, name: str) -> bool:
        policy, binding = await self._get(f"{POLICY}/{name}"), await self._get(f"{BINDING}/{name}", whole=True)
        return policy is not None and "Deny" in ((binding or {}).get("spec") or {}).get("validationActions", ())

    async def _label(self, namespace: str) -> bool | None:
        kept = self._labelled.get(namespace)
        if kept is None or self._clock() >= kept.until:
            try:
                found = await self._get(f"/api/v1/namespaces/{namespace}")
                answer: bool | None = ((found or {}).get("metadata", {}).get("labels") or {}).get(LABEL) == "true"
            except ApiError as error:
                _must_be_hidden(error)
                answer = None
            kept = self._labelled[namespace] = _Kept(answer, self._clock() + (GOOD if answer else WANTING))
        return kept.answer

    async def _get(self, path: str, *, whole: bool = False) -> Json | None:
        try:
            return await self._kube.get(path, accept="application/json" if whole else METADATA_ONLY)
        except ApiError as error:
            if error.status == 404:  # on servers without such policies, too
                return None
            raise


def _must_be_hidden(error: ApiError) -> None:
    """Not being allowed to look is an answer; anything else is trouble."""
    if error.status != 403:
        raise error
