"""What the lab says to a person when it cannot go on."""


class LabError(Exception):
    """A sentence: what went wrong, where, and what to do about it."""
