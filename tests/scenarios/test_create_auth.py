"""Who gets in, on the deployed stack with its own user pool: machines, people, and tokens that are meant for others."""

from __future__ import annotations

import base64
import json

import httpx
import pytest

from tests.scenarios.customers import quiet_afterwards, token_of
from tests.scenarios.stack import DeployedStack

__all__ = ["quiet_afterwards"]

PASSWORD = "Correct-horse-7-battery"
BODY = {"kind": "test.ask", "input": {"prompt": "Who am I?"}}


def post(stack: DeployedStack, token: str | None, key: str) -> httpx.Response:
    """Ask for a job with a token, or with none."""
    headers = {"idempotency-key": key, **({} if token is None else {"authorization": f"Bearer {token}"})}
    return stack.http.post("/api/ai/jobs", json=BODY, headers=headers)


@pytest.fixture(scope="module")
def person(stack: DeployedStack) -> dict[str, str]:
    """The tokens of a person in a tenant's group: to act, and to say who it is."""
    pools, pool, name = stack.aws("cognito-idp"), stack.outputs["UserPoolId"], "ada@example.org"
    pools.admin_create_user(UserPoolId=pool, Username=name, MessageAction="SUPPRESS")
    pools.admin_set_user_password(UserPoolId=pool, Username=name, Password=PASSWORD, Permanent=True)
    pools.create_group(UserPoolId=pool, GroupName="tenant:people")
    pools.admin_add_user_to_group(UserPoolId=pool, Username=name, GroupName="tenant:people")
    answer = pools.admin_initiate_auth(
        UserPoolId=pool,
        ClientId=stack.outputs["UsersClientId"],
        AuthFlow="ADMIN_USER_PASSWORD_AUTH",
        AuthParameters={"USERNAME": name, "PASSWORD": PASSWORD},
    )
    tokens: dict[str, str] = answer["AuthenticationResult"]
    return tokens


def test_person_acts_for_its_group_s_tenant_and_is_written_down(stack: DeployedStack, person: dict[str, str]) -> None:
    """The row says who created it: the token's subject, whatever the body or a header might claim."""
    answer = post(stack, person["AccessToken"], "a-person")
    assert answer.status_code == httpx.codes.ACCEPTED, answer.text
    row = stack.row(answer.json()["job_id"])
    claims = json.loads(base64.urlsafe_b64decode(person["AccessToken"].split(".")[1] + "=="))

    assert (row["tenant_id"]["S"], row["cb"]["S"]) == ("people", claims["sub"])


def test_machine_is_written_down_by_its_client(stack: DeployedStack) -> None:
    """Client credentials have no person: the client's id stands in the row."""
    answer = post(stack, stack.tokens["acme"], "a-machine")

    assert stack.row(answer.json()["job_id"])["cb"]["S"] == stack.outputs["ClientAcmeId"]


def test_id_token_is_refused(stack: DeployedStack, person: dict[str, str]) -> None:
    """It passes the gateway, whose pool signed it for this client, and stops at ours: it says who, not what for."""
    answer = post(stack, person["IdToken"], "an-id-token")

    assert (answer.status_code, answer.json()["code"]) == (403, "forbidden")


@pytest.mark.parametrize(
    ("tenant", "scopes", "method"),
    [
        pytest.param(None, (), "POST", id="no entry, no tenant"),
        pytest.param("acme", ("jobs:read",), "POST", id="reads only"),
        pytest.param("acme", ("jobs:write",), "GET", id="writes only"),
        pytest.param("acme", ("ops",), "GET", id="operates only"),
    ],
)
def test_token_without_tenant_or_scope_opens_nothing(
    stack: DeployedStack, tenant: str | None, scopes: tuple[str, ...], method: str
) -> None:
    """403 of our own, before anything is read: the token is true, and grants something else."""
    headers = {"authorization": f"Bearer {token_of(stack, tenant, scopes)}", "idempotency-key": "scopes"}
    answer = stack.http.request(method, "/api/ai/jobs", json=BODY if method == "POST" else None, headers=headers)

    assert (answer.status_code, answer.json()["code"]) == (403, "forbidden")


@pytest.mark.parametrize("spoil", ["none", "signature", "claims", "garbage", "absent"])
def test_token_that_the_pool_did_not_sign_is_the_gateways_401(stack: DeployedStack, spoil: str) -> None:
    """In the gateway's own shape, which the client understands; our code is never asked."""
    head, claims, signature = stack.tokens["acme"].split(".")
    nobody = base64.urlsafe_b64encode(b'{"alg":"none","typ":"JWT"}').decode().rstrip("=")
    others = base64.urlsafe_b64encode(b'{"tenant":"globex","scope":"jobs:write"}').decode().rstrip("=")
    token = {
        "none": f"{nobody}.{claims}.",
        "signature": f"{head}.{claims}.{signature[::-1]}",
        "claims": f"{head}.{others}.{signature}",
        "garbage": "not.a.token",
        "absent": None,
    }[spoil]
    answer = post(stack, token, "spoilt")

    assert answer.status_code == httpx.codes.UNAUTHORIZED
    assert set(answer.json()) == {"message"}
