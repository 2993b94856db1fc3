"""python -m watcher.worker: runs plays that come in on standard input, one JSON document a line, one after the other.

The answers go out on standard output in the same way: a line for each host as it finishes, and one for the end.
"""

from __future__ import annotations

import dataclasses
import json
import os
import sys
from typing import Any

from watcher.family import die_with_parent
from watcher.play import Ending, HostRecord, Play, run


def serve() -> None:
    """Until there is no more input, which is when the watcher is gone."""
    die_with_parent()
    import ansible_runner  # noqa: F401  (paid for now, not at the first run)

    answers = os.fdopen(os.dup(1), "w")
    os.dup2(2, 1)  # whatever a library prints is no answer

    def answer(document: dict[str, Any]) -> None:
        answers.write(json.dumps(document) + "\n")
        answers.flush()

    def tell(host: str, record: HostRecord) -> None:
        answer({"host": host, "record": dataclasses.asdict(record)})

    for line in sys.stdin:
        try:
            ending = run(Play(**json.loads(line)), tell)
        except Exception as error:  # the next play may fare better
            ending = Ending(status="error", output=f"{type(error).__name__}: {error}"[:500])
        answer({"ending": dataclasses.asdict(ending)})


if __name__ == "__main__":
    serve()
