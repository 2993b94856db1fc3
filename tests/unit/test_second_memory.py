"""What the marker remembers of members on their way out, and when it counts."""

from __future__ import annotations

from starrocks_operator.membership.memory import Memory
from starrocks_operator.membership.second_memory import held_in, lines_of, members_in
from starrocks_operator.model.status import Member
from tests.unit.membership_world import World, at, host

BACKEND = Member(
    kind="backend",
    name="sample-be-2",
    host=host("sample-be-2", "be"),
    id="10002",
    ordered_by="operator",
    ordered_at=at(-60),
    tablets_left=7,
)
DROPPED = Member(kind="frontend", name="sample-fe-3", host=host("sample-fe-3", "fe"), id="fe-3_9010_1", state="dropped")
STAYING = Member(kind="frontend", name="sample-fe-0", host=host("sample-fe-0", "fe"), id="fe-0_9010_1", state="alive")
LINES = lines_of([BACKEND, DROPPED, STAYING], {"drop_backend_after_decommission": "true"})


def marked(world: World, *lines: str) -> Memory:
    world.get("ConfigMap", "sample-fe-bootstrap")["data"]["memory"] = "\n".join(lines)
    return Memory.of(world.cluster, world.observed.children)


def test_what_is_written_is_read_again_and_those_that_stay_are_not_in_it() -> None:
    text = "\n".join(LINES)
    backend, frontend = members_in(text)
    assert (backend.host, backend.id, backend.ordered_by, backend.ordered_at) == (
        BACKEND.host,
        BACKEND.id,
        "operator",
        at(-60),
    )
    assert (frontend.name, frontend.id, frontend.state, frontend.ordered_by) == (
        "sample-fe-3",
        DROPPED.id,
        "dropped",
        None,
    )
    assert held_in(text) == {"drop_backend_after_decommission": "true"}
    assert lines_of(members_in(text), held_in(text)) == LINES
    assert lines_of([STAYING], {}) == ()


def test_what_is_no_such_line_is_passed_over() -> None:
    text = "member backend\nhello\n\nsetting\nmember a b c d e f g"
    assert list(members_in(text)) == []
    assert held_in(text) == {}


def test_the_status_counts_while_it_tells_of_members() -> None:
    world = World()
    world.settle()
    world.raw["status"]["members"] = [{"kind": "frontend", "name": "sample-fe-0", "host": "h", "id": "x"}]
    memory = marked(world, *LINES)
    assert not memory.held
    assert not memory.lines


def test_without_a_status_the_marker_counts_unless_it_is_a_namesakes() -> None:
    world = World()
    world.settle()
    world.raw.pop("status", None)
    assert marked(world, *LINES).lines == LINES
    world.get("ConfigMap", "sample-fe-bootstrap")["data"]["owner-uid"] = "another"
    world.get("ConfigMap", "sample-fe-bootstrap")["metadata"]["ownerReferences"] = [{"uid": "another"}]
    assert not Memory.of(world.cluster, world.observed.children).lines
