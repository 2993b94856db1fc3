"""`python -m lab.controlplane build|up|down|status|kubeconfig`: the lab's control plane for people and scripts."""

import argparse
import os
import sys
from collections.abc import Sequence
from pathlib import Path

from lab.controlplane import binaries, slots
from lab.controlplane.errors import LabError
from lab.controlplane.plane import ControlPlane

_LABS = Path(__file__).resolve().parents[2] / ".lab"


def main(arguments: Sequence[str] | None = None) -> int:
    options = _parser().parse_args(arguments)
    try:
        return int(options.run(options))
    except LabError as error:
        print(f"lab: {error}", file=sys.stderr)
        return 1
    except KeyboardInterrupt:
        print("lab: interrupted", file=sys.stderr)
        return 130


def directory_of(name: str) -> Path:
    """Where the lab called `name` lives, unless LAB_DIRECTORY says otherwise."""
    given = os.environ.get("LAB_DIRECTORY")
    return Path(given) if given else _LABS / name


def _parser() -> argparse.ArgumentParser:
    parser = argparse.ArgumentParser(prog="python -m lab.controlplane", description=__doc__)
    commands = parser.add_subparsers(required=True)
    about = {
        "build": (_build, "build whatever is not in the cache yet"),
        "up": (_up, "start the lab, or say that it runs"),
        "down": (_down, "end every process of the lab"),
        "status": (_status, "say what runs, here and in this user's other labs"),
        "kubeconfig": (_kubeconfig, "print the path of the administrator's kubeconfig"),
    }
    for command, (run, text) in about.items():
        sub = commands.add_parser(command, help=text, description=text)
        sub.add_argument("--name", default="default", help="the lab's name (default: %(default)s)")
        sub.add_argument("--directory", type=Path, help="the lab's directory (default: .lab/NAME, or $LAB_DIRECTORY)")
        sub.set_defaults(run=run)
    return parser


def _directory(options: argparse.Namespace) -> Path:
    return Path(options.directory) if options.directory else directory_of(options.name)


def _report(line: str) -> None:
    print(line, file=sys.stderr, flush=True)


def _build(_: argparse.Namespace) -> int:
    for program, path in binaries.ensure(_report).items():
        print(f"{program:24} {path}")
    return 0


def _up(options: argparse.Namespace) -> int:
    lab = ControlPlane.start(_directory(options), name=options.name, report=_report)
    _report(f"lab {options.name} runs at {lab.server}, its pods in {lab.cidr}")
    print(f"export KUBECONFIG={lab.kubeconfig}")
    return 0


def _down(options: argparse.Namespace) -> int:
    directory = _directory(options)
    ControlPlane.attach(directory).stop()
    _report(f"the lab in {directory} is stopped")
    return 0


def _status(options: argparse.Namespace) -> int:
    for number, directory in slots.taken(binaries.cache_directory() / "slots").items():
        print(f"127.{number}.0.0/16  {directory}")
    lab = ControlPlane.attach(_directory(options))
    for process in lab.processes:
        print(f"{process.name:24} {'runs' if process.running() else 'HAS ENDED'} (process {process.pid})")
    lab.check()
    return 0


def _kubeconfig(options: argparse.Namespace) -> int:
    print(ControlPlane.attach(_directory(options)).kubeconfig)
    return 0


if __name__ == "__main__":
    sys.exit(main())
