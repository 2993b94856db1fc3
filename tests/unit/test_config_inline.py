"""Inline configuration: the file it becomes, the ConfigMap's name, and where pods mount it."""

from __future__ import annotations

import string
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from starrocks_operator.components import BE, COMPONENTS, FE
from starrocks_operator.objects.configuration import parse_properties
from starrocks_operator.objects.inline_configuration import (
    CONFIGURATION_LABEL,
    inline_config_map,
    inline_name,
    malformed,
    mounted_inline,
    rendered,
)
from tests.unit.object_samples import built, cluster, main_of

IMAGE = {"image": "starrocks/fe-ubuntu:3.5.5"}
KEYS = st.text(string.ascii_lowercase + string.digits + "_", min_size=1, max_size=20).filter(
    lambda key: key[0].isalpha()
)
PRINTABLE = st.text(st.characters(min_codepoint=32, max_codepoint=126), max_size=30).filter(
    lambda text: "${" not in text
)
CONFIGS = st.dictionaries(KEYS, PRINTABLE, max_size=6)


@given(CONFIGS)
def test_what_is_written_is_what_is_read(config: dict[str, str]) -> None:
    assert malformed(config) == ""
    assert parse_properties(rendered(FE, config)) == {key: value.strip() for key, value in config.items()}


@given(CONFIGS, CONFIGS, st.randoms())
def test_the_name_is_made_of_the_content_alone(one: dict[str, str], other: dict[str, str], random: Any) -> None:
    shuffled = list(one.items())
    random.shuffle(shuffled)
    names = [
        inline_name(of, FE, spec) if (spec := of.spec.fe) else ""
        for of in (cluster(fe={**IMAGE, "config": config}) for config in (one, dict(shuffled), other))
    ]
    assert names[0] == names[1]
    assert (names[0] == names[2]) == (rendered(FE, one) == rendered(FE, other) and bool(one) == bool(other))


@pytest.mark.parametrize(
    ("component", "config", "text"),
    [
        (FE, {"b": "2", "a": "1"}, "a = 1\nb = 2\n"),
        (FE, {"JAVA_OPTS": "-Xmx4g -XX:+UseG1GC"}, 'JAVA_OPTS = "-Xmx4g -XX:+UseG1GC"\n'),
        (FE, {"JAVA_OPTS": '"-Xmx4g -Dx=y"'}, 'JAVA_OPTS = "-Xmx4g -Dx=y"\n'),
        (FE, {"JAVA_OPTS": "-Xmx4g"}, "JAVA_OPTS = -Xmx4g\n"),
        (FE, {"path": "a\\b"}, "path = a\\\\b\n"),
        (BE, {"path": "a\\b"}, "path = a\\b\n"),
        (BE, {"storage_root_path": " /a;/b "}, "storage_root_path = /a;/b\n"),
    ],
)
def test_the_file(component: Any, config: dict[str, str], text: str) -> None:
    assert rendered(component, config) == text


@pytest.mark.parametrize(
    ("config", "words"),
    [
        ({"a b": "1"}, "'a b' is no name"),
        ({"": "1"}, "'' is no name"),
        ({"a=": "1"}, "'a=' is no name"),
        ({"a": "1\nmeta_dir = /x"}, "more than one line"),
        ({"a": "1\u2028b"}, "more than one line"),
        ({"query_port": "1", "Query_Port": "2"}, "differ in nothing but capitals"),
    ],
)
def test_what_cannot_be_written(config: dict[str, str], words: str) -> None:
    assert words in malformed(config)


@pytest.mark.parametrize("name", ["fe", "fe-observer", "be", "cn"])
def test_pods_mount_it_where_the_start_script_looks(name: str) -> None:
    specs: dict[str, Any] = {"fe": IMAGE, "be": IMAGE, "cn": IMAGE, "fe-observer": {}}
    specs["fe" if name == "fe-observer" else name] = {**IMAGE, "config": {"sys_log_level": "INFO"}}
    of, component = cluster(**specs), COMPONENTS[name]
    spec = {str(key): each for key, each in of.spec.components.items()}[name]
    made = inline_config_map(of, component, spec)
    wanted = made["metadata"]["name"]
    assert wanted.startswith(f"kube-{name}-config-")
    assert made["immutable"] is True
    assert made["metadata"]["labels"][CONFIGURATION_LABEL] == name
    objects = built(of, configurations={name: wanted})
    assert objects[f"ConfigMap/{wanted}"] == made
    template = objects[f"StatefulSet/kube-{name}"]["spec"]["template"]
    assert mounted_inline(template) == wanted
    container = main_of(of, name, configurations={name: wanted})
    mount = {"name": "starrocks-configuration", "mountPath": component.configuration_mount}
    assert mount in container["volumeMounts"]
    assert {"name": "CONFIGMAP_MOUNT_PATH", "value": component.configuration_mount} in container["env"]


def test_a_configuration_that_is_kept_is_mounted_and_not_made() -> None:
    of = cluster(fe={**IMAGE, "config": {"a": "2"}})
    objects = built(of, configurations={"fe": "kube-fe-config-00000000"})
    assert mounted_inline(objects["StatefulSet/kube-fe"]["spec"]["template"]) == "kube-fe-config-00000000"
    assert not [key for key in objects if key.startswith("ConfigMap/kube-fe-config")]
