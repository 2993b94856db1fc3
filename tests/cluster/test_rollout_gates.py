"""A minor upgrade on the lab: the order, told from the API server's audit log, and what is put back afterwards."""

from __future__ import annotations

from lab.roll_order import out_of_order
from lab.space import Document, Space
from lab.stack import Stack
from tests.cluster.clusters import cluster


def images(tag: str) -> Document:
    return {f"starRocks{name.title()}Spec": {"image": f"starrocks/{name}-ubuntu:{tag}"} for name in ("fe", "be", "cn")}


def test_a_minor_upgrade_goes_backends_first_and_puts_everything_back(stack: Stack, space: Space) -> None:
    began = stack.witness.mark()
    space.apply(cluster("one", fe=3, be=3, cn=1, volumes=True))
    space.wait_ready("one")
    space.patch("StarRocksCluster", "one", {"spec": images("3.4.2")})
    space.wait(lambda: space.status("one").get("rollout"), "one", "to begin")
    space.wait_ready("one")
    everything = stack.witness.replacements(since=began, namespace=space.namespace)
    found = [each for each in everything if each.changed]
    assert [each.pod for each in found][:4] == ["one-be-2", "one-be-1", "one-be-0", "one-cn-0"]
    assert len(found) == 7
    assert not out_of_order(found)
    assert not stack.witness.unrestored(since=began, namespace=space.namespace)
    assert "heldSettings" not in space.status("one")
    told = [line["statement"] for line in stack.witness.statements(since=began) if line["result"] == "ok"]
    assert told.count("ALTER SYSTEM CREATE IMAGE") == 1
    added = [said for said in told if said.startswith("ADD BACKEND BLACKLIST")]
    taken_off = [said for said in told if said.startswith("DELETE BACKEND BLACKLIST")]
    assert (len(added), len(taken_off)) == (9, 9), "each backend, at each of three frontends"
    scheduling = [said for said in told if "tablet_sched_max_scheduling_tablets" in said and "SET" in said]
    assert scheduling[0].endswith('"0")')
    assert scheduling[-1].endswith('"10000")')
