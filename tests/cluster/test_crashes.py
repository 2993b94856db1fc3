"""Killed at exact points of scale-ins, before and after its writes, the operator brings them to their end all the same.

A slice of what `make crashes` does for ten minutes; the seed draws the points.
"""

from __future__ import annotations

from pathlib import Path

from lab.crashes import Crashes, starter
from lab.interference import interference
from tests.cluster.operators import Operators

SEED = 4
DEATHS = 5  # the scene that is on then is played to its end


def test_it_may_be_killed_before_and_after_any_write_of_a_scale_in(operators: Operators, tmp_path: Path) -> None:
    space = operators.space
    with interference(operators.stack.operator_kubeconfig) as proxy:
        kubeconfig = proxy.write_kubeconfig(tmp_path / "proxy.kubeconfig")
        crashes = Crashes(space, proxy, start=starter(space, kubeconfig, operators.scratch), seed=SEED)
        crashes.begin()
        try:
            crashes.run(deaths=DEATHS)
        finally:
            crashes.end()
    assert len(crashes.deaths) >= DEATHS, crashes.report()
