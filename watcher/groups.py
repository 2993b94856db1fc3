"""ComputeNodeGroups as the watcher sees them: the functions that decide, and what a group refers to."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import replace
from typing import Any, cast

from starrocks_operator.frontend import Credentials, Endpoint, FrontendPool
from starrocks_operator.frontend.group import group_endpoints, group_login, look_group
from starrocks_operator.group.cases import COMPONENT
from starrocks_operator.group.decide import decide_group
from starrocks_operator.group.status import group_transitions, status_of_group
from starrocks_operator.model import ComputeNodeGroup, Key
from starrocks_operator.objects.configuration import ConfigurationSource, configuration_of
from starrocks_operator.observed import Children, FrontendView, Questions
from watcher.domain import Decide, Domain, StatusOf
from watcher.metrics import STATEMENTS
from watcher.references import FRESH, Found, Reader
from watcher.settings import Settings


def groups(settings: Settings) -> Domain:  # noqa: ARG001 - as `real`
    """The functions of `starrocks_operator.group`."""
    pool = FrontendPool(witness=lambda *_: STATEMENTS.inc())

    def ask(
        where: Sequence[Endpoint], who: Credentials, _last: FrontendView | None, _questions: Questions
    ) -> FrontendView:
        return look_group(where, who, pool=pool)

    def endpoints(group: Any, _children: Children, _properties: Mapping[str, str]) -> tuple[Endpoint, ...]:
        return group_endpoints(cast(ComputeNodeGroup, group))

    return Domain(
        parse=cast(Any, ComputeNodeGroup.parse),
        endpoints=endpoints,
        look=ask,
        decide=cast(Decide, decide_group),
        status_of=cast(StatusOf, status_of_group),
        transitions=group_transitions,
    )


class GroupReader(Reader):
    """Reads the account's Secret and cn.conf, again after some seconds: nobody tells when they change."""

    def __init__(self, *arguments: Any, **named: Any) -> None:
        super().__init__(*arguments, **named)
        self._read_at: dict[Key, tuple[tuple[str, int], float, Found]] = {}

    def forget(self, key: Key) -> None:
        self._read_at.pop(key, None)

    def doubt(self, key: Key) -> None:
        """Nothing: it is read again soon."""

    def due(self, key: Key) -> float | None:
        """In how many seconds the account's Secret should be got again."""
        kept = self._read_at.get(key)
        return max(0.0, kept[1] + self._passwords - self._clock()) if kept else None

    async def read(self, cluster: Any, *, settled: bool) -> Found:
        group, now = cast(ComputeNodeGroup, cluster), self._clock()
        same, kept = (group.uid, group.generation), self._read_at.get(group.key)
        if kept is not None and kept[0] == same and now - kept[1] < (self._passwords if settled else FRESH):
            return kept[2]
        found = await self._found(group)
        self._read_at[group.key] = (same, now, found)
        return found

    async def _found(self, group: ComputeNodeGroup) -> Found:
        name, config = group.spec.fe_info.account_secret, group.spec.config
        secret = await self._get(group.namespace, "Secret", name, full=True) if name else None
        login = group_login(group, secret, tls=self._tls)
        found = Found(credentials=login.credentials, problem=login.problem)
        if config is None or not config.name:
            return found
        raw = await self._get(group.namespace, "ConfigMap", config.name, full=True)
        source = ConfigurationSource(config.name, config.key)
        return replace(found, configurations={COMPONENT: configuration_of(raw, source)})
