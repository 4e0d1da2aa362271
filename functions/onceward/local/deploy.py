"""Deploy the stacks that go to AWS into the local cloud, by the CDK command line that deploys them there.

What is deployed is remembered with the identity of the cloud: an unchanged deployment in the same process is left
alone, and a new process, being an empty account, gets everything again.
"""

import json
from collections.abc import Mapping
from pathlib import Path

from onceward.local.cdk import context_arguments, run_cdk
from onceward.local.cloud import LocalCloud
from onceward.local.differences import restore_cors
from onceward.local.environment import ACCOUNT, REGION, cdk_environment
from onceward.local.fingerprint import fingerprint

Outputs = Mapping[str, str]  # all stacks' outputs in one: their names do not repeat


def bootstrap(cloud: LocalCloud) -> bool:
    """Prepare the account for CDK unless this cloud was; tell whether it was done now."""
    if bootstrapped(cloud):
        return False
    run_cdk(
        ["bootstrap", f"aws://{ACCOUNT}/{REGION}", "--ci", "--no-notices"],
        folder=cloud.folder,  # away from our app, which would be synthesised once more for nothing
        environment=cdk_environment(cloud.endpoint_url, cloud.folder),
        log=cloud.folder / "bootstrap.log",
        doing="cdk bootstrap",
    )
    _bootstrap_file(cloud).write_text(cloud.identity, encoding="utf-8")
    return True


def bootstrapped(cloud: LocalCloud) -> bool:
    """Tell whether this very process of the cloud was prepared."""
    done = _bootstrap_file(cloud)
    return done.exists() and done.read_text(encoding="utf-8") == cloud.identity


def deploy(cloud: LocalCloud, stage: str, context: Mapping[str, str]) -> Outputs:
    """Deploy a stage unless it stands there unchanged; return the stacks' outputs. ``LocalError`` on failure.

    ``context`` are parameters of the CDK app (``infra/config.py``); two stages may stand in one cloud.
    """
    outputs = deployed(cloud, stage, context)
    if outputs is not None:
        return outputs
    _record_file(cloud, stage).unlink(missing_ok=True)  # from here to the end nothing is known to stand
    written = cloud.folder / f"outputs-{stage}.json"
    assembly = cloud.folder / f"cdk.out-{stage}"
    run_cdk(
        [
            "deploy",
            "--all",
            *context_arguments({"stage": stage, **context}),
            *("--output", str(assembly)),
            *("--outputs-file", str(written)),
            *("--require-approval", "never", "--progress", "events", "--ci"),
        ],
        environment=cdk_environment(cloud.endpoint_url, cloud.folder),
        log=cloud.folder / f"deploy-{stage}.log",
        doing="cdk deploy",
    )
    stacks: dict[str, dict[str, str]] = json.loads(written.read_text(encoding="utf-8"))
    outputs = {name: value for stack in stacks.values() for name, value in stack.items()}
    service = json.loads((assembly / f"OncewardService-{stage}.template.json").read_text(encoding="utf-8"))
    restore_cors(cloud.access, outputs["ApiId"], service)
    record = {"cloud": cloud.identity, "fingerprint": fingerprint(context), "outputs": outputs}
    _record_file(cloud, stage).write_text(json.dumps(record), encoding="utf-8")
    return outputs


def deployed(cloud: LocalCloud, stage: str, context: Mapping[str, str]) -> Outputs | None:
    """Return the outputs of a stage that stands in this cloud exactly as the sources and ``context`` say."""
    try:
        record = json.loads(_record_file(cloud, stage).read_text(encoding="utf-8"))
    except FileNotFoundError:
        return None
    if record["cloud"] != cloud.identity or record["fingerprint"] != fingerprint(context):
        return None
    outputs: dict[str, str] = record["outputs"]
    return outputs


def _bootstrap_file(cloud: LocalCloud) -> Path:
    return cloud.folder / "bootstrapped"


def _record_file(cloud: LocalCloud, stage: str) -> Path:
    return cloud.folder / f"deployed-{stage}.json"
