"""What the operator may never do, held against what was really so when it did it.

A judge hears, in the order of time, every write to the API server, every statement, and what the simulator knows of
each database (its truth log). Each promise that can be seen from outside is one sentence of what it finds.
"""

from __future__ import annotations

import re
from collections import defaultdict
from collections.abc import Callable, Iterator, Mapping
from dataclasses import dataclass, field
from typing import Any

from lab.audit import Write
from lab.membership_statements import ADDRESS, DROP_WAREHOUSE, STATEMENT, STEPS, TARGET
from lab.roll_watch import RollWatch
from lab.whose import (
    COMPONENT,
    OWNER,
    frontend_of,
    frontends_of,
    given_up,
    is_of,
    member_of,
    not_alone,
    not_empty,
    owner_of,
    still_needed,
    uid_asked,
    warehouse_of,
)

Key = tuple[str, str]  # a namespace, and a cluster or a StatefulSet in it
REPLACED = "starrocks.com/replace-backend"
GROUP = "starrocks.com/compute-node-group"
HIBERNATE = "starrocks.com/hibernate"
OUTAGE = "starrocks.com/accept-frontend-outage-at-generation"
FEW = 2  # so many frontends have no majority without one of them
BEDTIME = ("cn", "be", "fe-observer", "fe")  # who goes to sleep before whom


@dataclass
class Judge:
    """found: the broken promises so far."""

    found: list[str] = field(default_factory=list)
    _truth: dict[Key, Mapping[str, Any]] = field(default_factory=dict)
    _known: dict[Key, dict[str, Mapping[str, Any]]] = field(default_factory=lambda: defaultdict(dict))
    _replicas: dict[Key, int] = field(default_factory=dict)
    _noted: dict[Key, Mapping[str, Any]] = field(default_factory=dict)
    _noted_by_groups: dict[Key, Mapping[str, Any]] = field(default_factory=dict)  # they act on clusters of others
    _joined: dict[Key, str] = field(default_factory=dict)  # the cluster of each warehouse, also after its end
    _rolls: RollWatch = field(default_factory=RollWatch)
    _given_up: dict[Key, str] = field(default_factory=dict)  # the backend whose loss a person allows, for each cluster
    _orders: dict[Key, Mapping[str, str]] = field(default_factory=dict)  # what a person wrote on each cluster
    _outages: dict[Key, bool] = field(default_factory=dict)  # whether that lets its frontends fail

    def hear(self, event: Any) -> None:
        """A write, a line of the statement log, or one of the truth log."""
        if not isinstance(event, Mapping):
            self._write(event)
        elif "statement" in event:
            self._statement(event)
        elif "mark" in event:
            self._marked(event)
        else:
            self._learn(event)

    # -- what is so --------------------------------------------------------------------------------------------

    def _learn(self, truth: Mapping[str, Any]) -> None:
        key = (truth["namespace"], truth["cluster"])
        before = self._truth.get(key)
        if before is not None and before["id"] != truth["id"] and not truth["leader"]:
            return  # the remains of another database of the same name
        self._truth[key] = truth
        self._rolls.learn(truth)
        for node in truth["nodes"]:
            self._known[key][f"{node['host']}:{node['port']}"] = node

    def _marked(self, mark: Mapping[str, Any]) -> None:
        named = self._given_up.get((mark["namespace"], mark["cluster"]))
        if not named or mark["mark"] not in ("drop-with-tablets", "tablet-lost"):
            self._says(f"{mark['mark']}: {mark['text']}", mark)

    def _write(self, write: Write) -> None:
        if write.by_operator:
            for sentence in self._against(write):
                self._says(f"{sentence} ({write.verb} {write.resource} {write.name})", {"namespace": write.namespace})
        for sentence in self._rolls.hear(write):
            if not self._may_sleep((write.namespace, member_of(write)[0])):  # then all of them go at once
                self._says(sentence, {"namespace": write.namespace})
        if write.code < 300 and isinstance(write.answered, Mapping):
            self._remember(write, write.answered)

    def _remember(self, write: Write, answered: Mapping[str, Any]) -> None:
        key = (write.namespace, write.name)
        if write.resource == "statefulsets":
            if write.verb == "delete":
                self._replicas.pop(key, None)
            elif "replicas" in (answered.get("spec") or {}):
                self._replicas[key] = int(answered["spec"]["replicas"])
        elif write.resource == "starrocksclusters" and "metadata" in answered:
            self._given_up[key] = given_up(answered["metadata"])
            orders = self._orders[key] = answered["metadata"].get("annotations") or {}
            self._outages[key] = orders.get(OUTAGE, "") == str(answered["metadata"].get("generation"))
            if write.by_operator:
                self._noted[key] = (answered.get("status") or {}).get("nextStep") or {}

        elif write.resource == "computenodegroups" and write.by_operator and "metadata" in answered:
            self._noted_by_groups[key] = (answered.get("status") or {}).get("nextStep") or {}
        elif write.resource == "starrockswarehouses" and "starRocksCluster" in (answered.get("spec") or {}):
            key = (write.namespace, f"{write.name}-warehouse")
            self._joined[key] = answered["spec"]["starRocksCluster"]
            if write.by_operator:
                self._noted[key] = (answered.get("status") or {}).get("nextStep") or {}

    # -- writes ------------------------------------------------------------------------------------------------

    def _against(self, write: Write) -> Iterator[str]:
        asked = write.asked if isinstance(write.asked, Mapping) else {}
        if (asked.get("metadata") or {}).get("finalizers"):
            yield "I10: a finalizer was asked for"
        if write.code >= 300:
            return
        if write.verb.startswith("delete"):
            rule: Callable[[Write], Iterator[str]] | None = {
                "statefulsets": self._orphaned,
                "persistentvolumeclaims": self._claim,
                "pods": self._pod,
            }.get(write.resource)
            yield from rule(write) if rule else ()
        elif write.resource == "statefulsets" and "replicas" in (asked.get("spec") or {}):
            before = self._replicas.get((write.namespace, write.name))
            after = int(asked["spec"]["replicas"])
            if before is not None and after < before:
                yield from self._shrink(write, before, after)

    def _orphaned(self, write: Write) -> Iterator[str]:
        """Only to be made anew around its pods, which stay, as do their volumes."""
        yield from not_alone(write)
        yield from self._unannounced((write.namespace, owner_of(write)), "OrphanStatefulSet", write.name)

    def _shrink(self, write: Write, before: int, after: int) -> Iterator[str]:
        labels = write.answered["metadata"].get("labels") or {}
        if labels.get(GROUP):
            return  # of compute nodes that FE has forgotten: what it was told before is judged
        cluster, component, pod = labels.get(OWNER, ""), labels.get(COMPONENT, ""), f"{write.name}-{after}"
        if after == 0 and self._may_sleep((write.namespace, cluster)):
            yield from self._put_to_sleep(write, cluster, component)
            return
        if after != before - 1:
            yield f"I2: shrunk from {before} to {after}, and not by one"
        yield from self._unannounced((write.namespace, cluster), "ShrinkStatefulSet", write.name)
        truth = self._truth.get((write.namespace, cluster))
        if component == "cn":
            return
        if truth is None:
            yield f"I2: {pod} was taken away before there was a cluster"
        elif component == "be":
            if self._given_up.get((write.namespace, cluster)) != pod:
                yield from not_empty(truth, pod)
        else:
            yield from self._stopped_frontend(truth, pod)

    def _may_sleep(self, key: Key) -> bool:
        return self._orders.get(key, {}).get(HIBERNATE) == "true"

    def _put_to_sleep(self, write: Write, cluster: str, component: str) -> Iterator[str]:
        """All at once, as its owner asked: those that depend on others first, and nothing on its way out."""
        yield from self._unannounced((write.namespace, cluster), "SleepStatefulSet", write.name)
        for before in BEDTIME[: BEDTIME.index(component)]:
            if self._replicas.get((write.namespace, f"{cluster}-{before}"), 0):
                yield f"I1: the {component} go to sleep before the {before}"
        truth = self._truth.get((write.namespace, cluster))
        leaving = [row["host"].split(".")[0] for row in (truth or {}).get("nodes", ()) if row["decommissioned"]]
        if component == "be" and leaving:
            yield f"I2: put to sleep while {', '.join(leaving)} is being decommissioned"

    def _claim(self, write: Write) -> Iterator[str]:
        cluster, pod, sentence = *frontend_of(write), f"I5: claim {write.name} was deleted"
        if not pod and self._noted.get((write.namespace, member_of(write)[0]), {}).get("kind") == "DeleteBackendVolume":
            yield from self._backend_claim(write)
            return
        if not pod:
            yield f"{sentence}, and it is none of a frontend's metadata"
            return
        if not uid_asked(write):
            yield f"{sentence} without a uid"
        if not cluster or pod in frontends_of(self._truth.get((write.namespace, cluster))):
            yield f"{sentence} while FE lists {pod}"
        yield from self._unannounced((write.namespace, cluster), "DeleteMetaVolume", write.name)

    def _backend_claim(self, write: Write) -> Iterator[str]:
        """Of a backend on which FE counts nothing, or whose very volume its owner has named."""
        key = (write.namespace, member_of(write)[0])
        yield from self._unannounced(key, "DeleteBackendVolume", write.name)
        yield from still_needed(write, self._truth.get(key), named=self._orders.get(key, {}).get(REPLACED, ""))

    def _pod(self, write: Write) -> Iterator[str]:
        """To be made anew, to hand over, or because FE lists it no more; what else must be so, `RollWatch` knows."""
        cluster, pod = member_of(write)
        if not pod:
            yield "I2: only pods of members are ever deleted"
            return
        if not uid_asked(write):
            yield "I2: a pod was deleted without a uid"
        yield from self._unannounced((write.namespace, cluster), "DeletePod", write.name)
        truth = self._truth.get((write.namespace, cluster))
        row = frontends_of(truth).get(pod)
        consented = self._outages.get((write.namespace, cluster)) and len((truth or {}).get("frontends", ())) <= FEW
        if truth is not None and row is not None and row["alive"] and not consented:
            yield from self._stopped_frontend(truth, pod)

    @staticmethod
    def _stopped_frontend(truth: Mapping[str, Any], pod: str) -> Iterator[str]:
        """The majority of those registered must live without it; one that has no vote may always go."""
        row = frontends_of(truth).get(pod)
        if row is None or not row["votes"]:
            return
        voters = [each for each in truth["frontends"] if each["votes"]]
        live = sum(each["alive"] and each is not row for each in voters)
        if live <= len(voters) // 2:
            yield f"I1: without {pod}, {live} of {len(voters)} followers are alive, which is no majority"

    # -- statements --------------------------------------------------------------------------------------------

    def _statement(self, line: Mapping[str, Any]) -> None:
        """The pods' own scripts and people at the control API may say what they like."""
        match = STATEMENT.search(line["statement"])
        if line["source"] != "client":
            return
        if dropped := DROP_WAREHOUSE.search(line["statement"]):
            self._tell(self._unannounced((line["namespace"], line["cluster"]), "DropWarehouse", dropped[1]), line)
        if match is None:
            return
        self._tell(self._said(line, match), line)

    def _tell(self, sentences: Iterator[str], line: Mapping[str, Any]) -> None:
        for sentence in sentences:
            self._says(f"{sentence} ({line['statement']})", line)

    def _said(self, line: Mapping[str, Any], match: re.Match[str]) -> Iterator[str]:
        verb, kind = (" ".join(match[group].upper().split()) for group in ("verb", "kind"))
        key = (line["namespace"], line["cluster"])
        force = re.search(r"\bFORCE\b", TARGET.sub("", match["targets"]), re.IGNORECASE)
        targets = TARGET.findall(match["targets"])
        if len(targets) != 1 and verb != "ADD":
            yield "I8: more than one member in one statement"
        for target in targets:
            warehouse = (line["namespace"], warehouse_of(target))
            if not is_of(target, line["cluster"]) and self._joined.get(warehouse) != line["cluster"]:
                yield f"I4: {target} is none of ours"
            if force:
                yield from self._forced(key, target)
            elif (verb, kind) in STEPS:
                by = warehouse if self._noted.get(warehouse, {}).get("target") == target else key
                yield from self._unannounced(by, STEPS[verb, kind], target)
            if (verb, kind) == ("DROP", "BACKEND") and not force:
                yield from self._dropped_backend(key, target)
            elif (verb, kind) == ("DROP", "FOLLOWER"):
                yield from self._dropped_follower(key, target)

    def _forced(self, key: Key, target: str) -> Iterator[str]:
        """Only the one backend whose loss a person has named, for this very generation of the cluster."""
        if self._given_up.get(key, "") != target.split(".")[0]:
            yield f"I3: FORCE, and nobody named the loss of {target}"
        yield from self._unannounced(key, "ForceDropBackend", target)

    def _dropped_backend(self, key: Key, target: str) -> Iterator[str]:
        row = self._known[key].get(target)
        shared_data = self._truth.get(key, {}).get("shared_data", False)
        if row is not None and not shared_data and not (row["decommissioned"] and row["empty"]):
            yield f"I3: {target} still holds tablets or was never told to leave"

    def _dropped_follower(self, key: Key, target: str) -> Iterator[str]:
        rows = self._truth.get(key, {}).get("frontends", ())
        staying = [row for row in rows if row["votes"] and f"{row['host']}:{row['port']}" != target]
        live = sum(row["alive"] for row in staying)
        if live <= len(staying) // 2:
            yield f"I1: after {target} is dropped, {live} of {len(staying)} followers are alive, which is no majority"

    # -- intent ------------------------------------------------------------------------------------------------

    def _unannounced(self, key: Key, kind: str, target: str) -> Iterator[str]:
        """Each step stands in the status before it is taken, and there is room for one alone."""
        noted = self._noted.get(key, {})
        if ADDRESS.fullmatch(target) and any(
            (step.get("kind"), step.get("target")) == (kind, target) for step in self._noted_by_groups.values()
        ):
            return
        if (noted.get("kind"), noted.get("target")) != (kind, target):
            stands = f"{noted['kind']} {noted['target']}" if noted else "nothing"
            yield f"I8: {kind} {target} was done while status.nextStep said {stands}"

    def _says(self, sentence: str, where: Mapping[str, Any]) -> None:
        self.found.append(f"{where['namespace']}: {sentence}")
