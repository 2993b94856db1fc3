"""Objects that another operator made: their fields become ours, really or as a rehearsal."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from ansible_collections.starrocks.operator.plugins.plugin_utils.server import Answer, ApiServer

from starrocks_operator.objects.ownership import (
    former_share,
    is_adopted,
    taken_over,
    with_removals,
    without_unwanted,
)

REFUSED = 422  # the API server understood it, and what would come of it is not valid


def taken_over_by_us(server: ApiServer, live: Answer, wanted: Mapping[str, Any]) -> Answer | None:
    """The fields of an object that another operator made are owned by us from now on; None: there are none."""
    if not is_adopted(live.body):
        return None
    managed = taken_over(live.metadata.get("managedFields") or (), api_version=wanted["apiVersion"])
    return server.take_over(wanted, managed, version=live.resource_version) if managed is not None else None


def as_if_taken_over(server: ApiServer, live: Answer, wanted: Mapping[str, Any], answer: Answer) -> Answer:
    """What applying would make of an object if its fields were ours already. answer: if they are not."""
    share = former_share(live.metadata.get("managedFields") or ())
    if answer.status == REFUSED:
        answer = server.rehearse_patch(with_removals(wanted, share))
    return server.rehearse(without_unwanted(answer.body, share, wanted)) if answer.ok else answer
