"""Configuration: what each component's is to be, how a change reaches its pods, and what members must keep."""

from starrocks_operator.config.collect import candidates, collectable, mentioned_in
from starrocks_operator.config.files import MANUAL, POLICY, RESTART, by_policy, file_findings
from starrocks_operator.config.online import Online, kept_context, online_of, parameters_asked
from starrocks_operator.config.settled import Settled, configurations_of, effective, settled_of

__all__ = [
    "MANUAL",
    "POLICY",
    "RESTART",
    "Online",
    "Settled",
    "by_policy",
    "candidates",
    "collectable",
    "configurations_of",
    "effective",
    "file_findings",
    "kept_context",
    "mentioned_in",
    "online_of",
    "parameters_asked",
    "settled_of",
]
