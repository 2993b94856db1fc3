"""The witness on hand-written logs: it keeps silent about every deed that is right, and names every one that is not."""

from __future__ import annotations

import json
from collections.abc import Iterable
from datetime import UTC, datetime
from pathlib import Path
from typing import Any

import pytest

from lab.witness import OPERATOR, Witness, lines

PERSON = "ada"
Event = tuple[str, dict[str, Any]]  # the log it stands in, and its line
SEARCH = "default.svc.cluster.local"


def host(pod: str) -> str:
    return f"{pod}.{pod.rpartition('-')[0]}-search.{SEARCH}"


def write(verb: str, resource: str, name: str, *, user: str = OPERATOR, code: int = 200, **bodies: Any) -> Event:
    reference = {"resource": resource, "namespace": "default", "name": name}
    return "audit", {
        "stage": "ResponseComplete",
        "verb": verb,
        "user": {"username": user},
        "objectRef": reference,
        "responseStatus": {"code": code},
        "requestObject": bodies.get("asked"),
        "responseObject": bodies.get("answered"),
    }


def stateful_set(component: str, replicas: int, *, user: str = OPERATOR, code: int = 200) -> Event:
    labels = {"app.starrocks.ownerreference/name": "one", "app.kubernetes.io/component": component}
    body = {"metadata": {"labels": labels}, "spec": {"replicas": replicas}}
    return write("patch", "statefulsets", f"one-{component}", user=user, code=code, asked=body, answered=body)


def noted(kind: str, target: str, *, given_up: str = "") -> Event:
    metadata = {"generation": 3, "annotations": {"starrocks.com/force-drop-backend": given_up}}
    body = {"metadata": metadata, "status": {"nextStep": {"kind": kind, "target": target}}}
    return write("patch", "starrocksclusters", "one", answered=body)


def deleted(resource: str, name: str, component: str, *, uid: str = "u-1", user: str = OPERATOR) -> Event:
    owner = {"app.starrocks.ownerreference/name": f"one-{component}", "app.kubernetes.io/component": component}
    options = {"preconditions": {"uid": uid}} if uid else {}
    return write("delete", resource, name, user=user, asked=options, answered={"metadata": {"labels": owner}})


def backend(ordinal: int, *, decommissioned: bool = False, empty: bool = False) -> dict[str, Any]:
    return {
        "id": 10000 + ordinal,
        "kind": "be",
        "host": host(f"one-be-{ordinal}"),
        "port": 9050,
        "alive": True,
        "decommissioned": decommissioned,
        "empty": empty,
    }


def truth(*nodes: dict[str, Any], frontends: str = "LFF", shared_data: bool = False, cluster_id: int = 7) -> Event:
    """frontends, by ordinal: L leads, F lives, D is dead, O observes, a blank is not registered."""
    rows = [
        {
            "name": f"fe{ordinal}",
            "host": host(f"one-fe-{ordinal}"),
            "port": 9010,
            "votes": letter != "O",
            "alive": letter != "D",
        }
        for ordinal, letter in enumerate(frontends)
        if letter != " "
    ]
    leader = f"fe{frontends.index('L')}" if "L" in frontends else ""
    line = {"namespace": "default", "cluster": "one", "id": cluster_id, "leader": leader, "shared_data": shared_data}
    return "truth", {**line, "frontends": rows, "nodes": list(nodes)}


def said(statement: str, *, source: str = "client") -> Event:
    return "statements", {"namespace": "default", "cluster": "one", "source": source, "statement": statement}


def mark(kind: str) -> Event:
    return "truth", {"namespace": "default", "cluster": "one", "mark": kind, "text": "it is gone"}


def shrunk(component: str) -> Event:
    return noted("ShrinkStatefulSet", f"one-{component}")


def judged(directory: Path, events: Iterable[Event], **how: Any) -> list[str]:
    logs: dict[str, list[str]] = {"audit": [], "statements": [], "truth": []}
    for second, (log, line) in enumerate(events):
        moment = 1_700_000_000 + second
        at = datetime.fromtimestamp(moment, UTC).isoformat().replace("+00:00", "Z")
        time = {"requestReceivedTimestamp": at} if log == "audit" else {"time": moment}
        logs[log].append(json.dumps({**time, **line}) + "\n")
    for log, written in logs.items():
        (directory / f"{log}.jsonl").write_text("".join(written))
    return Witness(audit_log=directory / "audit.jsonl", statement_log=directory / "statements.jsonl").testify(**how)


GONE = backend(2, decommissioned=True, empty=True)
DROP_BACKEND = f'ALTER SYSTEM DROP BACKEND "{host("one-be-2")}:9050"'
DECOMMISSION = f'ALTER SYSTEM DECOMMISSION BACKEND "{host("one-be-2")}:9050"'
DROP_FOLLOWER = f'ALTER SYSTEM DROP FOLLOWER "{host("one-fe-2")}:9010"'
TO_DROP_BACKEND = noted("DropBackend", f"{host('one-be-2')}:9050")
TO_DROP_FOLLOWER = noted("DropFollower", f"{host('one-fe-2')}:9010")
CLAIM = "fe-meta-one-fe-2"

RIGHT: dict[str, list[Event]] = {
    "nothing": [],
    "a backend that is empty": [stateful_set("be", 3), truth(GONE), shrunk("be"), stateful_set("be", 2)],
    "a backend that FE does not know": [stateful_set("be", 3), truth(), shrunk("be"), stateful_set("be", 2)],
    "a backend without tablets of its own": [
        stateful_set("be", 3),
        truth(backend(2), shared_data=True),
        shrunk("be"),
        stateful_set("be", 2),
    ],
    "more backends": [stateful_set("be", 3), truth(backend(2)), stateful_set("be", 5)],
    "a person's own shrink": [stateful_set("be", 3), truth(backend(2)), stateful_set("be", 0, user=PERSON)],
    "a shrink that was refused": [stateful_set("be", 3), truth(backend(2)), stateful_set("be", 1, code=409)],
    "a compute node": [stateful_set("cn", 3), truth(), shrunk("cn"), stateful_set("cn", 2)],
    "one of three frontends": [stateful_set("fe", 3), truth(), shrunk("fe"), stateful_set("fe", 2)],
    "a frontend that was dropped": [
        stateful_set("fe", 3),
        truth(frontends="LF"),
        shrunk("fe"),
        stateful_set("fe", 2),
    ],
    "an observer": [stateful_set("fe", 2), truth(frontends="LO"), shrunk("fe"), stateful_set("fe", 1)],
    "an empty backend is dropped": [truth(GONE), truth(), TO_DROP_BACKEND, said(DROP_BACKEND)],
    "a follower is dropped": [truth(), TO_DROP_FOLLOWER, said(DROP_FOLLOWER)],
    "a backend is told to leave": [
        truth(backend(2)),
        noted("DecommissionBackend", f"{host('one-be-2')}:9050"),
        said(DECOMMISSION),
    ],
    "the pods' own scripts": [truth(), said(DROP_FOLLOWER, source="entrypoint")],
    "a person at the console": [truth(backend(2)), said(DECOMMISSION, source="control")],
    "the old volume of a dropped frontend": [
        truth(frontends="LF"),
        noted("DeleteMetaVolume", CLAIM),
        deleted("persistentvolumeclaims", CLAIM, "fe"),
    ],
    "the pod of a dropped frontend": [
        truth(frontends="LF"),
        noted("DeletePod", "one-fe-2"),
        deleted("pods", "one-fe-2", "fe"),
    ],
    "the leader hands over": [
        truth(frontends="FFLFF"),
        noted("DeletePod", "one-fe-2"),
        deleted("pods", "one-fe-2", "fe"),
    ],
    "a backend is given up, as its owner said": [
        truth(backend(2)),
        noted("ForceDropBackend", f"{host('one-be-2')}:9050", given_up="one-be-2@3"),
        mark("tablet-lost"),
        said(f"{DROP_BACKEND} FORCE"),
    ],
    "the pod of a backend that is given up goes": [
        stateful_set("be", 3),
        truth(backend(2, decommissioned=True)),
        noted("ShrinkStatefulSet", "one-be", given_up="one-be-2@3"),
        stateful_set("be", 2),
    ],
    "a person deletes what they like": [truth(), deleted("pods", "one-be-2", "be", user=PERSON)],
}

WRONG: dict[str, tuple[str, list[Event]]] = {
    "two backends at once": (
        "I2: shrunk from 3 to 1",
        [stateful_set("be", 3), truth(GONE), shrunk("be"), stateful_set("be", 1)],
    ),
    "a backend with tablets": (
        "I2: one-be-2 was taken away, and backend 10002 holds tablets",
        [stateful_set("be", 3), truth(backend(2, decommissioned=True)), shrunk("be"), stateful_set("be", 2)],
    ),
    "a backend with tablets, while another one is given up": (
        "I2: one-be-2 was taken away",
        [
            stateful_set("be", 3),
            truth(backend(2, decommissioned=True)),
            noted("ShrinkStatefulSet", "one-be", given_up="one-be-1@3"),
            stateful_set("be", 2),
        ],
    ),
    "a backend that may still get tablets": (
        "I2: one-be-2 was taken away, and backend 10002 was never told to leave",
        [stateful_set("be", 3), truth(backend(2, empty=True)), shrunk("be"), stateful_set("be", 2)],
    ),
    "a backend that has tablets again": (
        "holds tablets",
        [
            stateful_set("be", 3),
            truth(GONE),
            truth(backend(2, decommissioned=True)),
            shrunk("be"),
            stateful_set("be", 2),
        ],
    ),
    "a shrink after the one that was announced": (
        "I8: ShrinkStatefulSet one-be was done while status.nextStep said DropBackend",
        [stateful_set("be", 3), truth(GONE), shrunk("be"), TO_DROP_BACKEND, stateful_set("be", 2)],
    ),
    "an unannounced shrink": ("said nothing", [stateful_set("be", 3), truth(GONE), stateful_set("be", 2)]),
    "two compute nodes at once": (
        "I2: shrunk from 3 to 1",
        [stateful_set("cn", 3), truth(), shrunk("cn"), stateful_set("cn", 1)],
    ),
    "one frontend too many": (
        "I1: without one-fe-2, 1 of 3 followers are alive",
        [stateful_set("fe", 3), truth(frontends="LDF"), shrunk("fe"), stateful_set("fe", 2)],
    ),
    "before there is a cluster": (
        "I2: one-fe-2 was taken away before there was a cluster",
        [stateful_set("fe", 3), shrunk("fe"), stateful_set("fe", 2)],
    ),
    "a StatefulSet is deleted": (
        "I2: a StatefulSet was deleted with its pods",
        [deleted("statefulsets", "one-be", "be")],
    ),
    "a volume of a backend": (
        "I5: claim be-data-one-be-2 was deleted, and it is none of a frontend's",
        [truth(GONE), deleted("persistentvolumeclaims", "be-data-one-be-2", "be")],
    ),
    "the volume of a member": (
        "I5: claim fe-meta-one-fe-2 was deleted while FE lists one-fe-2",
        [truth(), noted("DeleteMetaVolume", CLAIM), deleted("persistentvolumeclaims", CLAIM, "fe")],
    ),
    "a volume by its name alone": (
        "without a uid",
        [
            truth(frontends="LF"),
            noted("DeleteMetaVolume", CLAIM),
            deleted("persistentvolumeclaims", CLAIM, "fe", uid=""),
        ],
    ),
    "the pod of nobody": ("I2: only pods of members", [truth(GONE), deleted("pods", "other", "be")]),
    "the pod of a backend, unannounced": ("I8: DeletePod one-be-2", [truth(GONE), deleted("pods", "one-be-2", "be")]),
    "the pod of a leader that cannot be missed": (
        "I1: without one-fe-2, 1 of 3 followers are alive",
        [truth(frontends="DFL"), noted("DeletePod", "one-fe-2"), deleted("pods", "one-fe-2", "fe")],
    ),
    "a follower too many is dropped": (
        "I1: after",
        [truth(frontends="LDF"), TO_DROP_FOLLOWER, said(DROP_FOLLOWER)],
    ),
    "a backend with tablets is dropped": (
        "I3: one-be-2",
        [truth(backend(2, decommissioned=True)), truth(), TO_DROP_BACKEND, said(DROP_BACKEND)],
    ),
    "force": ("I3: FORCE", [truth(GONE), TO_DROP_BACKEND, said(f"{DROP_BACKEND} FORCE")]),
    "force against another one than was named": (
        "I3: FORCE",
        [noted("ForceDropBackend", f"{host('one-be-2')}:9050", given_up="one-be-1@3"), said(f"{DROP_BACKEND} FORCE")],
    ),
    "force by an older word": (
        "I3: FORCE",
        [noted("ForceDropBackend", f"{host('one-be-2')}:9050", given_up="one-be-2@2"), said(f"{DROP_BACKEND} FORCE")],
    ),
    "two in one statement": (
        "I8: more than one member",
        [truth(GONE), TO_DROP_BACKEND, said(f'{DROP_BACKEND}, "{host("one-be-1")}:9050"')],
    ),
    "a node of somebody else": (
        "I4: far.example.com:9050 is none of ours",
        [
            truth(GONE),
            noted("DropBackend", "far.example.com:9050"),
            said('ALTER SYSTEM DROP BACKEND "far.example.com:9050"'),
        ],
    ),
    "a node of a cluster with a longer name": (
        "is none of ours",
        [truth(), said('CANCEL DECOMMISSION BACKEND "one-be-two-be-0.x:9050"')],
    ),
    "an unannounced drop": ("I8: DropFollower", [truth(), said(DROP_FOLLOWER)]),
    "a finalizer": (
        "I10: a finalizer",
        [write("patch", "configmaps", "one", asked={"metadata": {"finalizers": ["x"]}})],
    ),
    "a lost tablet": ("tablet-lost: it is gone", [truth(), mark("tablet-lost")]),
}


@pytest.mark.parametrize("deeds", RIGHT.values(), ids=RIGHT)
def test_what_is_right_is_passed_in_silence(tmp_path: Path, deeds: list[Event]) -> None:
    assert judged(tmp_path, deeds) == []


@pytest.mark.parametrize(("sentence", "deeds"), WRONG.values(), ids=WRONG)
def test_what_is_wrong_is_named_once(tmp_path: Path, sentence: str, deeds: list[Event]) -> None:
    found = [each for each in judged(tmp_path, deeds) if sentence in each]
    assert len(found) == 1, judged(tmp_path, deeds)


def test_the_remains_of_an_older_database_do_not_hide_the_present_one(tmp_path: Path) -> None:
    old = truth(frontends=" ", cluster_id=3)
    assert judged(tmp_path, [stateful_set("be", 3), truth(GONE), old, shrunk("be"), stateful_set("be", 2)]) == []


def test_only_the_namespace_that_is_asked_for_is_judged(tmp_path: Path) -> None:
    deeds = [truth(), mark("tablet-lost")]
    assert judged(tmp_path, deeds, namespace="another") == []
    assert judged(tmp_path, deeds, namespace="default") == ["default: tablet-lost: it is gone"]


def test_a_secret_in_any_log_is_found(tmp_path: Path) -> None:
    found = judged(tmp_path, [said("SET PASSWORD = 'topsecret'")], secrets=("topsecret",))
    assert found == ["I7: a secret stands in statements.jsonl"]


def test_a_line_that_was_half_written_at_the_mark_is_passed_over(tmp_path: Path) -> None:
    log = tmp_path / "log.jsonl"
    log.write_text('{"n": 1}\n{"n": 2}\n{"n": 3}\n')
    assert [line["n"] for line in lines(log, offset=0)] == [1, 2, 3]
    assert [line["n"] for line in lines(log, offset=9)] == [2, 3], "exactly at the end of a line"
    assert [line["n"] for line in lines(log, offset=12)] == [3]
