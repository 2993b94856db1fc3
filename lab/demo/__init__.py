"""The demo: one command from a fresh checkout to a StarRocks cluster that lives, and something to look at meanwhile."""
