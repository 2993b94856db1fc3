"""Rules that come up again and again, as templates: names, choices, duplicates."""

from starrocks_operator.model.rules.judges import matches, one_of, unique
from starrocks_operator.model.rules.rule import Rule

LABEL = "^[a-z0-9]([-a-z0-9]*[a-z0-9])?$"
SUBDOMAIN = r"^[a-z0-9]([-a-z0-9]*[a-z0-9])?(\.[a-z0-9]([-a-z0-9]*[a-z0-9])?)*$"


def cel_string(text: str) -> str:
    """A text as a CEL string literal."""
    escaped = text.replace("\\", "\\\\").replace("'", "\\'")
    return f"'{escaped}'"


def duplicate(*, name: str, at: str, key: str, message: str) -> Rule:
    """No two items of a list have the same value under a key; what is not set does not count."""
    unset = "0" if key.lower().endswith("port") else "''"
    ignored = f"!has(v.{key}) || v.{key} == {unset}"
    same = f"self.exists_one(w, has(w.{key}) && w.{key} == v.{key})"
    return Rule(
        name=name,
        at=at,
        cel=f"self.all(v, {ignored} || {same})",
        culprit=f"self.map(v, !({ignored} || {same}), v.{key})[0]" if "{culprit}" in message else "",
        message=message,
        judge=unique(key),
    )


def choice(*, name: str, at: str, choices: tuple[str, ...]) -> Rule:
    """One of a few words, or nothing."""
    listed = ", ".join(f"'{word}'" for word in choices)
    return Rule(
        name=name,
        at=at,
        cel=f"self in ['', {listed}]",
        message=f"is none of {', '.join(choices)}: use one of these",
        judge=one_of(*choices),
    )


def subdomain(*, name: str, at: str, message: str) -> Rule:
    """A name that an object of Kubernetes can have, or nothing."""
    return Rule(
        name=name,
        at=at,
        cel=f"self == '' || self.matches({cel_string(SUBDOMAIN)})",
        message=message,
        judge=lambda text: None if text == "" else matches(SUBDOMAIN)(text),
    )


def label(*, name: str, at: str, longest: int, message: str, or_empty: bool = False) -> Rule:
    """A name that a volume or port can have: no dots, at most 63 characters."""

    def judge(text: str) -> str | None:
        if or_empty and text == "":
            return None
        return "" if len(text) > longest else matches(LABEL)(text)

    cel = f"self.size() <= {longest} && self.matches({cel_string(LABEL)})"
    return Rule(name=name, at=at, cel=f"self == '' || {cel}" if or_empty else cel, message=message, judge=judge)
