"""What each component's configuration is to be now: the wanted one, or the one in force while that is refused.

Told from the spec, the users' files and the live StatefulSets alone, so that whoever needs a port before FE was asked
comes to the same as the decision after it.
"""

from __future__ import annotations

import json
from collections.abc import Mapping
from dataclasses import dataclass, field, replace

from starrocks_operator.components import COMPONENTS, Component
from starrocks_operator.config.precious import accepted_of, refusals
from starrocks_operator.membership.bootstrap import founding_of
from starrocks_operator.model import ComponentSpec, StarRocksCluster
from starrocks_operator.objects.configuration import parse_properties
from starrocks_operator.objects.environment import root_path
from starrocks_operator.objects.inline_configuration import inline_config_map, inline_name, malformed, mounted_inline
from starrocks_operator.objects.names import stateful_set_name
from starrocks_operator.objects.pod_template import FILE_HASH
from starrocks_operator.objects.stateful_set import ACCEPTED, FILE_BASE
from starrocks_operator.observed import Children, Configuration, Raw

Configurations = Mapping[str, Configuration]


@dataclass(frozen=True, kw_only=True)
class Settled:
    """One component's configuration.

    inline: the operator's ConfigMap to be mounted; empty: the user's file, or none. live: the one that the live
    template mounts. properties: what is in the file. former: what is in the live one, if that is known. accepted: the
    entries that must stay. base, now: hashes of the user's file, see Context.files; latest: of its text at present;
    in_force: of what new pods are told. changed: when the file was changed last.
    missing: the user's file is not there. begun: a pod has the wanted ConfigMap already. refusal: why the wanted one
    is not taken. held: without it nothing can be made of the spec.
    """

    component: str
    properties: Mapping[str, str] = field(default_factory=dict)
    inline: str = ""
    live: str = ""
    former: Mapping[str, str] | None = None
    accepted: Mapping[str, str] = field(default_factory=dict)
    base: str = ""
    now: str = ""
    latest: str = ""
    in_force: str = ""
    changed: str = ""
    missing: bool = False
    begun: bool = False
    refusal: str = ""
    held: bool = False


def settled_of(cluster: StarRocksCluster, children: Children, files: Configurations) -> dict[str, Settled]:
    """By component, for those that the cluster has. files: the users' configuration files."""
    founded = founding_of(cluster, children, None).cluster_id or cluster.warehouse
    return {
        str(name): _settled(cluster, COMPONENTS[name], spec, children, files.get(name), founded)
        for name, spec in cluster.spec.components.items()
    }


def configurations_of(cluster: StarRocksCluster, children: Children, files: Configurations) -> Configurations:
    """What each component goes by. Those of others, such as a warehouse's frontends, stay as they are given."""
    return effective(files, settled_of(cluster, children, files))


def effective(files: Configurations, settled: Mapping[str, Settled]) -> Configurations:
    """The same, of what was found out already."""
    found = dict(files)
    for name, one in settled.items():
        found[name] = replace(files.get(name, Configuration()), properties=one.properties)
    return {name: one for name, one in found.items() if one != Configuration()}


def _settled(
    cluster: StarRocksCluster,
    component: Component,
    spec: ComponentSpec,
    children: Children,
    file: Configuration | None,
    founded: str,
) -> Settled:
    workload = children.get("StatefulSet", stateful_set_name(cluster, component.name))
    known = ACCEPTED in ((workload or {}).get("metadata", {}).get("annotations") or {})
    if not spec.config and file is None and not known:
        return Settled(component=component.name)
    wanted = _wanted(cluster, component, spec, file)
    if workload is None:
        return replace(wanted, held=bool(wanted.refusal))
    return _against(wanted, component, spec, workload, children, founded)


def _wanted(
    cluster: StarRocksCluster, component: Component, spec: ComponentSpec, file: Configuration | None
) -> Settled:
    """As the spec says, and whether it can be said so."""
    both = bool(spec.config) and spec.config_map_info is not None
    trouble = malformed(spec.config)
    if both:
        trouble = "both config and configMapInfo are given: keep one of them."
    name = "" if trouble else inline_name(cluster, component, spec)
    properties = dict(file.properties) if file is not None else {}
    if name:
        made = inline_config_map(cluster, component, spec)
        properties = parse_properties(made["data"][component.configuration_file])
    digest = file.digest if file is not None else ""
    wrong = [sentence for _, sentence in refusals(component, properties, None, home="", founded="")]
    refusal = trouble or (" ".join(wrong) if name else "")
    return Settled(
        component=component.name,
        properties=properties,
        inline=name,
        accepted=accepted_of(component, properties),
        base=digest,
        now=digest,
        latest=digest,
        in_force=digest,
        changed=file.changed if file is not None else "",
        missing=bool(file and file.missing),
        refusal=_refusal(component, refusal) if refusal else "",
    )


def _against(
    wanted: Settled, component: Component, spec: ComponentSpec, workload: Raw, children: Children, founded: str
) -> Settled:
    """The same, compared with what is in force."""
    marks = workload["metadata"].get("annotations") or {}
    template = (workload.get("spec") or {}).get("template") or {}
    live = mounted_inline(template)
    former = _content(component, live, children)
    shown = ((template.get("metadata") or {}).get("annotations") or {}).get(FILE_HASH, "")
    base = marks.get(FILE_BASE) or wanted.latest
    accepted = _noted(marks.get(ACCEPTED))
    if accepted is None and not _has_file(component, spec, template):
        accepted = {}
    on_file = bool(wanted.latest)
    begun = bool(wanted.inline) and any(mounted_inline(pod) == wanted.inline for pod in children.of_kind("Pod"))
    one = replace(wanted, begun=begun, live=live, former=former, base=base if on_file else "", in_force=shown or base)
    if wanted.missing:
        return replace(one, properties=accepted or {}, accepted=accepted or {})
    if wanted.refusal:
        return _kept(one, component, accepted)
    home = component.home(root_path(spec))
    wrong = dict(refusals(component, wanted.properties, accepted, home=home, founded=founded))
    if not wrong:
        return one
    return _kept(replace(one, refusal=_refusal(component, " ".join(wrong.values()))), component, accepted)


def _kept(one: Settled, component: Component, accepted: Mapping[str, str] | None) -> Settled:
    """What is in force stays. Where that cannot be said any more in the spec's terms, the component is held."""
    if one.live and one.former is not None:
        return replace(one, inline=one.live, properties=one.former, accepted=accepted_of(component, one.former))
    known = accepted if accepted is not None else one.accepted
    others = {key: value for key, value in one.properties.items() if key not in one.accepted}
    held = bool(one.live) or not one.latest
    return replace(one, properties={**others, **known}, accepted=known, now=one.in_force, held=held)


def _refusal(component: Component, why: str) -> str:
    return f"The configuration of the {component.title}s is not taken: {why}"


def _has_file(component: Component, spec: ComponentSpec, template: Raw) -> bool:
    """Whether a configuration file is mounted at all; without one the defaults are in force."""
    places = (component.configuration_mount, f"{component.home(root_path(spec))}/conf")
    containers = (template.get("spec") or {}).get("containers") or ()
    mounts = (str(mount.get("mountPath", "")) for one in containers for mount in one.get("volumeMounts") or ())
    return any(mount == place or mount.startswith(f"{place}/") for mount in mounts for place in places)


def _content(component: Component, name: str, children: Children) -> Mapping[str, str] | None:
    raw = children.get("ConfigMap", name) if name else None
    text = ((raw or {}).get("data") or {}).get(component.configuration_file)
    return None if text is None else parse_properties(text)


def _noted(text: str | None) -> Mapping[str, str] | None:
    """None: nothing was remembered, or nothing that can be read."""
    try:
        found = json.loads(text or "null")
    except ValueError:
        return None
    return {str(key): str(value) for key, value in found.items()} if isinstance(found, dict) else None
