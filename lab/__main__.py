"""`python -m lab`: the stage for scenarios and for playing: up, down, and a question to a frontend.

up         a control plane, the simulator and the operator; prints where its kubeconfig is, as JSON
down       stop them
ask        put one statement to the leader of a cluster, as root with the password in MYSQL_PWD; prints rows as JSON
simulator  tell the simulator something, in the words of `python -m lab.simulator`: a table, a fault, its clock
"""

from __future__ import annotations

import argparse
import json
import os
import sys
from pathlib import Path

import pymysql

from lab.controlplane import LabError
from lab.question import ask, leader_address
from lab.simulator.__main__ import main as simulator
from lab.stack import ROOT, Stack


def arguments() -> argparse.Namespace:
    parser = argparse.ArgumentParser(prog="python -m lab", description=(__doc__ or "").splitlines()[0])
    parser.add_argument(
        "--directory", type=Path, default=ROOT / ".lab" / "default", help="where the lab keeps its state"
    )
    verbs = parser.add_subparsers(dest="verb", required=True)
    up = verbs.add_parser("up", help="start the lab, the simulator and the operator")
    up.add_argument("--speed", type=float, default=20.0, help="the simulator's clock, as a multiple of real time")
    verbs.add_parser("down", help="stop what `up` started")
    question = verbs.add_parser("ask", help="put a statement to the leader of a cluster")
    question.add_argument("--namespace", default="default")
    question.add_argument("cluster")
    question.add_argument("statement")
    word = verbs.add_parser("simulator", help="tell the simulator something")
    word.add_argument("words", nargs=argparse.REMAINDER, help="what follows `python -m lab.simulator`")
    return parser.parse_args()


def up(directory: Path, speed: float) -> str:
    stack = Stack.start(directory, name=directory.name, report=lambda line: print(line, file=sys.stderr))
    stack.simulate(speed=speed)
    stack.operate()
    facts = {"kubeconfig": str(stack.plane.kubeconfig), "control": f"127.0.0.1:{stack.control_port}"}
    return json.dumps(facts)


def main() -> int:
    options = arguments()
    try:
        if options.verb == "up":
            print(up(options.directory, options.speed))
        elif options.verb == "down":
            Stack.attach(options.directory).stop()
        elif options.verb == "simulator":
            control = f"127.0.0.1:{Stack.attach(options.directory).control_port}"
            return simulator([*options.words, "--control", control])
        else:
            plane = Stack.attach(options.directory).plane
            address = leader_address(plane, options.namespace, options.cluster)
            print(json.dumps(ask(address, options.statement, password=os.environ.get("MYSQL_PWD", ""))))
    except (LabError, pymysql.err.OperationalError) as error:
        print(error, file=sys.stderr)
        return 1
    return 0


if __name__ == "__main__":
    sys.exit(main())
