"""Configuration files as the operator reads them, and what else a StarRocksCluster refers to."""

from __future__ import annotations

from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from starrocks_operator.components import BE, CN, FE
from starrocks_operator.objects import references
from starrocks_operator.objects.configuration import ConfigurationSource, parse_properties, port_of, ports_of
from tests.unit.object_samples import cluster


@pytest.mark.parametrize(
    ("text", "properties"),
    [
        ("http_port = 8030\nquery_port=9030", {"http_port": "8030", "query_port": "9030"}),
        ("# http_port = 1\n! also\n\n  http_port : 2", {"http_port": "2"}),
        ("HTTP_Port=1", {"http_port": "1"}),
        ("a=1\na=2", {"a": "2"}),
        ("a 1", {"a": "1"}),
        ("a", {"a": ""}),
        ("a = b = c", {"a": "b = c"}),
        ("a = one \\\n   two", {"a": "one two"}),
        ("log = ${STARROCKS_HOME}/log\nstarrocks_home=/x", {"log": "/x/log", "starrocks_home": "/x"}),
        ("a=x${a}", {"a": "xx${a}"}),
        ("a=${nowhere}", {"a": "${nowhere}"}),
        ("a\\=b = c\\td", {"a=b": "c\td"}),
        ("a = \\u00e9", {"a": "é"}),
        ('JAVA_OPTS="-Xmx8g -XX:+UseG1GC"', {"java_opts": '"-Xmx8g -XX:+UseG1GC"'}),
        ("a=1\r\nb=2\r\n", {"a": "1", "b": "2"}),
    ],
)
def test_properties(text: str, properties: dict[str, str]) -> None:
    assert parse_properties(text) == properties


@given(st.text())
def test_no_file_breaks_the_reader(text: str) -> None:
    for number in ports_of("fe", parse_properties(text)).values():
        assert 0 <= number < 65536


@pytest.mark.parametrize(
    ("component", "port", "properties", "number"),
    [
        (FE, "query", {}, 9030),
        (FE, "query", {"query_port": "19030"}, 19030),
        (FE, "query", {"query_port": "many"}, 9030),
        (FE, "query", {"query_port": "70000"}, 9030),
        (FE, "query", {"query_port": "0"}, 9030),
        (BE, "webserver", {"be_http_port": "1"}, 1),
        (BE, "webserver", {"be_http_port": "1", "webserver_port": "2"}, 2),
        (CN, "thrift", {"be_port": "1"}, 1),
        (CN, "thrift", {"be_port": "1", "thrift_port": "2"}, 2),
        (CN, "arrow-flight", {}, 0),
    ],
)
def test_ports(component: Any, port: str, properties: dict[str, str], number: int) -> None:
    assert port_of(component, port, properties) == number


INFO = {"configMapInfo": {"configMapName": "c", "resolveKey": "k"}}
FILE = {"configMaps": [{"name": "f", "mountPath": "/opt/starrocks/be/conf/be.conf", "subPath": "be.conf"}]}
DIRECTORY = {"configMaps": [{"name": "d", "mountPath": "/opt/starrocks/be/conf"}]}


@pytest.mark.parametrize(
    ("spec", "source"),
    [
        ({}, None),
        (INFO, ConfigurationSource("c", "k")),
        ({"configMapInfo": {"configMapName": "c"}}, None),
        (FILE, ConfigurationSource("f", "be.conf")),
        (DIRECTORY, ConfigurationSource("d", "be.conf")),
        (INFO | FILE, ConfigurationSource("c", "k")),
        ({"configMaps": DIRECTORY["configMaps"] + FILE["configMaps"]}, ConfigurationSource("f", "be.conf")),
        ({"configMaps": [{"name": "x", "mountPath": "/elsewhere"}]}, None),
    ],
)
def test_where_the_configuration_file_is(spec: dict[str, Any], source: ConfigurationSource | None) -> None:
    assert references(cluster(be=spec)).configurations.get("be") == source


def test_what_pods_cannot_start_without() -> None:
    secret = {"name": "A", "valueFrom": {"secretKeyRef": {"name": "pw", "key": "p"}}}
    optional = {"name": "B", "valueFrom": {"secretKeyRef": {"name": "maybe", "key": "p", "optional": True}}}
    sidecar = {"name": "s", "envFrom": [{"configMapRef": {"name": "side"}}, {"secretRef": {"name": "car"}}]}
    spec = INFO | {"feEnvVars": [secret, optional], "sidecars": [sidecar], "secrets": [{"name": "keytab"}]}
    found = references(cluster(fe=spec, cn=DIRECTORY))
    assert found.config_maps == ("c", "d", "side")
    assert found.secrets == ("car", "keytab", "pw")


def test_where_the_root_password_is() -> None:
    literal = references(cluster(fe={"feEnvVars": [{"name": "MYSQL_PWD", "value": "s3cret"}]})).password
    assert literal is not None
    assert literal.value == "s3cret"
    assert "s3cret" not in repr(literal)
    reference = {"secretKeyRef": {"name": "root", "key": "password"}}
    named = references(cluster(fe={"feEnvVars": [{"name": "MYSQL_PWD", "valueFrom": reference}]})).password
    assert named is not None
    assert (named.secret, named.key) == ("root", "password")
    assert references(cluster(fe={})).password is None
    assert references(cluster(be={"beEnvVars": [{"name": "MYSQL_PWD", "value": "x"}]})).password is None
