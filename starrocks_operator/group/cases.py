"""The cases of one group: its pods, its records in status and FE's rows, brought together by address."""

from __future__ import annotations

from datetime import UTC

from starrocks_operator.components import CN_GROUP
from starrocks_operator.group.table import Case, Move, Place, judged
from starrocks_operator.model import ComputeNodeGroup, GroupMember
from starrocks_operator.objects.configuration import port_of
from starrocks_operator.objects.metadata import COMPONENT_LABEL
from starrocks_operator.observed import ComputeRow, FrontendView, Observed, Raw

COMPONENT = CN_GROUP.name


def stateful_set_of(group: ComputeNodeGroup) -> str:
    return f"{group.name}-{COMPONENT}"


def pods_of(group: ComputeNodeGroup, observed: Observed) -> dict[int, Raw]:
    """The group's pods, by ordinal."""
    found = {}
    for pod in observed.children.of_kind("Pod"):
        prefix, _, ordinal = pod["metadata"]["name"].rpartition("-")
        labels = pod["metadata"].get("labels") or {}
        if prefix == stateful_set_of(group) and ordinal.isdecimal() and labels.get(COMPONENT_LABEL) == COMPONENT:
            found[int(ordinal)] = pod
    return dict(sorted(found.items()))


def wished_of(group: ComputeNodeGroup) -> int:
    return 0 if group.is_deleted else group.spec.wished


def cases_of(group: ComputeNodeGroup, observed: Observed) -> tuple[Case, ...]:
    """All of them, pods by ordinal first; none while FE has not told its rows."""
    view = observed.view
    if view is None or view.compute_nodes is None:
        return ()
    rows = {row.target: row for row in view.compute_nodes}
    records = {record.address: record for record in (group.status.members if group.status else ())}
    configuration = observed.configurations.get(COMPONENT)
    port = port_of(CN_GROUP, CN_GROUP.member_port, configuration.properties if configuration else {})
    cases = []
    for ordinal, pod in pods_of(group, observed).items():
        if address := (pod.get("status") or {}).get("podIP"):
            target = f"{address}:{port}"
            place = _place(pod, wanted=ordinal < wished_of(group))
            record = records.pop(target, None)
            cases.append(_case(place, target, rows.get(target), record, pod=pod["metadata"]["name"], observed=observed))
    cases += [
        _case(Place.LEFT, record.address, rows.get(record.address), record, pod="", observed=observed)
        for record in records.values()
    ]
    return tuple(cases)


def _place(pod: Raw, *, wanted: bool) -> Place:
    if not wanted:
        return Place.UNWANTED
    status = pod.get("status") or {}
    running = status.get("phase") == "Running" and not pod["metadata"].get("deletionTimestamp")
    started = any("running" in (state.get("state") or {}) for state in status.get("containerStatuses") or ())
    return Place.WANTED if running and started else Place.UNREADY


def _case(
    place: Place, address: str, row: ComputeRow | None, record: GroupMember | None, *, pod: str, observed: Observed
) -> Case:
    shunned = shunned_in(observed.view, row)
    now = observed.now.astimezone(UTC)
    move = judged(place, row, record, shunned=shunned, now=now)
    leaving = place in (Place.UNWANTED, Place.LEFT)
    since = (record.since if record else "") or now.isoformat(timespec="seconds")
    return Case(
        place=place, pod=pod, address=address, row=row, record=record, move=move, since=since if leaving else ""
    )


def shunned_in(view: FrontendView | None, row: ComputeRow | None) -> bool | None:
    """Whether every frontend that was asked keeps queries off it; None: none of them has such a list."""
    if view is None or not view.blacklists:
        return None
    return row is not None and all(row.id in ids for ids in view.blacklists.values())


def member_of(case: Case) -> GroupMember | None:
    """What the status is to record of it; None: nothing.

    An address is recorded before FE is told of it, so that a crash in between loses nothing.
    """
    if case.move in (Move.FORGET, Move.GONE) or (case.row is None and case.move != Move.ADD):
        return None
    known = case.row.id if case.row else ""
    shown = {Move.ADD: "joining", Move.WAIT: "joining", Move.STAY: "joined"}
    state = "leaving" if case.since or case.move == Move.WELCOME else shown.get(case.move, "leaving")
    pod = case.pod or (case.record.pod if case.record else "")
    return GroupMember(
        pod=pod,
        address=case.address,
        id=known,
        alive=case.row.alive if case.row else None,
        state=state,
        since=case.since,
    )
