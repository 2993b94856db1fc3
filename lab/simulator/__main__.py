"""`serve` plays StarRocks beside a Kubernetes API; every other command talks to one that runs."""

from __future__ import annotations

import argparse
import asyncio
import json
import os
import sys
from collections.abc import Callable, Mapping
from pathlib import Path
from typing import Any

from lab.simulator.client import Control, ControlError
from lab.simulator.model.faults import FAULTS

_DEFAULT_CONTROL = os.environ.get("LAB_SIMULATOR_CONTROL", "127.0.0.1:8999")


def main(arguments: list[str] | None = None) -> int:
    arguments = sys.argv[1:] if arguments is None else arguments
    if arguments and arguments[0] == "--kubeconfig":
        arguments = ["serve", *arguments]
    options = _parser().parse_args(arguments)
    if options.command in ("serve", "world"):
        return _serve(options) if options.command == "serve" else _world(options)
    try:
        answer = _COMMANDS.get(options.command, _lay)(Control(options.control), options)
    except ControlError as error:
        print(error, file=sys.stderr)
        return 1
    if answer is not None:
        print(json.dumps(answer, indent=2))
    return 0


def _serve(options: argparse.Namespace) -> int:
    from lab.simulator.server.serve import ServeOptions, serve

    asyncio.run(
        serve(
            ServeOptions(
                kubeconfig=options.kubeconfig,
                namespace=options.namespace,
                speed=options.speed,
                version=options.version,
                control=options.control,
                statement_log=options.statement_log,
                truth_log=options.truth_log,
                readiness=not options.no_readiness,
                seed=options.seed,
            )
        )
    )
    return 0


def _world(options: argparse.Namespace) -> int:
    from lab.simulator.pods.serve import WorldOptions, serve_world

    asyncio.run(
        serve_world(
            WorldOptions(
                logs=options.logs,
                listen=options.listen,
                control=options.control,
                subnet=options.subnet,
                speed=options.speed,
                version=options.version,
                seed=options.seed,
            )
        )
    )
    return 0


def _lay(control: Control, options: argparse.Namespace) -> Any:
    parameters = dict(pair.split("=", 1) for pair in options.parameters)
    control.lay(options.pod, options.command, options.namespace, **parameters)


def _table(control: Control, options: argparse.Namespace) -> Any:
    control.create_table(options.cluster, options.name, replication=options.replication, tablets=options.tablets)


_COMMANDS: Mapping[str, Callable[[Control, argparse.Namespace], Any]] = {
    "state": lambda control, _: control.state(),
    "violations": lambda control, _: control.violations(),
    "losses": lambda control, _: control.losses(),
    "speed": lambda control, options: control.speed(options.factor),
    "sql": lambda control, options: control.sql(options.pod, options.statement, options.namespace),
    "table": _table,
}


def _parser() -> argparse.ArgumentParser:
    parser = argparse.ArgumentParser(prog="python -m lab.simulator", description=__doc__)
    commands = parser.add_subparsers(dest="command", required=True, metavar="COMMAND")
    where = argparse.ArgumentParser(add_help=False)
    where.add_argument(
        "--control", default=_DEFAULT_CONTROL, help="HOST:PORT or unix socket (or LAB_SIMULATOR_CONTROL)"
    )
    where.add_argument("--namespace", help="of the pod or cluster, where the name alone is not enough")
    _serve_parser(commands.add_parser("serve", parents=[where], help="play StarRocks beside a Kubernetes API"))
    _world_parser(commands.add_parser("world", parents=[where], help="play StarRocks for agents in real pods"))
    for name, text in (
        ("state", "everything"),
        ("violations", "what a careless operator did"),
        ("losses", "data lost"),
    ):
        commands.add_parser(name, parents=[where], help=f"show {text}")
    commands.add_parser("speed", parents=[where], help="scale the clock").add_argument("factor", type=float)
    sql = commands.add_parser("sql", parents=[where], help="one statement at one frontend")
    sql.add_argument("pod")
    sql.add_argument("statement")
    table = commands.add_parser("table", parents=[where], help="make a table")
    table.add_argument("cluster")
    table.add_argument("name")
    table.add_argument("--replication", type=int, default=3)
    table.add_argument("--tablets", type=int, default=12)
    for name, fault in FAULTS.items():
        laying = commands.add_parser(name, parents=[where], help=fault.meaning)
        laying.add_argument("pod")
        laying.add_argument("parameters", nargs="*", metavar="NAME=VALUE", help=fault.parameters or "none")
    return parser


def _serve_parser(parser: argparse.ArgumentParser) -> None:
    _clock_parser(parser)
    parser.add_argument("--kubeconfig", type=Path, required=True)
    parser.add_argument("--statement-log", type=Path, help="JSON lines: every statement at any frontend")
    parser.add_argument("--truth-log", type=Path, help="JSON lines: every database, whenever it changes")
    parser.add_argument("--no-readiness", action="store_true", help="write nothing back to Kubernetes")


def _world_parser(parser: argparse.ArgumentParser) -> None:
    _clock_parser(parser)
    parser.add_argument("--listen", default="0.0.0.0:7000", help="HOST:PORT where agents call in")
    parser.add_argument("--logs", type=Path, required=True, help="directory of the truth log and the statement log")
    parser.add_argument("--subnet", default="127.77", help="loopback addresses of the world's own sockets")


def _clock_parser(parser: argparse.ArgumentParser) -> None:
    parser.add_argument("--speed", type=float, default=1.0, help="virtual seconds per real second")
    parser.add_argument("--version", default="3.3.9", help="for images whose tag is no version")
    parser.add_argument("--seed", type=int, default=0, help="of elections and delays")


if __name__ == "__main__":
    sys.exit(main())
