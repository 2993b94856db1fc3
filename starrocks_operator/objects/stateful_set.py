"""The StatefulSet of a component."""

from __future__ import annotations

import json
from typing import Any

from starrocks_operator.components import Component
from starrocks_operator.decision import Context
from starrocks_operator.model import ComponentSpec, StarRocksCluster
from starrocks_operator.objects.configuration import port_of
from starrocks_operator.objects.metadata import (
    PROFILE,
    TEMPLATE_HASH,
    TEMPLATE_SOURCE,
    Object,
    content_hash,
    labels,
    make_object,
    selector,
    without_empty,
)
from starrocks_operator.objects.names import headless_service_name, stateful_set_name
from starrocks_operator.objects.pod_template import pod_template
from starrocks_operator.objects.restarts import stamped
from starrocks_operator.objects.safe import hardened
from starrocks_operator.objects.security import as_the_user_says
from starrocks_operator.objects.shape import Shape
from starrocks_operator.objects.template_source import template_source
from starrocks_operator.objects.volumes import claim_templates

ACCEPTED = "starrocks.com/accepted-configuration"
"""The entries of the configuration that members must keep, as they are in force."""
FILE_BASE = "starrocks.com/configuration-base"
"""The hash of the user's configuration file when the StatefulSet was first seen with it: its pods do not show it."""
ROLLING_UPDATE = {"type": "RollingUpdate", "rollingUpdate": {"partition": 0}}


def stateful_set(cluster: StarRocksCluster, component: Component, spec: ComponentSpec, context: Context) -> Object:
    """What an existing StatefulSet cannot change, it keeps: Service name, pod management, sizes of claims."""
    name = component.name
    files = context.files.get(name) or {}
    template = pod_template(
        cluster,
        component,
        spec,
        context.properties,
        customs=context.customs,
        configuration=context.configurations.get(name, ""),
        file_hash=files["now"] if files and files["now"] != files["base"] else "",
    )
    profile = "safe" if component.always_safe else context.profile
    if profile == "safe":
        template = hardened(
            template,
            cluster,
            component,
            spec,
            web_port=port_of(component, component.health_port, context.properties.get(name, {})),
            frontends=context.service_names.get("fe", ""),
            host_sysctls=context.host_sysctls.get(name, ""),
        )
    template = stamped(as_the_user_says(template, spec), context.restarts.get(name, ""))
    shape, kept = (Shape.parse(shapes.get(name) or {}) for shapes in (context.shapes, context.kept))
    marks = {PROFILE: profile, TEMPLATE_HASH: content_hash(template), **_configured(name, context)}
    marks |= {**kept.annotations, **shape.annotations}
    if shape.template is None:  # of a former template it is not known
        marks[TEMPLATE_SOURCE] = template_source(component, spec, context)
    management = context.pod_management.get(name) or spec.pod_management_policy or "Parallel"
    content: dict[str, Any] = {
        "replicas": context.replicas.get(name, spec.replicas),
        "serviceName": context.service_names.get(name) or headless_service_name(cluster, name),
        "podManagementPolicy": management,
        "updateStrategy": shape.strategy or spec.update_strategy or ROLLING_UPDATE,
        "minReadySeconds": spec.min_ready_seconds or None,
        "selector": {"matchLabels": selector(cluster, name)},
        "template": shape.template or kept.template or template,
        "volumeClaimTemplates": claim_templates(spec, context.claim_sizes.get(name) or {})
        if shape.claims is None
        else shape.claims,
        "persistentVolumeClaimRetentionPolicy": _claim_retention(component, spec),
    }
    return make_object(
        cluster,
        api_version="apps/v1",
        kind="StatefulSet",
        name=stateful_set_name(cluster, name),
        labels=labels(cluster, name),
        annotations=marks,
        spec=without_empty(content),
    )


def _configured(name: str, context: Context) -> dict[str, str]:
    """What is remembered of the configuration, since a file does not say what it said before."""
    marks = {}
    if (accepted := context.accepted.get(name)) is not None:
        marks[ACCEPTED] = json.dumps(dict(accepted), sort_keys=True)
    if files := context.files.get(name):
        marks[FILE_BASE] = files["base"]
    return marks


def _claim_retention(component: Component, spec: ComponentSpec) -> dict[str, Any]:
    policy = spec.persistent_volume_claim_retention_policy or {}
    return {field: policy[field] for field in component.claim_retention if policy.get(field)}
