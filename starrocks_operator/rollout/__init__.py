"""Rollout: whether the pods of a component may be replaced now."""

from starrocks_operator.rollout.complete import WAITS_FOR_ROLLOUT, is_rolled_out, of_one_revision
from starrocks_operator.rollout.quorum import OUTAGE_CONSENT, frontends_must_wait

__all__ = ["OUTAGE_CONSENT", "WAITS_FOR_ROLLOUT", "frontends_must_wait", "is_rolled_out", "of_one_revision"]
