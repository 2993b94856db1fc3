"""Rollout: whether the pods of a component may be replaced now."""

from starrocks_operator.rollout.quorum import OUTAGE_CONSENT, frontends_must_wait

__all__ = ["OUTAGE_CONSENT", "frontends_must_wait"]
