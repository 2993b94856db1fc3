"""What is rehearsed: each scenario brings a cluster to a beginning, and then plays to an end that is checked."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass, field

from lab.rehearsal.rehearsal import Rehearsal

Play = Callable[[Rehearsal], None]
SPILL = {"name": "spill", "mountPath": "/spill", "storageSize": "5Gi"}


@dataclass(frozen=True, kw_only=True)
class Scenario:
    """cluster: the replicas it begins with. play: what happens; it ends when the cluster is as wished."""

    play: Play
    cluster: Mapping[str, int] = field(default_factory=lambda: {"fe": 3, "be": 3, "cn": 1})
    founded: bool = True  # whether the play begins with a cluster that runs
    tablets: int = 12
    written: bool = False  # whether rows are loaded into them all the time, so that a backend that is away falls behind

    def begin(self, *, seed: int = 0, leased: bool = True) -> Rehearsal:
        """The cluster before the play; calls are counted from here."""
        rehearsal = Rehearsal(seed=seed, leased=leased, **self.cluster)
        if self.founded:
            rehearsal.until_settled()
            rehearsal.create_table("plain", replication=3, tablets=self.tablets, written=self.written)
            rehearsal.create_table("single", replication=1, tablets=self.tablets // 2)
            rehearsal.let(10)
        rehearsal.gate.from_now()
        return rehearsal

    def finish(self, rehearsal: Rehearsal) -> None:
        """Play to the end: as wished, whole, and quiet."""
        self.play(rehearsal)
        rehearsal.until_settled()
        rehearsal.let(60)  # what a restarted pod does late, it does now
        rehearsal.until_settled()
        rehearsal.assert_whole()
        rehearsal.assert_quiet()


def _nothing(_: Rehearsal) -> None:
    """It comes up by itself."""


def _lost_frontend(rehearsal: Rehearsal) -> None:
    rehearsal.let(30)
    follower = int(rehearsal.stage.followers("sample")[-1][-1])
    rehearsal.lose_volume("fe", follower)
    rehearsal.let(60)


def _wishes(*wishes: Mapping[str, int]) -> Play:
    """Wish after wish, each carried out before the next."""

    def play(rehearsal: Rehearsal) -> None:
        for wish in wishes:
            rehearsal.wish(**wish)
            rehearsal.until_settled()

    return play


def cancelled(component: str, *wishes: int, at: float) -> Play:
    """The first wish is taken back in the middle: when so many (0 to 1) of the leaving tablets have moved."""

    def play(rehearsal: Rehearsal) -> None:
        before = rehearsal.tablets_beyond(component, wishes[0])
        rehearsal.wish(**{component: wishes[0]})
        until = rehearsal.now + 120.0
        while rehearsal.tablets_beyond(component, wishes[0]) > before * (1 - at) and rehearsal.now < until:
            rehearsal.let(1.0)
        if at > 0:
            assert rehearsal.tablets_beyond(component, wishes[0]) < before, rehearsal.story()
        for wish in wishes[1:]:
            rehearsal.wish(**{component: wish})
        rehearsal.let(5)

    return play


def _given_up(rehearsal: Rehearsal) -> None:
    """The leaving backend is dead for good and has the only copy of some tablets; its owner names that loss."""
    rehearsal.annotate(stall_seconds="60")
    rehearsal.stage.fault("sample-be-3", "kill")
    rehearsal.let(40)
    rehearsal.wish(be=3)
    rehearsal.until(lambda: rehearsal.condition("Degraded")["reason"] == "ScaleInStalled", "the scale-in to stall")
    rehearsal.annotate(force_drop_backend=f"sample-be-3@{rehearsal.raw['metadata']['generation']}")
    rehearsal.until_settled()
    assert rehearsal.stage.world.consented, rehearsal.story()


def _labelled(rehearsal: Rehearsal, value: str, *components: str) -> None:
    for component in components:
        rehearsal.edit(component, podLabels={"round": value})


def _rolled(rehearsal: Rehearsal) -> None:
    """Every pod is replaced."""
    _labelled(rehearsal, "1", "fe", "be", "cn")
    rehearsal.until_settled()


def undone(component: str, *, after: int) -> Play:
    """A roll is taken back when so many pods are new."""

    def play(rehearsal: Rehearsal) -> None:
        old = rehearsal.revisions(component)
        _labelled(rehearsal, "1", component)
        rehearsal.until(lambda: len(rehearsal.revisions(component).items() - old.items()) >= after, "pods to be new")
        rehearsal.edit(component, podLabels={})
        rehearsal.until_settled()
        assert rehearsal.revisions(component) == old, rehearsal.story()

    return play


def _added(*components: str, dies: str = "") -> Play:
    """Pods get another volume; one of them dies when the first has it, and comes back as it was."""

    def play(rehearsal: Rehearsal) -> None:
        old = {name: revision for component in components for name, revision in rehearsal.revisions(component).items()}
        for component in components:
            rehearsal.edit(component, storageVolumes=[*rehearsal.volumes(component), SPILL])
        if dies:
            component = components[0]
            rehearsal.until(lambda: rehearsal.revisions(component).items() - old.items() != set(), "a pod to be new")
            rehearsal.kill_pod(dies)
            rehearsal.until(lambda: dies in rehearsal.revisions(component), "the pod to be back")
        rehearsal.until_settled()
        for component in components:
            claims = {f"{SPILL['name']}-{pod}" for pod in rehearsal.revisions(component)}
            assert claims <= rehearsal.claims, rehearsal.story()

    return play


def _paused(rehearsal: Rehearsal) -> None:
    """Its owner pauses the cluster while the volume is there for one pod: it is taken back before anything rests."""

    def offered() -> bool:
        live = rehearsal.kubernetes.get("StatefulSet", "sample-be")
        return live is not None and len(live["spec"]["volumeClaimTemplates"]) > 1

    rehearsal.edit("be", storageVolumes=[*rehearsal.volumes("be"), SPILL])
    rehearsal.until(offered, "the volume to be there for a pod", pause=0.5)
    rehearsal.annotate(paused="true")
    rehearsal.let(30)
    assert not offered(), rehearsal.story()
    rehearsal.assert_quiet(seconds=60)
    rehearsal.annotate(paused="false")
    rehearsal.until_settled()


def _not_added(component: str, *, after: int) -> Play:
    """The volume is taken back when so many pods have it: they lose it again, and their claims stay."""

    def play(rehearsal: Rehearsal) -> None:
        old, volumes = rehearsal.revisions(component), rehearsal.volumes(component)
        rehearsal.edit(component, storageVolumes=[*volumes, SPILL])
        rehearsal.until(lambda: len(rehearsal.revisions(component).items() - old.items()) >= after, "pods to be new")
        rehearsal.edit(component, storageVolumes=volumes)
        rehearsal.until_settled()
        assert rehearsal.revisions(component) == old, rehearsal.story()
        assert f"{SPILL['name']}-sample-{component}-0" in rehearsal.claims

    return play


def _released(*versions: str) -> Play:
    """All components get another release; each one before the next."""

    def play(rehearsal: Rehearsal) -> None:
        for version in versions:
            rehearsal.release(version)
            rehearsal.until_settled()

    return play


def _grown(version: str, **wishes: int) -> Play:
    """The same, and more nodes of a component at once: none of them gets ahead of its turn."""

    def play(rehearsal: Rehearsal) -> None:
        rehearsal.release(version)
        rehearsal.wish(**wishes)
        rehearsal.until_settled()

    return play


def _fixed(rehearsal: Rehearsal) -> None:
    """A release that does not start stops at the first pod, and the next one rolls over it."""
    old = rehearsal.revisions("be")
    rehearsal.release("3.3.9-broken", "be")
    rehearsal.let(120)
    assert len(rehearsal.revisions("be").items() - old.items()) == 1, rehearsal.story()
    rehearsal.release("3.3.10", "be")
    rehearsal.until_settled()


def _asleep(rehearsal: Rehearsal) -> None:
    """Every pod goes, and comes back; meanwhile nothing is written, though the spec is changed."""
    rehearsal.annotate(hibernate="true")
    rehearsal.until(lambda: rehearsal.raw["status"].get("phase") == "hibernated", "the cluster to sleep")
    rehearsal.release("3.3.10", "be")
    rehearsal.let(10)
    rehearsal.assert_quiet(seconds=120)
    rehearsal.annotate(hibernate="false")
    rehearsal.until_settled()


def _half_asleep(rehearsal: Rehearsal) -> None:
    """It is taken back when the compute nodes have gone, and with fewer backends wanted."""
    rehearsal.annotate(hibernate="true")
    rehearsal.until(lambda: not rehearsal.revisions("cn"), "the compute nodes to go")
    rehearsal.wish(be=3)
    rehearsal.annotate(hibernate="false")
    rehearsal.until_settled()


SCENARIOS: Mapping[str, Scenario] = {
    "bring-up": Scenario(play=_nothing, founded=False),
    "frontend-volume-lost": Scenario(play=_lost_frontend),
    "compute-nodes-3-1": Scenario(play=_wishes({"cn": 1}), cluster={"fe": 3, "be": 3, "cn": 3}),
    "backends-5-3": Scenario(play=_wishes({"be": 3}), cluster={"fe": 3, "be": 5, "cn": 1}),
    "backends-5-3-5": Scenario(play=cancelled("be", 3, 5, at=0.5), cluster={"fe": 3, "be": 5, "cn": 1}),
    "backends-5-3-4": Scenario(play=cancelled("be", 3, 4, at=0.25), cluster={"fe": 3, "be": 5, "cn": 1}),
    "backends-5-3-7": Scenario(play=cancelled("be", 3, 7, at=0.75), cluster={"fe": 3, "be": 5, "cn": 1}),
    "backends-12-9": Scenario(play=_wishes({"be": 9}), cluster={"fe": 3, "be": 12, "cn": 1}),
    "observers-2-4-1-0-1": Scenario(
        play=_wishes(*({"fe-observer": count} for count in (4, 1, 0, 1))),
        cluster={"fe": 3, "fe-observer": 2, "be": 3, "cn": 1},
    ),
    "backend-given-up": Scenario(play=_given_up, cluster={"fe": 3, "be": 4, "cn": 0}),
    "rolled": Scenario(play=_rolled, written=True),
    "rolled-backends-undone": Scenario(play=undone("be", after=1), written=True),
    "rolled-frontends-undone": Scenario(play=undone("fe", after=2), written=True),
    "volume-added": Scenario(play=_added("be"), cluster={"fe": 3, "be": 3, "cn": 0}, written=True),
    "volume-added-to-all": Scenario(play=_added("fe", "be", "cn"), cluster={"fe": 3, "be": 3, "cn": 2}),
    "volume-added-and-a-death": Scenario(play=_added("be", dies="sample-be-2")),
    "volume-added-and-the-new-one-dies": Scenario(play=_added("fe", dies="sample-fe-0")),
    "volume-added-and-paused": Scenario(play=_paused, cluster={"fe": 3, "be": 3, "cn": 0}),
    "volume-not-added": Scenario(play=_not_added("be", after=2), written=True),
    "volume-not-added-to-frontends": Scenario(play=_not_added("fe", after=1)),
    "upgraded": Scenario(play=_released("3.4.2"), written=True),
    "upgraded-twice": Scenario(play=_released("3.4.2", "3.5.1"), cluster={"fe": 3, "be": 3, "cn": 0}),
    "minor-down": Scenario(play=_released("3.2.9"), cluster={"fe": 3, "be": 3, "cn": 0}),
    "upgraded-and-grown": Scenario(play=_grown("3.4.2", be=4, **{"fe-observer": 2}), written=True),
    "downgraded": Scenario(play=_released("3.3.5"), written=True),
    "broken-and-fixed": Scenario(play=_fixed, written=True),
    "asleep-and-awake": Scenario(play=_asleep),
    "half-asleep": Scenario(play=_half_asleep, cluster={"fe": 3, "be": 4, "cn": 1}),
    "frontends-5-3": Scenario(play=_wishes({"fe": 3}), cluster={"fe": 5, "be": 3, "cn": 1}),
    "frontends-5-3-5": Scenario(play=_wishes({"fe": 3}, {"fe": 5}), cluster={"fe": 5, "be": 3, "cn": 1}),
}
