"""The loss that an owner names: one leaving backend, at one generation of the spec.

What FE cannot move away from a leaving backend keeps it there for ever. Whether it may be lost only its owner can
know, and says so for that very backend. It counts only for one that was told to leave and from which no tablet has
gone for long while FE was free to move them: what is left on it then is what FE found no way to move.
"""

from __future__ import annotations

import re
from dataclasses import dataclass

from starrocks_operator.decision import Finding
from starrocks_operator.membership.memory import Progress
from starrocks_operator.model import StarRocksCluster

FORCE_DROP = "starrocks.com/force-drop-backend"
"""Annotation: `<pod>@<metadata.generation>` of the leaving backend whose tablets may be lost."""

REPLACE = "starrocks.com/replace-backend"
"""Annotation: `<pod>@<uid of its volume claim>` of the backend that is to come back on an empty volume. A volume has
its uid once: what was done is never done again."""

_REPLACE_FORM = re.compile(r"(?P<pod>[a-z0-9][a-z0-9-]*)@(?P<uid>[A-Za-z0-9-]{1,64})")
_FORM = re.compile(r"(?P<pod>[a-z0-9][a-z0-9-]*)@(?P<generation>[0-9]{1,18})")


@dataclass(frozen=True, kw_only=True)
class NamedLoss:
    """What the annotation says.

    pod: the backend that it names for this very generation; empty: none. generation: that of the spec.
    ignored: why it says nothing, as a sentence.
    """

    pod: str = ""
    generation: int = 0
    ignored: str = ""

    @classmethod
    def of(cls, cluster: StarRocksCluster) -> NamedLoss:
        generation, text = cluster.generation, cluster.annotations.get(FORCE_DROP, "").strip()
        if not text:
            return cls(generation=generation)
        found = _FORM.fullmatch(text)
        if found is None:
            return cls(generation=generation, ignored=_ignored(f"'{text[:80]}' is not of the form <pod>@<generation>"))
        if int(found["generation"]) != generation:
            why = f"it names generation {int(found['generation'])}, and this is {generation}"
            return cls(generation=generation, ignored=_ignored(why))
        return cls(pod=found["pod"], generation=generation)

    def way_out(self, pod: str) -> str:
        """How to name the loss of this backend, and what became of an attempt to."""
        if pod == self.pod:
            return f"The annotation {FORCE_DROP} names it; that counts when FE is seen to be free to move tablets."
        attempt = f" {self.ignored}" if self.ignored else ""
        return f'If they may be lost, set the annotation {FORCE_DROP}: "{pod}@{self.generation}".{attempt}'

    def remark(self, pods: dict[str, bool]) -> Finding | None:
        """What is wrong with the annotation. pods: those of the backends, and whether each is wanted."""
        why = self.ignored
        if self.pod and pods.get(self.pod, True):
            state = "which is to stay" if self.pod in pods else "and there is no such backend (any more)"
            why = _ignored(f"it names {self.pod}, {state}")
        return Finding(reason="NamedLossIgnored", message=why, remark=True) if why else None


def replacement_of(cluster: StarRocksCluster) -> tuple[str, str]:
    """Pod and uid of the claim that its owner names; empty: none."""
    found = _REPLACE_FORM.fullmatch(cluster.annotations.get(REPLACE, "").strip())
    return (found["pod"], found["uid"]) if found else ("", "")


def given_up(pod: str, progress: Progress) -> Finding:
    """Said before anything is done about it, and until it is over."""
    return Finding(
        reason="LossNamed",
        message=f"Backend {pod} is given up, as its owner says ({FORCE_DROP}): {progress.left} tablets are left on it, "
        f"and FE has moved none since {progress.at:%Y-%m-%d %H:%M} UTC. Those without a copy on another backend are "
        "lost when FE is told to forget it; its volume stays. Until then removing the annotation stops it, and setting "
        "replicas back takes it back.",
        degraded=True,
    )


def _ignored(why: str) -> str:
    return f"The annotation {FORCE_DROP} is ignored: {why}."
