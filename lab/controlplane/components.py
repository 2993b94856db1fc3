"""The command line of each part of the control plane: one function each, pure, in the order in which they start.

Chosen for a lab: short periods where a test would wait, high client limits so that fifty clusters come up at once, no
leader election (there is one of each), and only the controllers that matter here.
"""

from collections.abc import Callable
from dataclasses import dataclass

from lab.controlplane.layout import CONFIG, Layout

# endpointslice is not among them: the API refuses loopback addresses in an EndpointSlice, so it could only fail.
CONTROLLERS = (
    "clusterrole-aggregation-controller",
    "cronjob-controller",
    "daemonset-controller",
    "deployment-controller",
    "disruption-controller",
    "ephemeral-volume-controller",
    "garbage-collector-controller",
    "horizontal-pod-autoscaler-controller",
    "job-controller",
    "namespace-controller",
    "node-lifecycle-controller",
    "persistentvolume-binder-controller",
    "persistentvolume-protection-controller",
    "persistentvolumeclaim-protection-controller",
    "pod-garbage-collector-controller",
    "replicaset-controller",
    "resourcequota-controller",
    "root-ca-certificate-publisher-controller",
    "serviceaccount-controller",
    "serviceaccount-token-controller",
    "statefulset-controller",
    "taint-eviction-controller",
    "ttl-after-finished-controller",
    "validatingadmissionpolicy-status-controller",
)

_CLIENT_LIMITS = ("--kube-api-qps=2000", "--kube-api-burst=4000")


@dataclass(frozen=True)
class Component:
    """A program of the plane: what it is called and how it is run."""

    name: str
    arguments: Callable[[Layout], list[str]]


def etcd(layout: Layout) -> list[str]:
    client = f"http://127.0.0.1:{layout.etcd_port}"
    peer = f"http://127.0.0.1:{layout.etcd_peer_port}"
    return [
        f"--name={layout.name}",
        f"--data-dir={layout.etcd_data}",
        f"--listen-client-urls={client}",
        f"--advertise-client-urls={client}",
        f"--listen-peer-urls={peer}",
        f"--initial-advertise-peer-urls={peer}",
        f"--initial-cluster={layout.name}={peer}",
        "--unsafe-no-fsync=true",  # a lab may lose its data in a power cut
        "--auto-compaction-mode=periodic",
        "--auto-compaction-retention=30m",
        "--quota-backend-bytes=8589934592",
        "--log-level=warn",
    ]


def kube_apiserver(layout: Layout, *, audit: bool = True) -> list[str]:
    pki = layout.certificates
    arguments = [
        f"--bind-address={layout.address}",
        f"--advertise-address={layout.address}",
        f"--secure-port={layout.api_port}",
        "--endpoint-reconciler-type=none",
        f"--etcd-servers=http://127.0.0.1:{layout.etcd_port}",
        f"--cert-dir={pki}",
        f"--tls-cert-file={pki / 'server.crt'}",
        f"--tls-private-key-file={pki / 'server.key'}",
        f"--client-ca-file={pki / 'ca.crt'}",
        "--authorization-mode=RBAC",
        "--service-account-issuer=https://kubernetes.default.svc",
        f"--service-account-key-file={pki / 'tokens.pub'}",
        f"--service-account-signing-key-file={pki / 'tokens.key'}",
        f"--service-cluster-ip-range={layout.services}",
        "--allow-privileged=true",
        "--max-requests-inflight=2000",
        "--max-mutating-requests-inflight=1000",
        "--event-ttl=24h",
        "--profiling=false",
    ]
    if audit:
        arguments += [
            f"--audit-policy-file={CONFIG / 'audit-policy.yaml'}",
            f"--audit-log-path={layout.audit_log}",
            "--audit-log-maxsize=4096",
            "--audit-log-mode=blocking",
        ]
    return arguments


def kube_controller_manager(layout: Layout) -> list[str]:
    pki = layout.certificates
    return [
        f"--kubeconfig={layout.component_kubeconfig('kube-controller-manager')}",
        f"--controllers={','.join(CONTROLLERS)}",
        f"--root-ca-file={pki / 'ca.crt'}",
        f"--service-account-private-key-file={pki / 'tokens.key'}",
        "--use-service-account-credentials=true",
        "--secure-port=0",
        "--leader-elect=false",
        "--horizontal-pod-autoscaler-sync-period=5s",
        "--horizontal-pod-autoscaler-downscale-stabilization=5s",
        "--node-monitor-period=5s",
        "--pvclaimbinder-sync-period=5s",
        "--resource-quota-sync-period=30s",
        "--concurrent-statefulset-syncs=10",
        "--concurrent-gc-syncs=10",
        *_CLIENT_LIMITS,
    ]


def kube_scheduler(layout: Layout) -> list[str]:
    return [
        f"--kubeconfig={layout.component_kubeconfig('kube-scheduler')}",
        "--secure-port=0",
        "--leader-elect=false",
        *_CLIENT_LIMITS,
    ]


def kwok(layout: Layout) -> list[str]:
    return [
        f"--kubeconfig={layout.component_kubeconfig('kwok')}",
        f"--config={CONFIG / 'stages.yaml'}",
        "--manage-all-nodes=true",
        f"--cidr={layout.cidr}",
        f"--node-ip={layout.node_address}",
        "--node-lease-duration-seconds=40",
    ]


def plane(*, audit: bool) -> list[Component]:
    """Every component, in the order of starting."""
    return [
        Component("etcd", etcd),
        Component("kube-apiserver", lambda layout: kube_apiserver(layout, audit=audit)),
        Component("kube-controller-manager", kube_controller_manager),
        Component("kube-scheduler", kube_scheduler),
        Component("kwok", kwok),
    ]
