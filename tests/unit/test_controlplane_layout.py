"""Labs side by side never want the same address, and nothing of them is reachable from elsewhere."""

import os
from pathlib import Path

import pytest
import yaml

from lab.controlplane import slots
from lab.controlplane.components import plane
from lab.controlplane.layout import CONFIG, HIGHEST_NUMBER, LOWEST_NUMBER, Layout
from lab.controlplane.pki import CLIENTS, write_credentials


def layout(number: int, directory: Path = Path("/somewhere")) -> Layout:
    return Layout(directory=directory, name="a", number=number)


def test_no_two_labs_share_a_port_or_a_network() -> None:
    labs = [layout(number) for number in range(LOWEST_NUMBER, HIGHEST_NUMBER + 1)]
    ports = [port for lab in labs for port in lab.ports]
    assert len(set(ports)) == len(ports)
    assert max(ports) < 32_768
    assert len({lab.cidr for lab in labs}) == len(labs)


@pytest.mark.parametrize("component", plane(audit=True), ids=lambda component: component.name)
def test_every_address_on_a_command_line_is_loopback(component) -> None:
    arguments = component.arguments(layout(7))
    for argument in arguments:
        assert "0.0.0.0" not in argument.replace("127.7.0.0", "").replace("10.7.0.0", "")
    urls = [part for argument in arguments for part in argument.split("=") if part.startswith("http://")]
    assert all(url.startswith("http://127.0.0.1:") for url in urls)


def test_audit_can_be_left_out() -> None:
    def flags(audit: bool) -> str:
        return " ".join(plane(audit=audit)[1].arguments(layout(2)))

    assert "--audit-log-path" in flags(True)
    assert "--audit" not in flags(False)


def test_a_directory_prefers_its_own_number_and_would_take_any() -> None:
    numbers = list(slots.candidates(Path("/a")))
    assert sorted(numbers) == list(range(LOWEST_NUMBER, HIGHEST_NUMBER + 1))
    assert numbers == list(slots.candidates(Path("/a")))
    assert numbers[0] != next(slots.candidates(Path("/b")))


def test_a_number_is_held_as_long_as_its_descriptor_is_open(tmp_path: Path) -> None:
    def claim() -> slots.Slot:
        return slots.claim(directory=tmp_path / "lab", name="a", slots=tmp_path / "slots")

    first, second = claim(), claim()
    assert first.layout.number != second.layout.number
    assert set(slots.taken(tmp_path / "slots")) == {first.layout.number, second.layout.number}

    os.close(first.descriptor)
    third = claim()
    assert third.layout.number == first.layout.number
    os.close(second.descriptor)
    os.close(third.descriptor)
    assert slots.taken(tmp_path / "slots") == {}


def test_credentials_are_their_owners_alone(tmp_path: Path) -> None:
    lab = layout(9, tmp_path)
    write_credentials(lab)
    written = [path for path in tmp_path.rglob("*") if path.is_file()]
    assert len(written) == 5 + 3 * len(CLIENTS)  # for each a certificate, a key and a kubeconfig
    assert all(path.stat().st_mode & 0o077 == 0 for path in written)


def test_the_kubeconfig_names_the_lab_and_its_server(tmp_path: Path) -> None:
    lab = layout(9, tmp_path)
    write_credentials(lab)
    document = yaml.safe_load(lab.kubeconfig.read_text())
    assert document["current-context"] == "lab-a"
    assert document["clusters"][0]["cluster"]["server"] == "https://127.0.0.1:20090"


def test_the_kubeconfig_holds_no_credentials_but_names_their_files(tmp_path: Path) -> None:
    lab = layout(9, tmp_path)
    write_credentials(lab)
    document = yaml.safe_load(lab.kubeconfig.read_text())
    named = [*document["clusters"][0]["cluster"].items(), *document["users"][0]["user"].items()]
    assert not [key for key, _ in named if key.endswith("-data")]
    assert all(Path(value).is_file() for key, value in named if key != "server")


def test_the_configuration_files_parse() -> None:
    stages = list(yaml.safe_load_all((CONFIG / "stages.yaml").read_text()))
    names = [stage["metadata"]["name"] for stage in stages if stage["kind"] == "Stage"]
    assert len(names) == len(set(names))
    assert yaml.safe_load((CONFIG / "audit-policy.yaml").read_text())["kind"] == "Policy"
