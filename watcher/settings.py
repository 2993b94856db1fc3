"""Everything that can be set from outside: a flag, and its twin in the environment.

The flag wins. The table below is the documentation: `python -m watcher --help` prints it.
"""

from __future__ import annotations

import argparse
import os
import secrets
import socket
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path

from starrocks_operator.decision import Customs
from starrocks_operator.frontend.tls import TlsMode

ROOT = Path(__file__).resolve().parent.parent
SERVICE_ACCOUNT = Path("/var/run/secrets/kubernetes.io/serviceaccount")


@dataclass(frozen=True, kw_only=True)
class Settings:
    """The settings of one process."""

    namespaces: tuple[str, ...]  # empty: all of them
    deny_list: tuple[str, ...]  # namespaces that are left alone
    default_profile: str
    dns_domain: str
    withheld_variables: tuple[str, ...]  # of the operator's own, in no container
    volume_name_with_hash: bool
    fe_ssl_mode: str
    lease_namespace: str
    lease_name: str
    lease_seconds: float
    identity: str
    rival_lease: str
    rival_seconds: float
    http_address: tuple[str, int]
    metrics_address: tuple[str, int] | None  # none: the same
    concurrency: int
    batch_size: int
    forks: int
    run_timeout: float
    poll_interval: float
    settled_interval: float
    resync_interval: float
    looks: int
    kubeconfig: str
    playbook: Path
    ansible: str
    scratch: Path
    log_format: str
    log_level: str

    @property
    def clusterwide(self) -> bool:
        return not self.namespaces

    @property
    def customs(self) -> Customs:
        return Customs(withheld_variables=self.withheld_variables, plain_volume_names=not self.volume_name_with_hash)

    def in_scope(self, namespace: str) -> bool:
        return namespace not in self.deny_list and (self.clusterwide or namespace in self.namespaces)


def parse(arguments: Sequence[str] | None = None, environment: Mapping[str, str] | None = None) -> Settings:
    """The settings that the command line and the environment give."""
    env = os.environ if environment is None else environment
    values = vars(_parser(env).parse_args(arguments))
    return Settings(identity=_identity(env), **values)


def _parser(env: Mapping[str, str]) -> argparse.ArgumentParser:
    parser = argparse.ArgumentParser(
        prog="python -m watcher", description="Watches StarRocksClusters and runs Ansible."
    )

    def flag(name: str, variable: str, default: object, text: str, **options: object) -> None:
        shown = str(default) or "empty"
        parser.add_argument(
            name,
            default=env.get(variable, default),
            help=f"{text} (environment: {variable}; default: {shown})",
            **options,  # type: ignore[arg-type]
        )

    flag("--namespaces", "WATCH_NAMESPACE", "", "comma-separated namespaces; empty means all of them", type=_names)
    flag("--deny-list", "DENY_LIST", "", "comma-separated namespaces that are left alone", type=_names)
    flag("--default-profile", "DEFAULT_PROFILE", "safe", "pod templates of new clusters", choices=("safe", "upstream"))
    flag("--fe-ssl-mode", "FE_SSL_MODE", "PREFERRED", "TLS to FE", type=str.upper, choices=tuple(map(str, TlsMode)))
    flag("--dns-domain", "DNS_DOMAIN", "cluster.local", "DNS domain of the Kubernetes cluster, for the frontend proxy")
    flag(
        "--withheld-variables",
        "KUBE_STARROCKS_UNSUPPORTED_ENVS",
        "",
        "comma-separated variables of the operator that no container gets",
        type=_names,
    )
    flag(
        "--volume-name-with-hash",
        "VOLUME_NAME_WITH_HASH",
        "true",
        "false: volumes of mounted ConfigMaps and Secrets have their name alone",
        type=_truth,
    )
    flag("--lease-namespace", "POD_NAMESPACE", _own_namespace(), "namespace of the operator's Lease")
    flag("--lease-name", "LEASE_NAME", "starrocks-operator", "name of the operator's Lease")
    flag("--lease-seconds", "LEASE_SECONDS", 15.0, "how long the Lease outlives its holder", type=float)
    flag("--rival-lease", "RIVAL_LEASE", "c6c79638.starrocks.com", "Lease of the official operator; empty: none")
    flag("--rival-seconds", "RIVAL_SECONDS", 60.0, "how often the rival's Lease is looked for", type=float)
    flag("--http-address", "HTTP_ADDRESS", ":8080", "where /healthz, /readyz and /metrics are served", type=_address)
    flag("--metrics-address", "METRICS_ADDRESS", "", "an address for /metrics alone", type=_optional_address)
    flag("--concurrency", "CONCURRENCY", 2, "Ansible runs at a time", type=int)
    flag("--batch-size", "BATCH_SIZE", 50, "clusters in one run, at most", type=int)
    flag("--forks", "FORKS", 2, "Ansible forks of one run", type=int)
    flag("--run-timeout", "RUN_TIMEOUT", 60.0, "seconds a run may take; five more for each cluster in it", type=float)
    flag("--poll-interval", "POLL_INTERVAL", 1.0, "seconds between looks at a cluster that changes", type=float)
    flag("--settled-interval", "SETTLED_INTERVAL", 60.0, "seconds between looks at one that does not", type=float)
    flag("--resync-interval", "RESYNC_INTERVAL", 600.0, "seconds between comparisons of index and API", type=float)
    flag("--looks", "LOOKS", 16, "clusters that may be asked by SQL at a time", type=int)
    flag("--kubeconfig", "KUBECONFIG", "", "kubeconfig file; empty: the pod's service account")
    flag("--playbook", "PLAYBOOK", ROOT / "playbooks" / "cluster.yml", "the playbook to run", type=Path)
    flag(
        "--ansible",
        "ANSIBLE_MODE",
        "warm",
        "warm keeps a parent process that runs are forked of",
        choices=("warm", "cold"),
    )
    flag("--scratch", "SCRATCH", "/dev/shm", "a tmpfs for the files of a run", type=Path)  # noqa: S108
    flag("--log-format", "LOG_FORMAT", "auto", "auto means console on a terminal", choices=("auto", "json", "console"))
    flag("--log-level", "LOG_LEVEL", "info", "debug, info, warning or error")
    return parser


def _names(text: str) -> tuple[str, ...]:
    return tuple(sorted({name.strip() for name in text.split(",") if name.strip()}))


def _truth(text: str) -> bool:
    if text.lower() not in ("true", "false"):
        raise argparse.ArgumentTypeError(f"{text!r} is neither true nor false")
    return text.lower() == "true"


def _address(text: str) -> tuple[str, int]:
    host, _, port = text.rpartition(":")
    if not port.isdigit():
        raise argparse.ArgumentTypeError(f"{text!r} is no address: write host:port, or :port for all interfaces")
    return host or "0.0.0.0", int(port)  # noqa: S104


def _optional_address(text: str) -> tuple[str, int] | None:
    return _address(text) if text else None


def _own_namespace() -> str:
    file = SERVICE_ACCOUNT / "namespace"
    return file.read_text().strip() if file.exists() else "default"


def _identity(env: Mapping[str, str]) -> str:
    """Never the same for two processes, not even for the same pod restarted."""
    return f"{env.get('POD_NAME') or socket.gethostname()}_{secrets.token_hex(4)}"
