"""python -m watcher.worker CONTROL: the parent of the processes that run plays.

For each socket that it is sent over the descriptor CONTROL it forks a worker. A worker takes plays from its socket,
one JSON document a line, and answers in the same way: a line for each host as it finishes, and one for the end.
Workers share the memory of what the parent has imported.
"""

from __future__ import annotations

import dataclasses
import gc
import json
import os
import signal
import socket
import sys
from typing import Any, NoReturn

from watcher.family import die_with_parent
from watcher.play import Ending, HostRecord, Play, run
from watcher.warm import preload


def parent(control: socket.socket) -> None:
    """Fork workers until the watcher is gone."""
    die_with_parent()
    preload()
    gc.collect()
    gc.freeze()  # else the collector would touch, and so copy, every page in every child
    signal.signal(signal.SIGCHLD, signal.SIG_IGN)  # nobody waits for workers: the watcher sees their sockets close
    while True:
        word, descriptors, _, _ = socket.recv_fds(control, 1, 1)
        if not word:
            return
        if os.fork() == 0:
            control.close()
            worker(socket.socket(fileno=descriptors[0]))
        os.close(descriptors[0])


def worker(connection: socket.socket) -> NoReturn:
    """Run plays until there are no more."""
    signal.signal(signal.SIGCHLD, signal.SIG_DFL)
    code = 1
    try:
        die_with_parent()
        serve(connection)
        code = 0
    finally:
        os._exit(code)


def serve(connection: socket.socket) -> None:
    stream = connection.makefile("rw")

    def answer(document: dict[str, Any]) -> None:
        stream.write(json.dumps(document) + "\n")
        stream.flush()

    def tell(host: str, record: HostRecord) -> None:
        answer({"host": host, "record": dataclasses.asdict(record)})

    answer({"pid": os.getpid()})
    while line := stream.readline():
        try:
            ending = run(Play(**json.loads(line)), tell)
        except Exception as error:  # the next play may fare better
            ending = Ending(status="error", output=f"{type(error).__name__}: {error}"[:500])
        answer({"ending": dataclasses.asdict(ending)})


if __name__ == "__main__":
    parent(socket.socket(fileno=int(sys.argv[1])))
