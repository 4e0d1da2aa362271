"""Give the demo tenants and the operator their tokens, in the way that any machine of a tenant gets one.

The user pool's clients are made by the stack. Which tenant a client acts for stands in the accounts table, under the
client's id, where the token trigger looks it up; on AWS an operator writes that entry once for each client.
"""

from collections.abc import Mapping

import boto3
import httpx

from onceward.adapters.dynamodb.keys import client_key
from onceward.kinds.registered import KINDS
from onceward.local.cloud import CloudAccess
from onceward.local.differences import token_url
from onceward.local.failure import LocalError
from onceward.local.server import NO_TLS
from onceward.usecases.registry import Registry
from onceward.wire.scopes import Scope

TENANTS = {"acme": "acme", "globex": "globex", "operator": "acme"}  # client → the tenant it acts for
TRIGGER_SECONDS = 60  # the first token starts the trigger's Lambda, on a machine that may be building something
TENANTS_SCOPES = ("jobs:read", "jobs:write", "actions")
SCOPES = {"operator": (*TENANTS_SCOPES, "ops")}  # all others have their tenant's


def enrol(access: CloudAccess, outputs: Mapping[str, str], tenants: Mapping[str, str] = TENANTS) -> None:
    """Write each client's tenant and scopes; writing them again changes nothing."""
    accounts = boto3.client("dynamodb", **access)
    for name, tenant in tenants.items():
        accounts.put_item(
            TableName=outputs["AccountsTable"],
            Item={
                **client_key(client_id(outputs, name)),
                "tenant_id": {"S": tenant},
                "scopes": {"SS": granted_to(name)},
            },
        )


def granted_to(client: str, kinds: Registry = KINDS) -> list[str]:
    """What a client may do: every action of this checkout too, so that one that was just declared can be tried."""
    actions = (f"{Scope.ACTIONS}:{action.name}" for action in kinds.actions)
    return [*SCOPES.get(client, TENANTS_SCOPES), *actions]


def tokens(access: CloudAccess, outputs: Mapping[str, str], tenants: Mapping[str, str] = TENANTS) -> dict[str, str]:
    """Get an access token for each client; they hold for an hour."""
    pool = boto3.client("cognito-idp", **access)
    issued = {}
    for name in tenants:
        client = pool.describe_user_pool_client(UserPoolId=outputs["UserPoolId"], ClientId=client_id(outputs, name))
        secret = client["UserPoolClient"]["ClientSecret"]
        issued[name] = _token(access["endpoint_url"], name, client_id(outputs, name), secret)
    return issued


def client_id(outputs: Mapping[str, str], name: str) -> str:
    """Find a client's id among the stack's outputs."""
    return outputs[f"Client{name.title()}Id"]


def _token(endpoint_url: str, name: str, client: str, secret: str) -> str:
    """Exchange a client's secret for an access token."""
    answer = httpx.post(
        token_url(endpoint_url),
        data={"grant_type": "client_credentials"},
        auth=(client, secret),
        timeout=TRIGGER_SECONDS,
        trust_env=False,
        verify=NO_TLS,
    )
    if not answer.is_success:
        raise LocalError(
            f"no token for {name} ({answer.status_code} {answer.text.strip()}): the token trigger's log says why"
        )
    token: str = answer.json()["access_token"]
    return token
