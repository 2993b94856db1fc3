"""What all tests share: the lab's control plane, the whole stage for those that need it, and short tracebacks."""

import structlog

pytest_plugins = ["lab.controlplane.fixture"]

# As the watcher prints them: without the values of variables, which take seconds to render.
structlog.configure(processors=[structlog.dev.ConsoleRenderer(exception_formatter=structlog.dev.plain_traceback)])
