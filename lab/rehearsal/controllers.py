"""What Kubernetes does by itself: StatefulSets make claims and pods, the kubelet runs and ends them on the stage."""

from __future__ import annotations

import re
from collections.abc import Iterator

from lab.rehearsal.kubernetes import Json, Kubernetes
from lab.rehearsal.revisions import SELF, Revisions, partition, revision_for, rolls
from lab.simulator.stage import Stage
from starrocks_operator.membership.pods import REVISION_LABEL
from starrocks_operator.observed import ObjectKey, Raw

START, TERMINATION, NOTICE = 1.0, 3.0, 0.5  # seconds to start a pod, to end one, and for a controller to see news
PROJECTION = 10.0  # until a changed ConfigMap shows in the pods that mount it


class Controllers:
    """Acts a moment after whatever changed, on the stage's clock."""

    def __init__(self, kubernetes: Kubernetes, stage: Stage) -> None:
        self._kubernetes, self._stage = kubernetes, stage
        self._after = stage.world.schedule.after
        self._restarts: dict[str, int] = {}
        self._revisions = Revisions(kubernetes)
        kubernetes.listeners.append(self._noticed)

    # -- news --------------------------------------------------------------------------------------------------

    def _noticed(self, by: str, before: Raw | None, after: Raw | None) -> None:
        raw = after or before
        assert raw is not None
        kind, name = raw["kind"], raw["metadata"]["name"]
        if kind == "StatefulSet" and after is not None and by != SELF:
            self._after(NOTICE, lambda: self._sync(name))
        elif kind == "ConfigMap" and after is not None:
            self._project(after)
        elif kind == "PersistentVolumeClaim" and after is not None and after["metadata"].get("deletionTimestamp"):
            self._after(NOTICE, lambda: self._protect(name))
        elif kind == "Pod" and after is not None and _fresh(before, after):
            self._after(TERMINATION, lambda: self._end(name, after["metadata"]["uid"]))
        elif kind == "Pod" and after is not None and _is_ready(after) and not (before and _is_ready(before)):
            self._after(NOTICE, lambda: self._sync(name.rpartition("-")[0]))

    def _project(self, raw: Raw) -> None:
        """The bootstrap marker, as frontends see it: at once when their pods start, later when it changes."""
        if not raw["metadata"]["name"].endswith("-fe-bootstrap"):
            return
        key = ("default", raw["metadata"]["name"].removesuffix("-fe-bootstrap"))
        markers, data = self._stage.surroundings.markers, dict(raw["data"])
        self._after(PROJECTION if key in markers else 0.0, lambda: markers.__setitem__(key, data))

    # -- StatefulSets ------------------------------------------------------------------------------------------

    def _sync(self, name: str) -> None:
        """Pods and claims as the StatefulSet wants them; all at once, as with podManagementPolicy Parallel."""
        workload = self._kubernetes.get("StatefulSet", name)
        if workload is None:
            return
        spec, revision = workload["spec"], self._revisions.current(workload)
        stuck = False
        for batch in _batches(spec["replicas"]):
            made = [self._made(workload, ordinal, revision) for ordinal in batch]
            if stuck := not all(made):
                break
        for ordinal, raw in sorted(self._pods(name), key=lambda item: -item[0]):
            if ordinal >= spec["replicas"] and not raw["metadata"].get("deletionTimestamp"):
                self._kubernetes.delete("Pod", raw["metadata"]["name"], by=SELF)
        if rolls(workload) and not stuck:
            self._roll(name, range(partition(workload), spec["replicas"]), revision)
        status = {
            "observedGeneration": workload["metadata"]["generation"],
            "replicas": len(self._pods(name)),
            "updateRevision": revision,
            "currentRevision": self._completed(workload, revision),
        }
        if workload.get("status") != status:
            self._kubernetes.status(ObjectKey.of(workload), status, by=SELF)

    def _made(self, workload: Raw, ordinal: int, revision: str) -> bool:
        """Make the pod if it is not there; false if it is there without a claim of its own, which cannot be mended."""
        pod = f"{workload['metadata']['name']}-{ordinal}"
        claimed, live = self._claimed(workload, pod), self._kubernetes.get("Pod", pod)
        if live is None:
            if claimed:
                self._create(workload, pod, revision_for(workload, ordinal, update=revision))
            return True
        volumes = {volume["name"] for volume in live["spec"].get("volumes") or ()}
        return volumes >= {template["metadata"]["name"] for template in claims_of(workload)}

    def _completed(self, workload: Raw, revision: str) -> str:
        """The revision of before, until all pods have the new one and are ready."""
        before: str = (workload.get("status") or {}).get("currentRevision") or revision
        pods = [raw for _, raw in self._pods(workload["metadata"]["name"])]
        new = [raw for raw in pods if raw["metadata"]["labels"][REVISION_LABEL] == revision and _is_ready(raw)]
        return revision if rolls(workload) and len(new) == len(pods) == workload["spec"]["replicas"] else before

    def _roll(self, name: str, ordinals: range, revision: str) -> None:
        """A changed template: one pod after the other is replaced, the highest first, while those above are ready."""
        pods = dict(self._pods(name))
        for ordinal in reversed(ordinals):
            if ordinal not in pods:
                return
            if pods[ordinal]["metadata"]["labels"][REVISION_LABEL] != revision:
                if not pods[ordinal]["metadata"].get("deletionTimestamp"):
                    self._kubernetes.delete("Pod", pods[ordinal]["metadata"]["name"], by=SELF)
                return
            if not _is_ready(pods[ordinal]):
                return

    def _pods(self, name: str) -> list[tuple[int, Raw]]:
        pods = [raw for key, raw in self._kubernetes.objects.items() if key.kind == "Pod"]
        named = [raw for raw in pods if raw["metadata"]["name"].rpartition("-")[0] == name]
        return [(int(raw["metadata"]["name"].rpartition("-")[2]), raw) for raw in named]

    def _claimed(self, workload: Raw, pod: str) -> bool:
        """Make the pod's claims; false while one of them is on its way out: then the pod is not made."""
        for claim in claim_names(workload, pod):
            live = self._kubernetes.get("PersistentVolumeClaim", claim)
            if live is None:
                labels = workload["spec"]["selector"]["matchLabels"]
                self._kubernetes.create(
                    {
                        "apiVersion": "v1",
                        "kind": "PersistentVolumeClaim",
                        "metadata": {"name": claim, "namespace": "default", "labels": labels},
                    },
                    by=SELF,
                )
            elif live["metadata"].get("deletionTimestamp"):
                return False
        return True

    def _create(self, workload: Raw, pod: str, revision: str) -> None:
        template = self._revisions.template(revision)
        known = {claim["metadata"]["name"] for claim in claims_of(workload)}
        named = {item["name"] for item in template["spec"].get("volumes") or () if "persistentVolumeClaim" in item}
        assert named <= known, f"{pod} is made with a volume that no claim template has: {named - known}"
        labels = {**template["metadata"]["labels"], REVISION_LABEL: revision}
        made = self._kubernetes.create(
            {
                "apiVersion": "v1",
                "kind": "Pod",
                "metadata": {"name": pod, "namespace": "default", "labels": labels},
                "spec": template["spec"],
                "status": {"phase": "Pending"},
            },
            by=SELF,
        )
        volatile = not claim_names(workload, pod)
        self._after(START, lambda: self._start(pod, made["metadata"]["uid"], volatile=volatile))

    # -- the kubelet -------------------------------------------------------------------------------------------

    def _start(self, name: str, uid: str, *, volatile: bool) -> None:
        raw = self._kubernetes.get("Pod", name)
        if raw is None or raw["metadata"]["uid"] != uid or raw["metadata"].get("deletionTimestamp"):
            return
        storage = {"volume": f"pod:{uid}", "volume_dies_with": "pod"} if volatile else {}
        image = raw["spec"]["containers"][0]["image"]
        container = self._stage.pod(name, version=image.rpartition(":")[2], **storage)
        self._restarts[uid] = container.restarts
        status = {"phase": "Running", "podIP": container.facts.address, "startTime": self._kubernetes.now()}
        self._kubernetes.status(ObjectKey("Pod", name), status | self._state(name, self._kubernetes.now()), by=SELF)

    def refresh(self) -> None:
        """Bring the pods' statuses up to what their containers do."""
        for key, raw in list(self._kubernetes.objects.items()):
            uid = raw["metadata"].get("uid", "")
            if key.kind != "Pod" or uid not in self._restarts or f"default/{key.name}" not in self._stage.world.pods:
                continue
            container, status = self._stage.container(key.name), raw["status"]
            since = status["containerStatuses"][0].get("restartedAt", status["startTime"])
            if container.restarts != self._restarts[uid]:
                self._restarts[uid], since = container.restarts, self._kubernetes.now()
            if (changed := status | self._state(key.name, since)) != status:
                self._kubernetes.status(key, changed, by=SELF)

    def _state(self, name: str, since: str) -> Json:
        container = self._stage.container(name)
        running: Json = {"running": {"startedAt": since}}
        state = {"waiting": {"reason": "CrashLoopBackOff"}} if container.backing_off else running
        return {
            "conditions": [{"type": "Ready", "status": str(container.healthy)}],
            "containerStatuses": [{"name": container.facts.component.value, "state": state, "restartedAt": since}],
        }

    def _end(self, name: str, uid: str) -> None:
        raw = self._kubernetes.get("Pod", name)
        if raw is None or raw["metadata"]["uid"] != uid:
            return
        if self._restarts.pop(uid, None) is not None:
            self._stage.delete_pod(name)
        self._kubernetes.remove(ObjectKey("Pod", name), by=SELF)
        for key, claim in list(self._kubernetes.objects.items()):
            if key.kind == "PersistentVolumeClaim" and claim["metadata"].get("deletionTimestamp"):
                self._protect(key.name)
        workload = name.rpartition("-")[0]
        self._after(NOTICE, lambda: self._sync(workload))

    def _protect(self, claim: str) -> None:
        """A claim marked for deletion goes once no pod uses it, and what was on the volume goes with it."""
        if self._kubernetes.get("PersistentVolumeClaim", claim) is None:
            return
        pod = owner_of(claim)
        if self._kubernetes.get("Pod", pod) is None:
            self._kubernetes.remove(ObjectKey("PersistentVolumeClaim", claim), by=SELF)
            self._stage.delete_claim(pod)
            self._after(NOTICE, lambda: self._sync(pod.rpartition("-")[0]))


def claim_names(workload: Raw, pod: str) -> tuple[str, ...]:
    return tuple(f"{template['metadata']['name']}-{pod}" for template in claims_of(workload))


def claims_of(workload: Raw) -> tuple[Raw, ...]:
    return tuple(workload["spec"].get("volumeClaimTemplates") or ())


def _batches(count: int) -> Iterator[range]:
    """The ordinals in the order in which the controller of StatefulSets takes them: it stops at one with a failure."""
    first, size = 0, 1
    while first < count:
        yield range(first, min(first + size, count))
        first, size = first + size, size * 2


def owner_of(claim: str) -> str:
    """`fe-meta-sample-fe-0` is of `sample-fe-0`: names of clusters in a rehearsal have no dash."""
    found = re.search(r"[^-]+-(fe-observer|fe|be|cn)-\d+$", claim)
    assert found, f"{claim} is no claim of a pod"
    return found[0]


def _fresh(before: Raw | None, after: Raw) -> bool:
    """Whether the deletion is news."""
    was = (before or {}).get("metadata", {}).get("deletionTimestamp")
    return bool(after["metadata"].get("deletionTimestamp")) and not was


def _is_ready(pod: Raw) -> bool:
    conditions = (pod.get("status") or {}).get("conditions") or ()
    ready = any(condition["type"] == "Ready" and condition["status"] == "True" for condition in conditions)
    return ready and not pod["metadata"].get("deletionTimestamp")


def pods_of(kubernetes: Kubernetes, component: str) -> Iterator[Raw]:
    """The pods of one component, gone ones included until they are."""
    for key, raw in kubernetes.objects.items():
        if key.kind == "Pod" and key.name.split("-")[-2] == component:
            yield raw
