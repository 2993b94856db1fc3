"""The pure half of the simulator: a world on a virtual clock, without sockets, threads or Kubernetes."""

from lab.simulator.model.facts import Component, Entrypoint, PodFacts
from lab.simulator.model.outcome import ConnectionLost, Done, Hang, Outcome, Refused, Rows
from lab.simulator.model.session import Session
from lab.simulator.model.surroundings import FixedSurroundings, Surroundings
from lab.simulator.model.timing import Timing
from lab.simulator.model.world import World

__all__ = [
    "Component",
    "ConnectionLost",
    "Done",
    "Entrypoint",
    "FixedSurroundings",
    "Hang",
    "Outcome",
    "PodFacts",
    "Refused",
    "Rows",
    "Session",
    "Surroundings",
    "Timing",
    "World",
]
