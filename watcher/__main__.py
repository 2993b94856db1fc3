"""python -m watcher: run the operator."""

from __future__ import annotations

import os
import sys

from watcher.logs import configure
from watcher.process import main
from watcher.settings import parse

if __name__ == "__main__":
    settings = parse()
    configure(form=settings.log_format, level=settings.log_level)
    code = main(settings)
    sys.stdout.flush()
    sys.stderr.flush()
    os._exit(code)  # threads that still wait for a hung frontend must not keep us
