"""A small world in which pods are replaced: the controller of StatefulSets, and members that come and go with pods."""

from __future__ import annotations

import copy
import hashlib
import json
from dataclasses import replace
from datetime import timedelta
from typing import Any

from starrocks_operator.decision import Decision
from starrocks_operator.deed import deed_of
from starrocks_operator.membership import questions_of
from starrocks_operator.observed import Health
from starrocks_operator.run_report import RunReport, StepOutcome
from starrocks_operator.status import status_of
from starrocks_operator.step import KUBERNETES_STEPS, LOCAL_STEPS, SETTING_STEPS, Step, StepKind
from tests.unit.membership_world import NOW, World, applied, at, pod

DEFAULTS = {
    "tablet_sched_disable_balance": "false",
    "tablet_sched_disable_colocate_balance": "false",
    "tablet_sched_max_scheduling_tablets": "10000",
}
FIELDS = {"fe": "starRocksFeSpec", "be": "starRocksBeSpec", "cn": "starRocksCnSpec"}
Raw = dict[str, Any]


class RollWorld(World):
    """As World; `turn` does what the watcher, Kubernetes and the pods do between two looks.

    order: pods in the order in which they were replaced. steps: what was done. dead: pods that do not come alive.
    """

    def __init__(self, **replicas: Any) -> None:
        self.order: list[str] = []
        self.steps: list[Step] = []
        self.dead: set[str] = set()
        self.bad_images: set[str] = set()
        self.lead_to: int | None = None  # who leads next when the leader goes
        self.revisions: dict[str, Raw] = {}
        self.minted = 0
        self.lists: dict[str, set[str]] = {}  # by frontend, backends and compute nodes that get no queries
        self.settings = dict(DEFAULTS)
        self.written: int | None = 0  # that the leader has written; None: this release does not tell
        self.writes = True  # whether it writes one when it is told
        self.last_run: RunReport | None = None
        self.slow: set[str] = set()  # components whose StatefulSets are looked at once before the controller takes note
        self.unread: set[str] = set()
        super().__init__(**replicas)
        self.health = Health(unhealthy=0, clones=0, backups=0, fewest_copies=3)
        for item in self.pods():
            self._dress(item)
        self.look()

    # What a test changes.

    def change(self, **images: str) -> RollWorld:
        """Another image, by component."""
        for name, image in images.items():
            tag = image if ":" in image else f"starrocks/{name}-ubuntu:{image}"
            self.raw["spec"][FIELDS[name]]["image"] = tag
        self.raw["metadata"]["generation"] += 1
        return self

    def label(self, *components: str, value: str = "2") -> RollWorld:
        """A change that is none of the release."""
        for name in components:
            self.raw["spec"][FIELDS[name]]["podLabels"] = {"round": value}
        self.raw["metadata"]["generation"] += 1
        return self

    def annotate(self, **annotations: str) -> RollWorld:
        found = {f"starrocks.com/{key.replace('_', '-')}": value for key, value in annotations.items()}
        self.raw["metadata"].setdefault("annotations", {}).update(found)
        return self

    # What goes on between two looks.

    def turn(self) -> Decision:
        """One look, one decision, what it does, and what Kubernetes and the pods make of it."""
        self.now += timedelta(seconds=1)
        self.look()
        decision = self.recorded()
        for items in decision.apply.values():
            for item in items:
                self.write(item)
        if decision.step is not None:
            self.take(decision.step, decision)
            done = StepOutcome.DONE
            self.last_run = RunReport(fingerprint=decision.fingerprint, finished_at=self.now, succeeded=True, step=done)
        self.control()
        return decision

    def recorded(self) -> Decision:
        """The decision, its record written to the status until the two agree."""
        for _ in range(3):
            decision = self.decide()
            status = status_of(self.cluster, self.observed, decision, last_run=self.last_run)
            for key in ("rollout", "heldSettings"):
                self.raw["status"][key] = status.get(key) or ({} if key == "rollout" else [])
        return decision

    def roll(self, turns: int = 200) -> list[str]:
        """Until nothing is done any more; the order in which pods were replaced."""
        for _ in range(turns):
            decision = self.turn()
            if not decision.due and not decision.rollout:
                return self.order
        raise AssertionError(f"It does not end: {decision.waits} {decision.step}")

    def take(self, step: Step, decision: Decision) -> None:
        self.steps.append(step)
        if step.kind not in KUBERNETES_STEPS:
            self.tell(step)
            return
        deed = deed_of(step, cluster=self.cluster, observed=self.observed, decision=decision)
        assert deed is not None
        if deed.verb == "apply":
            self.write(dict(deed.manifest or {}))
        else:
            assert self.get(deed.kind, deed.name)["metadata"]["uid"] == deed.uid
            self.gone(deed.name)

    def tell(self, step: Step) -> None:
        """A statement to FE."""
        if step.kind in LOCAL_STEPS:
            for ids in self.lists.values():
                ids.add(step.fact("id")) if step.kind == StepKind.DIVERT_QUERIES else ids.discard(step.fact("id"))
        elif step.kind == StepKind.CREATE_IMAGE:
            self.written = self.written + 1 if self.writes and self.written is not None else self.written
        else:
            assert step.kind in SETTING_STEPS, step
            assert self.settings[step.target] == step.fact("value")
            self.settings[step.target] = step.fact("to")

    def settle(self) -> None:
        super().settle()
        for key in [key for key in self.objects if key[0] == "StatefulSet"]:
            self.write(self.objects[key])
        for item in self.pods():
            item["metadata"]["labels"]["controller-revision-hash"] = self._workload(item)["status"]["updateRevision"]

    def write(self, item: Raw) -> None:
        """As the API server and the controller take note of it."""
        key = (item["kind"], item["metadata"]["name"])
        before = self.objects.get(key)
        live = applied(item)
        if live["kind"] == "StatefulSet":
            revision = _revision(live["spec"]["template"], key[1])
            self.revisions[revision] = {"data": {"spec": {"template": copy.deepcopy(live["spec"]["template"])}}}
            current = (before or live)["status"].get("currentRevision", revision) if before else revision
            live["status"] = {"observedGeneration": 1, "updateRevision": revision, "currentRevision": current}
            if before is None or current not in self.revisions:
                live["status"]["currentRevision"] = revision
            if key[1].removeprefix("sample-") in self.slow and before is not None:
                changed = before["spec"] != live["spec"]
                live["metadata"]["generation"] = before["metadata"]["generation"] + changed
                live["status"] = before["status"]
                self.unread |= {key[1]} if changed else set()
        self.objects[key] = live
        self.observed_extras["revisions"] = self.revisions

    def control(self) -> None:
        """The controller: makes what is missing, and replaces one pod where the partition says so."""
        for (kind, name), workload in list(self.objects.items()):
            if kind != "StatefulSet" or self._takes_note(workload):
                continue
            status, strategy = workload["status"], workload["spec"]["updateStrategy"]
            rolling = strategy.get("type") == "RollingUpdate"
            partition = (strategy.get("rollingUpdate") or {}).get("partition") or 0
            for ordinal in range(workload["spec"]["replicas"]):
                if ("Pod", f"{name}-{ordinal}") not in self.objects:
                    old = rolling and ordinal < partition
                    self.make(workload, ordinal, status["currentRevision" if old else "updateRevision"])
            pods = [self.get("Pod", f"{name}-{ordinal}") for ordinal in range(workload["spec"]["replicas"])]
            stale = [item for item in pods[partition:] if _label(item) != status["updateRevision"]]
            if rolling and stale and all(_ready(item) for item in pods if item is not stale[-1]):
                self.gone(stale[-1]["metadata"]["name"])
            elif rolling and not stale and not partition:
                status["currentRevision"] = status["updateRevision"]

    def _takes_note(self, workload: Raw) -> bool:
        """Whether all that the controller does this time is to see what was written."""
        generation, name = workload["metadata"]["generation"], workload["metadata"]["name"]
        if name in self.unread:
            self.unread.discard(name)
            return True
        if workload["status"]["observedGeneration"] < generation:
            revision = _revision(workload["spec"]["template"], name)
            workload["status"] |= {"observedGeneration": generation, "updateRevision": revision}
        return False

    def gone(self, name: str) -> None:
        """The pod is deleted; what ran in it is dead."""
        self.remove("Pod", name)
        self._row(name, alive=False)
        leader = next((row for row in self.frontends if row.role == "LEADER"), None)
        self.lists |= {name: set()} if name in self.lists else {}
        if leader is not None and leader.host.startswith(f"{name}."):
            self.written = self.written and 0
            self.settings = dict(DEFAULTS)  # at worst: whoever leads next has restarted, and has forgotten them
            self._elect(besides=name)

    def make(self, workload: Raw, ordinal: int, revision: str) -> None:
        name = f"{workload['metadata']['name']}-{ordinal}"
        component = name.removeprefix("sample-").rpartition("-")[0]
        self.minted += 1
        item = pod(name, component, running=(self.now - _EPOCH).total_seconds(), index=ordinal)
        item["metadata"] |= {"uid": f"uid-{name}-{self.minted}", "creationTimestamp": self.instant()}
        item["metadata"]["labels"]["controller-revision-hash"] = revision
        self.order.append(name)
        self.put(item)
        self._dress(item)
        image = item["spec"]["containers"][0]["image"]
        if image in self.bad_images or name in self.dead:
            item["status"]["conditions"] = [{"type": "Ready", "status": "False"}]
            waiting = {"waiting": {"reason": "CrashLoopBackOff"}}
            item["status"]["containerStatuses"] = [{"name": component, "state": waiting}]
            return
        tag = image.rpartition(":")[2]
        self._row(name, alive=True, started=f"start {self.minted}", version=f"{tag}-abcdef0")

    def look(self) -> None:
        if hasattr(self, "health"):
            asked = questions_of(self.cluster, self.observed.children)
            lists = {name: frozenset(ids) for name, ids in self.lists.items()}
            self.answers = {
                "health": replace(self.health, images=self.written) if asked.health else None,
                "blacklists": lists if asked.blacklists else None,
                "backend_blacklists": lists if asked.backend_blacklists else None,
                "settings": {key: self.settings[key] for key in asked.settings} if asked.settings else None,
            }
        super().look()
        if self.view is not None:
            self.view = replace(self.view, asked_at=self.now)

    def pods(self) -> list[Raw]:
        return [raw for (kind, _), raw in self.objects.items() if kind == "Pod"]

    def images(self, component: str) -> set[str]:
        found = (item for item in self.pods() if item["metadata"]["name"].startswith(f"sample-{component}-"))
        return {item["spec"]["containers"][0]["image"].rpartition(":")[2] for item in found}

    def _dress(self, item: Raw) -> None:
        """The image of the template that the pod was made of."""
        template = self.revisions.get(_label(item), {}).get("data", {}).get("spec", {}).get("template")
        if template:
            item["spec"]["containers"][0]["image"] = template["spec"]["containers"][0]["image"]

    def _workload(self, item: Raw) -> Raw:
        return self.get("StatefulSet", item["metadata"]["name"].rpartition("-")[0])

    def _elect(self, *, besides: str) -> None:
        alive = [n for n, row in enumerate(self.frontends) if row.alive and row.role == "FOLLOWER"]
        old = next(n for n, row in enumerate(self.frontends) if row.role == "LEADER")
        heir = self.lead_to if self.lead_to in alive else (alive[0] if alive else None)
        self.frontends[old] = replace(self.frontends[old], role="FOLLOWER")
        if heir is not None:
            self.frontends[heir] = replace(self.frontends[heir], role="LEADER")

    def _row(self, name: str, *, alive: bool, started: str = "", version: str = "") -> None:
        for rows, field in ((self.frontends, "start_time"), (self.backends, "last_start_time")):
            self._change(rows, field, name, alive, started, version)
        self._change(self.compute_nodes, "last_start_time", name, alive, started, version)

    @staticmethod
    def _change(rows: list[Any], field: str, name: str, alive: bool, started: str, version: str) -> None:
        for number, row in enumerate(rows):
            if row.host.startswith(f"{name}."):
                news = {field: started} if started else {}
                rows[number] = replace(row, alive=alive, version=version or row.version, **news)

    def instant(self) -> str:
        return at((self.now - _EPOCH).total_seconds())


_EPOCH = NOW


def _revision(template: Raw, name: str) -> str:
    return f"{name}-{hashlib.sha256(json.dumps(template, sort_keys=True).encode()).hexdigest()[:8]}"


def _label(item: Raw) -> str:
    return str(item["metadata"]["labels"]["controller-revision-hash"])


def _ready(item: Raw) -> bool:
    return any(c["type"] == "Ready" and c["status"] == "True" for c in item["status"]["conditions"])
