"""Which entries of a configuration members must keep: the table, and what counts as the same."""

from __future__ import annotations

import pytest

from starrocks_operator.components import BE, CN, FE, FE_OBSERVER, Component
from starrocks_operator.config.precious import accepted_of, refusals

HOME = "/opt/starrocks/fe"
BE_HOME = "/opt/starrocks/be"
ID = "1206449193"


def refused(
    component: Component, properties: dict[str, str], accepted: dict[str, str] | None = None, *, founded: str = ID
) -> list[str]:
    home = BE_HOME if component is BE else HOME
    known = {} if accepted is None else accepted
    return [key for key, _ in refusals(component, properties, known, home=home, founded=founded)]


@pytest.mark.parametrize(
    ("component", "was", "now", "keys"),
    [
        (FE, {}, {}, []),
        (FE, {}, {"qe_max_connection": "1", "rpc_port": "19020", "priority_networks": "10.0.0.0/8"}, []),
        (FE, {}, {"edit_log_port": "19010"}, ["edit_log_port"]),
        (FE, {"edit_log_port": "19010"}, {}, ["edit_log_port"]),
        (FE, {"edit_log_port": "19010"}, {"edit_log_port": " 19010 "}, []),
        (FE, {}, {"edit_log_port": "9010"}, []),
        (FE, {}, {"query_port": "1", "http_port": "2"}, ["query_port", "http_port"]),
        (FE, {}, {"run_mode": "shared_data"}, ["run_mode"]),
        (FE, {"run_mode": "shared_data"}, {"run_mode": "SHARED_DATA"}, []),
        (FE, {"run_mode": "shared_data"}, {}, ["run_mode"]),
        (FE, {}, {"meta_dir": "/data/meta"}, ["meta_dir"]),
        (FE, {}, {"meta_dir": "/opt/starrocks/fe/meta/"}, []),
        (FE, {"meta_dir": "${STARROCKS_HOME}/meta"}, {}, []),
        (FE_OBSERVER, {}, {"edit_log_port": "1"}, ["edit_log_port"]),
        (FE, {}, {"cluster_id": "7"}, ["cluster_id"]),
        (FE, {}, {"cluster_id": ID}, []),
        (FE, {}, {"cluster_id": "-1"}, []),
        (FE, {}, {"bdbje_reset_election_group": "TRUE"}, ["bdbje_reset_election_group"]),
        (FE, {}, {"metadata_failure_recovery": "true"}, ["metadata_failure_recovery"]),
        (FE, {}, {"bdbje_reset_election_group": "false"}, []),
        (FE, {}, {"heartbeat_service_port": "1", "storage_root_path": "/x"}, []),
        (BE, {}, {"heartbeat_service_port": "19050"}, ["heartbeat_service_port"]),
        (BE, {}, {"be_port": "19060", "webserver_port": "18040", "brpc_port": "18060"}, []),
        (BE, {}, {"storage_root_path": "/data"}, ["storage_root_path"]),
        (BE, {}, {"storage_root_path": "/opt/starrocks/be/storage;/data,medium:ssd"}, []),
        (BE, {"storage_root_path": "/a;/b"}, {"storage_root_path": "/b"}, ["storage_root_path"]),
        (BE, {"storage_root_path": "/a,medium:hdd"}, {"storage_root_path": "/b;/a/"}, []),
        (CN, {}, {"heartbeat_service_port": "1", "storage_root_path": "/cache"}, ["heartbeat_service_port"]),
    ],
)
def test_the_table(component: Component, was: dict[str, str], now: dict[str, str], keys: list[str]) -> None:
    assert refused(component, now, was) == keys


def test_before_the_founding_everything_may_still_change_but_what_founds_twice() -> None:
    wild = {"edit_log_port": "1", "run_mode": "shared_data", "meta_dir": "/x", "cluster_id": "7"}
    assert refused(FE, wild, founded="") == []
    assert refused(FE, {"metadata_failure_recovery": "true"}, founded="") == ["metadata_failure_recovery"]


def test_what_was_never_known_counts_as_accepted() -> None:
    assert not list(refusals(FE, {"query_port": "1"}, None, home=HOME, founded=ID))


def test_only_what_is_precious_is_remembered() -> None:
    assert accepted_of(FE, {"query_port": "1", "qe_max_connection": "5", "storage_root_path": "/x"}) == {
        "query_port": "1"
    }
    assert accepted_of(BE, {"query_port": "1", "storage_root_path": "/x"}) == {"storage_root_path": "/x"}
