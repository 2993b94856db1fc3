"""What differs between two versions of an object, in words."""

from __future__ import annotations

from typing import Any

import pytest

from starrocks_operator.objects.comparison import changes


@pytest.mark.parametrize(
    ("before", "after", "told"),
    [
        ({"a": 1}, {"a": 1}, ()),
        ({"spec": {"replicas": 3}}, {"spec": {"replicas": 2}}, ("spec.replicas: 3 → 2",)),
        ({"a": {"x": "1"}}, {"a": {}}, ("a.x: 1 → absent",)),
        ({}, {"a": True}, ("a: absent → True",)),
        (
            {"c": [{"name": "fe", "image": "1"}, {"name": "side"}]},
            {"c": [{"name": "side"}, {"name": "fe", "image": "2"}]},
            ("c[fe].image: 1 → 2", "c: in another order"),
        ),
        ({"c": [{"name": "fe"}]}, {"c": []}, ("c[fe]: {'name': 'fe'} → absent",)),
        ({"args": ["a"]}, {"args": ["a", "b"]}, ("args: ['a'] → ['a', 'b']",)),
        ({"a": "x" * 200}, {"a": ""}, (f"a: {'x' * 79}… → ",)),
    ],
)
def test_each_field_is_one_line(before: dict[str, Any], after: dict[str, Any], told: tuple[str, ...]) -> None:
    assert changes(before, after) == told
