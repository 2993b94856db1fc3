"""What nobody changed is left in peace; what somebody changed is put back; a password stays where it belongs."""

from __future__ import annotations

import base64
import threading
from collections.abc import Iterator
from contextlib import contextmanager, suppress
from typing import Any

import psutil

from lab.space import Space
from lab.stack import wait_for
from lab.witness import Mark
from tests.cluster.clusters import cluster
from tests.cluster.operators import Operators

LOOKS = 12  # rounds of questions to FE that make a quiet time
STATEMENTS = 6  # that one round may take, at most
READS = ("SHOW", "SELECT", "SET", "ADMIN SHOW")


def asked(space: Space, mark: Mark) -> list[str]:
    """What clients asked the frontends of a namespace."""
    lines = space.stack.witness.statements(since=mark)
    return [
        line["statement"].strip()
        for line in lines
        if line["namespace"] == space.namespace and line["source"] == "client"
    ]


def test_a_settled_cluster_is_looked_at_and_nothing_is_written(operators: Operators) -> None:
    space = operators.space
    space.apply(cluster("one", fe=3, be=1, cn=1))
    space.apply(cluster("two"))
    operators.start("first", "--settled-interval", "1")
    space.wait_ready("one")
    space.wait_ready("two")

    def looks() -> float:
        return operators.metric("frontend_looks_total")

    settled = looks() + 4  # whatever the last change had them do is done after two rounds for each
    wait_for(lambda: looks() >= settled, what="both clusters to settle")
    mark, runs, before = space.stack.witness.mark(), operators.metric("ansible_runs_total"), looks()
    wait_for(lambda: looks() >= before + LOOKS, what=f"{LOOKS} looks at clusters that do not change")
    assert [str(write) for write in space.stack.witness.writes(since=mark)] == []
    assert operators.metric("ansible_runs_total") == runs
    statements = asked(space, mark)
    assert [statement for statement in statements if not statement.upper().startswith(READS)] == []
    assert len(statements) <= STATEMENTS * (looks() - before + 2)


def test_drift_is_put_back_and_what_others_add_is_left(operators: Operators) -> None:
    space = operators.space
    space.apply(cluster("one", be=1))
    operators.start()
    space.wait_ready("one")
    ports = space.get("Service", "one-fe-service")["spec"]["ports"]
    space.patch("StatefulSet", "one-be", {"metadata": {"annotations": {"others": "note"}, "labels": {"others": "x"}}})
    space.patch("Service", "one-be-service", {"metadata": {"annotations": {"others": "note"}}})
    moved = [{**port, "port": port["port"] + 1000} for port in ports]
    space.patch("Service", "one-fe-service", {"spec": {"ports": moved}})
    space.patch("StatefulSet", "one-be", {"metadata": {"labels": {"app.kubernetes.io/component": "wrong"}}})
    space.delete("Service", "one-be-search", wait=False)

    def restored() -> bool:
        live = space.get("Service", "one-fe-service")["spec"]["ports"]
        label = space.get("StatefulSet", "one-be")["metadata"]["labels"]["app.kubernetes.io/component"]
        return [port["port"] for port in live] == [port["port"] for port in ports] and label == "be"

    space.wait(restored, "one", "to be put back")
    space.wait(lambda: space.find("Service", "one-be-search"), "one", "to have its Service again")
    space.wait_ready("one")
    metadata = space.get("StatefulSet", "one-be")["metadata"]
    assert (metadata["annotations"]["others"], metadata["labels"]["others"]) == ("note", "x")
    assert space.get("Service", "one-be-service")["metadata"]["annotations"]["others"] == "note"


@contextmanager
def eavesdropping(operators: Operators) -> Iterator[set[str]]:
    """All arguments and environments of the operator's processes, and all words in files of its runs."""
    heard: set[str] = set()
    ended = threading.Event()

    def listen() -> None:
        while not ended.wait(0.02):
            with suppress(psutil.Error):
                for process in [psutil.Process(operators.stack.processes["first"].pid), *operators.family()]:
                    with suppress(psutil.Error):
                        heard.update(process.cmdline())
                        heard.update(process.environ().values())
            with suppress(FileNotFoundError):  # a run's directory goes while it is looked through
                for file in operators.scratch.rglob("*"):
                    with suppress(OSError):
                        heard.add(file.read_text(errors="replace"))

    thread = threading.Thread(target=listen)
    thread.start()
    try:
        yield heard
    finally:
        ended.set()
        thread.join()


def test_the_password_is_seen_by_nobody(operators: Operators) -> None:
    space, password = operators.space, "correct-horse-battery"
    space.apply(cluster("one", fe=3, be=1, cn=2, volumes=True))
    operators.start("first", "--log-level", "debug")
    space.wait_ready("one")
    space.show("one", f"SET PASSWORD = PASSWORD('{password}')")
    secret = {"apiVersion": "v1", "kind": "Secret", "metadata": {"name": "root"}, "stringData": {"password": password}}
    space.apply(secret)
    with eavesdropping(operators) as heard:
        reference = {"name": "MYSQL_PWD", "valueFrom": {"secretKeyRef": {"name": "root", "key": "password"}}}
        space.patch("StarRocksCluster", "one", {"spec": {"starRocksFeSpec": {"feEnvVars": [reference]}}})
        space.wait_ready("one")
        mark = space.stack.witness.mark()
        space.scale("one", "starRocksCnSpec", 1)  # a compute node is dropped by SQL, which takes the password
        space.wait_ready("one")
    assert any("DROP COMPUTE NODE" in statement.upper() for statement in asked(space, mark))
    assert any("ansible-playbook" in word for word in heard)
    encoded = base64.b64encode(password.encode()).decode()
    told: list[Any] = [
        space.get("StarRocksCluster", "one"),
        space.all("Event"),
        space.all("StatefulSet"),
        sorted(heard),
    ]
    told.append(space.all("ConfigMap"))
    for spelling in (password, encoded):
        assert [number for number, text in enumerate(told) if spelling in str(text)] == []
    assert space.stack.witness.testify(secrets=(password, encoded)) == []
    wait_for(lambda: not operators.files(), what="the files of the runs to be gone")
