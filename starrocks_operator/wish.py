"""Whether what a step was decided for is still wished, asked right before the step."""

from __future__ import annotations

from starrocks_operator.model import StarRocksCluster

_OURS = "starrocks.com/"


def wish_objection(now: StarRocksCluster | None, *, decided: StarRocksCluster) -> str:
    """Why the step must not be taken, as a sentence; empty: it may. now: the cluster as just read; None: it is gone.

    Annotations count as the spec does: one of them names a loss, and another tells operators to keep their hands off.
    """
    if now is None or now.uid != decided.uid or now.is_deleted:
        return "the cluster is gone"
    if now.generation != decided.generation:
        return "the spec was changed meanwhile"
    return "" if _orders(now) == _orders(decided) else "the annotations were changed meanwhile"


def _orders(cluster: StarRocksCluster) -> dict[str, str]:
    return {name: value for name, value in cluster.annotations.items() if name.startswith(_OURS)}
