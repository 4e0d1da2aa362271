"""What a token may say: a tenant and scopes, or neither. Pure, so that every case of it can be listed in a test.

A person's tenant is its one group ``tenant:<name>``; the group ``ops`` makes it an operator, ``actions:<name>`` allows
an action. A machine's tenant and scopes stand in its client's entry; what it asks for can only narrow them. Two tenants
are none: a token acts for one.
"""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass

from onceward.domain.names import TenantId, is_tenant_id
from onceward.wire.scopes import Scope, action_scope, read_actions

TENANT_GROUP = "tenant:"
OPS_GROUP = "ops"
PERSON_SCOPES = frozenset({Scope.JOBS_READ, Scope.JOBS_WRITE})
TENANT_CLAIM = "tenant"


@dataclass(frozen=True, slots=True, kw_only=True)
class Grant:
    """What a caller may do, and for whom; without a tenant it may do nothing."""

    tenant_id: TenantId
    scopes: frozenset[Scope]
    actions: frozenset[str] = frozenset()


def grant_of_groups(groups: Iterable[str]) -> Grant | None:
    """A person's grant."""
    named = list(groups)
    tenants = {group.removeprefix(TENANT_GROUP) for group in named if group.startswith(TENANT_GROUP)}
    if len(tenants) != 1:
        return None
    scopes = PERSON_SCOPES | {Scope.OPS} if OPS_GROUP in named else PERSON_SCOPES
    return _grant(tenants.pop(), scopes, read_actions(named))


def grant_of_client(
    tenant_id: str, scopes: frozenset[Scope], asked: frozenset[Scope], actions: frozenset[str] = frozenset()
) -> Grant | None:
    """A machine's grant: its entry's scopes, or those of them that it asked for.

    Cognito knows one scope for all actions: who asks for it, or for nothing, gets the ``actions`` of its entry.
    """
    is_for_actions = not asked or Scope.ACTIONS in asked
    return _grant(tenant_id, scopes & asked if asked else scopes, actions if is_for_actions else frozenset())


def override(grant: Grant | None, present: Iterable[str]) -> dict[str, object]:
    """The trigger's answer for the access token: claims and scopes to add, and those of ours to take away.

    ``present``: the scopes that the token would have. Without a grant, a tenant that came from elsewhere (a user's
    own attribute) is suppressed with every scope of ours.
    """
    scopes = frozenset() if grant is None else grant.scopes
    taken = sorted(spelling for spelling in present if spelling in _OURS and _OURS[spelling] not in scopes)
    access: dict[str, object] = {
        "scopesToAdd": sorted([*(scope.spelt for scope in scopes), *map(action_scope, _actions_of(grant))]),
        "scopesToSuppress": taken,
    }
    if grant is None:
        access["claimsToSuppress"] = [TENANT_CLAIM]
    else:
        access["claimsToAddOrOverride"] = {TENANT_CLAIM: grant.tenant_id}
    return {"accessTokenGeneration": access}


def _grant(tenant_id: str, scopes: frozenset[Scope], actions: frozenset[str]) -> Grant | None:
    """A grant for a tenant whose name can be one."""
    known = is_tenant_id(tenant_id)
    return Grant(tenant_id=TenantId(tenant_id), scopes=scopes, actions=actions) if known else None


def _actions_of(grant: Grant | None) -> frozenset[str]:
    """The actions that are granted."""
    return frozenset() if grant is None else grant.actions


_OURS = {spelling: scope for scope in Scope for spelling in (str(scope), scope.spelt)}
