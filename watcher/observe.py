"""Everything there is to know about a cluster now, put together; or what must be waited for before deciding."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass, replace
from datetime import UTC, datetime

from starrocks_operator.frontend.ladder import Former
from starrocks_operator.membership.accounts import wants_root
from starrocks_operator.model import Key, StarRocksCluster
from starrocks_operator.observed import Observed, Outcome
from watcher.domain import Domain
from watcher.index import Index
from watcher.looks import Looks
from watcher.references import Reader

PATIENCE = 5.0  # seconds to wait for the watch to show what a run has written


@dataclass
class _Expected:
    versions: Mapping[tuple[str, str], str]
    until: float


@dataclass(frozen=True, kw_only=True)
class Sight:
    """What was observed. revision of the index and inputs: equal as long as a decision would be the same."""

    observed: Observed
    revision: int
    inputs: tuple[object, ...]


class Observer:
    """Puts index, references and frontend views together."""

    def __init__(
        self, *, index: Index, reader: Reader, looks: Looks, domain: Domain, clock: Callable[[], float]
    ) -> None:
        self._index, self._reader, self._looks, self._domain = index, reader, looks, domain
        self._clock = clock
        self._expected: dict[Key, _Expected] = {}
        self._look_after: dict[Key, float] = {}

    def expect(self, key: Key, versions: Mapping[tuple[str, str], str], *, step: bool) -> None:
        """After a run: what it wrote must be seen, and FE asked anew, before the next decision."""
        if versions:
            self._expected[key] = _Expected(dict(versions), self._clock() + PATIENCE)
        if step:
            self._look_after[key] = self._clock()
        self._looks.hasten(key)

    def settle(self, key: Key, *, settled: bool, pace: float | None = None) -> None:
        self._looks.settle(key, settled=settled)
        self._looks.pace(key, pace)

    def forget(self, key: Key) -> None:
        self._expected.pop(key, None)
        self._look_after.pop(key, None)
        self._reader.forget(key)
        self._looks.forget(key)

    def behind(self, key: Key) -> bool:
        """Whether the watch has yet to show what our last run wrote."""
        expected = self._expected.get(key)
        if expected is None:
            return False
        late = [
            name
            for name, version in expected.versions.items()
            if not _reached(self._index.version(name[0], key.namespace, name[1]), version)
        ]
        if late and self._clock() < expected.until:
            return True
        del self._expected[key]
        return False

    async def observe(self, cluster: StarRocksCluster, *, settled: bool) -> Sight | None:
        """None: the frontends have to be asked first; the cluster comes back when they have answered."""
        key = cluster.key
        revision = self._index.revision(key)
        children = self._index.children(key)
        found = await self._reader.read(cluster, settled=settled)
        fe = found.configurations.get("fe")
        where = self._domain.endpoints(cluster, children, fe.properties if fe else {})
        if where and found.credentials:
            questions = self._domain.questions(cluster, children)
            questions = replace(questions, root=wants_root(cluster, found.accounts))
            self._looks.plan(key, where, found.credentials, settled=settled, questions=questions)
            if not self._looked(key, found.credentials.edition):
                return None
        else:
            self._looks.blank(key)
        view = self._looks.view(key)
        if view and any(answer.outcome == Outcome.DENIED for answer in view.answers):
            self._reader.doubt(key)
        if view:
            self._reader.prove(key, view.login)
            self._reader.prove(key, view.root)
        observed = Observed(
            now=datetime.now(UTC),
            children=children,
            view=view,
            configurations=found.configurations,
            missing_references=found.missing,
            credentials_problem=found.problem,
            protection=found.protection,
            accounts=found.accounts,
        )
        return Sight(observed=observed, revision=revision, inputs=(self._looks.digest(key), found))

    def again(self, key: Key) -> float | None:
        """In how many seconds it should be observed again even if nothing happens; None: it need not."""
        return self._reader.due(key)

    def former(self, key: Key) -> Former:
        """Passwords that FE accepted last."""
        return self._reader.former(key)

    def _looked(self, key: Key, edition: str) -> bool:
        """Whether there is a view, it was had with these very passwords, and is younger than our last step."""
        after, view = self._look_after.get(key), self._looks.view(key)
        if view is None or view.edition != edition:
            return False
        if after is not None and self._looks.asked(key) <= after:
            self._looks.hasten(key)
            return False
        self._look_after.pop(key, None)
        return True


def _reached(have: str, want: str) -> bool:
    return have == want or (have.isdigit() and want.isdigit() and int(have) >= int(want))
