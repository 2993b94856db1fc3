"""Everything there is to know about a cluster now, put together; or what must be waited for before deciding."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass, replace
from datetime import UTC, datetime

from starrocks_operator.components import COMPONENTS
from starrocks_operator.frontend.ladder import Former
from starrocks_operator.membership.accounts import wants_root
from starrocks_operator.membership.warehouses import left_behind
from starrocks_operator.model import KIND, WAREHOUSE_KIND, Key, StarRocksCluster
from starrocks_operator.objects.former import with_remembered
from starrocks_operator.observed import Accounts, Children, Observed, Outcome
from starrocks_operator.storage.claims import classes_needed
from watcher.departures import Departures
from watcher.domain import Domain
from watcher.index import Index
from watcher.looks import Looks
from watcher.mentions import Mentions
from watcher.references import Found, Reader
from watcher.revisions import Revisions
from watcher.storage_classes import StorageClasses

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
        self,
        *,
        index: Index,
        reader: Reader,
        looks: Looks,
        domain: Domain,
        revisions: Revisions,
        classes: StorageClasses,
        mentions: Mentions,
        clock: Callable[[], float],
    ) -> None:
        self._index, self._reader, self._looks, self._domain = index, reader, looks, domain
        self._revisions, self._classes, self._mentions, self._clock = revisions, classes, mentions, clock
        self._expected: dict[Key, _Expected] = {}
        self._look_after: dict[Key, float] = {}
        self.departures = Departures(index)

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
        self.departures.forget(key)
        self._reader.forget(key)
        self._revisions.forget(key)
        self._mentions.forget(key)
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
        children = _with_remembered(cluster, self._index.children(key))
        found = await self._reader.read(cluster, settled=settled)
        host, lacking = self._host(cluster)
        if host is not cluster:
            found = await self._with_frontends_of(host, found, settled=settled)
        theirs = self._index.children(host.key)
        fe = self._domain.configurations(host, theirs, found.configurations).get("fe")
        properties = fe.properties if fe else {}
        where = self._domain.endpoints(host, _with_remembered(host, theirs), properties)
        if where and found.credentials and not lacking:
            questions = self._domain.questions(cluster, children, properties)
            parameters = self._domain.parameters(cluster, children, found.configurations, self._looks.view(key))
            questions = replace(questions, root=wants_root(cluster, found.accounts), parameters=parameters)
            self._looks.plan(key, where, found.credentials, settled=settled, questions=questions)
            if not self._looked(key, found.credentials.edition):
                return None
        else:
            self._looks.blank(key)
        view = self._looks.view(key)
        if view and any(answer.outcome == Outcome.DENIED for answer in view.answers):
            self._reader.doubt(host.key)
        if view and host is cluster:
            self._reader.prove(key, view.login)
            self._reader.prove(key, view.root)
        departed = self.departures.of(key, left_behind(cluster, view)) if cluster.kind == KIND else ()
        expandable = await self._classes.of(classes_needed(cluster, children) if _is_whole(cluster) else ())
        observed = Observed(
            now=datetime.now(UTC),
            children=children,
            expandable=expandable,
            view=view,
            configurations=found.configurations,
            missing_references=found.missing,
            credentials_problem=found.problem,
            protection=found.protection,
            accounts=found.accounts,
            cluster_problem=lacking,
            departed=departed,
            revisions=await self._revisions.of(key, children),
            mentioned=await self._mentions.of(key, children),
        )
        return Sight(
            observed=observed, revision=revision, inputs=(self._looks.digest(key), found, lacking, departed, expandable)
        )

    def _host(self, cluster: StarRocksCluster) -> tuple[StarRocksCluster, str]:
        """The cluster whose frontends are asked, and why there is none: itself, but for a warehouse."""
        if cluster.kind != WAREHOUSE_KIND:
            return cluster, ""
        raw = self._index.cluster(Key(cluster.namespace, cluster.frontends_of))
        if raw is None or raw["kind"] != KIND or raw["metadata"].get("deletionTimestamp"):
            return cluster, f"There is no StarRocksCluster {cluster.frontends_of} in this namespace."
        return self._domain.parse(raw), ""

    async def _with_frontends_of(self, host: StarRocksCluster, found: Found, *, settled: bool) -> Found:
        """How FE is asked is its cluster's business; the accounts there are not touched for a warehouse."""
        theirs = await self._reader.read(host, settled=settled)
        files = self._domain.configurations(host, self._index.children(host.key), theirs.configurations)
        frontends = {name: file for name, file in files.items() if name == "fe"}
        return replace(
            found,
            configurations={**found.configurations, **frontends},
            credentials=theirs.credentials,
            accounts=Accounts(),
            problem=theirs.problem,
        )

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


def _is_whole(cluster: StarRocksCluster) -> bool:
    """Not a group of compute nodes, whose volumes are made as they are."""
    return cluster.kind in (KIND, WAREHOUSE_KIND)


def _with_remembered(cluster: StarRocksCluster, children: Children) -> Children:
    return with_remembered(cluster, children, tuple(COMPONENTS)) if _is_whole(cluster) else children


def _reached(have: str, want: str) -> bool:
    return have == want or (have.isdigit() and want.isdigit() and int(have) >= int(want))
