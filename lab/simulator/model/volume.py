"""Storage: what outlives a process. Meta and tablets live and die with the volume they are on, not with the pod."""

from __future__ import annotations

from dataclasses import dataclass, field


@dataclass(frozen=True, kw_only=True)
class Meta:
    """fe/meta/image/{ROLE,VERSION} and the journal, as far as it decides how the next start goes."""

    cluster_id: int
    name: str  # the member name in the replication group
    host: str
    edit_log_port: int
    role: str = "FOLLOWER"
    run_mode: str = "shared_nothing"
    half_made: bool = False  # ROLE and VERSION without an image: a first start that died half-way


@dataclass(eq=False)
class Volume:
    key: str
    dies_with: str = "claim"
    meta: Meta | None = None
    storage_cluster: int | None = None  # written by a backend at its first heartbeat
    copies: set[tuple[int, int]] = field(default_factory=set)  # (cluster id, tablet id) on this disk
    backend_ids: set[int] = field(default_factory=set)  # under which these copies were registered

    def wipe(self) -> None:
        self.meta = None
        self.storage_cluster = None
        self.copies.clear()
        self.backend_ids.clear()
