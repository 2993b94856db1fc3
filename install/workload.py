"""The operator's Deployment: one source for `deploy/` and for the bundle.

One process works at a time, and `/readyz` says which: a second one is never ready while the first holds the Lease. So
the pod is replaced and not rolled (`Recreate`), or a rollout would wait for ever for the new one.
"""

from __future__ import annotations

from typing import Any

from install.identity import IMAGE, LABELS, METRICS_PORT, NAME, NAMESPACE, PORTS, PROBES_PORT, VERSION

Json = dict[str, Any]

HOME = "/tmp"  # noqa: S108
SCRATCH = "/dev/shm"  # noqa: S108

# Both live in memory, so that no password that a run is given ever reaches a disk. They count as the container's.
VOLUMES = {"home": (HOME, "32Mi"), "scratch": (SCRATCH, "128Mi")}

# Two hundred clusters take less than 300 MiB in all processes (`make bench`); the rest is for what VOLUMES may hold. No
# limit of CPU: a throttled process may renew its Lease too late.
RESOURCES: Json = {
    "requests": {"cpu": "100m", "memory": "256Mi"},
    "limits": {"memory": "512Mi"},
}


def deployment(*, watch: Json, image: str = IMAGE, namespace: str | None = NAMESPACE) -> Json:
    """The Deployment. watch: where WATCH_NAMESPACE is taken from, as an environment variable has it."""
    return {
        "apiVersion": "apps/v1",
        "kind": "Deployment",
        "metadata": _metadata(NAME, namespace),
        "spec": deployment_spec(watch=watch, image=image),
    }


def labels() -> Json:
    return {**LABELS, "app.kubernetes.io/version": VERSION}


def deployment_spec(*, watch: Json, image: str = IMAGE) -> Json:
    return {
        "replicas": 1,
        "strategy": {"type": "Recreate"},
        "selector": {"matchLabels": LABELS},
        "template": {
            "metadata": {
                "labels": labels(),
                "annotations": {"kubectl.kubernetes.io/default-container": "operator"},
            },
            "spec": {
                "serviceAccountName": NAME,
                "terminationGracePeriodSeconds": 30,  # it ends within ten seconds, and gives its Lease back
                "enableServiceLinks": False,
                "nodeSelector": {"kubernetes.io/os": "linux"},
                # The user is the image's, or the one that OpenShift chooses: any will do.
                "securityContext": {"runAsNonRoot": True, "seccompProfile": {"type": "RuntimeDefault"}},
                "containers": [container(watch=watch, image=image)],
                "volumes": [
                    {"name": name, "emptyDir": {"medium": "Memory", "sizeLimit": size}}
                    for name, (_, size) in VOLUMES.items()
                ],
            },
        },
    }


def container(*, watch: Json, image: str) -> Json:
    return {
        "name": "operator",
        "image": image,
        "imagePullPolicy": "IfNotPresent",
        "env": environment(watch),
        "ports": [{"name": name, "containerPort": port, "protocol": "TCP"} for name, port in PORTS.items()],
        # It listens before it has read anything; the imports before that take seconds on a busy node.
        "startupProbe": probe("/healthz", periodSeconds=2, failureThreshold=60),
        "livenessProbe": probe("/healthz", periodSeconds=10, failureThreshold=3),
        "readinessProbe": probe("/readyz", periodSeconds=5, failureThreshold=2),
        "resources": RESOURCES,
        "securityContext": {
            "allowPrivilegeEscalation": False,
            "readOnlyRootFilesystem": True,
            "capabilities": {"drop": ["ALL"]},
        },
        "volumeMounts": [{"name": name, "mountPath": path} for name, (path, _) in VOLUMES.items()],
    }


def environment(watch: Json) -> list[Json]:
    return [
        {"name": "WATCH_NAMESPACE", **watch},
        {"name": "POD_NAME", "valueFrom": {"fieldRef": {"fieldPath": "metadata.name"}}},
        {"name": "POD_NAMESPACE", "valueFrom": {"fieldRef": {"fieldPath": "metadata.namespace"}}},
        {"name": "HTTP_ADDRESS", "value": f":{PROBES_PORT}"},
        {"name": "METRICS_ADDRESS", "value": f":{METRICS_PORT}"},
        {"name": "SCRATCH", "value": SCRATCH},
        {"name": "HOME", "value": HOME},  # what Ansible keeps beside its runs; a user without a name has no other
        {"name": "LOG_FORMAT", "value": "json"},
    ]


def probe(path: str, **periods: int) -> Json:
    return {"httpGet": {"path": path, "port": "probes"}, "timeoutSeconds": 5, **periods}


def metrics_service(*, namespace: str | None = NAMESPACE) -> Json:
    """What a ServiceMonitor finds. It leads to a process that waits for the Lease, too."""
    return {
        "apiVersion": "v1",
        "kind": "Service",
        "metadata": _metadata(f"{NAME}-metrics", namespace),
        "spec": {
            "selector": LABELS,
            "publishNotReadyAddresses": True,
            "ports": [{"name": "metrics", "port": METRICS_PORT, "targetPort": "metrics", "protocol": "TCP"}],
        },
    }


def _metadata(name: str, namespace: str | None) -> Json:
    return {"name": name} | ({} if namespace is None else {"namespace": namespace}) | {"labels": labels()}
