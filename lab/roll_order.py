"""The order in which pods were replaced, as the API server's audit log tells: which pod, from what, to what, by whom.

for each in replacements(stack.plane.audit_log):
    print(each.component, each.pod, each.old, each.new, each.by)
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass
from itertools import pairwise
from pathlib import Path
from typing import Any

from lab.audit import Write, writes
from lab.whose import COMPONENT, OWNER

REVISION = "controller-revision-hash"
UPWARDS = (("be",), ("cn",), ("fe", "fe-observer"))
CONTROLLER = "system:serviceaccount:kube-system:statefulset-controller"
Key = tuple[str, str]


@dataclass(frozen=True)
class Made:
    """A pod of a StatefulSet as it was made."""

    component: str
    cluster: str
    revision: str
    image: str
    claims: frozenset[str] = frozenset()


@dataclass(frozen=True, kw_only=True)
class Stop:
    """A pod was told to go, at a moment in seconds since 1970; `by` is the user of the API server."""

    namespace: str
    pod: str
    made: Made
    by: str
    at: float


@dataclass(frozen=True, kw_only=True)
class Replacement:
    """A pod that went and came back under its name. stopped, back: seconds since 1970. gained: with another volume."""

    namespace: str
    cluster: str
    component: str
    pod: str
    old: str
    new: str
    old_image: str
    new_image: str
    by: str
    stopped: float
    back: float
    gained: bool = False

    @property
    def changed(self) -> bool:
        """Whether it came back with another revision: a step of a roll, and no mere restart."""
        return self.old != self.new


class Lives:
    """Follows pods through the writes of an audit log, in their order."""

    def __init__(self) -> None:
        self.present: dict[Key, Made] = {}
        self._stopped: dict[Key, Stop] = {}
        self._replicas: dict[Key, int] = {}

    def hear(self, write: Write) -> Stop | Replacement | None:
        """What this write means for a pod; a pod that goes because there are to be fewer is forgotten."""
        if write.code >= 300:
            return None
        key = (write.namespace, write.name)
        answered = write.answered if isinstance(write.answered, dict) else {}
        if write.resource == "statefulsets" and "replicas" in (answered.get("spec") or {}):
            self._replicas[key] = int(answered["spec"]["replicas"])
        if write.resource != "pods":
            return None
        if write.verb == "create" and not write.subresource:
            return self._made(write, key)
        if write.verb == "delete" or write.subresource == "eviction":
            return self._told_to_go(write, key, answered)
        return None

    def _made(self, write: Write, key: Key) -> Replacement | None:
        made = _made_of(write.asked)
        if made is None:
            return None
        before, stop = self.present.get(key), self._stopped.pop(key, None)
        self.present[key] = made
        if before is None or stop is None:
            return None
        return Replacement(
            namespace=write.namespace,
            cluster=made.cluster,
            component=made.component,
            pod=write.name,
            old=before.revision,
            new=made.revision,
            old_image=before.image,
            new_image=made.image,
            by=stop.by,
            stopped=stop.at,
            back=write.moment,
            gained=bool(made.claims - before.claims),
        )

    def _told_to_go(self, write: Write, key: Key, answered: dict[str, Any]) -> Stop | None:
        made = self.present.get(key) or _made_of(answered)
        stem, _, ordinal = write.name.rpartition("-")
        if made is None or key in self._stopped:
            return None
        self.present[key] = made
        if ordinal.isdecimal() and int(ordinal) >= self._replicas.get((write.namespace, stem), 1 << 30):
            del self.present[key]
            return None
        stop = Stop(namespace=write.namespace, pod=write.name, made=made, by=write.user, at=write.moment)
        self._stopped[key] = stop
        return stop

    def others(self, stop: Stop | Replacement) -> Iterator[tuple[str, Made]]:
        """The other pods of the same StatefulSet that nobody has told to go."""
        group = stop.pod.rpartition("-")[0]
        for (namespace, pod), made in self.present.items():
            there = namespace == stop.namespace and (namespace, pod) not in self._stopped
            if there and pod != stop.pod and pod.rpartition("-")[0] == group:
                yield pod, made


def replacements(
    audit_log: Path, *, offset: int = 0, namespace: str | None = None, cluster: str | None = None
) -> list[Replacement]:
    """All pods that were replaced, in the order in which they were told to go. offset: `Witness.mark().audit`; what
    was made before it is not known."""
    found = replaced(write for write in writes(audit_log, offset=offset) if namespace in (None, write.namespace))
    return [each for each in found if cluster in (None, each.cluster)]


def replaced(writes: Iterable[Write]) -> list[Replacement]:
    lives = Lives()
    found = [heard for write in writes if isinstance(heard := lives.hear(write), Replacement)]
    return sorted(found, key=lambda each: each.stopped)


def out_of_order(found: Sequence[Replacement], order: Sequence[Sequence[str]] = UPWARDS) -> list[str]:
    """Sentences about pods of one roll that were replaced after a later component had begun; `reversed(UPWARDS)` is
    the order of a downgrade. Restarts with the same revision are passed over."""
    place = {component: number for number, components in enumerate(order) for component in components}
    sentences, farthest = [], 0
    for each in found:
        if not each.changed or each.component not in place:
            continue
        if place[each.component] < farthest:
            sentences.append(f"{each.pod} was replaced after {'/'.join(order[farthest])} had begun")
        farthest = max(farthest, place[each.component])
    return sentences


def at_once(found: Sequence[Replacement], component: str) -> list[str]:
    """Sentences about pods of one component that were told to go before the one before was made anew."""
    pods = sorted((each for each in found if each.component == component), key=lambda each: each.stopped)
    return [
        f"{later.pod} was told to go before {former.pod} was back"
        for former, later in pairwise(pods)
        if later.stopped < former.back
    ]


def _made_of(raw: Any) -> Made | None:
    metadata = (raw or {}).get("metadata") or {}
    labels = metadata.get("labels") or {}
    component, owner = labels.get(COMPONENT, ""), labels.get(OWNER, "")
    if not component or not labels.get(REVISION):
        return None
    containers = ((raw or {}).get("spec") or {}).get("containers") or [{}]
    main = next((each for each in containers if each.get("name") == component.partition("-")[0]), containers[0])
    volumes = ((raw or {}).get("spec") or {}).get("volumes") or ()
    claims = frozenset(volume["name"] for volume in volumes if "persistentVolumeClaim" in volume)
    return Made(component, owner.removesuffix(f"-{component}"), labels[REVISION], main.get("image", ""), claims)
