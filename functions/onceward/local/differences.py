"""Name what the local cloud drops or does otherwise than AWS, and make good what can be.

The one place that knows. Nothing below ``local/`` branches on it: the same code and the same templates go to AWS.
README shows the list; ``infra/local_differences`` lists what differs in the templates themselves.
Source: measured with ministack 1.5.33; nothing here was compared with AWS itself, whose side is from its documentation.
"""

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any

import boto3

from onceward.local.cloud import CloudAccess
from onceward.local.environment import REGION

Template = Mapping[str, Any]  # a synthesised CloudFormation template


@dataclass(frozen=True, slots=True, kw_only=True)
class Difference:
    """One thing that is not as on AWS, and what stands in for it here."""

    subject: str
    here: str
    instead: str


DIFFERENCES = (
    Difference(
        subject="API address",
        here="the output's host name does not resolve",
        instead="`/_aws/execute-api/<id>/$default/` on the cloud's own port",
    ),
    Difference(
        subject="CORS of the HTTP API",
        here="dropped by CloudFormation; a preflight answers 403",
        instead="`make run` and the tests set it by API call, from the template",
    ),
    Difference(
        subject="Cognito",
        here="`ProviderURL` is missing, the domain does not resolve",
        instead="the issuer is written out in the stack; tokens come from `/oauth2/token` on the cloud's own port",
    ),
    Difference(
        subject="SQS message moves",
        here="`StartMessageMoveTask` and `ListMessageMoveTasks` do not exist",
        instead="`onceward dlq redrive` moves by a stand-in that refuses what AWS refuses; "
        "AWS's own call is proved by its request's shape",
    ),
    Difference(
        subject="30 s limit of the HTTP API",
        here="a slower function is waited for",
        instead="the function's own timeout is below it, asserted on the template",
    ),
    Difference(
        subject="Throttling of the stage and of Lambda",
        here="not enforced",
        instead="asserted on the template; 429 is tried against a fake transport",
    ),
    Difference(
        subject="Partial batch answers that are malformed",
        here="taken for success, AWS takes them for failure of the whole batch",
        instead="a handler test asserts the shape of every answer",
    ),
    Difference(subject="Fair queues, batching window", here="ignored", instead="asserted on the template"),
    Difference(
        subject="Metrics (EMF, SQS, DynamoDB), access logs",
        here="not extracted, not written",
        instead="tests read the functions' log lines; the rest is asserted on the template",
    ),
    Difference(
        subject="IAM",
        here="not enforced over plain HTTP",
        instead="a test asserts the exact actions, resources and key prefixes (`dynamodb:LeadingKeys`) of every role",
    ),
    Difference(
        subject="Lambda",
        here="runs on this machine's processor; no memory limit, no SIGTERM, one `/tmp`, boto3 of the cloud itself",
        instead="the bundle for arm64 is built and its files are checked, not run",
    ),
    Difference(
        subject="TTL, backups and the bucket's lifecycle",
        here="dropped by CloudFormation: nothing is deleted by age",
        instead="expiry is enforced in conditions; the rules are asserted on the template",
    ),
    Difference(
        subject="State",
        here="in memory; it ends with the process",
        instead="`make run` deploys again into a new process",
    ),
)


def api_url(endpoint_url: str, api_id: str) -> str:
    """Say where the deployed HTTP API answers."""
    return f"{endpoint_url}/_aws/execute-api/{api_id}/$default"


def token_url(endpoint_url: str) -> str:
    """Say where clients get tokens; it finds the pool by the client's id."""
    return f"{endpoint_url}/oauth2/token"


def issuer(pool_id: str) -> str:
    """Say who signs the tokens, as the stack tells the API."""
    return f"https://cognito-idp.{REGION}.amazonaws.com/{pool_id}"


def restore_cors(access: CloudAccess, api_id: str, template: Template) -> bool:
    """Give the API the CORS rule that stands in its template; tell whether there is one."""
    rules = [
        resource["Properties"]["CorsConfiguration"]
        for resource in template["Resources"].values()
        if resource["Type"] == "AWS::ApiGatewayV2::Api" and "CorsConfiguration" in resource["Properties"]
    ]
    for rule in rules:  # the service stack makes one API
        boto3.client("apigatewayv2", **access).update_api(ApiId=api_id, CorsConfiguration=rule)
    return bool(rules)
