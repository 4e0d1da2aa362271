"""A second stage beside the first: an issuer of one's own, a browser's origin and limits, all by configuration."""

from __future__ import annotations

import itertools
from collections.abc import Iterator
from dataclasses import dataclass
from datetime import UTC, datetime, timedelta
from typing import Any

import httpx
import jwt
import pytest

from onceward.local.deploy import Outputs, deploy
from onceward.local.differences import api_url
from onceward.local.model import STAND_IN_MODEL
from onceward.local.model_choice import NO_KEY
from onceward.local.server import NO_TLS
from tests.scenarios.stack import PATIENCE, DeployedStack, until
from tests.support.oidc import OidcServer

ORIGIN = "https://app.example"
AUDIENCE = "https://onceward.example"
CREATES_PER_MINUTE, DOCUMENTS_PER_DAY = 3, 2
SCOPES = "jobs:read jobs:write"
BODY = {"kind": "text.generate", "input": {"prompt": "Who signed this?"}}
_keys = (f"oidc-{number}" for number in itertools.count())


@dataclass(frozen=True, slots=True)
class OwnStage:
    """The stage, its issuer, and a client that retries nothing."""

    stack: DeployedStack
    outputs: Outputs
    oidc: OidcServer
    http: httpx.Client

    def token(self, **claims: Any) -> str:
        """A good token of a tenant's own, but for these claims."""
        return self.oidc.token(**{"aud": AUDIENCE, "org": "default", "scp": SCOPES, **claims})

    def post(self, token: str | None, body: object = BODY) -> httpx.Response:
        """Ask for a job under a new key."""
        headers = {"idempotency-key": next(_keys)}
        if token is not None:
            headers["authorization"] = f"Bearer {token}"
        return self.http.post("/api/ai/jobs", json=body, headers=headers)

    def item(self, table: str, pk: str) -> list[dict[str, Any]]:
        """What a table holds under partitions that begin so."""
        found = self.stack.dynamodb.scan(TableName=self.outputs[table], ConsistentRead=True)["Items"]
        return [item for item in found if item["pk"]["S"].startswith(pk)]


@pytest.fixture(scope="module")
def own(stack: DeployedStack) -> Iterator[OwnStage]:
    """The shipped functions, told of an issuer on loopback whose tokens call tenant and scopes otherwise."""
    with OidcServer() as oidc:
        context = {
            "platform": "host",
            "clients": "",
            "issuer": oidc.issuer,
            "audience": f"{AUDIENCE},another-audience",
            "tenant_claim": "org",
            "scope_claim": "scp",
            "cors_origins": ORIGIN,
            "creates_per_minute": str(CREATES_PER_MINUTE),
            "documents_per_day": str(DOCUMENTS_PER_DAY),
            "sweeper_schedule": "false",
            "maximum_concurrency": "2",  # as few processes of the worker as there may be: each takes seconds of a core
            "model_url": stack.model.base_url,
            "model_name": STAND_IN_MODEL,
        }
        outputs = deploy(stack.cloud, "local", context)
        stack.aws("secretsmanager").put_secret_value(SecretId=outputs["ModelSecretArn"], SecretString=NO_KEY)
        base = api_url(stack.cloud.endpoint_url, outputs["ApiId"])
        with httpx.Client(base_url=base, timeout=PATIENCE, trust_env=False, verify=NO_TLS) as http:
            yield OwnStage(stack, outputs, oidc, http)


def test_issuer_of_ones_own_is_all_that_is_needed(own: OwnStage) -> None:
    """Its token creates a job for the tenant that its claim names; the row says who; the job runs to its end."""
    token = own.token(org="own-tenant")
    made = own.post(token)
    assert made.status_code == httpx.codes.ACCEPTED, made.text
    (row,) = [item for item in own.item("JobsTable", "own-tenant#") if item["sk"]["S"] == "job"]
    assert row["cb"]["S"] == "auth0|42"

    def look() -> str | None:
        answer = own.http.get(made.headers["location"], headers={"authorization": f"Bearer {token}"})
        status: str = answer.json()["status"]
        return status if status in {"succeeded", "failed"} else None

    assert until(look, "the job has ended") == "succeeded"


@pytest.mark.parametrize(
    ("claims", "status"),
    [
        pytest.param({"aud": "another-audience"}, 202, id="the other audience"),
        pytest.param({"scp": ["jobs:read", "jobs:write"]}, 202, id="scopes as a list"),
        pytest.param({"exp": datetime(2026, 1, 1, tzinfo=UTC)}, 401, id="expired"),
        pytest.param({"nbf": datetime.now(UTC) + timedelta(days=1)}, 401, id="not yet"),
        pytest.param({"iss": "https://elsewhere.example"}, 401, id="other issuer"),
        pytest.param({"aud": "https://elsewhere.example"}, 401, id="other audience"),
        pytest.param({"aud": None}, 401, id="no audience"),
        pytest.param({"org": None}, 403, id="no tenant"),
        pytest.param({"org": "a#b"}, 403, id="a tenant that is no name"),
        pytest.param({"org": None, "tenant": "acme"}, 403, id="a tenant under another name"),
        pytest.param({"scp": None}, 403, id="an ID token, which has no scopes"),
        pytest.param({"scp": None, "token_use": "id"}, 403, id="an ID token that says so"),
        pytest.param({"scp": SCOPES, "token_use": "id"}, 403, id="an ID token with scopes"),
        pytest.param({"scp": "jobs:read"}, 403, id="wrong scope"),
        pytest.param({"scp": None, "scope": SCOPES}, 403, id="scopes under another name"),
    ],
)
def test_claims_decide_who_gets_in(own: OwnStage, claims: dict[str, Any], status: int) -> None:
    """The gateway's 401 for what is not signed for us, our 403 for what is and does not grant it."""
    answer = own.post(own.token(**{"org": f"t{next(_keys)}", **claims}))

    assert answer.status_code == status, answer.text
    assert status != httpx.codes.UNAUTHORIZED or set(answer.json()) == {"message"}
    assert status != httpx.codes.FORBIDDEN or answer.json()["code"] == "forbidden"


def test_signature_is_checked(own: OwnStage) -> None:
    """Neither ``alg: none`` nor somebody else's key of the same name; 401 by the gateway."""
    claims = jwt.decode(own.token(), options={"verify_signature": False})
    unsigned = jwt.encode(claims, "", algorithm="none")
    shared = jwt.encode(claims, "k" * 64, algorithm="HS256", headers={"kid": "key-1"})
    forged = own.oidc.token(key=own.oidc.forged_key, aud=AUDIENCE, org="default", scp=SCOPES)

    assert [own.post(token).status_code for token in (unsigned, shared, forged, None)] == [401] * 4


def test_browsers_of_the_configured_origin_may_call(own: OwnStage) -> None:
    """A preflight names origin, method and headers, and needs no token; another origin gets no permission."""
    asked = {"access-control-request-method": "POST", "access-control-request-headers": "idempotency-key,authorization"}
    allowed = own.http.options("/api/ai/jobs", headers={"origin": ORIGIN, **asked})
    foreign = own.http.options("/api/ai/jobs", headers={"origin": "https://evil.example", **asked})

    assert allowed.is_success
    assert allowed.headers["access-control-allow-origin"] == ORIGIN
    assert "idempotency-key" in allowed.headers["access-control-allow-headers"].lower()
    assert "POST" in allowed.headers["access-control-allow-methods"]
    assert foreign.headers.get("access-control-allow-origin") not in {"https://evil.example", "*"}


def test_tenant_beyond_its_rate_is_told_when_to_come_back(own: OwnStage) -> None:
    """As many as the minute allows; the 429 leaves nothing behind, and a retry of an accepted one is no new one."""
    token = own.token(org="hasty")
    answers = [own.post(token) for _ in range(2 * CREATES_PER_MINUTE + 1)]  # at most one minute begins meanwhile
    refused = next(answer for answer in answers if answer.status_code == httpx.codes.TOO_MANY_REQUESTS)
    made = [answer for answer in answers if answer.is_success]
    replayed = own.http.post(
        "/api/ai/jobs",
        json=BODY,
        headers={"authorization": f"Bearer {token}", "idempotency-key": made[0].request.headers["idempotency-key"]},
    )

    assert (refused.json()["code"], refused.headers["content-type"]) == ("rate_limited", "application/problem+json")
    assert 1 <= int(refused.headers["retry-after"]) <= 60
    assert replayed.headers["idempotent-replayed"] == "true"
    rows = [item for item in own.item("JobsTable", "hasty#") if item["sk"]["S"] == "job"]
    assert len(rows) == len(made)
    assert {int(item["counted"]["N"]) for item in own.item("AccountsTable", "tally#hasty")} <= {1, 2, 3}
    assert own.post(own.token(org="patient")).status_code == httpx.codes.ACCEPTED


def test_documents_are_limited_by_the_day(own: OwnStage) -> None:
    """The next form is refused until midnight, with a code of its own."""
    headers = {"authorization": f"Bearer {own.token(org='collector')}"}
    wish = {"content_type": "application/pdf", "size": 8, "sha256": "a" * 64}
    answers = [own.http.post("/api/ai/documents", json=wish, headers=headers) for _ in range(2 * DOCUMENTS_PER_DAY + 1)]
    refused = answers[-1]

    assert answers[0].status_code == httpx.codes.CREATED
    assert (refused.status_code, refused.json()["code"]) == (429, "document_limit_reached")
    assert 1 <= int(refused.headers["retry-after"]) <= 86_400
