"""The domain of the StarRocks operator: plain, typed Python; pure but for `frontend`."""

__version__ = "0.1.0"
