"""What /metrics tells of a cluster while it lives, suffers and goes."""

from __future__ import annotations

from lab.stack import wait_for
from tests.cluster.clusters import cluster
from tests.cluster.operators import Operators


def test_a_cluster_is_told_of_until_it_is_gone(operators: Operators) -> None:
    space = operators.space
    operators.start()
    space.apply(cluster("one", fe=1))
    space.apply(cluster("two", fe=1))
    space.wait_ready("one")
    space.wait_ready("two")
    of_one = {"kind": "StarRocksCluster", "namespace": space.namespace, "name": "one"}

    def told(metric: str, **labels: str) -> float:
        return operators.metric(f"resource_{metric}", **of_one, **labels)

    wait_for(lambda: told("condition", condition="Ready") == 1, what="the cluster to be told of as ready")
    assert told("members", member="frontend", state="alive") == 1
    assert told("info", phase="running") == 1
    wait_for(lambda: told("looked_at_timestamp_seconds") > 0, what="the time of the last look")

    space.fault("one-fe-0", "kill")
    wait_for(lambda: told("finding", reason="LeaderMissing") == 1, what="the missing leader to be told of")
    assert told("condition", condition="Degraded") == 1
    assert operators.metric("resource_finding", name="two", namespace=space.namespace) == 0

    space.fault("one-fe-0", "resume")
    wait_for(lambda: told("condition", condition="Ready") == 1, what="the recovery to be told of")
    assert told("finding", reason="LeaderMissing") == 0

    space.delete("StarRocksCluster", "one")
    wait_for(lambda: told("info") == 0, what="nothing to be told of it any more")
    left = [line for line in operators.lines() if f'namespace="{space.namespace}"' in line and 'name="one"' in line]
    assert left == []
