"""The watcher: the process that sees events and decides whether anything is to be done."""
