"""What differs between StarRocks versions, as far as SQL shows it."""

from __future__ import annotations

import hashlib
import re
from dataclasses import dataclass
from functools import lru_cache


@dataclass(frozen=True, kw_only=True)
class Features:
    """Switches, derived from the version and changeable one by one: the exact first releases are not all known."""

    frontend_id: bool = False
    mem_limit: bool = True
    status_code: bool = False
    hides_leader: bool = False  # 3.3.0-3.3.3: SHOW FRONTENDS calls every row FOLLOWER
    warehouse_clause: bool = False
    multi_warehouse: bool = False  # enterprise editions only; here: a version that ends in `-ee`
    transfer_leader: bool = False
    statistics_tables_block: bool = True
    force_drop_of_recycled: bool = False
    backend_blacklist: bool = True
    compute_node_blacklist: bool = False
    extra_columns: tuple[str, ...] = ()


@lru_cache(maxsize=64)
def numbers(version: str) -> tuple[int, int, int]:
    found = re.search(r"(\d+)\.(\d+)(?:\.(\d+))?", version)
    return (int(found[1]), int(found[2]), int(found[3] or 0)) if found else (3, 3, 9)


@lru_cache(maxsize=64)
def features(version: str) -> Features:
    release = numbers(version)
    return Features(
        frontend_id=release >= (4, 1, 0),
        mem_limit=release >= (3, 3, 0),
        status_code=release >= (3, 4, 0),
        hides_leader=(3, 3, 0) <= release <= (3, 3, 3),
        warehouse_clause=release >= (3, 5, 0),
        multi_warehouse=version.endswith("-ee"),
        statistics_tables_block=release < (3, 5, 0),
        backend_blacklist=release >= (3, 3, 0),
        compute_node_blacklist=release >= (4, 0, 0),
    )


@lru_cache(maxsize=64)
def full_version(version: str) -> str:
    """`3.3.9` as a process reports it: with the first seven digits of a commit."""
    digest = hashlib.sha256(version.encode()).hexdigest()[:7]
    return version if "-" in version else f"{version}-{digest}"
