"""The configuration files of the node's parts: pure functions of the place, JSON where YAML is asked for."""

import json
from typing import Any

from lab.node.place import NODE, Place

PAUSE = "localhost/starrocks-operator-pause:lab"


def files(place: Place) -> dict[str, str]:
    """Every file below `place.config`, by name."""
    return {
        "containerd.toml": containerd(place),
        "cni/10-lab.conflist": json.dumps(network(place)),
        "kubelet.yaml": json.dumps(kubelet(place)),
        "kube-proxy.yaml": json.dumps(kube_proxy(place)),
        "Corefile": corefile(place),
        "nat.nft": nat(place),
        "resolv.conf": "",  # there is no outside to ask
    }


def containerd(place: Place) -> str:
    unused = ("snapshotter.v1.btrfs", "snapshotter.v1.zfs", "snapshotter.v1.aufs", "snapshotter.v1.devmapper")
    disabled = json.dumps([f"io.containerd.{plugin}" for plugin in unused])
    # restrict_oom_score_adj: inside somebody's container nobody may lower his own score.
    return f"""\
version = 2
root = "{place.directory}/containerd"
state = "{place.directory}/run"
disabled_plugins = {disabled}
[grpc]
  address = "{place.containerd_socket}"
[plugins."io.containerd.internal.v1.opt"]
  path = "{place.directory}/opt"
[plugins."io.containerd.grpc.v1.cri"]
  sandbox_image = "{PAUSE}"
  restrict_oom_score_adj = true
  disable_tcp_service = true
  netns_mounts_under_state_dir = true
  [plugins."io.containerd.grpc.v1.cri".cni]
    bin_dir = "/usr/lib/cni"
    conf_dir = "{place.config}/cni"
  [plugins."io.containerd.grpc.v1.cri".containerd.runtimes.runc]
    runtime_type = "io.containerd.runc.v2"
"""


def network(place: Place) -> dict[str, Any]:
    ipam = {
        "type": "host-local",
        "dataDir": f"{place.directory}/addresses",
        "ranges": [[{"subnet": place.pods}]],
        "routes": [{"dst": "0.0.0.0/0"}],
    }
    bridge = {"type": "bridge", "bridge": "pods", "isGateway": True, "hairpinMode": True, "ipMasq": False, "ipam": ipam}
    return {"cniVersion": "0.4.0", "name": "lab", "plugins": [bridge]}


def kubelet(place: Place) -> dict[str, Any]:
    return {
        "apiVersion": "kubelet.config.k8s.io/v1beta1",
        "kind": "KubeletConfiguration",
        "authentication": {
            "anonymous": {"enabled": False},
            "webhook": {"enabled": False},
            "x509": {"clientCAFile": f"{place.plane}/pki/ca.crt"},
        },
        "authorization": {"mode": "AlwaysAllow"},
        "containerRuntimeEndpoint": f"unix://{place.containerd_socket}",
        "address": place.address,
        "readOnlyPort": 0,
        "healthzBindAddress": "127.0.0.1",
        # A machine with the first version of cgroups, or with none that systemd made, will do.
        "failCgroupV1": False,
        "cgroupDriver": "cgroupfs",
        "cgroupRoot": f"/{place.cgroup}",
        "failSwapOn": False,
        # The disk is the machine's: how full it is, is none of the node's business.
        "localStorageCapacityIsolation": False,
        "evictionHard": {"memory.available": "50Mi", "nodefs.available": "1%", "imagefs.available": "1%"},
        "imageGCHighThresholdPercent": 100,
        "clusterDNS": [place.dns_service],
        "clusterDomain": "cluster.local",
        "resolvConf": f"{place.config}/resolv.conf",
        "podLogsDir": f"{place.directory}/pods",
        "volumePluginDir": f"{place.directory}/plugins",
        "maxPods": 200,
        "nodeStatusUpdateFrequency": "5s",
        "nodeLeaseDurationSeconds": 40,
        "kubeAPIQPS": 200,
        "kubeAPIBurst": 400,
    }


def kube_proxy(place: Place) -> dict[str, Any]:
    return {
        "apiVersion": "kubeproxy.config.k8s.io/v1alpha1",
        "kind": "KubeProxyConfiguration",
        "mode": "nftables",
        "clientConnection": {"kubeconfig": str(place.kubeconfig("kube-proxy"))},
        "hostnameOverride": NODE,
        "clusterCIDR": place.pods,
        "conntrack": {"maxPerCore": 0, "min": 0},  # the machine's own limit stays as it is
        "healthzBindAddress": f"{place.address}:10256",
        "metricsBindAddress": "127.0.0.1:10249",
        "nodePortAddresses": [f"{place.address}/32"],
        "nftables": {"minSyncPeriod": "100ms", "syncPeriod": "30s"},
    }


def corefile(place: Place) -> str:
    return f"""\
.:53 {{
  bind {place.address}
  errors
  ready {place.address}:8181
  kubernetes cluster.local {{
    kubeconfig {place.kubeconfig("coredns")}
    ttl 2
  }}
}}
"""


def nat(place: Place) -> str:
    """Pods speak to the API server from the node's address: the machine needs no way back to theirs."""
    return f"""\
table ip lab {{
  chain leaving {{
    type nat hook postrouting priority srcnat;
    ip saddr {place.pods} oifname "wire" masquerade
  }}
}}
"""
