"""The door that clients really come through: a request as the gateway passes it on, and the API's own handler.

Who asks holds a token, and what the token says is what the user pool's trigger has put into it. A status of 500, or a
route that does not do what its answer says, is a fault of the code, whatever fault was planned.
"""

from __future__ import annotations

import json
from collections.abc import Mapping
from functools import cache
from typing import TYPE_CHECKING, Any
from urllib.parse import quote

from aws_lambda_powertools import Logger

from onceward.domain.job import Job
from onceward.domain.names import JobId
from onceward.handlers import routes
from onceward.handlers.routes import ApiRoute
from onceward.handlers.tenant_token import MACHINE, TenantToken
from onceward.usecases.actions import PREFIX
from onceward.usecases.resolve_job import Verdict
from onceward.usecases.submit_job import Intake
from onceward.wire.canonical import job_identity
from tests.simulation.doors import RUN_ID, TENANT, WHY, Deed, Heard
from tests.simulation.entrances import API, SimContext
from tests.simulation.process import Process
from tests.support.api_world import an_event

if TYPE_CHECKING:
    from tests.simulation.world import World

GATEWAY_SECONDS = 29.0  # the API's function's own timeout
CLIENT, STRANGER, PERSON = "client", "stranger", "operator"
ENTRIES: dict[str, dict[str, Any]] = {  # of machines, as the accounts table has them
    CLIENT: {
        "tenant_id": {"S": TENANT},
        "scopes": {"SS": ["onceward/jobs:read", "onceward/jobs:write", "onceward/actions:act"]},
    },
    STRANGER: {"tenant_id": {"S": "tenant-b"}, "scopes": {"SS": ["onceward/jobs:read", "onceward/jobs:write"]}},
}
GROUPS = [f"tenant:{TENANT}", "ops", "actions:act"]
BROKEN_CODE = "internal_error"


class HttpDoor:
    """Each wish is one HTTP request."""

    def create(self, world: World, key: str, text: str) -> Deed:
        """``POST`` a job, or an action."""
        kind = world.scenario.kind
        headers = {"idempotency-key": key}
        if kind.startswith(PREFIX):
            body = {"action": kind.removeprefix(PREFIX), "arguments": {"text": text}, "run_id": RUN_ID}
            return request(world, routes.PERFORM_ACTION, body=body, headers=headers)
        return request(world, routes.CREATE_JOB, body={"kind": kind, "input": {"text": text}}, headers=headers)

    def cancel(self, world: World, job_id: JobId) -> Deed:
        """``POST`` it."""
        return request(world, routes.CANCEL_JOB, job_id)

    def resolve(self, world: World, verdict: Verdict) -> Deed:
        """``POST`` it."""
        body = {
            "verdict": verdict.resolution.value,
            "epoch": verdict.epoch,
            "why": verdict.why,
            "result": verdict.result,
            "may_pay_twice": verdict.may_pay_twice,
        }
        return request(world, routes.RESOLVE_REVIEW, verdict.job_id, body=body, by=PERSON)

    def approve(self, world: World, row: Job, fingerprint: str) -> Deed:
        """``POST`` it, under the agent's name for the operation."""
        body = {"fingerprint": fingerprint, "why": WHY}
        return request(world, routes.APPROVE_ACTION, operation_of(world, row), body=body, by=PERSON)

    def reset(self, world: World, row: Job, epoch: int) -> Deed:
        """``POST`` it, under the agent's name for the operation."""
        body = {"epoch": epoch, "why": WHY}
        return request(world, routes.RESET_ACTION, operation_of(world, row), body=body, by=PERSON)


def request(
    world: World,
    route: ApiRoute,
    name: str = "",
    *,
    body: object = None,
    headers: Mapping[str, str] | None = None,
    query: str = "",
    by: str | None = CLIENT,
) -> Deed:
    """A request to a route as a deed; ``name``: the job or operation in its path, ``by``: whose token it carries."""
    path = route.path.replace(routes.JOB_ID, name).replace(routes.OPERATION_ID, quote(name))
    text = body if isinstance(body, str) else None if body is None else json.dumps(body)
    claims = None if by is None else claims_of(by)
    return pass_on(world, an_event(route.method, path, body=text, headers=headers, claims=claims, query=query))


def pass_on(world: World, event: dict[str, Any]) -> Deed:
    """An event of the gateway as a deed."""

    async def deed(intake: Intake) -> Heard:
        process = intake.clock.process  # type: ignore[attr-defined]  # the simulation's own clock
        assert isinstance(process, Process)
        context = SimContext(process, process.loop.time() + GATEWAY_SECONDS)
        reply = await API.invoke(intake, event, context, world.lines)
        return heard_in(reply)

    return deed


def heard_in(reply: Mapping[str, Any]) -> Heard:
    """What a client reads in an answer."""
    body = json.loads(reply["body"]) if reply["body"] else {}
    code = body.get("code")
    assert code != BROKEN_CODE, f"the API answered {reply}"
    return Heard(int(reply["statusCode"]), code, body.get("job_id"), body)


def operation_of(world: World, row: Job) -> str:
    """The agent's name for the operation of a row."""
    keys = {one.partition("/")[0] for one in world.scenario.requests}
    return next(key for key in keys if job_identity(TENANT, routes.PERFORM_ACTION.name, key) == row.identity)


@cache
def claims_of(who: str) -> dict[str, str]:
    """The claims of a token: what the user pool's trigger says of who asks for one."""
    trigger = TenantToken(ENTRIES.get, Logger(service="trigger", level="CRITICAL"))
    source = "TokenGeneration_Authentication" if who == PERSON else MACHINE
    event = {
        "triggerSource": source,
        "callerContext": {"clientId": who},
        "request": {"groupConfiguration": {"groupsToOverride": GROUPS}, "scopes": []},
    }
    answer = trigger(event, None)  # type: ignore[arg-type]  # its context is not read
    access = answer["response"]["claimsAndScopeOverrideDetails"]["accessTokenGeneration"]
    claims = access.get("claimsToAddOrOverride", {})
    return {"token_use": "access", "sub": who, "scope": " ".join(access["scopesToAdd"]), **claims}
