"""Make the HTTP API: one function behind all routes, a JWT authorizer before those of a tenant.

The gateway checks signature, issuer, audience and expiry; tenant, scopes and the kind of token are checked in
our code, which alone can say so in a problem document.
"""

from __future__ import annotations

import json
from collections.abc import Sequence

import aws_cdk as cdk
from aws_cdk import aws_apigatewayv2 as apigateway
from aws_cdk import aws_apigatewayv2_authorizers as authorizers
from aws_cdk import aws_apigatewayv2_integrations as integrations
from aws_cdk import aws_lambda as lambda_
from constructs import Construct

from infra.config import StageConfig
from infra.parts.acknowledge import acknowledge
from infra.parts.log_group import log_group

GET, POST, DELETE = apigateway.HttpMethod.GET, apigateway.HttpMethod.POST, apigateway.HttpMethod.DELETE
TENANT_ROUTES = (
    (POST, "/api/ai/documents"),
    (POST, "/api/ai/jobs"),
    (GET, "/api/ai/jobs"),
    (GET, "/api/ai/jobs/{job_id}"),
    (POST, "/api/ai/jobs/{job_id}/cancel"),
    (DELETE, "/api/ai/jobs/{job_id}"),
    (GET, "/api/ai/account"),
    (GET, "/api/ai/jobs/{job_id}/attempts"),
    (GET, "/api/ai/reviews"),
    (GET, "/api/ai/reviews/{job_id}"),
    (POST, "/api/ai/reviews/{job_id}/resolve"),
    (POST, "/agent-actions"),
    (GET, "/agent-actions"),
    (GET, "/agent-actions/{operation_id}"),
    (POST, "/agent-actions/{operation_id}/approve"),
    (POST, "/agent-actions/{operation_id}/reset"),
)
OPEN_ROUTES = ((GET, "/health"), (GET, "/openapi.json"))
# Who and how long, never what: no path (it names jobs), no query, no header.
LOGGED = {
    "request_id": "$context.requestId",
    "time": "$context.requestTime",
    "source_ip": "$context.identity.sourceIp",
    "route": "$context.routeKey",
    "status": "$context.status",
    "response_bytes": "$context.responseLength",
    "latency_ms": "$context.responseLatency",
    "integration_error": "$context.integrationErrorMessage",
    "authorizer_error": "$context.authorizer.error",
}
CORS_HEADERS = ["authorization", "content-type", "idempotency-key", "prefer", "traceparent"]
CORS_EXPOSED = ["location", "retry-after", "idempotent-replayed", "preference-applied"]


class JobsApi(Construct):
    """The API, its routes and its one stage."""

    def __init__(
        self, scope: Construct, config: StageConfig, handler: lambda_.Function, *, issuer: str, audience: Sequence[str]
    ) -> None:
        """Make them; a token passes if its ``aud`` or ``client_id`` is in ``audience``."""
        super().__init__(scope, "Api")
        integration = integrations.HttpLambdaIntegration("Handler", handler, scope_permission_to_route=False)
        self.api = apigateway.HttpApi(
            self,
            "Http",
            api_name=f"onceward-{config.stage}",
            create_default_stage=False,
            default_integration=integration,  # $default: our code answers 404 and 405 as problem documents
            cors_preflight=_cors(config),
        )
        authorizer = authorizers.HttpJwtAuthorizer("Token", issuer, jwt_audience=list(audience))
        open_routes = [self.api.node.find_child("DefaultRoute")]
        for method, path in TENANT_ROUTES:
            self.api.add_routes(path=path, methods=[method], integration=integration, authorizer=authorizer)
        for method, path in OPEN_ROUTES:
            open_routes += self.api.add_routes(path=path, methods=[method], integration=integration)
        for route in open_routes:
            acknowledge(route, "APIG4", "It says nothing of any tenant: liveness, the API's description, 404 and 405.")
        self.url = self._stage(config).url

    def _stage(self, config: StageConfig) -> apigateway.HttpStage:
        """Make the stage with its throttle and access log."""
        stage = apigateway.HttpStage(
            self,
            "Stage",
            http_api=self.api,
            auto_deploy=True,
            throttle=apigateway.ThrottleSettings(rate_limit=config.throttle_rate, burst_limit=config.throttle_burst),
        )
        plain: apigateway.CfnStage = stage.node.default_child  # the library's own property takes no mapping from Python
        plain.access_log_settings = apigateway.CfnStage.AccessLogSettingsProperty(
            destination_arn=log_group(self, config).log_group_arn, format=json.dumps(LOGGED)
        )
        return stage


def _cors(config: StageConfig) -> apigateway.CorsPreflightOptions | None:
    """Let pages of the configured origins call the API; no origin, no rule."""
    if not config.cors_origins:
        return None
    return apigateway.CorsPreflightOptions(
        allow_origins=list(config.cors_origins),
        allow_methods=[apigateway.CorsHttpMethod.GET, apigateway.CorsHttpMethod.POST, apigateway.CorsHttpMethod.DELETE],
        allow_headers=CORS_HEADERS,
        expose_headers=CORS_EXPOSED,
        max_age=cdk.Duration.hours(1),
    )
