"""Resources of any content that the CRDs' schemas allow, for hypothesis: mostly plausible values, some outlandish.

Made from the generated CRDs themselves, so a new field is tried as soon as it is there.
"""

from __future__ import annotations

from functools import cache
from typing import Any

from hypothesis import strategies as st

from starrocks_operator.model import GROUP_KIND, KIND, WAREHOUSE_KIND
from starrocks_operator.model.crd import cluster_crd, warehouse_crd
from starrocks_operator.model.group_crd import group_crd
from starrocks_operator.model.rules import MISSPELT_SPEC_KEYS

Schema = dict[str, Any]

MOST_FIELDS = 9  # optional ones of one object
LONGEST_LIST = 2
ALWAYS = {"image", "mountPath", "storageSize", "configMapName", "resolveKey"}  # without them nearly all is refused
NEVER = set(MISSPELT_SPEC_KEYS)

PLAUSIBLE: dict[str, tuple[str, ...]] = {
    "name": ("a", "fe-meta", "be-data", "query", "http", "my-volume", "HOST_TYPE", "STARROCKS_ROOT", "MYSQL_PWD"),
    "image": ("starrocks/fe-ubuntu:3.5.5", "starrocks/be-ubuntu:3.3.1", "r:5000/x@sha256:0", "x:latest"),
    "mountPath": ("/opt/starrocks/fe/meta", "/opt/starrocks/be/storage", "/a", "/b", "/etc/starrocks/fe/conf"),
    "storageSize": ("1Gi", "0", "10Gi", "1.5Ti"),
    "storageClassName": ("fast", "emptyDir", "hostPath", ""),
    "configMapName": ("settings",),
    "resolveKey": ("fe.conf", "x"),
    "subPath": ("fe.conf", "a/b", ""),
    "path": ("/var", "/"),
    "imagePullPolicy": ("Always", "IfNotPresent", ""),
    "podManagementPolicy": ("Parallel", "OrderedReady"),
    "serviceAccount": ("starrocks", ""),
    "dnsPolicy": ("ClusterFirst", "Default"),
    "externalTrafficPolicy": ("",),
    "type": ("ClusterIP", "NodePort", "LoadBalancer", "RollingUpdate", "OnDelete", "Resource", "tcp"),
    "version": ("v1", "v2beta2", "v2", ""),
    "resolver": ("10.96.0.10", ""),
    "clusterIP": ("", "None"),
    "ipFamilies": ("IPv4",),
    "ipFamilyPolicy": ("SingleStack", "PreferDualStack", ""),
    "operator": ("Exists", "Equal", "In"),
    "loadBalancerIP": ("192.0.2.1", ""),
    "ip": ("192.0.2.1",),
    "whenDeleted": ("Retain", "Delete"),
    "whenScaled": ("Retain", "Delete"),
    "protocol": ("TCP",),
}
KEYS = {"requests": ("cpu", "memory"), "limits": ("cpu", "ephemeral-storage")}
OPAQUE: tuple[dict[str, Any], ...] = (
    {},
    {"runAsUser": 0},
    {"runAsUser": 7, "runAsNonRoot": True, "fsGroup": None},
    {"capabilities": {"add": ["SYS_PTRACE"]}},
    {"seccompProfile": {"type": "Unconfined"}},
    {"nonsense": [1, {"a": None}]},
    {"name": "a", "value": "b"},
    {"name": ["a"]},
    {"name": "a", "valueFrom": "b"},
    {"name": "a", "valueFrom": {"secretKeyRef": {"name": "s", "key": "k"}}},
)
IDENTITIES = ("name", "mountPath", "devicePath", "ip", "containerPort", "topologyKey", "resourceName")
ODD = (
    "",
    " ",
    "{{ lookup('pipe', 'id') }}",
    "$(FE_SERVICE_NAME)",
    "ünï",
    "a" * 70,
    "-",
    "0",
    "null",
    "a\nb: c",
    "None",
)


CRDS = {KIND: cluster_crd, WAREHOUSE_KIND: warehouse_crd, GROUP_KIND: group_crd}


@cache
def schema_of(version: str, kind: str = KIND) -> Schema:
    (found,) = (entry for entry in CRDS[kind]()["spec"]["versions"] if entry["name"] == version)
    spec: Schema = found["schema"]["openAPIV3Schema"]["properties"]["spec"]
    return spec


@st.composite
def specs(draw: st.DrawFn, version: str = "v1") -> dict[str, Any]:
    """A spec that the schema of this version allows; whether the rules do is another matter."""
    schema = schema_of(version)
    spec = _object(draw, schema)
    spec.setdefault("starRocksFeSpec", _object(draw, schema["properties"]["starRocksFeSpec"]))
    return spec


@st.composite
def warehouse_specs(draw: st.DrawFn) -> dict[str, Any]:
    """The same of a StarRocksWarehouse of the cluster `one`."""
    return _object(draw, schema_of("v1", WAREHOUSE_KIND)) | {"starRocksCluster": "one"}


@st.composite
def group_specs(draw: st.DrawFn) -> dict[str, Any]:
    """The same of a ComputeNodeGroup, with frontends somewhere."""
    return _object(draw, schema_of("v1alpha1", GROUP_KIND)) | {"feInfo": {"addresses": ["fe:9030"]}}


def _value(draw: st.DrawFn, schema: Schema, name: str) -> Any:
    if schema.get("x-kubernetes-int-or-string"):
        return draw(st.sampled_from((1, 0, "50%", "500m", 4) if "pattern" not in schema else (1, "500m", "2Gi", 0)))
    if schema.get("x-kubernetes-preserve-unknown-fields"):
        return dict(draw(st.sampled_from(OPAQUE)))
    match schema["type"]:
        case "object":
            return _object(draw, schema, name)
        case "array":
            count = draw(st.integers(0, LONGEST_LIST))
            return _apart([_value(draw, schema["items"], name) for _ in range(count)])
        case "string":
            return _text(draw, schema, name)
        case "integer":
            low, high = schema.get("minimum", -1), schema.get("maximum", 2**31 - 1)
            return draw(
                st.sampled_from([n for n in (1, 2, 3, 0, 1000, 9030, 30123, -1, 2**31 - 1) if low <= n <= high])
            )
        case "number":
            return 1
        case _:
            return draw(st.booleans())


def _apart(items: list[Any]) -> list[Any]:
    """Without a second item of the same identity: server-side apply answers 500 to those, again and again."""
    kept = {}
    for index, item in enumerate(items):
        keys = [key for key in IDENTITIES if isinstance(item, dict) and isinstance(item.get(key), str | int)]
        kept.setdefault(item[keys[0]] if keys else index, item)
    return list(kept.values())


def _text(draw: st.DrawFn, schema: Schema, name: str) -> str:
    if schema.get("format") == "date-time":
        return "2026-01-01T00:00:00Z"
    plausible = PLAUSIBLE.get(name, ("a", "b", "starrocks"))
    text: str = draw(
        st.sampled_from(plausible * 8 + ODD) if draw(st.integers(0, 9)) == 0 else st.sampled_from(plausible)
    )
    return text[: schema.get("maxLength", len(text))]


def _object(draw: st.DrawFn, schema: Schema, name: str = "") -> dict[str, Any]:
    if isinstance(schema.get("additionalProperties"), dict):
        keys = draw(st.lists(st.sampled_from(KEYS.get(name, ("team", "example.com/a"))), max_size=2, unique=True))
        return {key: _value(draw, schema["additionalProperties"], key) for key in keys}
    properties = {key: part for key, part in schema.get("properties", {}).items() if key not in NEVER}
    chosen = {key for key in properties if key in schema.get("required", ()) or key in ALWAYS}
    optional = sorted(properties.keys() - chosen)
    if optional:
        chosen |= set(draw(st.lists(st.sampled_from(optional), max_size=MOST_FIELDS, unique=True)))
    return {key: _value(draw, properties[key], key) for key in sorted(chosen)}
