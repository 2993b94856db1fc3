"""python -m watcher: run the operator."""

from __future__ import annotations

from watcher.logs import configure
from watcher.process import main
from watcher.settings import parse

if __name__ == "__main__":  # worker processes import this module, too
    settings = parse()
    configure(form=settings.log_format, level=settings.log_level)
    main(settings)
