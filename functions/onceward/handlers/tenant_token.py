"""Cognito's pre-token-generation trigger (V3): put tenant and granted scopes into the access token.

People sign in, machines exchange a client's secret; both pass here. A store that does not answer fails the sign-in:
a token without its tenant would be a token that can do nothing for an hour.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from functools import cache
from typing import Any

import boto3
from aws_lambda_powertools import Logger
from aws_lambda_powertools.utilities.typing import LambdaContext

from onceward.adapters.aws_errors import translated
from onceward.adapters.dynamodb.client import CONFIG
from onceward.adapters.dynamodb.keys import client_key
from onceward.handlers.settings import TenantTokenSettings
from onceward.handlers.token_claims import Grant, grant_of_client, grant_of_groups, override
from onceward.wire.scopes import read_actions, read_scopes

MACHINE = "TokenGeneration_ClientCredentials"

type Event = dict[str, Any]
type Entry = Mapping[str, Any]  # a client's entry as DynamoDB spells it
type FindEntry = Callable[[str], Entry | None]


class TenantToken:
    """The trigger of one execution environment."""

    def __init__(self, find_entry: FindEntry, logger: Logger) -> None:
        """``find_entry`` reads a client's entry by its id."""
        self._find_entry = find_entry
        self._logger = logger

    def __call__(self, event: Event, _: LambdaContext) -> Event:
        """The event with its response filled in."""
        request = event["request"]
        present = [str(scope) for scope in request.get("scopes") or []]
        grant = self._machine(event, present) if event["triggerSource"] == MACHINE else _person(request)
        self._logger.info(
            "token",
            extra={
                "client_id": event["callerContext"]["clientId"],
                "tenant_id": None if grant is None else grant.tenant_id,
                "scopes": [] if grant is None else sorted(grant.scopes),
            },
        )
        return {**event, "response": {"claimsAndScopeOverrideDetails": override(grant, present)}}

    def _machine(self, event: Event, present: list[str]) -> Grant | None:
        """A machine's grant, from its client's entry; no entry, no tenant."""
        entry = self._find_entry(str(event["callerContext"]["clientId"]))
        if entry is None:
            return None
        listed = entry.get("scopes", {})
        words = listed.get("SS") or [one.get("S") for one in listed.get("L", [])]
        tenant = entry.get("tenant_id", {}).get("S", "")
        return grant_of_client(tenant, read_scopes(words), read_scopes(present), read_actions(words))


def _person(request: Mapping[str, Any]) -> Grant | None:
    """A person's grant, from its groups."""
    groups = (request.get("groupConfiguration") or {}).get("groupsToOverride") or []
    return grant_of_groups(str(group) for group in groups)


@cache
def _trigger() -> TenantToken:
    """The environment's trigger, made by its first call."""
    settings = TenantTokenSettings.from_environment()
    client = boto3.client("dynamodb", config=CONFIG)

    def find_entry(client_id: str) -> Entry | None:
        with translated("dynamodb"):
            return client.get_item(TableName=settings.accounts_table, Key=client_key(client_id)).get("Item")

    return TenantToken(find_entry, Logger())


def handler(event: Event, context: LambdaContext) -> Event:
    """Answer one trigger of the user pool."""
    return _trigger()(event, context)
