"""What the user says of the rights of pods and of their main container, laid over what the operator sets itself.

Field by field, in both profiles. What a pod's context says of its containers gives way to the container's own context,
so a field that the user set for the pod is taken out of ours for the container.
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from starrocks_operator.model import LoadSpec

_ROOT = 0


def as_the_user_says(template: Mapping[str, Any], spec: LoadSpec) -> dict[str, Any]:
    """The pod template with podSecurityContext and securityContext; the main container is the first."""
    if not spec.pod_security_context and not spec.security_context:
        return dict(template)
    pod = dict(template["spec"])
    said, own = spec.pod_security_context or {}, spec.security_context or {}
    main, *sidecars = pod["containers"]
    ours = {key: value for key, value in main.get("securityContext", {}).items() if key not in said}
    pod["securityContext"] = {**pod.get("securityContext", {}), **said}
    pod["containers"] = [{**main, "securityContext": {**ours, **own}}, *sidecars]
    return {**template, "spec": pod}


def runs_as_root(spec: LoadSpec) -> bool:
    """Whether the user wants root in the main container; the container's word counts before the pod's."""
    for said in (spec.security_context or {}, spec.pod_security_context or {}):
        if "runAsUser" in said:
            return bool(said["runAsUser"] == _ROOT)
        if said.get("runAsNonRoot") is not None:
            return said["runAsNonRoot"] is False
    return getattr(spec, "run_as_non_root", None) is False
