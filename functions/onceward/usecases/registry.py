"""Job kinds: how one is registered, and how the rest of the system finds it.

A kind is one Python module: a pydantic input, a pydantic output, an async function and a policy. ``@kind(...)``
checks it at import, so that a contradiction stops a deploy and never a job; a registry is a plain object, so that a
test can hold its own.
"""

from __future__ import annotations

from collections.abc import Callable, Coroutine, Iterable, Iterator
from dataclasses import dataclass
from datetime import timedelta
from typing import Any

from pydantic import BaseModel

from onceward.domain.conditions import KindLimit
from onceward.domain.endpoint import Endpoint
from onceward.domain.names import KIND_LENGTH, MAX_KIND_VERSION, is_kind_name
from onceward.domain.policy import KindPolicy
from onceward.domain.tariff import PerPage, is_payable
from onceward.domain.timing import MAX_JOB_DEADLINE
from onceward.errors import RegistrationError, UnknownAction, UnknownKind
from onceward.usecases.actions import PREFIX, Action, ActionOutput, AnyAction, sent_names
from onceward.usecases.context import Context

PREPARATION = timedelta(seconds=1)  # what comes before a call takes time: without it, no call would ever fit

type KindFunction[I: BaseModel, O: BaseModel] = Callable[[Context, I], Coroutine[Any, Any, O]]


@dataclass(frozen=True, slots=True, kw_only=True)
class Kind[I: BaseModel, O: BaseModel]:
    """One job kind: its rules, its models and its code.

    ``documents_of`` names the fields of the input that hold document ids; create resolves each to an immutable
    version before anything is stored, and refuses ids that the tenant does not have. ``pages_of`` counts the pages of
    an output, for a tariff by pages. ``action``: the action that it is the kind of; such a job is
    made by the actions' own route only. ``identified_by``: the fields of the input that make two requests one, for
    callers that have no key of their own.
    """

    policy: KindPolicy
    input_model: type[I]
    output_model: type[O]
    run: KindFunction[I, O]
    documents_of: Callable[[I], Iterable[str]]
    pages_of: Callable[[O], int]
    action: AnyAction | None = None
    identified_by: tuple[str, ...] = ()

    @property
    def name(self) -> str:
        """The kind's public name."""
        return self.policy.name


type AnyKind = Kind[BaseModel, BaseModel]


class Registry:
    """The kinds this code knows, by name."""

    def __init__(self) -> None:
        """Start empty."""
        self._kinds: dict[str, AnyKind] = {}
        self._limits: tuple[KindLimit, ...] = ()
        self._endpoints: dict[str, Endpoint] = {}

    def kind[I: BaseModel, O: BaseModel](
        self,
        *,
        policy: KindPolicy,
        input_model: type[I],
        output_model: type[O],
        documents_of: Callable[[I], Iterable[str]] = lambda _: (),
        pages_of: Callable[[O], int] | None = None,
        identified_by: tuple[str, ...] = (),
    ) -> Callable[[KindFunction[I, O]], KindFunction[I, O]]:
        """Register the decorated async function as a kind; raises ``RegistrationError`` for a contradiction."""

        def register(run: KindFunction[I, O]) -> KindFunction[I, O]:
            made = Kind(
                policy=policy,
                input_model=input_model,
                output_model=output_model,
                run=run,
                documents_of=documents_of,
                pages_of=pages_of or (lambda _: 0),
                identified_by=identified_by,
            )
            _check(policy, taken=policy.name in self._kinds)
            if isinstance(policy.metered, PerPage) and pages_of is None:
                raise RegistrationError(f"kind {policy.name}: a tariff by pages needs pages_of")
            if not set(identified_by) <= sent_names(input_model):
                raise RegistrationError(f"kind {policy.name}: identified_by names fields of the input")
            self._enter(made)  # type: ignore[arg-type]  # a Kind is used only with its own models
            return run

        return register

    def endpoint(self, declared: Endpoint) -> Endpoint:
        """Declare an HTTP target, for ``context.http``; raises ``RegistrationError`` for a name that is taken."""
        if declared.name in self._endpoints:
            raise RegistrationError(f"endpoint {declared.name} is declared twice")
        self._endpoints[declared.name] = declared
        return declared

    def action[A: BaseModel](self, declared: Action[A]) -> Action[A]:
        """Declare an action: its HTTP target, and the kind that its jobs are of; raises ``RegistrationError``."""
        self.endpoint(declared.endpoint)
        made = Kind(
            policy=declared.policy,
            input_model=declared.arguments,
            output_model=ActionOutput,
            run=declared.run,
            documents_of=lambda _: (),
            pages_of=lambda _: 0,
            action=declared,  # type: ignore[arg-type]  # an Action is used only with its own arguments
        )
        _check(declared.policy, taken=declared.kind in self._kinds)
        self._enter(made)  # type: ignore[arg-type]  # as above
        return declared

    def _enter(self, made: AnyKind) -> None:
        """Let the rest of the system find it."""
        self._kinds[made.name] = made
        self._limits = (*self._limits, made.policy.limit)

    @property
    def endpoints(self) -> tuple[Endpoint, ...]:
        """All declared HTTP targets."""
        return tuple(self._endpoints.values())

    @property
    def actions(self) -> tuple[AnyAction, ...]:
        """All declared actions, in the order of their declaration."""
        return tuple(kind.action for kind in self._kinds.values() if kind.action is not None)

    def find_action(self, name: str) -> AnyAction:
        """The action of that name; raises ``UnknownAction``."""
        kind = self._kinds.get(PREFIX + name)
        if kind is None or kind.action is None:
            raise UnknownAction("no such action")
        return kind.action

    def find(self, name: str) -> AnyKind:
        """The kind of that name; raises ``UnknownKind``."""
        try:
            return self._kinds[name]
        except KeyError:
            raise UnknownKind("no such job kind") from None

    def policy_of(self, name: str) -> KindPolicy | None:
        """The policy of that kind; ``None``: this code does not know it."""
        kind = self._kinds.get(name)
        return None if kind is None else kind.policy

    @property
    def limits(self) -> tuple[KindLimit, ...]:
        """What a claim conditions on."""
        return self._limits

    def __iter__(self) -> Iterator[AnyKind]:
        """All kinds, in the order of their registration."""
        return iter(self._kinds.values())


def _check(policy: KindPolicy, *, taken: bool) -> None:
    """Refuse what could never be asked for, could never run, or would never end."""
    if not is_kind_name(policy.name):
        wanted = f"lower-case words joined by dots or underscores, {KIND_LENGTH} characters at most"
        raise RegistrationError(f"kind {policy.name}: a name is {wanted}, as ticket.sort")
    if taken:
        raise RegistrationError(f"kind {policy.name} is registered twice")
    if not 1 <= policy.version <= MAX_KIND_VERSION:
        raise RegistrationError(f"kind {policy.name}: a version is 1 to {MAX_KIND_VERSION}")
    if policy.call_timeout <= timedelta(0):
        raise RegistrationError(f"kind {policy.name}: no call can end in no time")
    if not policy.call_timeout + PREPARATION <= policy.timeout <= policy.deadline <= MAX_JOB_DEADLINE:
        raise RegistrationError(f"kind {policy.name}: call_timeout + 1 s <= timeout <= deadline <= 7 days must hold")
    if policy.tariff_micro_usd < 0 or policy.max_call_cost < 0 or not is_payable(policy.metered):
        raise RegistrationError(f"kind {policy.name}: money cannot be negative")
    if policy.coalesce is not None and policy.has_outside_effect:
        raise RegistrationError(f"kind {policy.name}: what changes something outside is never coalesced")
    if policy.max_provider_cost is not None and policy.max_call_cost > policy.max_provider_cost:
        raise RegistrationError(f"kind {policy.name}: its spend cap is below the cost of one call")
