"""Rules about volumes and mounts: names, paths, sizes, and that no volume shrinks."""

from itertools import combinations

from starrocks_operator.model.rules.judges import (
    always,
    is_claim_or_sized,
    is_size,
    matches,
    must,
    shared_mount_path,
    shrunk_volume,
)
from starrocks_operator.model.rules.rule import Rule
from starrocks_operator.model.rules.shapes import SUBDOMAIN, cel_string, duplicate, label

_VOLUMES = "spec.{workload}.storageVolumes"
_MOUNT_LISTS = ("spec.{component}.configMaps", "spec.{component}.secrets")
_HASH_SUFFIX = 5
"""A mounted ConfigMap or Secret becomes a volume `<name>-<hhhh>`."""

_SHRUNK = (
    "has(v.storageSize) && isQuantity(v.storageSize) && oldSelf.exists(o, o.name == v.name "
    "&& has(o.storageSize) && isQuantity(o.storageSize) "
    "&& quantity(v.storageSize).isLessThan(quantity(o.storageSize)))"
)


def _apart(one: str, other: str) -> str:
    return (
        f"(!has(self.{one}) || !has(self.{other}) || !self.{one}.exists(v, self.{other}.exists(w, "
        "has(v.mountPath) && has(w.mountPath) && v.mountPath == w.mountPath)))"
    )


def _mount_paths(at: str) -> tuple[Rule, ...]:
    return (
        Rule(
            name="mount-path",
            at=f"{at}[].mountPath",
            cel="self.startsWith('/') && !self.contains(':')",
            message="is no path that can be mounted: begin with '/' and use no ':'",
            judge=must(lambda path: path.startswith("/") and ":" not in path),
        ),
        duplicate(
            name="duplicate-mount-path",
            at=at,
            key="mountPath",
            message="two entries are mounted at {culprit}: give each a mountPath of its own",
        ),
    )


def _mounted_object(at: str) -> tuple[Rule, ...]:
    return (
        Rule(
            name="mounted-object",
            at=f"{at}[]",
            cel="has(self.name) && has(self.mountPath)",
            message="needs both a name and a mountPath",
            judge=must(lambda item: "name" in item and "mountPath" in item),
        ),
        label(
            name="mounted-object-name",
            at=f"{at}[].name",
            longest=63 - _HASH_SUFFIX,
            message=f"cannot become the name of a volume: use at most {63 - _HASH_SUFFIX} lower-case letters, digits "
            "and '-', no dots",
        ),
        *_mount_paths(at),
    )


RULES: tuple[Rule, ...] = (
    label(
        name="volume-name",
        at=f"{_VOLUMES}[].name",
        longest=63,
        message="is no name for a volume: use at most 63 lower-case letters, digits and '-', e.g. fe-storage",
    ),
    duplicate(
        name="duplicate-volume-name",
        at=_VOLUMES,
        key="name",
        message="two volumes are named {culprit}: give each a name of its own",
    ),
    *_mount_paths(_VOLUMES),
    Rule(
        name="storage-class",
        at=f"{_VOLUMES}[].storageClassName",
        cel=f"self in ['', 'emptyDir', 'hostPath'] || self.lowerAscii().matches({cel_string(SUBDOMAIN)})"
        " && (self == self.lowerAscii() || self.lowerAscii() in ['emptydir', 'hostpath'])",
        message="no StorageClass can have this name: use lower-case letters, digits, '-' and '.', e.g. fast-ssd; or "
        "emptyDir or hostPath",
        judge=lambda text: None if text.lower() in ("", "emptydir", "hostpath") else matches(SUBDOMAIN)(text),
    ),
    Rule(
        name="storage-size",
        at=f"{_VOLUMES}[].storageSize",
        cel="isQuantity(self) && !quantity(self).isLessThan(quantity('0'))",
        message="is no size: write for example 100Gi",
        judge=must(is_size),
    ),
    Rule(
        name="claim-size",
        at=f"{_VOLUMES}[]",
        cel="has(self.storageSize) || has(self.hostPath) || has(self.storageClassName) && "
        "self.storageClassName.lowerAscii() in ['emptydir', 'hostpath']",
        message="storageSize is missing: say how large the volume of each pod is, e.g. storageSize: 100Gi",
        judge=must(is_claim_or_sized),
    ),
    Rule(
        name="host-path",
        at=f"{_VOLUMES}[]",
        cel="!has(self.storageClassName) || self.storageClassName.lowerAscii() != 'hostpath' || has(self.hostPath)",
        message="a hostPath volume needs hostPath.path: say which directory of the node",
        judge=must(lambda item: str(item.get("storageClassName") or "").lower() != "hostpath" or "hostPath" in item),
    ),
    Rule(
        name="host-path-path",
        at=f"{_VOLUMES}[].hostPath.path",
        cel="self != ''",
        message="a hostPath volume needs a path: say which directory of the node",
        judge=must(bool),
    ),
    Rule(
        name="shrunk-volume",
        at=_VOLUMES,
        cel=f"!self.exists(v, {_SHRUNK})",
        culprit=f"self.map(v, {_SHRUNK}, v.name)[0]",
        message="volume {culprit} would become smaller, which no volume can: set storageSize back, or ask for more",
        judge=always,
        judge_change=shrunk_volume,
    ),
    *(rule for at in _MOUNT_LISTS for rule in _mounted_object(at)),
    Rule(
        name="shared-mount-path",
        at="spec.{component}",
        cel=" && ".join(
            _apart(one, other) for one, other in combinations(("storageVolumes", "configMaps", "secrets"), 2)
        ),
        message="two of storageVolumes, configMaps and secrets are mounted at the same path: give each a mountPath of "
        "its own",
        judge=shared_mount_path,
        spares_old=True,
    ),
    Rule(
        name="config-map-info",
        at="spec.{workload}.configMapInfo",
        cel="(has(self.configMapName) && self.configMapName != '') == (has(self.resolveKey) && self.resolveKey != '')",
        message="needs both configMapName and resolveKey",
        judge=must(lambda info: bool(info.get("configMapName")) == bool(info.get("resolveKey"))),
    ),
    label(
        name="config-map-name",
        at="spec.{workload}.configMapInfo.configMapName",
        longest=63,
        or_empty=True,
        message="cannot become the name of a volume: use at most 63 lower-case letters, digits and '-', no dots",
    ),
)
