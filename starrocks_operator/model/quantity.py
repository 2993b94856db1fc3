"""Kubernetes quantities, as far as comparing them goes: 1.5Gi, 100m, 2e3."""

import re
from decimal import Decimal

_FORM = re.compile(r"(?P<number>[+-]?(\d+(\.\d*)?|\.\d+))(?P<suffix>[KMGTPE]i|[numkMGTPE]|[eE][+-]?\d+)?")
_POWERS = {"n": -9, "u": -6, "m": -3, "k": 3, "M": 6, "G": 9, "T": 12, "P": 15, "E": 18}
_DECIMAL = {suffix: Decimal(10) ** power for suffix, power in _POWERS.items()}
_BINARY = {f"{suffix}i": Decimal(1024) ** power for power, suffix in enumerate("KMGTPE", start=1)}
_FACTORS = {"": Decimal(1), **_DECIMAL, **_BINARY}


def parse_quantity(text: object) -> Decimal | None:
    """The number that a quantity stands for, or None if the text is no quantity."""
    found = _FORM.fullmatch(str(text))
    if found is None:
        return None
    suffix = found["suffix"] or ""
    if suffix not in _FACTORS:  # an exponent
        return Decimal(found["number"]) * Decimal(10) ** int(suffix[1:])
    return Decimal(found["number"]) * _FACTORS[suffix]
