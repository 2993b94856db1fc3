"""All durations of the world in one place, in virtual seconds (reference: starrocks-sql §2, §3, §9)."""

from __future__ import annotations

from dataclasses import dataclass


@dataclass(frozen=True, kw_only=True)
class Timing:
    heartbeat: float = 5.0
    misses_until_dead: int = 4
    write_timeout: float = 10.0
    election_min: float = 1.0
    election_max: float = 3.0
    replay_min: float = 0.5
    replay_max: float = 2.0
    replication_lag: float = 0.2  # a healthy follower's local view is this old
    stale_reads: float = 300.0  # meta_delay_toleration_second: local reads without a leader
    leader_silence: float = 30.0  # bdbje_heartbeat_timeout_second: a hung leader is replaced after this
    helper_retry: float = 5.0
    found_alone: float = 30.0  # the image's pod 0, alone with empty meta
    found_with_members_seen: float = 120.0
    find_leader: float = 120.0
    add_self: float = 30.0
    node_add_self: float = 60.0
    probe_interval: float = 2.0
    settle: float = 30.0  # our start script: how long nobody must have answered before ordinal 0 founds
    denied: float = 60.0  # our start script: how long root's password may be refused before the container ends
    start_process: float = 1.0
    restart_first: float = 1.0
    restart_base: float = 10.0
    restart_max: float = 300.0
    restart_reset: float = 600.0
    tablet_check: float = 20.0
    clone_round: float = 2.0
    load_interval: float = 1.0  # between two loads into a table that is written all the time
    decommission_poll: float = 10.0
    graceful_stop: float = 5.0
    write_image: float = 3.0  # from CREATE IMAGE until the others have it
