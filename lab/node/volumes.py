"""Volumes on the node's disk: a directory for each claim, made when its pod has been scheduled, removed after it.

`python -m lab.node.volumes DIRECTORY NUMBER` is the external provisioner and resizer of the class `standard`. Binding,
protection and the decision to delete are Kubernetes' own.
"""

import shutil
import sys
import time
from pathlib import Path
from typing import Any

from kubernetes import client, config
from kubernetes.client.exceptions import ApiException

from lab.node.place import NODE, Place

PROVISIONER = "lab.starrocks.com/local"
_MADE_BY = "pv.kubernetes.io/provisioned-by"
_SELECTED = "volume.kubernetes.io/selected-node"
_INTERVAL = 0.5
_CONFLICT = 409
_GONE = 404


def main() -> None:
    place = Place(directory=Path(sys.argv[1]), number=int(sys.argv[2]))
    api = client.CoreV1Api(config.new_client_from_config(str(place.kubeconfig("volumes"))))
    place.volumes.mkdir(exist_ok=True)
    while True:
        try:
            _look(api, place)
        except ApiException as error:
            if error.status not in (_CONFLICT, _GONE):  # somebody else was quicker: the next look tells
                print(f"the API server refused: {error.status} {error.reason}", flush=True)
        except OSError as error:
            print(f"the API server does not answer: {error}", flush=True)
        time.sleep(_INTERVAL)


def _look(api: Any, place: Place) -> None:
    ours = {volume.metadata.name: volume for volume in api.list_persistent_volume().items if _is_ours(volume)}
    for claim in api.list_persistent_volume_claim_for_all_namespaces().items:
        annotations = claim.metadata.annotations or {}
        if (
            annotations.get("volume.kubernetes.io/storage-provisioner") != PROVISIONER
            or claim.metadata.deletion_timestamp
        ):
            continue
        name = f"pvc-{claim.metadata.uid}"
        if name in ours:
            _grow(api, claim, ours[name])
        elif annotations.get(_SELECTED) and not claim.spec.volume_name:
            _make(api, place, claim, name)
    for name, volume in ours.items():
        if volume.status.phase == "Released" and volume.spec.persistent_volume_reclaim_policy == "Delete":
            shutil.rmtree(place.volumes / name, ignore_errors=True)
            api.delete_persistent_volume(name)


def _make(api: Any, place: Place, claim: Any, name: str) -> None:
    path = place.volumes / name
    path.mkdir(exist_ok=True)
    path.chmod(0o777)  # a pod without an fsGroup writes to it, too
    api.create_persistent_volume(volume_of(claim, name=name, path=path))


def volume_of(claim: Any, *, name: str, path: Path) -> dict[str, Any]:
    """The volume that will be bound to the claim and to nothing else."""
    node = {"key": "kubernetes.io/hostname", "operator": "In", "values": [NODE]}
    owner = {"namespace": claim.metadata.namespace, "name": claim.metadata.name, "uid": claim.metadata.uid}
    return {
        "apiVersion": "v1",
        "kind": "PersistentVolume",
        "metadata": {"name": name, "annotations": {_MADE_BY: PROVISIONER}},
        "spec": {
            "capacity": {"storage": claim.spec.resources.requests["storage"]},
            "accessModes": claim.spec.access_modes,
            "storageClassName": claim.spec.storage_class_name,
            "persistentVolumeReclaimPolicy": "Delete",
            "claimRef": {"apiVersion": "v1", "kind": "PersistentVolumeClaim", **owner},
            "local": {"path": str(path)},
            "nodeAffinity": {"required": {"nodeSelectorTerms": [{"matchExpressions": [node]}]}},
        },
    }


def _grow(api: Any, claim: Any, volume: Any) -> None:
    """A directory is as large as the disk, so growing is a matter of saying so."""
    if claim.status.phase != "Bound":
        return
    wanted = claim.spec.resources.requests["storage"]
    size = {"capacity": {"storage": wanted}}
    if volume.spec.capacity["storage"] != wanted:
        api.patch_persistent_volume(volume.metadata.name, {"spec": size})
    if (claim.status.capacity or {}).get("storage") != wanted:
        key = claim.metadata
        api.patch_namespaced_persistent_volume_claim_status(key.name, key.namespace, {"status": size})


def _is_ours(volume: Any) -> bool:
    return bool((volume.metadata.annotations or {}).get(_MADE_BY) == PROVISIONER)


if __name__ == "__main__":
    main()
