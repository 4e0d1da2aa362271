"""Deploy a stage into the user's own AWS account, or remove it: ``python -m onceward.local.aws deploy dev``.

The same app and the same command line as for the local cloud; nothing is decided here but to refuse early and clearly.
"""

import json
import os
import re
import subprocess
import sys
from pathlib import Path

import boto3
from botocore.exceptions import BotoCoreError, ClientError

from onceward.local.cdk import context_arguments
from onceward.local.environment import SYSTEM_PATH, cdk_manners
from onceward.local.failure import LocalError
from onceward.local.places import CDK, INFRA, LOCAL

STAGE = re.compile(r"[a-z][a-z0-9-]{0,19}")  # as infra/config.py, which judges it in the end
EMULATED = {"local", "test"}  # their user-pool clients and defaults are for the local cloud
USAGE = "say which stage: `make {doing} STAGE=dev`"


def require_stage(doing: str, stage: str) -> str:
    """Refuse a missing, malformed or local stage."""
    if not stage:
        raise LocalError(USAGE.format(doing=doing))
    if not STAGE.fullmatch(stage):
        raise LocalError("a stage's name is 1 to 20 small letters, digits and hyphens, and begins with a letter")
    if stage in EMULATED:
        raise LocalError(f"the stage `{stage}` is for this machine (`make run`); choose another name, such as dev")
    return stage


def account_session() -> boto3.Session:
    """Take the user's credentials and region; boto3 alone would not read the variable that everything else reads."""
    return boto3.Session(region_name=os.environ.get("AWS_REGION"))


def require_account() -> str:
    """Name the account and region that the user's credentials lead to, as ``aws://account/region``."""
    try:
        session = account_session()  # looks for the profile
        if session.region_name is None:
            raise LocalError("no AWS region: set AWS_REGION, or choose a profile with AWS_PROFILE")
        account = session.client("sts").get_caller_identity()["Account"]
    except (BotoCoreError, ClientError) as error:
        raise LocalError(
            f"no AWS account to work in: sign in first, or choose a profile with AWS_PROFILE ({error})"
        ) from error
    return f"aws://{account}/{session.region_name}"


def is_bootstrapped() -> bool:
    """Tell whether CDK's own stack stands in this account and region."""
    try:
        account_session().client("cloudformation").describe_stacks(StackName="CDKToolkit")
    except ClientError:
        return False
    return True


def cdk(*arguments: str, folder: Path = INFRA) -> None:
    """Run ``cdk`` with the user's terminal and environment."""
    environment = {**os.environ, **cdk_manners(os.environ.get("PATH", SYSTEM_PATH))}
    if subprocess.run([str(CDK), *arguments], cwd=folder, env=environment, check=False).returncode:
        raise LocalError(f"cdk {arguments[0]} failed; its own words are above")


def deploy(stage: str) -> None:
    """Deploy all stacks of a stage, preparing the account for CDK the first time, and say where the API answers."""
    target = require_account()
    print(f"deploying stage {stage} into {target}", flush=True)
    LOCAL.mkdir(exist_ok=True)
    if not is_bootstrapped():
        cdk("bootstrap", target, folder=LOCAL)
    written = LOCAL / f"outputs-{stage}.json"
    approval = "broadening" if sys.stdin.isatty() else "never"  # a person is asked about rights, a pipeline cannot be
    context = context_arguments({"stage": stage})
    cdk("deploy", "--all", *context, "--outputs-file", str(written), "--require-approval", approval)
    outputs = json.loads(written.read_text(encoding="utf-8"))
    print(f"the API answers at {outputs[f'OncewardService-{stage}']['ApiUrl']}; all outputs are in {written}")


def destroy(stage: str) -> None:
    """Remove all stacks of a stage; a protected stage refuses by itself, and keeps its data in any case."""
    print(f"removing stage {stage} from {require_account()}", flush=True)
    cdk("destroy", "--all", *context_arguments({"stage": stage}), "--force")


def main() -> None:
    """Read the command and the stage; a refusal is one line."""
    doing, stage = (*sys.argv[1:], "", "")[:2]
    try:
        {"deploy": deploy, "destroy": destroy}[doing](require_stage(doing, stage))
    except LocalError as error:
        sys.exit(f"{doing}: {error}")


if __name__ == "__main__":
    main()
