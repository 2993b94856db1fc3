"""Rollout: in which order pods are replaced, whether the next one may be now, and how it is done."""

from starrocks_operator.rollout.complete import WAITS_FOR_ROLLOUT, is_rolled_out, of_one_revision
from starrocks_operator.rollout.plan import Course, course_of
from starrocks_operator.rollout.quorum import OUTAGE_CONSENT, frontends_must_wait
from starrocks_operator.rollout.roll import Roll, roll_of
from starrocks_operator.rollout.shaping import SHAPING_STEPS, is_shaped, revisions_needed, shape_of, shape_of_step

__all__ = [
    "OUTAGE_CONSENT",
    "SHAPING_STEPS",
    "WAITS_FOR_ROLLOUT",
    "Course",
    "Roll",
    "course_of",
    "frontends_must_wait",
    "is_rolled_out",
    "is_shaped",
    "of_one_revision",
    "revisions_needed",
    "roll_of",
    "shape_of",
    "shape_of_step",
]
