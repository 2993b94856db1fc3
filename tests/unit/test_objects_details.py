"""The builder field by field: what a StarRocksCluster says, and where it ends up."""

from __future__ import annotations

from typing import Any

import pytest

from starrocks_operator.components import BE, CN, COMPONENTS, FE
from starrocks_operator.model import MountInfo
from starrocks_operator.objects.names import member_host, same_member
from starrocks_operator.objects.prestop import stop_command
from starrocks_operator.objects.volumes import mount_hash
from tests.unit.object_samples import ENV_FIELDS, built, cluster, main_of, pod_of


@pytest.mark.parametrize(
    ("name", "path", "digits"),
    [
        ("test", "/my/path", "1417214019"),
        ("s1", "/pkg/mounts/volumes1", "1614698443"),
        ("s2", "/pkg/mounts/volumes2", "122981513"),
    ],
)
def test_volume_names_hash_the_mount(name: str, path: str, digits: str) -> None:
    assert mount_hash(MountInfo(name=name, mount_path=path)) == digits
    of = cluster(be={"secrets": [{"name": name, "mountPath": path}]})
    assert main_of(of, "be")["volumeMounts"][-1] == {"name": f"{name}-{digits[:4]}", "mountPath": path}


GRACEFUL, AT_ONCE = " -g", ""


@pytest.mark.parametrize(
    ("component", "tag", "ending"),
    [
        (BE, "3.3.18", AT_ONCE),
        (BE, "3.3.19", GRACEFUL),
        (BE, "3.4.7", AT_ONCE),
        (BE, "3.4.8", GRACEFUL),
        (BE, "3.5.5", AT_ONCE),
        (BE, "3.5.5-rc01", AT_ONCE),
        (BE, "3.5.6", GRACEFUL),
        (BE, "3.2.1", GRACEFUL),  # a minor version without a rule
        (BE, "4.0.0", GRACEFUL),
        (BE, "3.3-latest", GRACEFUL),
        (BE, "3.3.1-latest", GRACEFUL),
        (BE, "latest", GRACEFUL),
        (CN, "3.3.16", AT_ONCE),
        (CN, "3.3.17", GRACEFUL),
        (CN, "3.4.5", AT_ONCE),
        (CN, "3.4.6", GRACEFUL),
        (CN, "3.5.1", AT_ONCE),
        (CN, "3.5.2", GRACEFUL),
        (FE, "3.3.0", GRACEFUL),
    ],
)
def test_stop_command_by_release(component: Any, tag: str, ending: str) -> None:
    image = f"registry.example.com:5000/starrocks/x:{tag}"
    name = component.name
    assert stop_command(component, image=image, root="/opt/starrocks") == [
        "/bin/bash",
        "-c",
        f"/opt/starrocks/{name}/bin/stop_{name}.sh{ending}",
    ]


@pytest.mark.parametrize("image", ["", "starrocks/be-ubuntu", "r:5000/be", "be@sha256:" + "0" * 64, "be:3.3.x"])
def test_an_image_that_names_no_release_stops_gracefully(image: str) -> None:
    assert stop_command(BE, image=image, root="/r")[-1] == "/r/be/bin/stop_be.sh -g"


def test_lifecycle_of_the_user_replaces_only_what_it_names() -> None:
    hook = {"exec": {"command": ["/bin/true"]}}
    assert main_of(cluster(fe={"lifecycle": {"preStop": hook}}), "fe")["lifecycle"] == {"preStop": hook}
    with_post = main_of(cluster(fe={"lifecycle": {"postStart": hook}}), "fe")["lifecycle"]
    assert with_post["postStart"] == hook
    assert with_post["preStop"]["exec"]["command"][-1].endswith("stop_fe.sh -g")


@pytest.mark.parametrize("component", ["fe", "be", "cn"])
def test_a_variable_of_the_user_stays_where_and_what_it_is(component: str) -> None:
    env = [{"name": "HOST_TYPE", "value": "IP"}, {"name": "A", "value": "b"}]
    made = main_of(cluster(**{component: {ENV_FIELDS[component]: env}}), component)["env"]
    assert made[:2] == env
    assert [entry["name"] for entry in made].count("HOST_TYPE") == 1


def test_of_equal_variables_the_last_counts() -> None:
    env = [{"name": "A", "value": "1"}, {"name": "B", "value": "2"}, {"name": "A", "value": "3"}]
    made = main_of(cluster(be={"beEnvVars": env}), "be")["env"]
    assert made[:2] == [{"name": "A", "value": "3"}, {"name": "B", "value": "2"}]


def test_another_root_changes_every_path() -> None:
    of = cluster(be={"beEnvVars": [{"name": "STARROCKS_ROOT", "value": "/srv/sr"}]})
    main = main_of(of, "be")
    assert main["workingDir"] == "/srv/sr"
    assert main["command"] == ["/srv/sr/be_entrypoint.sh"]
    assert [mount["mountPath"] for mount in main["volumeMounts"]] == ["/srv/sr/be/storage", "/srv/sr/be/log"]
    assert main["lifecycle"]["preStop"]["exec"]["command"][-1] == "/srv/sr/be/bin/stop_be.sh -g"
    assert "workingDir" not in main_of(cluster(be={}), "be")


@pytest.mark.parametrize(("seconds", "threshold"), [(None, 60), (1, 1), (5, 1), (6, 2), (300, 60), (301, 61)])
def test_probe_patience_is_rounded_up(seconds: int | None, threshold: int) -> None:
    main = main_of(cluster(fe={"startupProbeFailureSeconds": seconds}), "fe")
    assert main["startupProbe"]["failureThreshold"] == threshold


def test_a_patience_of_zero_turns_a_probe_off() -> None:
    main = main_of(cluster(fe={"livenessProbeFailureSeconds": 0}), "fe")
    assert "livenessProbe" not in main
    assert "readinessProbe" in main


@pytest.mark.parametrize(
    ("volume", "default_left"),
    [
        ({"name": "fe-meta", "mountPath": "/elsewhere"}, False),
        ({"name": "my-meta", "mountPath": "/elsewhere"}, False),
        ({"name": "meta", "mountPath": "/elsewhere"}, True),
        ({"name": "disk", "mountPath": "/opt/starrocks/fe/meta"}, False),
        ({"name": "disk", "mountPath": "/opt/starrocks/fe/meta/image"}, False),
        ({"name": "disk", "mountPath": "/other"}, True),
        ({"name": "fe-meta", "mountPath": "/opt/starrocks/fe/meta", "storageSize": "0Gi"}, True),
    ],
)
def test_a_default_volume_gives_way_to_one_of_the_user(volume: dict[str, Any], default_left: bool) -> None:
    volumes = pod_of(cluster(fe={"storageVolumes": [volume]}), "fe")["volumes"]
    assert ({"name": "fe-meta", "emptyDir": {}} in volumes) is default_left


@pytest.mark.parametrize(
    ("volume", "source", "claimed"),
    [
        ({}, {"persistentVolumeClaim": {"claimName": "v"}}, True),
        ({"storageClassName": ""}, {"persistentVolumeClaim": {"claimName": "v"}}, True),
        ({"storageClassName": "EmptyDir"}, {"emptyDir": {}}, False),
        ({"storageClassName": "hostpath", "hostPath": {"path": "/d"}}, {"hostPath": {"path": "/d"}}, False),
        ({"hostPath": {"path": "/d", "type": "Directory"}}, {"hostPath": {"path": "/d", "type": "Directory"}}, False),
        (
            {"storageClassName": "fast", "hostPath": {"path": "/d"}},
            {"persistentVolumeClaim": {"claimName": "v"}},
            True,
        ),
    ],
)
def test_kinds_of_storage(volume: dict[str, Any], source: dict[str, Any], claimed: bool) -> None:
    spec = {"storageVolumes": [{"name": "v", "mountPath": "/v", "subPath": "s", **volume}]}
    made = built(cluster(cn=spec))["StatefulSet/kube-cn"]["spec"]
    assert made["template"]["spec"]["volumes"][0] == {"name": "v", **source}
    assert made["template"]["spec"]["containers"][0]["volumeMounts"][0]["subPath"] == "s"
    assert ("volumeClaimTemplates" in made) is claimed
    if claimed:
        wished = volume.get("storageClassName")
        assert made["volumeClaimTemplates"][0]["spec"].get("storageClassName") == wished


def test_a_mounted_file_is_executable_only_beside_a_command_of_the_user() -> None:
    mounts = {"configMaps": [{"name": "c", "mountPath": "/s.sh", "subPath": "s.sh"}]}
    assert "defaultMode" not in pod_of(cluster(cn=mounts), "cn")["volumes"][-1]["configMap"]
    with_command = pod_of(cluster(cn=mounts | {"command": ["/s.sh"]}), "cn")
    assert with_command["volumes"][-1]["configMap"]["defaultMode"] == 0o755
    assert with_command["containers"][0]["command"] == ["/s.sh"]


@pytest.mark.parametrize("service_type", ["ClusterIP", "NodePort", "LoadBalancer"])
def test_service_fields_only_where_kubernetes_takes_them(service_type: str) -> None:
    service = {
        "type": service_type,
        "loadBalancerIP": "192.0.2.1",
        "loadBalancerSourceRanges": ["192.0.2.0/24"],
        "externalTrafficPolicy": "Local",
    }
    made = built(cluster(fe={"service": service}))["Service/kube-fe-service"]["spec"]
    assert ("loadBalancerIP" in made) is (service_type == "LoadBalancer")
    assert ("loadBalancerSourceRanges" in made) is (service_type == "LoadBalancer")
    assert ("externalTrafficPolicy" in made) is (service_type != "ClusterIP")


def test_arrow_flight_is_shown_only_when_it_is_open() -> None:
    of = cluster(fe={}, be={})
    opened = built(of, properties={"fe": {"arrow_flight_port": "9408"}, "be": {"arrow_flight_port": "9419"}})
    closed = built(of, properties={"fe": {"arrow_flight_port": "-1"}})
    names = [[port["name"] for port in made["Service/kube-fe-service"]["spec"]["ports"]] for made in (opened, closed)]
    assert names == [["http", "rpc", "query", "edit-log", "arrow-flight"], ["http", "rpc", "query", "edit-log"]]
    assert [port["name"] for port in opened["Service/kube-be-search"]["spec"]["ports"]] == ["heartbeat", "arrow-flight"]


def test_what_an_existing_stateful_set_cannot_change_is_kept() -> None:
    kept = {"service_names": {"fe": "kube-fe-domain-search"}, "pod_management": {"fe": "OrderedReady"}}
    made = built(cluster(fe={}), **kept)
    spec = made["StatefulSet/kube-fe"]["spec"]
    assert (spec["serviceName"], spec["podManagementPolicy"]) == ("kube-fe-domain-search", "OrderedReady")
    assert "Service/kube-fe-domain-search" in made


def test_replicas_are_those_that_were_decided() -> None:
    assert built(cluster(be={"replicas": 1}), replicas={"be": 3})["StatefulSet/kube-be"]["spec"]["replicas"] == 3


def test_only_components_whose_turn_it_is_are_built() -> None:
    made = built(cluster(fe={}, be={}), components=("fe",))
    assert {name.split("-")[1] for name in made} == {"fe"}


def test_components_that_the_cluster_does_not_have_have_no_objects() -> None:
    assert not [name for name in built(cluster(fe={})) if "-be" in name or "-cn" in name]


def test_nothing_empty_is_written() -> None:
    """What the user left out is left to Kubernetes: an empty list or map would be owned by us for nothing."""
    empty = cluster(fe={"tolerations": [], "nodeSelector": {}, "serviceAccount": "", "affinity": None})
    pod = pod_of(empty, "fe")
    assert pod == pod_of(cluster(fe={}), "fe")
    assert not [key for key, value in pod.items() if value in (None, "", [], {})]


def test_the_user_cannot_break_the_selector() -> None:
    labels = {"app.kubernetes.io/component": "x", "app.starrocks.ownerreference/name": "y"}
    made = built(cluster(fe={"podLabels": labels, "sharedLabels": labels | {"team": "lake"}}))["StatefulSet/kube-fe"]
    selector = made["spec"]["selector"]["matchLabels"]
    assert made["spec"]["template"]["metadata"]["labels"] == {"team": "lake", **selector}
    assert made["metadata"]["labels"]["team"] == "lake"


def test_an_old_autoscaling_version_gets_no_metrics() -> None:
    policy = {"maxReplicas": 3, "version": "v1", "hpaPolicy": {"metrics": [{"type": "Resource"}]}}
    made = built(cluster(cn={"autoScalingPolicy": policy}))["HorizontalPodAutoscaler/kube-cn-autoscaler"]
    assert made["apiVersion"] == "autoscaling/v2"
    assert made["spec"].keys() == {"scaleTargetRef", "maxReplicas"}


def test_members_are_known_by_their_name_whatever_the_domain() -> None:
    host = member_host(cluster(), "fe", 2)
    assert host == "kube-fe-2.kube-fe-search.db.svc.cluster.local"
    assert same_member(host, "kube-fe-2.kube-fe-search.db.svc.example.org")
    assert not same_member(host, "kube-fe-2.kube-fe-search.other.svc.cluster.local")
    assert not same_member(host, "kube-fe-21.kube-fe-search.db.svc.cluster.local")


def test_clusters_whose_names_are_prefixes_share_no_object_and_no_pod() -> None:
    one, other = cluster(name="a", fe={}, be={}), cluster(name="a-fe", fe={}, be={})
    assert not built(one, profile="safe").keys() & built(other, profile="safe").keys()
    selectors = [
        built(of)[f"StatefulSet/{of.name}-{c}"]["spec"]["selector"] for of in (one, other) for c in ("fe", "be")
    ]
    assert len({str(selector) for selector in selectors}) == len(selectors)


def test_the_table_is_complete() -> None:
    for component in COMPONENTS.values():
        shown = (*component.container_ports, *component.external_ports, *component.headless_ports)
        assert {entry.port for entry in shown} | {
            component.health_port,
            component.member_port,
        } <= component.ports.keys()
