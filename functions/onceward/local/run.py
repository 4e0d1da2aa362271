"""Run the whole system on this machine and show one document going through it: ``python -m onceward.local.run``.

Everything stays running when this ends; running it again finds what stands and does only what is missing.
"""

import argparse
import os
import re
import sys
from collections.abc import Mapping
from dataclasses import dataclass

import boto3

from onceward.local.cloud import CloudAccess, LocalCloud
from onceward.local.curl import curl_lines
from onceward.local.demo import Demo
from onceward.local.deploy import Outputs, bootstrap, bootstrapped, deploy, deployed
from onceward.local.differences import api_url
from onceward.local.environment import forget_aws
from onceward.local.failure import LocalError
from onceward.local.model_choice import ModelChoice, choose_model, stand_in_server
from onceward.local.places import RUN, SAMPLE, STACK_FILE
from onceward.local.server import Server
from onceward.local.shell import shell_lines
from onceward.local.stack_file import describe_stack, forget_stack, header_file, write_stack
from onceward.local.steps import step
from onceward.local.tenants import enrol, tokens
from onceward.local.tracker_server import tracker_context, tracker_server

STAGE = "local"
FIRST_PORT = 4566  # where AWS emulators are expected; the model server and the tracker take the next ones
LAST_PORT = 65_533
MOST_JOBS = 100  # a demonstration; more is what bench/ is for


@dataclass(frozen=True, slots=True, kw_only=True)
class Stack:
    """A running stack: its cloud, what it is called there, who may use it and which model answers."""

    cloud: LocalCloud
    outputs: Outputs
    tokens: Mapping[str, str]
    model: ModelChoice


def start_stack(port: int) -> Stack:
    """Bring up cloud, model, stacks and tenants, each unless it stands; say what is done while it is done."""
    cloud = LocalCloud(RUN, port)
    require_places(cloud, stand_in_server(RUN, port + 1))
    if not cloud.is_running():
        forget_stack(STACK_FILE)  # it tells of a stack that has ended
    with step(f"starting the local cloud (ministack) on port {port}") as outcome:
        outcome.words = "" if cloud.start() else "runs already"
    model = start_model(port + 1)
    tracker = tracker_server(RUN, port + 2)
    with step(f"starting the tracker (the demonstration action's target) on port {port + 2}") as outcome:
        outcome.words = "" if tracker.start() else "runs already"
    context = {"platform": "host", **model.context, **tracker_context(tracker)}
    if not bootstrapped(cloud):
        with step("preparing the empty account (cdk bootstrap)"):
            bootstrap(cloud)
    with step("building the Lambda bundle and deploying the stacks (cdk deploy)") as outcome:
        standing = deployed(cloud, STAGE, context)
        outputs = standing or deploy(cloud, STAGE, context)
        outcome.words = "unchanged" if standing else "2 stacks stand"
    with step("signing in the tenants acme and globex, and an operator"):
        store_model_key(cloud.access, outputs, model)
        enrol(cloud.access, outputs)
        issued = tokens(cloud.access, outputs)
    write_stack(STACK_FILE, describe_stack(cloud.endpoint_url, outputs, issued, model.url), issued)
    return Stack(cloud=cloud, outputs=outputs, tokens=issued, model=model)


def require_places(cloud: LocalCloud, stand_in: Server) -> None:
    """Refuse while both ports are only wanted: a run that cannot begin ends nothing that runs."""
    cloud.require_place()
    if choose_model(os.environ, stand_in).is_stand_in:
        stand_in.require_place()
    tracker_server(RUN, stand_in.port + 1).require_place()


def start_model(port: int) -> ModelChoice:
    """Choose the model, and start the stand-in unless a real one is named; a stand-in not wanted any more ends."""
    server = stand_in_server(RUN, port)
    model = choose_model(os.environ, server)
    if not model.is_stand_in:
        server.stop()
        print(f"using the model {model.name} at {model.url}")
        return model
    with step(f"starting the model server (a stand-in, no language model) on port {port}") as outcome:
        outcome.words = "" if server.start() else "runs already"
    return model


def store_model_key(access: CloudAccess, outputs: Outputs, model: ModelChoice) -> None:
    """Put the model's key where the worker reads it."""
    secrets = boto3.client("secretsmanager", **access)
    secrets.put_secret_value(SecretId=outputs["ModelSecretArn"], SecretString=model.key)


def whole_number(name: str, given: str, most: int) -> int:
    """Read a variable of ``make run``; refuse what is no number from 1 to ``most``."""
    if not (re.fullmatch("[0-9]{1,5}", given) and 1 <= int(given) <= most):
        raise LocalError(f"{name} is between 1 and {most}")
    return int(given)


def run(port: int, jobs: int) -> None:
    """Bring the stack up, take the sample document through it, and say how to go on."""
    stack = start_stack(port)
    demo = Demo(
        api_url=api_url(stack.cloud.endpoint_url, stack.outputs["ApiId"]),
        token=stack.tokens["acme"],
        run_id=stack.cloud.identity,
        model=stack.model.digest,
    )
    job_id = demo.run(SAMPLE, jobs)
    print("\nThe stack goes on running; `make stop` ends it. Its addresses and tokens are in .local/stack.json. Try:\n")
    for line in curl_lines(demo.api_url, header_file, job_id, SAMPLE):
        print(f"  {line}")
    print("\nWhere there is nothing to approve, reset or resolve, the answer is 409: that says why.")
    print("The form that POST /api/ai/documents answers is posted with the file: docs/client.md shows how.")
    print("Or the command, and the client's environment (tokens last an hour; `make run` renews them):\n")
    for line in shell_lines("acme", SAMPLE):
        print(f"  {line}")


def main() -> None:
    """Read the arguments; whatever is in the way is one line."""
    parser = argparse.ArgumentParser(prog="make run")
    parser.add_argument("--port", default=str(FIRST_PORT))
    parser.add_argument("--jobs", default="1")
    options = parser.parse_args()
    forget_aws(os.environ)
    try:
        run(whole_number("PORT", options.port, LAST_PORT), whole_number("JOBS", options.jobs, MOST_JOBS))
    except LocalError as error:
        sys.exit(f"run: {error}")
    except KeyboardInterrupt:
        sys.exit("run: interrupted; `make run` goes on from here, `make stop` ends what runs")


if __name__ == "__main__":
    main()
