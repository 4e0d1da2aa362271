"""Decide what environment each local program gets, and which account, region and keys the local cloud has.

The cloud's Lambdas inherit its environment: a variable of the user's shell would be seen by code that will not
have it on AWS. So the cloud gets a clean one. The CDK command line keeps the user's (proxies, certificates,
caches), less everything that could lead it to a real account, and less Python's variables: the bytecode that one
synthesis writes saves the next one ten seconds, whatever the shell says about writing it.
"""

import os
from collections.abc import Mapping, MutableMapping
from pathlib import Path

from onceward.local.places import CDK, CLOUD_PROGRAMS, DEV_PROGRAMS

ACCOUNT = "000000000000"
REGION = "us-east-1"
SYSTEM_PATH = "/usr/local/bin:/usr/bin:/bin"


def cloud_access(endpoint_url: str) -> dict[str, str]:
    """Name the local cloud to any AWS SDK or tool; the keys open nothing else."""
    return {
        "AWS_ENDPOINT_URL": endpoint_url,
        "AWS_ACCESS_KEY_ID": "test",
        "AWS_SECRET_ACCESS_KEY": "test",
        "AWS_REGION": REGION,
        "AWS_DEFAULT_REGION": REGION,
        "AWS_CONFIG_FILE": os.devnull,
        "AWS_SHARED_CREDENTIALS_FILE": os.devnull,
        "AWS_EC2_METADATA_DISABLED": "true",
        "NO_PROXY": "127.0.0.1,localhost",  # the user's proxy has no part in what happens on loopback
    }


def forget_aws(environ: MutableMapping[str, str]) -> None:
    """Take the user's AWS profile, keys and endpoints out of this process: it has to do with the local cloud only."""
    for name in [name for name in environ if name.startswith("AWS_")]:
        del environ[name]
    environ["AWS_CONFIG_FILE"] = environ["AWS_SHARED_CREDENTIALS_FILE"] = os.devnull
    environ["AWS_EC2_METADATA_DISABLED"] = "true"
    environ["AWS_DEFAULT_REGION"] = REGION


def emulator_environment(port: int, folder: Path) -> dict[str, str]:
    """Give ministack its own world: nothing of the shell, loopback only, its own home and folders."""
    return {
        "PATH": f"{CLOUD_PROGRAMS}:{SYSTEM_PATH}",
        "HOME": str(folder),
        "TMPDIR": str(folder / "tmp"),
        "STATE_DIR": str(folder / "state"),  # the user pool's signing keys; else in /tmp, for everybody to read
        "LANG": "C.UTF-8",
        "GATEWAY_PORT": str(port),
        "BIND_HOST": "127.0.0.1",
        "IOT_MTLS_ENABLED": "0",  # else it also listens on all interfaces
        "SFTP_ENABLED": "0",
        "LAMBDA_EXECUTOR": "local",  # never Docker, even where there is one
        "MINISTACK_COGNITO_PRETOKEN_STRICT": "1",  # as on AWS: a failing token trigger fails the sign-in
        "MINISTACK_WORKER_THREADS": "256",  # a running Lambda holds one, and what it asks for needs others to answer
        "PYTHONDONTWRITEBYTECODE": "1",  # the bundle ships its bytecode; a Lambda cannot write beside its code
        "PYTHONNOUSERSITE": "1",
    }


def stand_in_environment(folder: Path) -> dict[str, str]:
    """Give the model server nothing but what Python needs."""
    return {"PATH": f"{DEV_PROGRAMS}:{SYSTEM_PATH}", "HOME": str(folder), "LANG": "C.UTF-8", "PYTHONUNBUFFERED": "1"}


def cdk_environment(endpoint_url: str, folder: Path, inherited: Mapping[str, str] | None = None) -> dict[str, str]:
    """Point the CDK command line, and the CDK app it starts, at the local cloud and at nothing else."""
    shell = os.environ if inherited is None else inherited
    kept = {name: value for name, value in shell.items() if not name.startswith(("AWS_", "CDK_", "PYTHON"))}
    return {
        **kept,
        **cloud_access(endpoint_url),
        **cdk_manners(shell.get("PATH", SYSTEM_PATH)),
        "CDK_HOME": str(folder / "cdk-home"),
        # CloudFormation's own rules take seconds to load; a deploy to AWS is held to them, and tests/infra is.
        "CDK_VALIDATION": "false",
    }


def cdk_manners(path: str) -> dict[str, str]:
    """Make the CDK command line run on our Node and Python, and keep it from asking or telling the Internet."""
    return {
        "PATH": f"{DEV_PROGRAMS}:{CDK.parent}:{path}",
        "CDK_DISABLE_CLI_TELEMETRY": "1",
        "CDK_DISABLE_VERSION_CHECK": "1",
        "JSII_SILENCE_WARNING_UNTESTED_NODE_VERSION": "1",
    }
