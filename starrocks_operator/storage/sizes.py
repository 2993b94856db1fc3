"""Comparing the sizes of claims: Kubernetes writes quantities in its own way, 1024Mi comes back as 1Gi."""

from __future__ import annotations

from starrocks_operator.model.quantity import parse_quantity
from starrocks_operator.objects.volumes import Claim


def is_larger(one: Claim, other: Claim) -> bool:
    """Whether `one` asks for more; not if either is no size at all."""
    sizes = parse_quantity(one.size), parse_quantity(other.size)
    return sizes[0] is not None and sizes[1] is not None and sizes[0] > sizes[1]
