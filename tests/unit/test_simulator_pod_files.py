"""What the simulator keeps on real volumes, and which conf files end a process at once."""

from __future__ import annotations

from dataclasses import replace
from pathlib import Path

import pytest

from lab.simulator.model import Component, PodFacts, World
from lab.simulator.model.volume import Meta, Volume
from lab.simulator.pods.disk import FILES, Disk, directory
from lab.simulator.pods.introduction import complaint, ports
from lab.simulator.pods.volumes import files_of, meta_in, mounted

META = Meta(
    cluster_id=77, name="a_b.c_9010_17", host="a_b.c", edit_log_port=9010, role="OBSERVER", run_mode="shared_data"
)
FACTS = PodFacts(
    namespace="db",
    name="c-fe-0",
    uid="1",
    address="127.9.0.1",
    component=Component.FE,
    cluster_name="c",
    host="c-fe-0.c-fe-search.db.svc.cluster.local",
)


@pytest.mark.parametrize("meta", [META, replace(META, half_made=True), None])
def test_metadata_is_read_as_it_was_written(meta: Meta | None, tmp_path: Path) -> None:
    disk = Disk("fe", tmp_path)
    disk.write(files_of(Volume("v", meta=meta), Component.FE))
    assert meta_in(disk.files()) == meta


@pytest.mark.parametrize(
    ("component", "volume"), [("fe", Volume("v", meta=META)), ("be", Volume("v", storage_cluster=7))]
)
def test_files_are_written_in_the_order_of_the_table(component: str, volume: Volume) -> None:
    assert tuple(files_of(volume, Component(component))) == FILES[component]


def test_a_volume_has_a_name_that_dies_with_it(tmp_path: Path) -> None:
    first = Disk("be", tmp_path / "one").name()
    assert Disk("be", tmp_path / "one").name() == first
    assert Disk("be", tmp_path / "two").name() != first


def test_what_is_not_wanted_any_more_is_deleted(tmp_path: Path) -> None:
    disk = Disk("fe", tmp_path)
    disk.write(files_of(Volume("v", meta=META), Component.FE))
    disk.write({})
    assert disk.files() == {}


@pytest.mark.parametrize(
    ("component", "conf", "found"),
    [
        ("fe", {}, "/home/meta"),
        ("fe", {"meta_dir": "${STARROCKS_HOME}/other"}, "/home/other"),
        ("be", {}, "/home/storage"),
        ("be", {"storage_root_path": "/data1,medium:ssd;/data2"}, "/data1"),
        ("cn", {}, "/home/storage"),
    ],
)
def test_the_conf_file_says_where_data_lie(component: str, conf: dict[str, str], found: str) -> None:
    assert directory(component, conf, Path("/home")) == Path(found)


def test_a_volume_without_its_files_has_lost_them() -> None:
    world = World()
    key = mounted(world, "one", Component.BE, {"cluster_id": "77\n"})
    volume = world.volumes[key]
    volume.copies.add((77, 1))
    assert mounted(world, "one", Component.BE, {"cluster_id": "77\n"}) == key
    assert volume.copies
    mounted(world, "one", Component.BE, {})
    assert not volume.copies
    assert volume.storage_cluster is None


@pytest.mark.parametrize(
    ("conf", "said"),
    [
        ({}, ""),
        ({"query_port": "9031", "default_replication_num": "1"}, ""),
        ({"query_port": "many"}, "fe.conf: query_port = many is no port"),
        ({"http_port": "70000"}, "fe.conf: http_port = 70000 is no port"),
        ({"default_replication_num": "three"}, "fe.conf: default_replication_num = three is not of type short"),
        ({"max_scheduling_tablets": "x"}, "fe.conf: max_scheduling_tablets = x is not of type int"),
        ({"crash_on_start": "true"}, "the process does not start: its image or its configuration is broken"),
    ],
)
def test_a_process_says_why_it_does_not_take_its_conf_file(conf: dict[str, str], said: str) -> None:
    assert complaint(replace(FACTS, conf=conf)) == said


@pytest.mark.parametrize(
    ("component", "started", "serving", "opened"),
    [
        ("fe", False, False, {}),
        ("fe", True, False, {9010: False}),
        ("fe", True, True, {9010: False, 9020: False, 8030: True, 9030: True}),
        ("be", True, False, {9060: False, 9050: False, 8060: False, 8040: True}),
    ],
)
def test_ports_open_as_the_process_comes_up(
    component: str, started: bool, serving: bool, opened: dict[int, bool]
) -> None:
    assert ports(replace(FACTS, component=Component(component)), started=started, serving=serving) == opened
