"""Who is calling: tenant, person or machine, and scopes, from the claims that the gateway verified, and nowhere else.

The gateway checks signature, issuer, audience and expiry. Here: that it is an access token (an ID token proves who
someone is, not what they may do), that it names a tenant and a caller, and that it grants the route's scope.
"""

from __future__ import annotations

import hashlib
import re
from collections.abc import Mapping, Sequence
from dataclasses import dataclass

from onceward.domain.names import TenantId, is_tenant_id
from onceward.errors import Forbidden, Unauthorized
from onceward.wire.scopes import Scope, read_actions, read_scopes

MAX_SUBJECT = 64  # goes into the row, which stays small
_UNSAFE = re.compile(r"[^A-Za-z0-9_.:@|-]")
_DIGEST = 20  # hexadecimal characters, 80 bits; the ``~`` before them is in no plain name


@dataclass(frozen=True, slots=True, kw_only=True)
class Principal:
    """A verified caller."""

    tenant_id: TenantId
    subject: str
    scopes: frozenset[Scope]
    actions: frozenset[str] = frozenset()

    def may_act(self, action: str) -> bool:
        """Whether the caller may ask for this action."""
        return action in self.actions

    def may_see(self, action: str) -> bool:
        """Whether the caller may read this action's operations."""
        return action in self.actions or Scope.OPS in self.scopes


def verified_claims(event: Mapping[str, object]) -> Mapping[str, object]:
    """The claims that the gateway's authorizer passed on; raises ``Unauthorized`` without any."""
    found: object = event
    for step in ("requestContext", "authorizer", "jwt", "claims"):
        found = found.get(step) if isinstance(found, Mapping) else None
    if not isinstance(found, Mapping) or not found:
        raise Unauthorized("send an access token")
    return found


def read_principal(
    event: Mapping[str, object], *, tenant_claim: str, scope_claim: str, needed: Sequence[Scope]
) -> Principal:
    """The caller, if it may use a route that needs one of ``needed``; raises ``Unauthorized`` or ``Forbidden``."""
    claims = verified_claims(event)
    # Issuers other than Cognito have no such claim; theirs are told apart by the scope that an ID token lacks.
    if claims.get("token_use", "access") != "access":
        raise Forbidden("this is not an access token")
    tenant = claims.get(tenant_claim)
    # Text and nothing else: ``null`` or ``true`` written out would be the name of a tenant that somebody may have.
    if not isinstance(tenant, str) or not is_tenant_id(tenant):
        raise Forbidden("the token names no tenant")
    scopes = read_scopes(claims.get(scope_claim))
    actions = read_actions(claims.get(scope_claim))
    # A token that allows an action needs no word for actions in general.
    is_named = Scope.ACTIONS in needed and bool(actions)
    if scopes.isdisjoint(needed) and not is_named:
        raise Forbidden(f"the token lacks the scope {' or '.join(needed)}")
    return Principal(tenant_id=TenantId(tenant), subject=_subject_of(claims), scopes=scopes, actions=actions)


def _subject_of(claims: Mapping[str, object]) -> str:
    """Who it is, short and plain; a name that had to be changed carries a digest, so that no two callers become one.

    What a kind computes once for a creator is given to nobody else, and records say who decided. Raises ``Forbidden``
    for a token that does not say.
    """
    told = claims.get("sub") or claims.get("client_id")
    if not isinstance(told, str):
        raise Forbidden("the token names no caller")
    plain = _UNSAFE.sub("_", told)
    if plain == told and len(told) <= MAX_SUBJECT:
        return told
    digest = hashlib.sha256(told.encode(errors="surrogatepass")).hexdigest()[:_DIGEST]
    return f"{plain[: MAX_SUBJECT - _DIGEST - 1]}~{digest}"
