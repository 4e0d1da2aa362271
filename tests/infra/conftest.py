"""Synthesise once for all tests of the CDK app: starting jsii costs more than everything that follows."""

import importlib
import os
import sys
from pathlib import Path
from types import ModuleType

import pytest

from infra.config import StageConfig
from tests.infra.templates import Assembly, Template

STAGES: tuple[dict[str, object], ...] = (
    {"stage": "dev"},
    {"stage": "local"},
    {"stage": "prod"},
    # an issuer of one's own, and a browser application
    {
        "stage": "own",
        "issuer": "https://id.example",
        "audience": "onceward",
        "cors_origins": "https://app.example",
        "alarm_email": "ops@example.com",
    },
    # Bedrock's models, in one geography for everybody and in this region for one kind
    {
        "stage": "aws",
        "model_api": "bedrock",
        "model_name": "eu.anthropic.claude-sonnet-5",
        "model_by_kind": '{"text.generate": {"api": "bedrock", "name": "amazon.nova-lite-v1:0"}}',
    },
    # what only tests may ask for
    {
        "stage": "test",
        "test_handlers": "true",
        "sweeper_schedule": "false",
        "worker_endpoint_url": "http://127.0.0.1:9",
    },
)


@pytest.fixture(scope="session")
def app_module() -> ModuleType:
    """Import the app with the project's own node. Not above: the import starts node, wherever pytest collects."""
    os.environ.setdefault("JSII_NODE", str(Path(sys.executable).with_name("node")))
    return importlib.import_module("infra.app")


@pytest.fixture(scope="session")
def assembly(app_module: ModuleType, tmp_path_factory: pytest.TempPathFactory) -> Assembly:
    """Put all stages into one app, as the command line does with one, and synthesise it."""
    folder = tmp_path_factory.mktemp("cdk.out")
    app = app_module.new_app(str(folder))
    for stage in STAGES:
        app_module.build(app, StageConfig.of(stage))
    app.synth()
    return Assembly(folder)


@pytest.fixture(scope="session")
def state(assembly: Assembly) -> Template:
    """Give the state stack as it goes to AWS."""
    return assembly.state("dev")


@pytest.fixture(scope="session")
def service(assembly: Assembly) -> Template:
    """Give the service stack as it goes to AWS."""
    return assembly.service("dev")
