"""Random faults and statements: the world never contradicts itself, and once all is healed it lives again."""

from __future__ import annotations

from hypothesis import HealthCheck, settings
from hypothesis import strategies as st
from hypothesis.stateful import RuleBasedStateMachine, initialize, invariant, rule

from lab.simulator.model.database import majority
from lab.simulator.stage import Stage

FRONTENDS = [f"c-fe-{number}" for number in range(3)]
BACKENDS = [f"c-be-{number}" for number in range(3)]
FAULTS = ["kill", "crash", "hang", "resume", "heal", "slow", "lose-reply", "lose-request", "lock-busy", "leave"]
STATEMENTS = [
    "SHOW FRONTENDS",
    "SHOW PROC '/frontends'",
    "SHOW BACKENDS",
    "SHOW PROC '/statistic'",
    'ALTER SYSTEM ADD FOLLOWER "{}:9010"',
    'ALTER SYSTEM ADD BACKEND "{}:9050"',
    'ALTER SYSTEM DECOMMISSION BACKEND "{}:9050"',
    'CANCEL DECOMMISSION BACKEND "{}:9050"',
]


class RandomLife(RuleBasedStateMachine):
    @initialize(seed=st.integers(0, 1000))
    def begin(self, seed: int) -> None:
        self.stage = Stage(seed=seed)
        self.database = self.stage.running("c", fe=3, be=3)
        self.database.tablets.create_table("db", "t", replication=2, tablets=6)

    @rule(seconds=st.sampled_from([0.1, 1.0, 5.0, 12.0, 31.0, 200.0]))
    def wait(self, seconds: float) -> None:
        self.stage.after(seconds)

    @rule(pod=st.sampled_from(FRONTENDS + BACKENDS), fault=st.sampled_from(FAULTS))
    def fault(self, pod: str, fault: str) -> None:
        self.stage.fault(pod, fault)

    @rule(pod=st.sampled_from(FRONTENDS + BACKENDS), graceful=st.booleans())
    def replace_pod(self, pod: str, graceful: bool) -> None:
        self.stage.delete_pod(pod, graceful=graceful)
        self.stage.pod(pod)

    @rule(pod=st.sampled_from(FRONTENDS), sql=st.sampled_from(STATEMENTS), member=st.sampled_from(FRONTENDS + BACKENDS))
    def ask(self, pod: str, sql: str, member: str) -> None:
        self.stage.sql(pod, sql.format(Stage.host(member)))

    @invariant()
    def the_leader_is_one_of_the_group(self) -> None:
        leader = self.database.leader
        assert leader is None or (leader.name in self.database.electable() and not leader.gone)
        if self.database.has_quorum():
            live = len(self.database.live_electable())
            assert live >= majority(len(self.database.electable()) - len(self.database.joining))

    @invariant()
    def only_members_serve(self) -> None:
        for name in FRONTENDS:
            process = self.stage.container(name).frontend
            assert process is None or not process.serving or process.database is self.database

    @invariant()
    def nothing_was_lost_without_a_cause(self) -> None:
        assert self.stage.marks() == []  # no volume was taken, no member dropped by force

    def teardown(self) -> None:
        """Whatever happened: with every fault cleared, all frontends come back, under one leader."""
        if not hasattr(self, "stage"):
            return
        for pod in FRONTENDS + BACKENDS:
            self.stage.fault(pod, "heal")
            if self.stage.container(pod).process is None:
                self.stage.fault(pod, "resume")
        self.stage.until(self._all_live, "everything to live again", within=1200)

    def _all_live(self) -> bool:
        members = [row for row in self.database.state.frontends if row.host in map(Stage.host, FRONTENDS)]
        return (
            self.database.leader is not None
            and all(self.stage.container(name).frontend is not None for name in FRONTENDS)
            and all(row.alive for row in members)
        )


TestRandomLife = RandomLife.TestCase
TestRandomLife.settings = settings(
    max_examples=40, stateful_step_count=40, deadline=None, suppress_health_check=list(HealthCheck)
)
