"""What an agent says of itself, as the facts that decide what its process does; and which conf files end it at once."""

from __future__ import annotations

import base64

from lab.simulator.model.config import fits
from lab.simulator.model.facts import DEFAULT_PORTS, ClusterKey, Component, Entrypoint, PodFacts
from lab.simulator.model.settings import OLD_NAMES, SETTINGS
from lab.simulator.pods.wire import Message
from lab.simulator.server.keystore import pem_of

_SERVICE = "-fe-service"


def facts_of(hello: Message, *, uid: str, listen: str, volume: str, default_version: str) -> PodFacts:
    conf: dict[str, str] = dict(hello["conf"])
    component = Component(hello["hello"])
    keystore = base64.b64decode(hello["keystore"])
    return PodFacts(
        namespace=hello["namespace"],
        name=hello["pod"],
        uid=uid,
        address=hello["address"],
        component=component,
        cluster_name=cluster_of(hello)[1],
        host=hello["host"],
        version=hello["version"] or default_version,
        entrypoint=Entrypoint.PROCESS,
        volume=volume,
        certificate=pem_of(keystore, conf.get("ssl_keystore_password", "")) if keystore else "",
        host_type=hello["host_type"],
        observer=hello["observer"].lower() in ("true", "1"),
        warehouse=hello["warehouse"],
        conf=conf,
        helper=hello["helper"],
        listen=listen,
    )


def cluster_of(hello: Message) -> ClusterKey:
    """By the frontends' Service; where nobody is told of one (compute node groups) by the StatefulSet."""
    name, pod = hello["service"].split(".")[0], hello["pod"]
    return hello["namespace"], name.removesuffix(_SERVICE) if name.endswith(_SERVICE) else pod.rpartition("-")[0]


def complaint(facts: PodFacts) -> str:
    """Why a process ends at once over its conf file; empty: it does not."""
    if facts.broken:
        return "the process does not start: its image or its configuration is broken"
    for key, text in facts.conf.items():
        if key in DEFAULT_PORTS[facts.component] and not (text.isdigit() and 0 < int(text) < 65536):
            return f"{facts.component}.conf: {key} = {text} is no port"
        setting = SETTINGS.get(OLD_NAMES.get(key, key)) if facts.component is Component.FE else None
        if setting is not None and not fits(setting, text):
            return f"{facts.component}.conf: {key} = {text} is not of type {setting.kind}"
    return ""


def ports(facts: PodFacts, *, started: bool, serving: bool) -> dict[int, bool]:
    """The ports that are open, and whether somebody answers there. A frontend holds its edit log's from the start."""
    if not started:
        return {}
    if facts.component is Component.FE:
        held, answered = ["edit_log_port"], []
        if serving:
            held, answered = ["edit_log_port", "rpc_port"], ["query_port", "http_port"]
    else:
        held, answered = ["be_port", "heartbeat_service_port", "brpc_port"], ["be_http_port"]
    return {facts.port(name): False for name in held} | {facts.port(name): True for name in answered}
