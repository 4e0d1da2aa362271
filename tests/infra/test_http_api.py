"""The HTTP API: routes, who may pass, what is logged; and the user pool behind it."""

import json
from typing import Any

import pytest

from tests.infra.templates import Assembly, Template, only, properties, resources

TENANT_ROUTES = {
    "GET /api/ai/account",
    "POST /api/ai/documents",
    "POST /api/ai/jobs",
    "GET /api/ai/jobs",
    "GET /api/ai/jobs/{job_id}",
    "POST /api/ai/jobs/{job_id}/cancel",
    "DELETE /api/ai/jobs/{job_id}",
    "POST /agent-actions",
    "GET /agent-actions",
    "GET /agent-actions/{operation_id}",
    "POST /agent-actions/{operation_id}/approve",
    "POST /agent-actions/{operation_id}/reset",
    "GET /api/ai/jobs/{job_id}/attempts",
    "GET /api/ai/reviews",
    "GET /api/ai/reviews/{job_id}",
    "POST /api/ai/reviews/{job_id}/resolve",
}


def test_only_routes_that_say_nothing_of_a_tenant_are_open(service: Template) -> None:
    """Every other route asks for a token; all lead to the one function."""
    routes = {route["RouteKey"]: route for route in properties(service, "AWS::ApiGatewayV2::Route")}
    integration = only(service, "AWS::ApiGatewayV2::Integration")

    assert {key for key, route in routes.items() if route["AuthorizationType"] == "JWT"} == TENANT_ROUTES
    assert {"$default", "GET /health", "GET /openapi.json"} == routes.keys() - TENANT_ROUTES
    assert len({json.dumps(route["Target"]) for route in routes.values()}) == 1
    assert integration["IntegrationUri"]["Fn::GetAtt"][0].startswith("ApiFunction")
    assert integration["PayloadFormatVersion"] == "2.0"


@pytest.mark.parametrize(
    ("stage", "clients"), [("dev", ["Users"]), ("local", ["Users", "Clientacme", "Clientglobex", "Clientoperator"])]
)
def test_the_api_accepts_the_tokens_of_the_pools_own_clients(
    assembly: Assembly, stage: str, clients: list[str]
) -> None:
    """Issuer is the stack's pool; a Cognito access token carries its client's id, which must be listed."""
    service = assembly.service(stage)
    checked = only(service, "AWS::ApiGatewayV2::Authorizer")["JwtConfiguration"]
    pool = next(iter(resources(service, "AWS::Cognito::UserPool")))
    region = {"Ref": "AWS::Region"}

    assert ["https://cognito-idp.", region, ".amazonaws.com/", {"Ref": pool}] == checked["Issuer"]["Fn::Join"][1]
    assert [f"IdentityPool{client}" for client in clients] == [audience["Ref"][:-8] for audience in checked["Audience"]]


def test_an_issuer_of_ones_own_takes_the_pools_place(assembly: Assembly) -> None:
    """Any OIDC issuer: then there is no pool and no function that writes its tokens."""
    service = assembly.service("own")

    assert only(service, "AWS::ApiGatewayV2::Authorizer")["JwtConfiguration"] == {
        "Issuer": "https://id.example",
        "Audience": ["onceward"],
    }
    assert not resources(service, "AWS::Cognito::UserPool")
    assert not [name for name in resources(service, "AWS::Lambda::Function") if name.startswith("TenantToken")]


def test_a_flood_is_throttled_before_it_costs(service: Template) -> None:
    """The emulator does not throttle, so the template is the proof."""
    assert only(service, "AWS::ApiGatewayV2::Stage")["DefaultRouteSettings"] == {
        "ThrottlingRateLimit": 100,
        "ThrottlingBurstLimit": 200,
    }


def test_access_logs_say_who_and_how_long_and_never_what(service: Template) -> None:
    """No path, query, header or body: a job's id is not the access log's business."""
    settings = only(service, "AWS::ApiGatewayV2::Stage")["AccessLogSettings"]

    assert settings["DestinationArn"]["Fn::GetAtt"][0].startswith("ApiLogs")
    assert {
        "$context.requestId",
        "$context.requestTime",
        "$context.identity.sourceIp",
        "$context.routeKey",
        "$context.status",
        "$context.responseLength",
        "$context.responseLatency",
        "$context.integrationErrorMessage",
        "$context.authorizer.error",
    } == set(json.loads(settings["Format"]).values())


def test_browsers_may_call_from_configured_origins_only(assembly: Assembly) -> None:
    """No origin, no rule."""
    rule = only(assembly.service("own"), "AWS::ApiGatewayV2::Api")["CorsConfiguration"]

    assert rule["AllowOrigins"] == ["https://app.example"]
    assert "idempotency-key" in rule["AllowHeaders"]
    assert "CorsConfiguration" not in only(assembly.service("dev"), "AWS::ApiGatewayV2::Api")


def test_the_pool_asks_our_function_for_each_token(service: Template) -> None:
    """The third version of the trigger sees machine clients; only the plans from Essentials up have it."""
    pool = only(service, "AWS::Cognito::UserPool")
    trigger: dict[str, Any] = pool["LambdaConfig"]["PreTokenGenerationConfig"]
    permissions = [
        each
        for each in properties(service, "AWS::Lambda::Permission")
        if each["Principal"] == "cognito-idp.amazonaws.com"
    ]

    assert (trigger["LambdaVersion"], pool["UserPoolTier"]) == ("V3_0", "ESSENTIALS")
    assert trigger["LambdaArn"]["Fn::GetAtt"][0].startswith("TenantTokenFunction")
    assert [each["SourceArn"]["Fn::GetAtt"][0] for each in permissions] == ["IdentityPool9E5AED46"]
    assert pool["AdminCreateUserConfig"] == {"AllowAdminCreateUserOnly": True}


def test_a_token_lives_for_an_hour(assembly: Assembly) -> None:
    """What is taken from a person or a machine works for so long at most."""
    clients = [
        each["Properties"] for each in resources(assembly.service("local"), "AWS::Cognito::UserPoolClient").values()
    ]

    assert len(clients) == 4
    assert {(each["AccessTokenValidity"], each["TokenValidityUnits"]["AccessToken"]) for each in clients} == {
        (60, "minutes")
    }


def test_machines_get_tokens_by_secret_and_people_never_by_oauth(assembly: Assembly) -> None:
    """A machine client may ask for its scopes and nothing else; the people's client has no secret to leak."""
    clients = resources(assembly.service("local"), "AWS::Cognito::UserPoolClient")
    asked = {
        name[len("IdentityPool") : -8]: [
            scope["Fn::Join"][1][1] for scope in client["Properties"]["AllowedOAuthScopes"]
        ]
        for name, client in clients.items()
        if client["Properties"].get("AllowedOAuthFlows") == ["client_credentials"]
        and client["Properties"]["GenerateSecret"]
    }
    people = only(assembly.service("local"), "AWS::Cognito::UserPoolClient", "Users")

    assert asked == {
        "Clientacme": ["/jobs:read", "/jobs:write", "/actions"],
        "Clientglobex": ["/jobs:read", "/jobs:write", "/actions"],
        "Clientoperator": ["/jobs:read", "/jobs:write", "/actions", "/ops"],
    }
    assert (people["AllowedOAuthFlowsUserPoolClient"], people.get("GenerateSecret", False)) == (False, False)
