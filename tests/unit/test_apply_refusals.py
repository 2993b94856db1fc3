"""What the API server's answers to an apply become in words."""

from __future__ import annotations

from plugins.plugin_utils.server import Answer

UNKNOWN = "failed to create typed patch object (ns/a; apps/v1, Kind=StatefulSet): .spec.x: field not declared in schema"


def test_an_unknown_field_is_refused_though_the_status_says_otherwise() -> None:
    answer = Answer(500, {"message": UNKNOWN})
    assert answer.is_no_such_object
    assert answer.sentence("StatefulSet a was not applied") == (
        f"StatefulSet a was not applied: the API server refused it ({UNKNOWN})."
    )


def test_another_500_is_a_bad_moment() -> None:
    assert "answered 500 in each of" in Answer(500, {"message": "etcd is away"}).sentence("a")
