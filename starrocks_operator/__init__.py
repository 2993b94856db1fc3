"""The domain of the StarRocks operator: plain, typed Python; pure but for `frontend`."""
