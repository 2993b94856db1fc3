"""The Python half of the rules, case by case."""

import pytest

from starrocks_operator.model import StarRocksCluster
from starrocks_operator.model.rules import RULES, violations, violations_by_change
from tests.rule_cases import BROKEN, SOUND, VOLUMES, Case, changed, document


@pytest.mark.parametrize("case", BROKEN, ids=str)
def test_a_broken_rule_is_named(case: Case) -> None:
    (found,) = violations(case.document)
    assert (found.rule, found.path) == (case.rule, case.path)
    assert case.says in found.message


@pytest.mark.parametrize("case", SOUND, ids=str)
def test_a_sound_cluster_breaks_nothing(case: Case) -> None:
    assert violations(case.document) == ()


def test_every_rule_has_a_case() -> None:
    about_values = {rule.name for rule in RULES if rule.judge_change is None}
    assert {case.rule for case in BROKEN} == about_values


def test_the_typed_model_is_judged_like_the_raw_object() -> None:
    for case in BROKEN:
        typed = StarRocksCluster.parse(case.document).to_dict()
        if case.rule != "misspelt-key":  # the model does not know those keys
            assert violations(typed) == violations(case.document), case


@pytest.mark.parametrize(
    ("was", "wanted", "said"),
    [
        ("10Gi", "9Gi", 1),
        ("10Gi", "10000Mi", 1),
        ("10Gi", "0", 1),
        ("1.5Ti", "1536Gi", 0),
        ("10Gi", "10Gi", 0),
        ("10Gi", "1Ti", 0),
    ],
)
def test_no_volume_shrinks(was: str, wanted: str, said: int) -> None:
    old, new = (changed(VOLUMES, [{"name": "a", "mountPath": "/a", "storageSize": size}]) for size in (was, wanted))
    found = violations_by_change(old, new)
    assert len(found) == said
    assert all(
        violation.path == VOLUMES and "volume a would become smaller" in violation.message for violation in found
    )


def test_volumes_are_compared_by_name() -> None:
    big, small = {"name": "a", "storageSize": "2Gi"}, {"name": "b", "storageSize": "1Gi"}
    assert not violations_by_change(changed(VOLUMES, [big, small]), changed(VOLUMES, [small, big]))
    assert not violations_by_change(changed(VOLUMES, [big]), changed(VOLUMES, [small]))
    assert not violations_by_change(document() | {"spec": {}}, changed(VOLUMES, [small]))
