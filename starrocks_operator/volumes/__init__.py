"""Volumes in the course of time: how they grow, and what becomes of a backend that lost its own."""

from starrocks_operator.volumes.growth import Growth, growth_of
from starrocks_operator.volumes.lost import lost_of

__all__ = ["Growth", "growth_of", "lost_of"]
