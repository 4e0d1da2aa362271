"""Tenants of a test's own on the deployed stack: each gets its token from the user pool, as any machine does.

The API knows the ids of the clients that were deployed, so one of them acts for tenant after tenant: its entry is
changed, a token is fetched, and the entry is put back. A token holds for the tenant that it was issued for.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import replace
from typing import Any

import httpx
import pytest

from onceward.domain.names import TenantId
from onceward.local.differences import token_url
from onceward.local.server import NO_TLS
from onceward.local.tenants import client_id, enrol
from tests.scenarios.stack import PATIENCE, PATIENCE_WITH_STARTS, DeployedStack
from tests.scenarios.witness import Witness

CLIENT = "operator"
WRITER = ("jobs:read", "jobs:write")


@pytest.fixture(scope="module", autouse=True)
def quiet_afterwards(stack: DeployedStack) -> Iterator[None]:
    """Leave no job on its way behind: the next module may count all calls of the model."""
    yield
    stack.model.release()
    Witness(stack=stack, tenant=TenantId(CLIENT)).quiet(patience=PATIENCE_WITH_STARTS)


def with_tenants(stack: DeployedStack, *tenants: str) -> DeployedStack:
    """The stack, as seen by somebody who also has these tenants' tokens."""
    return replace(stack, tokens={**stack.tokens, **{tenant: token_of(stack, tenant) for tenant in tenants}})


def token_of(stack: DeployedStack, tenant: str | None, scopes: tuple[str, ...] = WRITER) -> str:
    """A client's token for a tenant; without one, that of a client without an entry."""
    table, client = stack.outputs["AccountsTable"], client_id(stack.outputs, CLIENT)
    key = {"pk": {"S": f"client#{client}"}, "sk": {"S": "client"}}
    entry: dict[str, Any] = {**key, "tenant_id": {"S": tenant}, "scopes": {"SS": list(scopes)}}
    if tenant is None:
        stack.dynamodb.delete_item(TableName=table, Key=key)
    else:
        stack.dynamodb.put_item(TableName=table, Item=entry)
    try:
        return _issued(stack, client)
    finally:
        enrol(stack.cloud.access, stack.outputs)


def _issued(stack: DeployedStack, client: str) -> str:
    """Exchange the client's secret for a token."""
    pool = stack.outputs["UserPoolId"]
    described = stack.aws("cognito-idp").describe_user_pool_client(UserPoolId=pool, ClientId=client)
    answer = httpx.post(
        token_url(stack.cloud.endpoint_url),
        data={"grant_type": "client_credentials"},
        verify=NO_TLS,
        auth=(client, described["UserPoolClient"]["ClientSecret"]),
        timeout=PATIENCE,
        trust_env=False,
    )
    assert answer.is_success, answer.text
    token: str = answer.json()["access_token"]
    return token
