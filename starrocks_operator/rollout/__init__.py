"""Rollout: in which order pods are replaced, whether the next one may be now, and how it is done."""

from starrocks_operator.rollout.complete import WAITS_FOR_ROLLOUT, is_rolled_out, of_one_revision
from starrocks_operator.rollout.image import remembered
from starrocks_operator.rollout.plan import Course, course_of
from starrocks_operator.rollout.roll import Roll, roll_of
from starrocks_operator.rollout.shaping import SHAPING_STEPS, is_shaped, revisions_needed, shape_of, shape_of_step
from starrocks_operator.rollout.versions import Direction

__all__ = [
    "SHAPING_STEPS",
    "WAITS_FOR_ROLLOUT",
    "Course",
    "Direction",
    "Roll",
    "course_of",
    "is_rolled_out",
    "is_shaped",
    "of_one_revision",
    "remembered",
    "revisions_needed",
    "roll_of",
    "shape_of",
    "shape_of_step",
]
