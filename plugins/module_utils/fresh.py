"""Reading a cluster and everything a step depends on afresh from the API server: nothing cached.

What is written there by a step of Kubernetes is in `hands`.
"""

from __future__ import annotations

import json
import os
import traceback
from datetime import UTC, datetime
from urllib.parse import quote, urlencode

try:
    import urllib3
    from kubernetes import config
    from kubernetes.client import ApiClient, Configuration

    KUBERNETES_MISSING = None
except ImportError:
    KUBERNETES_MISSING = traceback.format_exc()

try:
    from starrocks_operator.components import COMPONENTS
    from starrocks_operator.config import configurations_of
    from starrocks_operator.frontend.group import group_login
    from starrocks_operator.frontend.ladder import Former, holders_of, ladder
    from starrocks_operator.group.cases import COMPONENT
    from starrocks_operator.membership.warehouses import departed_of
    from starrocks_operator.model import ComputeNodeGroup, parse
    from starrocks_operator.objects import references
    from starrocks_operator.objects.configuration import ConfigurationSource, configuration_of
    from starrocks_operator.objects.former import with_remembered
    from starrocks_operator.objects.inline_configuration import CONFIGURATION_LABEL
    from starrocks_operator.objects.metadata import GROUP_LABEL
    from starrocks_operator.objects.names import former_name, marker_name, stateful_set_name
    from starrocks_operator.observed import Accounts, Children, Observed
    from starrocks_operator.rollout import revisions_needed
    from starrocks_operator.step import StepKind
    from starrocks_operator.storage.claims import classes_needed

    DOMAIN_MISSING = None
except ImportError:
    DOMAIN_MISSING = traceback.format_exc()

CONNECT_SECONDS, READ_SECONDS = 3.0, 10.0
OWNER = "app.starrocks.ownerreference/name"
PODS = ("Pod", "/api/v1/namespaces/{0}/pods")
RESOURCES = {"StarRocksCluster": "starrocksclusters", "StarRocksWarehouse": "starrockswarehouses"}
PLURALS = {"ConfigMap": "configmaps", "Secret": "secrets"}


class ApiError(Exception):
    """The API server could not be read; the message is a sentence."""


class ApiServer:
    """The API server that the environment variable KUBECONFIG names, or the one of the cluster we run in."""

    def __init__(self):
        configuration = Configuration()
        path = os.environ.get("KUBECONFIG")
        if path:
            config.load_kube_config(config_file=path, client_configuration=configuration, persist_config=False)
        else:
            config.load_incluster_config(client_configuration=configuration)
        configuration.retries = urllib3.Retry(
            total=2, status_forcelist=(429, 500, 502, 503, 504), backoff_factor=0.2, raise_on_status=False
        )
        self._client = ApiClient(configuration)

    def get(self, path, **query):
        """The object or list at this path; None if there is none."""
        status, found = self.request("GET", path + ("?" + urlencode(query) if query else ""))
        if status == 0:
            raise ApiError(f"The API server cannot be read ({found['message']}).")
        if status == 404:
            return None
        if status != 200:
            raise ApiError(f"The API server answered {status} to GET {path}.")
        return found

    def request(self, method, path, body=None, content_type="application/json"):
        """Status and document of the answer; status 0 with a message if there was none. Only reads are repeated."""
        headers = {"Accept": "application/json", "User-Agent": "starrocks-operator", "Content-Type": content_type}
        self._client.update_params_for_auth(headers, [], ["BearerToken"], path, method, None)
        pool, url = self._client.rest_client.pool_manager, self._client.configuration.host + path
        timeout = urllib3.Timeout(connect=CONNECT_SECONDS, read=READ_SECONDS)
        more = {} if method == "GET" else {"retries": False}
        if body is not None:
            more["body"] = json.dumps(body)
        try:
            response = pool.request(method, url, headers=headers, timeout=timeout, **more)
        except urllib3.exceptions.HTTPError as failure:
            return 0, {"message": str(failure)[:300]}
        try:
            return response.status, json.loads(response.data)
        except ValueError:
            return response.status, {"message": response.data.decode(errors="replace")[:300]}


class Fresh:
    """A cluster as it is now."""

    def __init__(self, api, cluster, observed, credentials):
        self.api = api
        self.cluster = cluster
        self.observed = observed
        self.credentials = credentials


def read_cluster(api, namespace, name, kind="StarRocksCluster"):
    """The StarRocksCluster, or StarRocksWarehouse, as it is now; None if it is gone."""
    path = "/apis/starrocks.com/v1/namespaces/{0}/{1}/{2}"
    raw = api.get(path.format(quote(namespace), RESOURCES[kind], quote(name)))
    return None if raw is None else parse(raw)


def read_group(api, namespace, name):
    """The ComputeNodeGroup as it is now; None if it is gone."""
    path = "/apis/starrocks.com/v1alpha1/namespaces/{0}/computenodegroups/{1}"
    raw = api.get(path.format(quote(namespace), quote(name)))
    return None if raw is None else ComputeNodeGroup.parse(raw)


def read_fresh_group(api, group, fe_ssl_mode="DISABLED"):
    """Everything that a step of the group depends on, but FE itself."""
    named, config = group.spec.fe_info.account_secret, group.spec.config
    login = group_login(group, _named(api, group.namespace, "Secret", named) if named else None, tls=fe_ssl_mode)
    configurations = {}
    if config is not None and config.name:
        source = ConfigurationSource(config.name, config.key)
        configurations = {COMPONENT: _configuration(api, group.namespace, source)}
    label = f"{GROUP_LABEL}={group.name}"
    found = []
    for kind, path in (("StatefulSet", "/apis/apps/v1/namespaces/{0}/statefulsets"), PODS):
        listed = api.get(path.format(quote(group.namespace)), labelSelector=label) or {}
        whose = {"apiVersion": listed.get("apiVersion"), "kind": kind}
        found.extend({**whose, **item} for item in listed.get("items") or ())
    observed = Observed(
        now=datetime.now(UTC),
        children=Children.of(found),
        configurations=configurations,
        credentials_problem=login.problem,
    )
    return Fresh(api, group, observed, login.credentials)


def read_lease(api, namespace, name):
    """The operator's own Lease."""
    path = "/apis/coordination.k8s.io/v1/namespaces/{0}/leases/{1}"
    return api.get(path.format(quote(namespace), quote(name)))


def read_fresh(api, cluster, former=None, fe_ssl_mode="DISABLED", step=None):
    """Everything that a step of the cluster's membership depends on, but FE itself.

    former: passwords that FE accepted before their Secrets changed. fe_ssl_mode: where the cluster does not say.
    """
    host, lacking = cluster, ""
    if cluster.warehouse:
        found = read_cluster(api, cluster.namespace, cluster.frontends_of)
        host, lacking = (found, "") if found else (cluster, f"There is no StarRocksCluster {cluster.frontends_of}.")
    wanted = references(host)
    holders = {holder: _named(api, host.namespace, *holder) for holder in holders_of(wanted)}
    climbed = ladder(host, wanted, holders, former=Former(**(former or {})), default_tls=fe_ssl_mode)
    sources = wanted.configurations
    children = _children(api, cluster, step)
    files = _configurations(api, cluster, sources)
    if host is not cluster:
        children += _children(api, host)
        theirs = configurations_of(host, Children.of(children), files)
        files = _configurations(api, cluster, references(cluster).configurations)
        files.update({"fe": theirs["fe"]} if "fe" in theirs else {})
    remembered = with_remembered(cluster, Children.of(children), tuple(COMPONENTS))
    observed = Observed(
        now=datetime.now(UTC),
        children=with_remembered(host, remembered, tuple(COMPONENTS)),
        expandable=_expandable(api, cluster, remembered, step),
        configurations=files,
        credentials_problem=climbed.problem,
        accounts=climbed.accounts if host is cluster else Accounts(),
        cluster_problem=lacking,
        revisions=_revisions(api, cluster, children),
        departed=_departed(api, cluster, step),
    )
    return Fresh(api, cluster, observed, climbed.credentials)


def _revisions(api, cluster, children):
    path = "/apis/apps/v1/namespaces/{0}/controllerrevisions/{1}"
    names = revisions_needed(Children.of(children))
    found = {name: api.get(path.format(quote(cluster.namespace), quote(name))) for name in names}
    return {name: raw for name, raw in found.items() if raw is not None}


def _departed(api, cluster, step):
    """The warehouse for whose sake the step is to be taken, if it is really gone, and no pods may run for it."""
    name = "" if cluster.warehouse else departed_of(step)
    if not name or read_cluster(api, cluster.namespace, name, "StarRocksWarehouse") is not None:
        return ()
    workload = "/apis/apps/v1/namespaces/{0}/statefulsets/{1}-warehouse-cn"
    return () if api.get(workload.format(quote(cluster.namespace), quote(name))) else (name,)


def _expandable(api, cluster, children, step):
    """Whether the classes of claims that are to grow let them; asked only if one is to grow now."""
    found = {}
    if step is not None and step.kind == StepKind.GROW_CLAIM:
        for name in classes_needed(cluster, children):
            try:
                raw = api.get(f"/apis/storage.k8s.io/v1/storageclasses/{quote(name)}")
                found[name] = bool((raw or {}).get("allowVolumeExpansion"))
            except ApiError:
                found[name] = None
    return found


def _written_down(api, cluster, found, step):
    """What is written down of StatefulSets: of those that are not there although their pods are, or about to go."""
    names = {raw["metadata"]["name"] for raw in found if raw["kind"] == "StatefulSet"}
    pods = [raw["metadata"]["name"] for raw in found if raw["kind"] == "Pod"]
    for component in COMPONENTS:
        name = stateful_set_name(cluster, component)
        to_go = step is not None and step.kind == StepKind.ORPHAN_STATEFUL_SET and step.target == name
        gone = name not in names and any(pod.startswith(f"{name}-") for pod in pods)
        if to_go or gone:
            raw = _named(api, cluster.namespace, "ConfigMap", former_name(cluster, component))
            found += [raw] if raw else []


def _children(api, cluster, step=None):
    pods = ",".join(f"{cluster.name}-{component}" for component in COMPONENTS)
    queries = (
        ("StatefulSet", "/apis/apps/v1/namespaces/{0}/statefulsets", f"{OWNER}={cluster.name}"),
        ("Pod", "/api/v1/namespaces/{0}/pods", f"{OWNER} in ({pods})"),
        ("PersistentVolumeClaim", "/api/v1/namespaces/{0}/persistentvolumeclaims", f"{OWNER} in ({pods})"),
    )
    found = []
    for kind, path, selector in queries:
        listed = api.get(path.format(quote(cluster.namespace)), labelSelector=selector) or {}
        whose = {"apiVersion": listed.get("apiVersion"), "kind": kind}  # a list's items do not say it themselves
        found.extend({**whose, **item} for item in listed.get("items") or ())
    configurations = api.get(
        f"/api/v1/namespaces/{quote(cluster.namespace)}/configmaps",
        labelSelector=f"{OWNER}={cluster.name},{CONFIGURATION_LABEL}",
    )
    found.extend({"kind": "ConfigMap", **item} for item in (configurations or {}).get("items") or ())
    _written_down(api, cluster, found, step)
    marker = _named(api, cluster.namespace, "ConfigMap", marker_name(cluster))
    return found + ([marker] if marker else [])


def _named(api, namespace, kind, name):
    return api.get(f"/api/v1/namespaces/{quote(namespace)}/{PLURALS[kind]}/{quote(name)}")


def _configuration(api, namespace, source):
    return configuration_of(_named(api, namespace, "ConfigMap", source.config_map), source)


def _configurations(api, cluster, sources):
    return {component: _configuration(api, cluster.namespace, source) for component, source in sources.items()}
