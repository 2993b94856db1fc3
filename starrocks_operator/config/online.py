"""Parameters of frontends that can be set while they run: a change of nothing else replaces no pod.

The pods keep the ConfigMap that they have, and each differing parameter is set by a statement to the leader, which
passes it on to every frontend. A frontend that starts afterwards reads its file, with the former value; so it is asked
what it has, and told again. With the next change that replaces the frontends anyway, the file has the new values.

The status remembers for which frontends (and which of their starts) all was seen to be as wanted: as long as these are
the same, nobody is asked. Lost, it is found out again.
"""

from __future__ import annotations

import hashlib
import re
from collections.abc import Iterator, Mapping
from dataclasses import dataclass, field, replace

from starrocks_operator.components import COMPONENTS
from starrocks_operator.config.settled import Settled
from starrocks_operator.decision import Context, Finding
from starrocks_operator.membership import Outlook
from starrocks_operator.model import StarRocksCluster
from starrocks_operator.objects.metadata import TEMPLATE_HASH
from starrocks_operator.objects.stateful_set import stateful_set
from starrocks_operator.observed import FrontendView, Observed, Parameter, Raw
from starrocks_operator.step import Step, StepKind

_KEY = re.compile(r"[a-z][a-z0-9_]*")
_VALUE = re.compile(r"[A-Za-z0-9_.,:;/ @%+*=()\[\]<>|~^!?&#-]*")
_SECRET = re.compile(r"password|secret|token|credential|access_key|private_key")


@dataclass(frozen=True, kw_only=True)
class Online:
    """keep: the ConfigMaps that pods keep, by component. outlook: the step that sets a parameter, and what is said.
    seen: what the status is to remember; empty: nothing is set online."""

    keep: Mapping[str, str] = field(default_factory=dict)
    outlook: Outlook = field(default_factory=Outlook)
    seen: str = ""


def differing(one: Settled) -> dict[str, str]:
    """The parameters in which the wanted configuration differs from the live one, if all of them could be set online.

    None if they could not: one that is left out has a default that nobody tells, and a secret is in no statement. And
    none in a roll: while one frontend after the other is replaced, the live template is the former one in between.
    """
    if one.refusal or one.begun or not one.inline or one.former is None or one.inline == one.live:
        return {}
    if COMPONENTS[one.component].process != "fe" or set(one.former) - set(one.properties):
        return {}
    changed = {key: value for key, value in one.properties.items() if one.former.get(key) != value}
    return changed if all(_settable(key, value) for key, value in changed.items()) else {}


def parameters_asked(
    cluster: StarRocksCluster, found: Mapping[str, Settled], view: FrontendView | None
) -> tuple[str, ...]:
    """What every frontend is to be asked for. view: the last one; what was seen then need not be asked again."""
    keys = {key for one in found.values() for key in differing(one)}
    if not keys or (view is not None and _remembered(cluster) == _seen(found, view)):
        return ()
    return tuple(sorted(keys))


def online_of(
    cluster: StarRocksCluster,
    observed: Observed,
    context: Context,
    found: Mapping[str, Settled],
    workloads: Mapping[str, Raw],
) -> Online:
    """What of a changed configuration is done without a restart."""
    changes = {name: changed for name, one in found.items() if (changed := differing(one))}
    if not changes:
        return Online()
    view, wish = observed.view, _wish(found)
    known = _remembered(cluster).partition("@")[0] == wish
    keep = {
        name: found[name].live
        for name, changed in changes.items()
        if _may_be_set(changed, view, known=known) and _nothing_else(cluster, context, found[name], workloads)
    }
    if not keep:
        return Online()
    wanted = {key: value for name in keep for key, value in changes[name].items()}
    outlook, seen = _told(wanted, found, view, remembered=_remembered(cluster), wish=wish)
    return Online(keep=keep, outlook=outlook, seen=seen)


def kept_context(context: Context, online: Online) -> Context:
    """With the ConfigMaps that pods keep."""
    return replace(context, configurations={**context.configurations, **online.keep}) if online.keep else context


def _settable(key: str, value: str) -> bool:
    return bool(_KEY.fullmatch(key) and _VALUE.fullmatch(value)) and not _SECRET.search(key)


def _may_be_set(changed: Mapping[str, str], view: FrontendView | None, *, known: bool) -> bool:
    """Whether the frontends say so of every parameter, or are still being asked. Without a leader a changed
    configuration may be what brings one back, unless it was set online before."""
    if view is None or view.leader is None:
        return known
    answers = tuple((view.parameters or {}).values())
    return all(all(of.get(key, Parameter("", False)).mutable for of in answers) for key in changed)


def _nothing_else(cluster: StarRocksCluster, context: Context, one: Settled, workloads: Mapping[str, Raw]) -> bool:
    """Whether pods would be replaced for nothing but the configuration."""
    live, name = workloads.get(one.component), one.component
    spec = {str(key): each for key, each in cluster.spec.components.items()}.get(name)
    if live is None or spec is None:
        return False
    as_it_is = replace(context, configurations={**context.configurations, name: one.live})
    made = stateful_set(cluster, COMPONENTS[name], spec, as_it_is)
    recorded = (live["metadata"].get("annotations") or {}).get(TEMPLATE_HASH)
    return bool(made["metadata"]["annotations"][TEMPLATE_HASH] == recorded)


def _told(
    wanted: Mapping[str, str], found: Mapping[str, Settled], view: FrontendView | None, *, remembered: str, wish: str
) -> tuple[Outlook, str]:
    """The next parameter to set; else that all is as wanted."""
    names = ", ".join(sorted(wanted))
    remark = Finding(
        reason="ConfigurationSetOnline",
        message=f"Set while the frontends run, and in their file from their next replacement on: {names}.",
        remark=True,
    )
    if view is None or view.leader is None:
        return Outlook(findings=(remark,)), remembered
    if remembered == (seen := _seen(found, view)):
        return Outlook(findings=(remark,)), seen
    unheard = sorted(answer.pod for answer in view.answers if answer.pod not in (view.parameters or {}))
    if view.parameters is None or len(unheard) == len(view.answers):
        waiting = Outlook(waits=("the frontends are being asked which changed parameters can be set online",))
        return waiting, wish if remembered.startswith(wish) else ""
    for key, value in sorted(wanted.items()):
        others = [pod for pod, of in view.parameters.items() if key not in of or not _same(of[key].value, value)]
        if others := sorted(others):
            return Outlook(step=_step(key, value, others), waits=(f"FE's parameter {key} is being set",)), wish
    if unheard:
        return Outlook(waits=(f"{', '.join(unheard)} has yet to say which parameters it has",)), wish
    return Outlook(findings=(remark,)), seen


def _step(key: str, value: str, others: list[str]) -> Step:
    return Step(
        kind=StepKind.SET_FRONTEND_CONFIG,
        target=key,
        reason=f"The parameter {key} was changed in the spec, and {', '.join(others)} has another value.",
        reversible=True,
        expects=(("to", value), ("pods", ",".join(others))),
    )


def _same(one: str, other: str) -> bool:
    """FE writes numbers and truth in its own way."""
    if one.strip().lower() == other.strip().lower():
        return True
    try:
        return float(one) == float(other)
    except ValueError:
        return False


def _remembered(cluster: StarRocksCluster) -> str:
    return (cluster.status.online_configuration if cluster.status else None) or ""


def _wish(found: Mapping[str, Settled]) -> str:
    """Names the wanted values, whatever component they are of."""
    pairs = sorted({pair for one in found.values() for pair in differing(one).items()})
    return hashlib.sha256(repr(pairs).encode()).hexdigest()[:12]


def _seen(found: Mapping[str, Settled], view: FrontendView) -> str:
    """The wanted values, and which processes are to have them."""
    starts = "".join(_starts(view))
    return f"{_wish(found)}@{hashlib.sha256(starts.encode()).hexdigest()[:12]}"


def _starts(view: FrontendView) -> Iterator[str]:
    for row in sorted(view.frontends or (), key=lambda row: row.host):
        if row.alive:
            yield f"{row.host} {row.start_time};"
