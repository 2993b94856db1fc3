"""The operator's image, as far as its recipe tells: who it runs as, what it is made of, and what stays outside."""

from __future__ import annotations

import re
import tomllib

import pytest

from lab.stack import ROOT
from watcher.settings import parse

DOCKERFILE = (ROOT / "images" / "operator" / "Dockerfile").read_text()
IGNORED = [line for line in (ROOT / ".dockerignore").read_text().splitlines() if line and not line.startswith("#")]
LOCKS = ("requirements.lock", "images/operator/build.lock")
COLLECTION = "/opt/starrocks/ansible_collections/starrocks/operator"


def instructions() -> list[tuple[str, str]]:
    """Each instruction of the Dockerfile and what follows it."""
    lines = [line for line in DOCKERFILE.splitlines() if line and not line.startswith("#")]
    joined = "\n".join(lines).replace("\\\n", " ")
    return [(word, " ".join(rest.split())) for word, _, rest in (line.partition(" ") for line in joined.splitlines())]


def said(word: str) -> list[str]:
    return [rest for name, rest in instructions() if name == word]


def stages() -> list[list[tuple[str, str]]]:
    found: list[list[tuple[str, str]]] = []
    for word, rest in instructions():
        if word == "FROM":
            found.append([])
        if found:
            found[-1].append((word, rest))
    return found


def test_two_stages_on_one_base_of_the_builders_choice() -> None:
    assert said("FROM") == ["${BASE} AS build", "${BASE}"]
    (base,) = said("ARG")
    assert re.fullmatch(r"BASE=docker\.io/library/python:3\.1[1-3]-slim-\w+", base)
    assert "latest" not in DOCKERFILE


def test_it_runs_as_a_number_and_in_group_0() -> None:
    assert said("USER") == ["65532:0"]  # runAsNonRoot cannot judge a name


def test_orphans_are_buried_and_the_command_is_the_program() -> None:
    assert said("ENTRYPOINT") == ['["/usr/bin/tini", "--", "python", "-m", "watcher"]']
    assert said("CMD") == []  # arguments of a pod are flags


def test_the_program_is_found_where_it_looks_for_its_playbooks() -> None:
    assert said("WORKDIR")[-1] == COLLECTION
    (environment,) = said("ENV")
    assert f"PYTHONPATH=/opt/starrocks/lib:{COLLECTION}" in environment
    assert "ANSIBLE_COLLECTIONS_PATH=/opt/starrocks " in environment
    copied = {source for line in said("COPY") for source in line.split()[:-1]}
    assert {"meta", "playbooks", "plugins", "roles", "watcher", "galaxy.yml", "ansible.cfg"} <= copied
    assert parse([], {}).playbook.relative_to(ROOT).as_posix() == "playbooks/cluster.yml"


def test_nothing_that_builds_is_in_the_last_stage() -> None:
    last = " ".join(rest for word, rest in stages()[-1] if word == "RUN")
    assert not re.search(r"pip|gcc|build-essential|python3-(dev|venv)", last)
    assert not re.search(r"ansible-galaxy|git clone|curl|wget", DOCKERFILE)


def test_no_step_is_of_one_architecture() -> None:
    assert not re.search(r"amd64|x86_64|arm64|aarch64|--platform", DOCKERFILE)


def test_every_install_is_checked_by_hash_or_offline() -> None:
    installs = re.findall(r"pip (?:--python \S+ )?install ([^&]*)", " ".join(said("RUN")))
    assert len(installs) == 3
    for flags in installs:
        assert "--require-hashes --only-binary :all:" in flags or "--no-index --no-deps" in flags


@pytest.mark.parametrize("lock", LOCKS)
def test_the_locks_have_hashes_and_name_no_index(lock: str) -> None:
    text = (ROOT / lock).read_text()
    entries = re.split(r"^(?=[a-z0-9])", text, flags=re.MULTILINE)[1:]
    assert entries
    assert [entry.splitlines()[0] for entry in entries if "==" not in entry or "--hash=sha256:" not in entry] == []
    assert "://" not in text


def test_what_builds_the_wheel_is_what_the_developers_have() -> None:
    (requirement,) = tomllib.loads((ROOT / "pyproject.toml").read_text())["build-system"]["requires"]
    assert requirement.startswith("setuptools")
    assert (ROOT / LOCKS[1]).read_text() in (ROOT / "requirements-dev.lock").read_text()


def test_only_what_is_named_gets_into_the_build() -> None:
    assert IGNORED[0] == "*"
    asked = {source for line in said("COPY") if "--from" not in line for source in line.split()[:-1]}
    let_in = {line.removeprefix("!") for line in IGNORED if line.startswith("!")}
    assert {source.split("/")[0] for source in asked} <= let_in
    assert "**/__pycache__" in IGNORED


def test_no_address_of_an_index_is_written_down() -> None:
    assert not re.search(r"index-url|://", "\n".join(rest for _, rest in instructions()))
