"""What a pod template was made from: everything that is the owner's word, and nothing that is the operator's.

A new release of the operator may make another template of the same words. Then this is the same as before, and the
pods keep the template that they have until their owner agrees; see `quiet.templates`.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import fields
from typing import Any

from starrocks_operator.components import COMPONENTS, Component
from starrocks_operator.decision import Context
from starrocks_operator.model import ComponentSpec
from starrocks_operator.objects.metadata import content_hash

_NOT_IN_TEMPLATE = frozenset(
    {
        "replicas",
        "service",
        "config",
        "update_strategy",
        "min_ready_seconds",
        "pod_management_policy",
        "persistent_volume_claim_retention_policy",
        "auto_scaling_policy",
        "name",
        "probe",
        "replica_instances",
    }
)
"""Fields of a component that no pod template shows. Of `config` it shows the ConfigMap in force: see Context."""

_OF_THE_MOMENT = frozenset(
    {
        "components",
        "replicas",
        "wished",
        "live",
        "cluster_id",
        "frontend_claims",
        "claim_sizes",
        "service_names",
        "pod_management",
        "memory",
        "shapes",
        "kept",
        "formers",
        "debugged",
    }
)
"""Fields of a context that tell of what there is, not of what the owner said."""


_PORT_KEYS = {key for entry in COMPONENTS.values() for port in entry.ports.values() for key in port.keys}
_ITS_OWN = frozenset({"configurations", "files", "accepted", "restarts", "host_sysctls"})
"""Fields of a context of which a template shows nothing but its own component's part."""


def template_source(component: Component, spec: ComponentSpec, context: Context) -> str:
    """The hash of it. Fields that have their default, or are empty, do not count: a release may
    bring new ones."""
    said = spec.model_dump(mode="json", by_alias=True, exclude_defaults=True, exclude=set(_NOT_IN_TEMPLATE))
    volumes = [{**volume, "storageSize": _presence(volume)} for volume in said.get("storageVolumes") or ()]
    given = {field.name: getattr(context, field.name) for field in fields(context) if field.name not in _OF_THE_MOMENT}
    customs = repr(given.pop("customs"))
    given["properties"] = {name: _ports_in(file) for name, file in context.properties.items()}
    told = {name: _of(value, component, alone=name in _ITS_OWN) for name, value in given.items()}
    theirs = {name: value for name, value in told.items() if value}
    profile = "safe" if component.always_safe else context.profile
    source = {"spec": {**said, "storageVolumes": volumes}, "context": theirs, "customs": customs, "profile": profile}
    return content_hash({"component": component.name, **source})


def _ports_in(file: Mapping[str, str]) -> dict[str, str]:
    """All that a template shows of a configuration file's entries."""
    return {key: value for key, value in file.items() if key in _PORT_KEYS}


def _presence(volume: dict[str, Any]) -> str:
    """A volume may grow without its pods; one of size 0 is left out."""
    return "none" if str(volume.get("storageSize") or "").startswith("0") else "some"


def _of(value: Any, component: Component, *, alone: bool) -> Any:
    """Of what is said by component: this one's, and unless alone the frontends', whose ports are told to all."""
    if not hasattr(value, "items"):
        return value
    return {
        name: dict(part) if hasattr(part, "items") else part
        for name, part in value.items()
        if name == component.name or (name == "fe" and not alone)
    }
