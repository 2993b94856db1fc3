"""The frontend proxy: an nginx that lets clients outside of the cluster load data through the frontends.

The same objects as the official operator's. In the profile `safe` a changed configuration also replaces the pods:
nginx reads it only when it starts.
"""

from __future__ import annotations

from collections.abc import Iterator
from functools import cache
from importlib.resources import files
from string import Template
from typing import Any

from starrocks_operator.components import FE_PROXY
from starrocks_operator.decision import Context
from starrocks_operator.model import FrontendProxySpec, MountInfo, StarRocksCluster
from starrocks_operator.objects.configuration import ports_of
from starrocks_operator.objects.metadata import Object, content_hash, labels, make_object, selector, without_empty
from starrocks_operator.objects.names import external_service_name, headless_service_name, proxy_name
from starrocks_operator.objects.pod_template import container_ports, placement, resources
from starrocks_operator.objects.probes import probes
from starrocks_operator.objects.security import as_the_user_says
from starrocks_operator.objects.services import external_service
from starrocks_operator.objects.volumes import storage_of, volume_name

DEFAULT_IMAGE = "nginx:1.24.0"
CONFIGURATION = "nginx.conf"
CONFIGURATION_MOUNT = "/etc/nginx"
CONFIGURATION_HASH = "starrocks.com/configuration-hash"
RUN_AS = 101  # user and group `nginx` of the image


class _Configuration(Template):
    """nginx has `$` for its own variables."""

    delimiter = "@"
    pattern = r"@(?:(?P<escaped>@)|\{(?P<braced>[a-z_]+)\}|(?P<named>(?!))|(?P<invalid>(?!)))"  # type: ignore[assignment]


def frontend_proxy(cluster: StarRocksCluster, spec: FrontendProxySpec, context: Context) -> Iterator[Object]:
    """What its pods need comes before the Deployment that makes them."""
    configuration = nginx_configuration(cluster, spec, context)
    yield make_object(
        cluster,
        api_version="v1",
        kind="ConfigMap",
        name=proxy_name(cluster),
        labels=labels(cluster, FE_PROXY.name),
        data={CONFIGURATION: configuration},
    )
    template = _pod_template(cluster, spec, plain_names=context.customs.plain_volume_names)
    if context.profile == "safe":
        template = _hardened(template, configuration)
    yield make_object(
        cluster,
        api_version="apps/v1",
        kind="Deployment",
        name=proxy_name(cluster),
        labels=labels(cluster, FE_PROXY.name),
        spec={
            "replicas": spec.replicas,
            "selector": {"matchLabels": selector(cluster, FE_PROXY.name)},
            "template": as_the_user_says(template, spec),
        },
    )
    yield external_service(cluster, FE_PROXY, spec, {})


def nginx_configuration(cluster: StarRocksCluster, spec: FrontendProxySpec, context: Context) -> str:
    return _shipped().substitute(
        resolver=spec.resolver or f"kube-dns.kube-system.svc.{context.domain}",
        frontend=f"{external_service_name(cluster, 'fe')}.{cluster.metadata.namespace}.svc.{context.domain}",
        frontends=context.service_names.get("fe") or headless_service_name(cluster, "fe"),
        http_port=ports_of("fe", context.properties.get("fe", {}))["http"],
    )


@cache
def _shipped() -> _Configuration:
    return _Configuration((files("starrocks_operator") / "scripts" / "fe_proxy_nginx.conf").read_text("utf-8"))


def _pod_template(cluster: StarRocksCluster, spec: FrontendProxySpec, *, plain_names: bool) -> dict[str, Any]:
    volumes = storage_of(spec)
    mount = MountInfo(name=proxy_name(cluster), mount_path=CONFIGURATION_MOUNT)
    name = mount.name if plain_names else volume_name(mount)
    volumes.add(name, {"configMap": {"name": mount.name}}, path=mount.mount_path)
    ours = probes(FE_PROXY, spec, FE_PROXY.ports["http"].default)
    container = {
        "name": "nginx",
        "image": spec.image if spec.image and not spec.image.startswith(":") else DEFAULT_IMAGE,
        "ports": container_ports(FE_PROXY, {}),
        "resources": resources(spec),
        "volumeMounts": volumes.mounts,
        "imagePullPolicy": spec.image_pull_policy or "IfNotPresent",
        **{name: probe for name, probe in ours.items() if name != "startupProbe"},
        "securityContext": {
            "runAsUser": RUN_AS,
            "runAsGroup": RUN_AS,
            "runAsNonRoot": True,
            "allowPrivilegeEscalation": False,
            "readOnlyRootFilesystem": False,
        },
    }
    metadata = {
        "labels": {**spec.shared_labels, **spec.pod_labels, **selector(cluster, FE_PROXY.name)},
        "annotations": dict(spec.annotations),
    }
    pod = {"containers": [without_empty(container)], "volumes": volumes.volumes, **placement(spec)}
    return {"metadata": without_empty(metadata), "spec": without_empty(pod)}


def _hardened(template: dict[str, Any], configuration: str) -> dict[str, Any]:
    """What the profile `safe` adds."""
    metadata, pod = template["metadata"], template["spec"]
    (container,) = pod["containers"]
    security = {**container["securityContext"], "capabilities": {"drop": ["ALL"]}}
    told = {**metadata.get("annotations", {}), CONFIGURATION_HASH: content_hash({"configuration": configuration})}
    return {
        "metadata": {**metadata, "annotations": told},
        "spec": {
            **pod,
            "containers": [{**container, "securityContext": security}],
            "securityContext": {"seccompProfile": {"type": "RuntimeDefault"}},
        },
    }
