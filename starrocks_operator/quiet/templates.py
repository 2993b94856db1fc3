"""A new release of the operator changes no pod template by itself: the live one is kept until its owner agrees.

By the words that a template was made from (`objects.template_source`) it is told whether the owner changed something:
then what this release makes is taken with it. A StatefulSet without that mark is treated as if its owner had.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Any

from starrocks_operator.components import COMPONENTS
from starrocks_operator.decision import Finding
from starrocks_operator.objects.metadata import TEMPLATE_HASH, TEMPLATE_SOURCE
from starrocks_operator.objects.shape import Shape
from starrocks_operator.observed import Raw
from starrocks_operator.rollout.shaping import clean_template

ACCEPTED = "starrocks.com/accept-template"
"""Hashes of the templates that are agreed to, separated by commas."""


@dataclass(frozen=True, kw_only=True)
class Kept:
    """shapes: the templates that stay, by component. findings: what to do to have the new ones."""

    shapes: Mapping[str, Mapping[str, Any]] = field(default_factory=dict)
    findings: tuple[Finding, ...] = ()


def kept_templates(annotations: Mapping[str, str], desired: Mapping[str, Raw], live: Mapping[str, Raw]) -> Kept:
    """annotations: the resource's own. desired, live: StatefulSets by component."""
    accepted = {word.strip() for word in annotations.get(ACCEPTED, "").split(",")}
    shapes: dict[str, Mapping[str, Any]] = {}
    hashes: list[str] = []
    for name, workload in live.items():
        has, wanted = _marks(workload), _marks(desired.get(name))
        new, former = wanted.get(TEMPLATE_HASH, ""), has.get(TEMPLATE_HASH, "")
        same_words = has.get(TEMPLATE_SOURCE, "") == wanted.get(TEMPLATE_SOURCE) and former != ""
        if not same_words or former == new or new in accepted:
            continue
        template = clean_template((workload.get("spec") or {}).get("template") or {})
        shapes[name] = Shape(template=template, annotations={TEMPLATE_HASH: former}).document()
        hashes.append(new)
    return Kept(shapes=shapes, findings=(_outdated(tuple(shapes), hashes),) if shapes else ())


def _outdated(names: tuple[str, ...], hashes: list[str]) -> Finding:
    titles = ", ".join(f"{COMPONENTS[name].title}s" for name in names)
    return Finding(
        reason="TemplateOutdated",
        message=f"This release of the operator makes another pod template of the same spec ({titles}). The pods keep "
        "the one that they have until something about the component is changed, or the annotation "
        f'{ACCEPTED}: "{",".join(hashes)}" is set; then they are replaced one by one.',
        remark=True,
    )


def _marks(workload: Raw | None) -> Mapping[str, str]:
    return ((workload or {}).get("metadata") or {}).get("annotations") or {}
