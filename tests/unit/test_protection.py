"""deletionProtection: what is said of it, how rarely it is looked for, and that all mean the same policies."""

from __future__ import annotations

from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest
import yaml

from starrocks_operator.decide import decide
from starrocks_operator.model import Key, StarRocksCluster
from starrocks_operator.observed import Protection
from starrocks_operator.protection import LABEL, POLICIES
from starrocks_operator.status import status_of, transitions
from tests.unit.membership_world import World
from tests.unit.watcher_fakes import Clock, FakeKube, cluster_raw
from watcher.kube import ApiError
from watcher.protection import BINDING, GOOD, POLICY, WANTING, Guardian
from watcher.references import FRESH, Reader

WHOLE = Protection(policies=True, namespace=True)
NAMESPACE = "/api/v1/namespaces/ns"


def status(protection: Protection, *, wanted: bool = True) -> dict[str, Any]:
    world = World()
    world.raw["spec"]["deletionProtection"] = wanted
    observed = replace(world.observed, protection=protection)
    return status_of(world.cluster, observed, decide(world.cluster, observed), last_run=None)


def conditions(found: dict[str, Any]) -> dict[str, tuple[str, str]]:
    return {item["type"]: (item["status"], item["reason"]) for item in found["conditions"]}


@pytest.mark.parametrize(
    ("protection", "policies", "namespace", "degraded", "said"),
    [
        (WHOLE, "present", "labelled", "Healthy", ""),
        (replace(WHOLE, policies=False, missing=POLICIES[:1]), "absent", "labelled", "ProtectionAbsent", POLICIES[0]),
        (replace(WHOLE, policies=None), "unknown", "labelled", "Healthy", "cannot be seen"),
        (replace(WHOLE, namespace=False), "present", "unlabelled", "Healthy", f"not labelled {LABEL}=true"),
        (replace(WHOLE, namespace=None), "present", "unknown", "Healthy", ""),
    ],
)
def test_status_says_what_there_is_of_it_and_stays_ready(
    protection: Protection, policies: str, namespace: str, degraded: str, said: str
) -> None:
    found = status(protection)
    assert found["protection"] == {"policies": policies, "namespace": namespace}
    judged = conditions(found)
    assert judged["Ready"] == ("True", "AsSpecified")
    assert judged["Degraded"][1] == degraded
    assert said in found["conditions"][0]["message"]


def test_who_does_not_ask_for_it_is_told_nothing() -> None:
    assert "protection" not in status(replace(WHOLE, policies=False), wanted=False)


def test_absent_policies_are_a_warning_once_and_their_coming_is_told() -> None:
    bare, whole = status(replace(WHOLE, policies=False, missing=POLICIES)), status(WHOLE)
    assert [(event.type, event.reason) for event in transitions(whole, bare)] == [("Warning", "ProtectionAbsent")]
    assert transitions(bare, bare) == ()
    assert [(event.type, event.reason) for event in transitions(bare, whole)] == [("Normal", "Recovered")]


# -- looking ---------------------------------------------------------------------------------------------------


def kube(
    *, policies: tuple[str, ...] = POLICIES, actions: tuple[str, ...] = ("Deny",), label: str = "true"
) -> FakeKube:
    found = FakeKube()
    for name in policies:
        found.store(f"{POLICY}/{name}", {"metadata": {"name": name}})
        found.store(f"{BINDING}/{name}", {"metadata": {"name": name}, "spec": {"validationActions": list(actions)}})
    found.store(NAMESPACE, {"metadata": {"name": "ns", "labels": {LABEL: label}}})
    return found


async def test_all_policies_with_bindings_that_deny_are_a_protection() -> None:
    assert await Guardian(kube(), clock=Clock()).look("ns") == WHOLE
    without = await Guardian(kube(policies=POLICIES[1:]), clock=Clock()).look("ns")
    assert (without.policies, without.missing) == (False, POLICIES[:1])
    assert (await Guardian(kube(actions=("Audit",)), clock=Clock()).look("ns")).missing == POLICIES
    assert (await Guardian(kube(label="no"), clock=Clock()).look("ns")).namespace is False


async def test_where_it_may_not_look_the_answer_is_unknown() -> None:
    blind = kube()
    blind.fail("GET", POLICY, 403)
    blind.fail("GET", NAMESPACE, 403)
    assert await Guardian(blind, clock=Clock()).look("ns") == Protection(policies=None, namespace=None)


async def test_an_api_server_in_trouble_is_no_answer() -> None:
    troubled = kube()
    troubled.fail("GET", POLICY, 500)
    with pytest.raises(ApiError):
        await Guardian(troubled, clock=Clock()).look("ns")


async def test_the_policies_are_looked_for_rarely_and_once_for_all_clusters() -> None:
    server, clock = kube(), Clock()
    guardian = Guardian(server, clock=clock)
    await guardian.look("ns")
    server.objects.clear()
    assert await guardian.look("ns") == WHOLE
    assert (await guardian.look("other")).policies, "the policies are not asked for anew"
    clock.forward(GOOD + 1)
    assert (await guardian.look("ns")).policies is False
    server.objects = kube().objects
    clock.forward(WANTING + 1)
    assert await guardian.look("ns") == WHOLE, "what is missing is looked for again soon"


def asking(**spec: Any) -> StarRocksCluster:
    raw = cluster_raw(Key("ns", "sample"))
    raw["spec"] |= spec
    return StarRocksCluster.parse(raw)


async def test_only_clusters_that_ask_for_it_cost_a_request() -> None:
    server = kube()
    server.fail("GET", "", 500)
    assert (await Reader(server, clock=Clock()).read(asking(), settled=False)).protection is None
    with pytest.raises(ApiError):
        await Reader(server, clock=Clock()).read(asking(deletionProtection=True), settled=False)


async def test_a_settled_cluster_notices_that_its_protection_has_become_whole() -> None:
    server, clock = kube(label="no"), Clock()
    reader, cluster = Reader(server, clock=clock), asking(deletionProtection=True)
    assert (await reader.read(cluster, settled=True)).protection == replace(WHOLE, namespace=False)
    server.objects = kube().objects
    clock.forward(WANTING + FRESH)
    assert (await reader.read(cluster, settled=True)).protection == WHOLE


# -- deploy/ ---------------------------------------------------------------------------------------------------


def documents(path: str) -> list[dict[str, Any]]:
    return list(yaml.safe_load_all(Path(path).read_text()))


def test_the_operator_asks_for_the_policies_that_are_deployed_and_may_get_them() -> None:
    deployed = documents("deploy/policies.yaml")
    for kind in ("ValidatingAdmissionPolicy", "ValidatingAdmissionPolicyBinding"):
        names = {item["metadata"]["name"] for item in deployed if item["kind"] == kind}
        assert {name for name in names if name.startswith("protect-")} == set(POLICIES)
    rules = [rule for item in documents("deploy/rbac.yaml") for rule in item.get("rules", ())]
    (rule,) = [rule for rule in rules if "validatingadmissionpolicies" in rule["resources"]]
    assert (set(rule["resourceNames"]), rule["verbs"]) == (set(POLICIES), ["get"])


def test_the_account_that_may_renew_metadata_volumes_is_the_one_that_is_deployed() -> None:
    (account,) = [item["metadata"] for item in documents("deploy/rbac.yaml") if item["kind"] == "ServiceAccount"]
    name = f"system:serviceaccount:{account['namespace']}:{account['name']}"
    (policy,) = [
        item
        for item in documents("deploy/policies.yaml")
        if (item["kind"], item["metadata"]["name"]) == ("ValidatingAdmissionPolicy", "protect-data.starrocks.com")
    ]
    assert f'"{name}"' in policy["spec"]["matchConditions"][0]["expression"]
