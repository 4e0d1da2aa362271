"""Decide how a request is to be treated: what a test asked for, globally or for the next n matching requests.

Standing rules (no `times`) all hold, later ones over earlier ones; of the counted rules only the first that matches
and is not used up is spent. So a standing `dedupe_s` and a counted `drop` combine, and two counted rules follow each
other.
"""

from collections.abc import Mapping
from dataclasses import dataclass, fields, replace
from typing import Any, Literal

type Form = Literal["malformed_json", "truncated", "empty_choices", "empty_content", "refusal", "content_filter"]
type Stage = Literal["before", "after"]

FORMS = ("malformed_json", "truncated", "empty_choices", "empty_content", "refusal", "content_filter")
_MATCHERS = ("key", "key_prefix", "text", "model", "metadata", "times", "skip")


class UnreadableBehaviour(ValueError):
    """The control request named an unknown field or a value of the wrong type."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Behaviour:
    """What is done to a request.

    `stage` says whether hold, delay, drop and respond come before the answer is computed (the provider did nothing,
    nothing is billed) or after it (the provider did the work, the caller may never know).
    """

    stage: Stage = "before"
    hold: str | None = None  # a gate: wait until it is released
    delay_s: float = 0.0
    # End the connection: FIN (also True), RST, half an answer.
    drop: bool | Literal["close", "reset", "partial"] = False
    status: int | None = None  # answer this instead
    headers: Mapping[str, str] | None = None
    body: Any = None  # JSON, or text sent as it is
    form: Form | None = None  # a computed and billed answer of an awkward form
    content: str | None = None  # a computed and billed answer with this content
    usage: Mapping[str, int] | Literal[False] | None = None  # overrides fields of the usage; False leaves it out
    dedupe_s: float | None = None  # an equal Idempotency-Key gets its stored answer for so long
    lookup_hidden_s: float = 0.0  # the answer cannot be looked up until so long after it was computed


@dataclass(frozen=True, slots=True, kw_only=True)
class Match:
    """Which requests a rule is about; an empty one matches all."""

    key: str | None = None
    key_prefix: str | None = None
    text: str | None = None
    model: str | None = None
    metadata: Mapping[str, str] | None = None

    def fits(self, *, key: str | None, prompt: str, model: str, metadata: Mapping[str, Any]) -> bool:
        """Tell whether a request has all that is asked for."""
        return (
            (self.key is None or key == self.key)
            and (self.key_prefix is None or (key or "").startswith(self.key_prefix))
            and (self.text is None or self.text in prompt)
            and (self.model is None or model == self.model)
            and all(metadata.get(name) == value for name, value in (self.metadata or {}).items())
        )


@dataclass(slots=True, kw_only=True)
class Rule:
    """A behaviour, whom it is for, how many matching requests pass first and how many it is good for."""

    match: Match
    changes: Mapping[str, Any]
    skip: int = 0
    times: int | None = None


def read_rule(body: Mapping[str, Any]) -> Rule:
    """Read a rule from a control request; an unknown name or form is refused, so that no test asks in vain."""
    known = {field.name for field in fields(Behaviour)}
    unknown = set(body) - known - set(_MATCHERS)
    if unknown:
        raise UnreadableBehaviour(f"unknown: {', '.join(sorted(unknown))}")
    if body.get("form") not in (None, *FORMS) or body.get("stage", "before") not in ("before", "after"):
        raise UnreadableBehaviour(f"form is one of {', '.join(FORMS)}; stage is before or after")
    match = Match(**{name: body[name] for name in ("key", "key_prefix", "text", "model", "metadata") if name in body})
    changes = {name: value for name, value in body.items() if name in known}
    return Rule(match=match, changes=changes, skip=int(body.get("skip", 0)), times=body.get("times"))


class Rules:
    """The rules in force. Not synchronised: the server holds its lock around each call."""

    def __init__(self, standing: Mapping[str, Any] | None = None) -> None:
        self._start = dict(standing or {})
        self._rules: list[Rule] = []
        self.clear()

    def clear(self) -> None:
        """Go back to what the server was started with."""
        self._rules = [Rule(match=Match(), changes=self._start)] if self._start else []

    def add(self, rule: Rule) -> None:
        """Put a rule after those in force."""
        self._rules.append(rule)

    def spend(self, *, key: str | None, prompt: str, model: str, metadata: Mapping[str, Any]) -> Behaviour:
        """Return what holds for a request, and use up one of the counted rule that applies."""
        behaviour, counted = Behaviour(), None
        for rule in self._rules:
            if not rule.match.fits(key=key, prompt=prompt, model=model, metadata=metadata):
                continue
            if rule.skip > 0:
                rule.skip -= 1
            elif rule.times is None:
                behaviour = replace(behaviour, **rule.changes)
            elif rule.times > 0 and counted is None:
                counted = rule
        if counted is None or counted.times is None:
            return behaviour
        counted.times -= 1
        return replace(behaviour, **counted.changes)
