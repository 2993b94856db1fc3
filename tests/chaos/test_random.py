"""Anything in any order: wishes, releases, deaths, lost answers, people, operators that end. The invariants hold."""

from __future__ import annotations

import os

from hypothesis import HealthCheck, Phase, settings
from hypothesis import strategies as st
from hypothesis.stateful import RuleBasedStateMachine, initialize, invariant, precondition, rule

from lab.rehearsal import Dies, Loses, Rehearsal
from lab.rehearsal.invariants import HUMAN
from lab.rehearsal.manifest import NAME
from lab.simulator.model import Component

USUAL = 60  # always the same ones; `make chaos` draws more of them, and others each time
EXAMPLES = int(os.environ.get("CHAOS_EXAMPLES", USUAL))
MOMENT = 6.0
RELEASES = st.sampled_from(["3.3.9", "3.3.10", "3.3.9-broken"])
SOON = st.integers(min_value=1, max_value=8)


class AnyOrder(RuleBasedStateMachine):
    """One cluster, one operator (or its successors), and a world without mercy. In the end it is left in peace."""

    @initialize(seed=st.integers(min_value=0, max_value=9))
    def a_cluster(self, seed: int) -> None:
        self.world = Rehearsal(seed=seed, **{"fe": 3, "fe-observer": 1, "be": 4, "cn": 2})
        self.world.until_settled()
        self.world.create_table("plain", replication=3, tablets=8)
        self.world.create_table("single", replication=1, tablets=4)

    # -- wishes ------------------------------------------------------------------------------------------------

    @rule(count=st.integers(min_value=2, max_value=6))
    def wish_backends(self, count: int) -> None:
        self.world.wish(be=count)

    @rule(count=st.sampled_from([1, 2, 3, 4, 5]))
    def wish_frontends(self, count: int) -> None:
        self.world.wish(fe=count)

    @rule(count=st.integers(min_value=0, max_value=3))
    def wish_observers(self, count: int) -> None:
        self.world.wish(**{"fe-observer": count})

    @rule(count=st.integers(min_value=0, max_value=4))
    def wish_compute_nodes(self, count: int) -> None:
        self.world.wish(cn=count)

    @rule(component=st.sampled_from(["fe", "be", "cn"]), label=st.sampled_from(["1", "2"]))
    def another_template(self, component: str, label: str) -> None:
        self.world.edit(component, podLabels={"round": label})

    @rule(version=RELEASES, components=st.sampled_from([(), (), ("be",), ("fe",), ("be", "cn")]))
    def another_release(self, version: str, components: tuple[str, ...]) -> None:
        self.world.release(version, *components)

    @rule(on=st.booleans())
    def canaries(self, on: bool) -> None:
        self.world.annotate(canary=str(on).lower())

    @rule()
    def the_canaries_are_approved_of(self) -> None:
        generation = self.world.raw["metadata"]["generation"]
        self.world.annotate(
            approve_canary=",".join(f"{name}@{generation}" for name in ("be", "cn", "fe-observer", "fe"))
        )

    @rule(component=st.sampled_from(["fe", "fe-observer", "be", "cn"]), ordinal=st.integers(min_value=0, max_value=3))
    def restart_a_pod(self, component: str, ordinal: int) -> None:
        self.world.annotate(restart_pods=f"{NAME}-{component}-{ordinal}@{self._moment()}")

    @rule(component=st.sampled_from(["fe", "be", "cn"]))
    def restart_a_component(self, component: str) -> None:
        self.world.annotate(**{f"restart_{component}": self._moment()})

    @rule()
    def go_to_sleep(self) -> None:
        self.world.annotate(hibernate="true")

    @rule()
    def wake_up(self) -> None:
        self.world.annotate(hibernate="false")

    # -- time --------------------------------------------------------------------------------------------------

    @rule(seconds=st.sampled_from([1.0, 3.0, 10.0, 30.0, 120.0]))
    def time_passes(self, seconds: float) -> None:
        self.world.let(seconds)

    # -- deaths ------------------------------------------------------------------------------------------------

    @rule(data=st.data())
    def a_process_dies(self, data: st.DataObject) -> None:
        self._lay(data, "kill")

    @rule(data=st.data())
    def a_process_crashes(self, data: st.DataObject) -> None:
        self._lay(data, "crash")

    @rule(data=st.data())
    def a_process_hangs(self, data: st.DataObject) -> None:
        self._lay(data, "hang")

    @rule()
    def the_dead_come_back(self) -> None:
        for key in list(self.world.stage.world.pods):
            self.world.stage.fault(key.partition("/")[2], "heal")

    @rule(data=st.data())
    def a_pod_is_evicted(self, data: st.DataObject) -> None:
        pods = sorted(key.name for key in self.world.kubernetes.objects if key.kind == "Pod")
        if pods:
            self.world.kubernetes.delete("Pod", data.draw(st.sampled_from(pods)), by=HUMAN)

    @precondition(lambda self: self._all_frontends_live())
    @rule()
    def a_follower_loses_its_volume(self) -> None:
        followers = self.world.stage.followers(NAME)
        self.world.lose_volume("fe", int(followers[-1].rpartition("-")[2]))
        self.world.let(3.0)

    # -- the operator ------------------------------------------------------------------------------------------

    @rule(calls=SOON, afterwards=st.booleans())
    def the_operator_will_die(self, calls: int, afterwards: bool) -> None:
        number = len(self.world.gate.written) + calls
        self.world.gate.troubles = [Dies(number, afterwards=afterwards)]

    @rule(calls=SOON)
    def an_answer_will_be_lost(self, calls: int) -> None:
        self.world.gate.troubles = [Loses(len(self.world.gate.written) + calls)]

    @rule()
    def the_operator_is_restarted(self) -> None:
        self.world.add_operator("operator")

    @rule()
    def the_status_is_lost(self) -> None:
        self.world.lose_status()

    # -- people ------------------------------------------------------------------------------------------------

    @rule(ordinal=st.integers(min_value=0, max_value=5), word=st.sampled_from(["DECOMMISSION", "CANCEL DECOMMISSION"]))
    def a_person_orders(self, ordinal: int, word: str) -> None:
        self._say(f'{"ALTER SYSTEM " if word == "DECOMMISSION" else ""}{word} BACKEND "{self._be(ordinal)}"')

    @rule(ordinal=st.integers(min_value=0, max_value=3))
    def a_person_drops_a_compute_node(self, ordinal: int) -> None:
        self._say(f'ALTER SYSTEM DROP COMPUTE NODE "{self.world.target("cn", ordinal)}"')

    # -- what holds --------------------------------------------------------------------------------------------

    @invariant()
    def nothing_is_broken(self) -> None:
        """Time goes on after whatever happened, and the operator with it."""
        if hasattr(self, "world"):
            self.world.let(MOMENT)
            self.world.invariants.check()

    def teardown(self) -> None:
        """Left in peace, with a wish that can be fulfilled, it becomes whole and quiet."""
        if not hasattr(self, "world"):
            return
        world = self.world
        world.gate.troubles.clear()
        self.the_dead_come_back()
        world.annotate(hibernate="false", canary="false", restart_pods="")
        world.release("3.3.10")
        world.wish(fe=max(3, world.wished("fe")), be=max(3, world.wished("be")))
        world.until(lambda: self._led(), "a leader")
        world.let(30.0)
        for row in self._backends():
            self._say(f'CANCEL DECOMMISSION BACKEND "{row}"')
        world.until_settled(within=7200.0)
        world.let(120.0)
        world.until_settled(within=7200.0)
        world.assert_whole()
        world.assert_quiet()

    # -- helpers of this file ----------------------------------------------------------------------------------

    def _lay(self, data: st.DataObject, fault: str) -> None:
        pods = sorted(key.partition("/")[2] for key in self.world.stage.world.pods)
        if pods:
            self.world.stage.fault(data.draw(st.sampled_from(pods)), fault)

    def _moment(self) -> str:
        return f"{self.world.around.now():%Y-%m-%dT%H:%M:%SZ}"

    def _led(self) -> bool:
        return self.world.stage.database(NAME).leader is not None

    def _say(self, sql: str) -> None:
        if self._led():
            self.world.say(sql)

    def _be(self, ordinal: int) -> str:
        return self.world.target("be", ordinal)

    def _backends(self) -> list[str]:
        rows = self.world.stage.database(NAME).state.of_kind(Component.BE)
        return [f"{row.host}:9050" for row in rows if row.decommissioned]

    def _all_frontends_live(self) -> bool:
        if not hasattr(self, "world") or not self._led():
            return False
        database = self.world.stage.database(NAME)
        rows = database.state.frontends
        return len(rows) >= 3 and all(row.alive and row.joined and row.name in database.attached for row in rows)


AnyOrder.TestCase.settings = settings(
    max_examples=EXAMPLES,
    stateful_step_count=50,
    derandomize=EXAMPLES <= USUAL,
    deadline=None,
    database=None,
    print_blob=True,
    phases=(Phase.explicit, Phase.generate) if EXAMPLES <= USUAL else tuple(Phase),
    suppress_health_check=list(HealthCheck),
)
TestAnyOrder = AnyOrder.TestCase
