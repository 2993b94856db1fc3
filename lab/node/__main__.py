"""`python -m lab.node up|down|status|run|image`: the lab's real node, for people and scripts."""

import argparse
import signal
import subprocess
import sys
from collections.abc import Sequence
from pathlib import Path

from lab.controlplane.errors import LabError
from lab.node import images
from lab.node.node import Node
from lab.node.remains import clear

_DEFAULT = Path(__file__).resolve().parents[2] / ".lab" / "node"


def main(arguments: Sequence[str] | None = None) -> int:
    options = _parser().parse_args(arguments)
    signal.signal(signal.SIGTERM, signal.default_int_handler)
    try:
        return int(options.run(options))
    except LabError as error:
        print(f"node: {error}", file=sys.stderr)
        return 1
    except KeyboardInterrupt:
        print("node: interrupted", file=sys.stderr)
        return 130


def _parser() -> argparse.ArgumentParser:
    parser = argparse.ArgumentParser(prog="python -m lab.node", description=__doc__)
    commands = parser.add_subparsers(required=True)
    about = {
        "up": (_up, "start the node and leave it running until `down`"),
        "down": (_down, "end the node and remove all it made"),
        "status": (_status, "say what runs"),
        "run": (_run, "start the node, run a command with its KUBECONFIG, and end the node: run -- COMMAND"),
        "image": (_image, "build a Dockerfile on the base image, and bring it to the node if one runs"),
    }
    for command, (run, text) in about.items():
        sub = commands.add_parser(command, help=text, description=text)
        sub.add_argument("--directory", type=Path, default=_DEFAULT, help="the node's directory (default: .lab/node)")
        sub.set_defaults(run=run)
        if command == "run":
            sub.add_argument("command", nargs="+")
        if command == "image":
            sub.add_argument("--file", type=Path, required=True, help="the Dockerfile")
            sub.add_argument("--tag", required=True, help="such as localhost/starrocks-operator:lab")
            sub.add_argument("--context", type=Path, default=Path(), help="default: here")
            sub.add_argument("--target", help="the stage to build")
            sub.add_argument("--build-arg", action="append", default=[], metavar="NAME=VALUE")
    return parser


def _report(line: str) -> None:
    print(line, file=sys.stderr, flush=True)


def _up(options: argparse.Namespace) -> int:
    node = Node.start(options.directory, kept=True, report=_report)
    print(f"export KUBECONFIG={node.kubeconfig}")
    return 0


def _down(options: argparse.Namespace) -> int:
    if options.directory.exists():
        clear(options.directory.resolve())
    _report(f"no node runs in {options.directory}")
    return 0


def _status(options: argparse.Namespace) -> int:
    node = Node.attach(options.directory)
    for process in (*node.control_plane.processes, *node.record.processes):
        print(f"{process.name:24} {'runs' if process.running() else 'HAS ENDED'} (process {process.pid})")
    return 0


def _run(options: argparse.Namespace) -> int:
    node = Node.start(options.directory, report=_report)
    try:
        return subprocess.run(["env", f"KUBECONFIG={node.kubeconfig}", *options.command], check=False).returncode
    finally:
        node.stop()


def _image(options: argparse.Namespace) -> int:
    arguments = dict(pair.split("=", 1) for pair in options.build_arg)
    images.build(
        options.file,
        options.tag,
        context=options.context,
        target=options.target,
        arguments=arguments,
        report=_report,
    )
    node = Node.find(options.directory)
    if node is not None:
        node.load(options.tag)
        _report(f"{options.tag} is on the node in {options.directory}")
    return 0


if __name__ == "__main__":
    sys.exit(main())
