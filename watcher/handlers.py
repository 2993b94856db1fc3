"""kopf's part: an event becomes a trimmed object and a call. Nothing else happens here.

Only `on.event`: no stateful handler, so kopf never writes an annotation, a finalizer or a status.
"""

from __future__ import annotations

import os
from collections.abc import Callable, Mapping
from typing import Any

import kopf

from watcher.kinds import Watched
from watcher.realm import CLUSTERS, Realm
from watcher.trim import Raw, trim

Sink = Callable[[str | None, Raw], None]  # the event's type (None: listed, not changed) and the object


class NoDiffs(kopf.DiffBaseStorage):
    """kopf would copy and compare every object for handlers that we do not have."""

    def build(self, *, body: kopf.Body, **_: Any) -> kopf.BodyEssence:  # noqa: ARG002
        return {}

    def fetch(self, *, body: kopf.Body) -> kopf.BodyEssence | None:  # noqa: ARG002
        return None

    def store(self, *, body: kopf.Body, patch: kopf.Patch, essence: kopf.BodyEssence) -> None:
        """Nothing is ever stored."""


def registry(sink: Sink, realm: Realm = CLUSTERS) -> kopf.OperatorRegistry:
    """The handlers: one for each watched kind, all the same."""
    handlers = kopf.OperatorRegistry()

    async def on_event(event: Mapping[str, Any], resource: kopf.Resource, **_: Any) -> None:
        # the items of a listing come without a kind
        sink(event["type"], trim({**event["object"], "kind": resource.kind}))

    for kind in realm.watched:
        kopf.on.event(kind.group, kind.version, kind.plural, registry=handlers, id=kind.plural)(on_event)
    kopf.on.login(registry=handlers, id="login")(login)
    return handlers


def login(**arguments: Any) -> kopf.ConnectionInfo | None:
    """The kubeconfig that KUBECONFIG names, or else the pod's service account; nothing is guessed."""
    if os.environ.get("KUBECONFIG"):
        return kopf.login_with_kubeconfig(**arguments)
    return kopf.login_with_service_account(**arguments)


def kopf_settings(realm: Realm = CLUSTERS) -> kopf.OperatorSettings:
    """kopf does the watching alone: no peering, no scanning, no posting of events."""
    chosen = kopf.OperatorSettings()
    chosen.peering.standalone = True
    chosen.scanning.disabled = True
    chosen.posting.enabled = False
    chosen.process.ultimate_exiting_timeout = None
    chosen.persistence.diffbase_storage = NoDiffs()
    chosen.networking.request_timeout = 30
    chosen.networking.connect_timeout = 10
    chosen.networking.error_backoffs = (0.5, 1, 2, 3, 5, 8, 13, 21)
    chosen.watching.inactivity_timeout = 70
    chosen.watching.reconnect_backoff = 0.2
    chosen.watching.chunk_size = 100
    chosen.queueing.idle_timeout = 0.1
    for kind in realm.watched:
        if kind.selector:
            chosen.watching.label_selectors[_selector(kind)] = kind.selector
    return chosen


def _selector(kind: Watched) -> tuple[str, str, str]:
    return kind.group, kind.version, kind.plural
