"""Versions through time: in what order frontends and nodes may change theirs, and which metadata a frontend can read.

The rule is one for both directions: a backend or compute node understands older frontends and no newer ones, so no
frontend may ever be newer than a node that runs. Metadata that a newer release has written can be read by the release
just before it, and by none that is older still.
"""

from __future__ import annotations

import re
from typing import TYPE_CHECKING

from lab.simulator.model.process import FrontendProcess
from lab.simulator.model.version import numbers

if TYPE_CHECKING:
    from lab.simulator.model.database import Database

_BEFORE = {2: 0, 3: 6, 4: 12}  # minors of earlier majors: 2.5 is followed by 3.0, 3.5 by 4.0
_FLOORS = {(2, 5): 3, (4, 0): 6}  # the patches from which on a minor reads the metadata of the next one


def rank(version: str) -> int:
    """Minors in a row: neighbours differ by one."""
    major, minor, _ = numbers(version)
    return _BEFORE.get(major, 100 * major) + minor


def _short(version: str) -> str:
    found = re.search(r"\d+\.\d+(?:\.\d+)?", version)
    return found[0] if found else version


class Versions:
    """written: the version of the leader that wrote the metadata last; empty before the founding."""

    def __init__(self, database: Database) -> None:
        self._database = database
        self.written = ""
        self._hops = 0  # leaders of another minor so far
        self._imaged = False  # since the last hop
        self._writer: FrontendProcess | None = None  # who is writing an image
        self._told: set[tuple[str, ...]] = set()

    def led_by(self, leader: FrontendProcess) -> None:
        """A leader writes the metadata from now on, in its own release's words."""
        self._writer = None
        old, new = self.written, leader.facts.version
        self.written = new
        if not old or rank(old) == rank(new):
            return
        step = rank(new) - rank(old)
        if step > 1:
            self._mark("skipped-minor", f"{leader.facts.name} leads with {_short(new)} on metadata of {_short(old)}")
        if (self._hops or step < 0) and not self._imaged:
            self._mark("no-image", f"from {_short(old)} to {_short(new)} without CREATE IMAGE since the hop before")
        self._hops += 1
        self._imaged = False

    def image(self) -> None:
        """CREATE IMAGE was said; it takes its time, and no statement tells its end. Said again meanwhile: no other."""
        leader, world = self._database.leader, self._database.world
        if leader is not None and self._writer is not leader:
            self._writer = leader
            world.schedule.at(world.now + world.timing.write_image, lambda: self._has_written(leader))

    def _has_written(self, writer: FrontendProcess) -> None:
        """It counts with its process. A leader that died over it has written none."""
        if self._writer is not writer:
            return
        self._writer = None
        if writer.connected:
            writer.images += 1
            self._imaged = True

    def refusal(self, process: FrontendProcess) -> str:
        """Why a frontend of this release cannot start on the metadata; empty: it can."""
        facts = process.facts
        step = rank(self.written) - rank(facts.version) if self.written else 0
        major, minor, patch = numbers(facts.version)
        if step <= 0 or (step == 1 and patch >= _FLOORS.get((major, minor), 0)):
            return ""
        text = f"{facts.name} with {_short(facts.version)} was started on metadata of {_short(self.written)}"
        self._once(("forbidden-downgrade", facts.name, facts.version), text)
        return "UNKNOWN Operation Type 10242"

    def check_order(self) -> None:
        """Whatever runs now: is there a frontend newer than a node?"""
        database = self._database
        for process in database.attached.values():
            if process.gone:
                continue
            for row in database.state.nodes:
                container = database.world.resolve(row.host)
                node = container.node if container is not None else None
                if node is None or node.gone or rank(process.facts.version) <= rank(node.facts.version):
                    continue
                pair = (process.facts.name, process.facts.version, node.facts.name, node.facts.version)
                text = f"{pair[0]} runs {_short(pair[1])} while {pair[2]} still runs {_short(pair[3])}"
                self._once(("wrong-order", *pair), text)

    def _once(self, key: tuple[str, ...], text: str) -> None:
        if key not in self._told:
            self._told.add(key)
            self._mark(key[0], text)

    def _mark(self, kind: str, text: str) -> None:
        self._database.world.mark(kind, self._database, text)
