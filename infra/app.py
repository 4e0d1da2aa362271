"""Put the stacks of one stage together. The only file of ``infra`` that reads context or environment.

Run by the CDK command line (``infra/cdk.json``): ``cdk deploy --all -c stage=dev``. No look-ups: synthesis needs
neither credentials nor network, but for the wheels of the bundle.
"""

from __future__ import annotations

import sys
from collections.abc import Mapping

import aws_cdk as cdk
from cdk_nag import AwsSolutionsChecks
from pydantic import ValidationError

from infra.config import StageConfig
from infra.parts.bundle import bundle_for
from infra.stacks.observability import ObservabilityStack
from infra.stacks.service import ServiceStack
from infra.stacks.state import StateStack

# Kept here and not in cdk.json, so that tests synthesise what the command line does.
FLAGS: dict[str, object] = {
    "@aws-cdk/aws-s3:serverAccessLogsUseBucketPolicy": True,  # without it the log bucket needs an ACL
    "@aws-cdk/aws-iam:minimizePolicies": True,
    "@aws-cdk/core:defaultCrossStackReferences": "strong",  # a table that functions still use cannot be removed
}


def new_app(outdir: str | None = None) -> cdk.App:
    """Make an app without telemetry, whose synthesis fails on any cdk-nag finding that is not acknowledged."""
    app = cdk.App(analytics_reporting=False, context=FLAGS, outdir=outdir)
    cdk.Validations.of(app).add_plugins(AwsSolutionsChecks(app))
    return app


def build(app: cdk.App, config: StageConfig) -> tuple[StateStack, ServiceStack]:
    """Make the stacks of a stage, two or, with its dashboard and alarms, three; an app may hold several stages."""
    state = StateStack(app, config)
    bundle = bundle_for(config.platform, with_crash_points=config.test_handlers)
    service = ServiceStack(app, config, state, bundle)
    stacks: list[cdk.Stack] = [state, service]
    if config.observability:
        stacks.append(ObservabilityStack(app, config, state, service))
    for stack in stacks:
        cdk.Tags.of(stack).add("onceward:stage", config.stage)
    return state, service


def parameters(context: Mapping[str, object]) -> dict[str, object]:
    """Pick our parameters out of the context; CDK's own names carry a colon or a slash."""
    return {name: value for name, value in context.items() if not {":", "/"} & set(name)}


def main() -> None:
    """Synthesise for the command line; a wrong parameter is one line and not a trace."""
    app = new_app()
    try:
        config = StageConfig.of(parameters(app.node.get_all_context()))
    except ValidationError as error:
        for problem in error.errors():
            sys.stderr.write(f"-c {'.'.join(map(str, problem['loc']))}: {problem['msg']}\n")
        sys.exit(2)
    build(app, config)
    app.synth()


if __name__ == "__main__":
    main()
