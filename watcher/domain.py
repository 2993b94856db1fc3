"""The domain as the watcher calls it, in one value, so that tests can put anything in its place."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from datetime import UTC, datetime
from functools import partial
from typing import Any, Protocol

from starrocks_operator.decision import Decision
from starrocks_operator.frontend import Credentials, Endpoint, FrontendPool, endpoints, look
from starrocks_operator.model import StarRocksCluster, parse
from starrocks_operator.objects.configuration import ports_of
from starrocks_operator.observed import Children, Configuration, FrontendView, Observed, Questions
from starrocks_operator.run_report import RunReport
from watcher.metrics import STATEMENTS
from watcher.settings import Settings


class Transition(Protocol):
    """What `status.transitions` returns: becomes a Kubernetes Event."""

    @property
    def type(self) -> str: ...
    @property
    def reason(self) -> str: ...
    @property
    def message(self) -> str: ...


class Decide(Protocol):
    def __call__(self, cluster: StarRocksCluster, observed: Observed, *, default_profile: str) -> Decision: ...


class StatusOf(Protocol):
    def __call__(
        self, cluster: StarRocksCluster, observed: Observed, decision: Decision, *, last_run: RunReport | None
    ) -> dict[str, Any]: ...


Look = Callable[[Sequence[Endpoint], Credentials, FrontendView | None, Questions], FrontendView]
"""Asks frontends. With the last view of a settled cluster, not all of them need to be asked again."""
Ask = Callable[[StarRocksCluster, Children, Mapping[str, str]], Questions]
"""What the leader is asked besides its members. The mapping: fe.conf."""
Endpoints = Callable[[StarRocksCluster, Children, Mapping[str, str]], tuple[Endpoint, ...]]
Configurations = Mapping[str, Configuration]
Configure = Callable[[StarRocksCluster, Children, Configurations], Configurations]
"""From the users' files to what each component goes by."""
AskParameters = Callable[[StarRocksCluster, Children, Configurations, FrontendView | None], tuple[str, ...]]
"""For which parameters every frontend is to be asked."""
Transitions = Callable[[Mapping[str, Any], Mapping[str, Any]], Sequence[Transition]]


def _nothing_more(_cluster: StarRocksCluster, _children: Children, _properties: Mapping[str, str]) -> Questions:
    return Questions()


def _as_read(_cluster: StarRocksCluster, _children: Children, files: Configurations) -> Configurations:
    return files


def _no_parameters(
    _cluster: StarRocksCluster, _children: Children, _files: Configurations, _view: FrontendView | None
) -> tuple[str, ...]:
    return ()


@dataclass(frozen=True, kw_only=True)
class Domain:
    """The functions that decide; all pure but `look`."""

    parse: Callable[[Mapping[str, Any]], StarRocksCluster]
    endpoints: Endpoints
    look: Look
    decide: Decide
    status_of: StatusOf
    transitions: Transitions
    questions: Ask = _nothing_more
    configurations: Configure = _as_read
    parameters: AskParameters = _no_parameters


def real(settings: Settings) -> Domain:
    """The functions of `starrocks_operator`."""
    from starrocks_operator.config import configurations_of, parameters_asked, settled_of
    from starrocks_operator.decide import decide
    from starrocks_operator.membership import questions_of
    from starrocks_operator.status import status_of, transitions

    def questions(cluster: StarRocksCluster, children: Children, properties: Mapping[str, str]) -> Questions:
        return questions_of(cluster, children, http_port=ports_of("fe", properties)["http"])

    def parameters(
        cluster: StarRocksCluster, children: Children, files: Configurations, view: FrontendView | None
    ) -> tuple[str, ...]:
        return parameters_asked(cluster, settled_of(cluster, children, files), view)

    pool = FrontendPool(witness=lambda *_: STATEMENTS.inc())

    def ask(
        where: Sequence[Endpoint], who: Credentials, last: FrontendView | None, questions: Questions
    ) -> FrontendView:
        return look(where, who, pool=pool, thorough=last is None, last=last, questions=questions)

    return Domain(
        parse=parse,
        endpoints=endpoints,
        look=ask,
        decide=partial(decide, domain=settings.dns_domain, customs=settings.customs),
        status_of=status_of,
        transitions=lambda before, after: transitions(before, after, now=datetime.now(UTC)),
        questions=questions,
        configurations=configurations_of,
        parameters=parameters,
    )
