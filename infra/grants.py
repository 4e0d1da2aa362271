"""Say what each function may do, action by action; ``tests/infra`` holds the lists again, so a change is seen twice.

Nothing is granted by the library's ``grant_*`` methods: they grant what a general reader or writer might need.
"""

from __future__ import annotations

import re

import aws_cdk as cdk

from infra.config import StageConfig
from infra.models import bedrock_models
from infra.parts.acknowledge import acknowledge
from infra.parts.bucket import DOCUMENTS, JOBS
from infra.parts.function import Function
from infra.parts.job_queue import JobQueue
from infra.parts.tables import (
    ACCOUNT_KEYS,
    BREAKERS_KEY,
    CLIENT_KEYS,
    DUE_INDEX,
    SWITCHES_KEY,
    TALLY_KEYS,
    TENANT_INDEX,
)
from infra.stacks.state import StateStack

KEEP_BOOKS = ("dynamodb:GetItem", "dynamodb:PutItem", "dynamodb:UpdateItem")  # read, enter, move
CONVERSE = "bedrock:InvokeModel"  # the action that Converse asks for
PROFILE = re.compile(r"(?:global|us-gov|us|eu|apac|jp|au|in|ca)\.")


def grant_api(api: Function, state: StateStack, queue: JobQueue) -> None:
    """Let the API create, read, list and erase jobs with what they reserve and hold, and sign upload forms."""
    api.allow("dynamodb:GetItem", "dynamodb:Query", "dynamodb:PutItem", "dynamodb:UpdateItem", on=state.jobs.table_arn)
    api.allow("dynamodb:Query", on=f"{state.jobs.table_arn}/index/{TENANT_INDEX}")
    api.allow_keys(*KEEP_BOOKS, on=state.accounts.table_arn, keys=[ACCOUNT_KEYS])
    api.allow_keys("dynamodb:UpdateItem", on=state.accounts.table_arn, keys=[TALLY_KEYS])
    api.allow("dynamodb:UpdateItem", on=state.flights.table_arn)  # a person's verdict may end a flight
    for prefix in (DOCUMENTS, JOBS):  # an erasure leaves no version behind
        api.allow_objects(
            "s3:PutObject", "s3:GetObject", "s3:DeleteObjectVersion", bucket_export=state.bucket_export, prefix=prefix
        )
    api.allow("s3:ListBucketVersions", on=cdk.Fn.import_value(state.bucket_export))
    _tell_absent_objects(api, state)
    api.allow("sqs:SendMessage", on=queue.jobs.queue_arn)


def grant_worker(worker: Function, state: StateStack, queue: JobQueue) -> None:
    """Let the worker run jobs. It may not send to its own queue: Lambda stops such chains after 16 hops."""
    worker.allow(
        "dynamodb:GetItem", "dynamodb:Query", "dynamodb:PutItem", "dynamodb:UpdateItem", on=state.jobs.table_arn
    )
    worker.allow_keys(*KEEP_BOOKS, on=state.accounts.table_arn, keys=[ACCOUNT_KEYS])
    worker.allow_keys("dynamodb:GetItem", on=state.accounts.table_arn, keys=[SWITCHES_KEY])
    worker.allow_keys("dynamodb:GetItem", "dynamodb:PutItem", on=state.accounts.table_arn, keys=[BREAKERS_KEY])
    worker.allow("dynamodb:GetItem", "dynamodb:PutItem", "dynamodb:UpdateItem", on=state.flights.table_arn)
    worker.allow_objects("s3:GetObjectVersion", bucket_export=state.bucket_export, prefix=DOCUMENTS)
    worker.allow_objects(  # a flight that all have left erases what it holds, and a refused write what it had stored
        "s3:GetObject", "s3:PutObject", "s3:DeleteObjectVersion", bucket_export=state.bucket_export, prefix=JOBS
    )
    worker.allow("s3:ListBucketVersions", on=cdk.Fn.import_value(state.bucket_export))
    _tell_absent_objects(worker, state)
    worker.allow(
        "sqs:ReceiveMessage",
        "sqs:DeleteMessage",
        "sqs:ChangeMessageVisibility",
        "sqs:GetQueueAttributes",
        on=queue.jobs.queue_arn,
    )
    worker.allow("sqs:SendMessage", on=queue.dead_letters.queue_arn)
    worker.allow("secretsmanager:GetSecretValue", on=state.model_secret_arn)


def grant_models(worker: Function, config: StageConfig) -> None:
    """Let the worker ask the models of Bedrock that the stage chose, and none where it chose none.

    An inference profile (``us.``, ``global.`` ...) hands a call on to the model in whichever region has room, so its
    model is named without a region.
    """
    for model in bedrock_models(config.model_api, config.model_name, config.model_by_kind):
        if model.startswith("arn:"):
            worker.allow(CONVERSE, on=model)
            continue
        profile = PROFILE.match(model)
        if profile is None:
            worker.allow(CONVERSE, on=_bedrock_arn(f"foundation-model/{model}", region=cdk.Aws.REGION, account=""))
            continue
        worker.allow(CONVERSE, on=_bedrock_arn(f"inference-profile/{model}"))
        everywhere = f"foundation-model/{model.removeprefix(profile[0])}"
        for region in ("*", ""):  # a global profile's model has no region at all
            worker.allow(CONVERSE, on=_bedrock_arn(everywhere, region=region, account=""))
        finding = f"IAM5[Resource::arn:<AWS::Partition>:bedrock:*::{everywhere}]"
        acknowledge(worker.role, finding, "The profile chooses the region; the action and the model are exact.")


def _bedrock_arn(resource: str, *, region: str = cdk.Aws.REGION, account: str = cdk.Aws.ACCOUNT_ID) -> str:
    """Spell an ARN of Bedrock."""
    return f"arn:{cdk.Aws.PARTITION}:bedrock:{region}:{account}:{resource}"


def grant_sweeper(sweeper: Function, state: StateStack, queue: JobQueue) -> None:
    """Let the sweeper find due jobs, move their due time and wake them or write their dead letter."""
    sweeper.allow("dynamodb:Query", on=f"{state.jobs.table_arn}/index/{DUE_INDEX}")
    sweeper.allow("dynamodb:GetItem", "dynamodb:UpdateItem", on=state.jobs.table_arn)
    sweeper.allow("sqs:SendMessage", on=queue.jobs.queue_arn)
    sweeper.allow("sqs:SendMessage", on=queue.dead_letters.queue_arn)


def grant_tenant_token(trigger: Function, state: StateStack) -> None:
    """Let the token trigger read a client's entry; nobody else can, and no function can write one."""
    trigger.allow_keys("dynamodb:GetItem", on=state.accounts.table_arn, keys=[CLIENT_KEYS])


def _tell_absent_objects(function: Function, state: StateStack) -> None:
    """Let S3 answer 404 for what is not there: without this it says 403, and absence would look like an outage."""
    function.allow("s3:ListBucket", on=cdk.Fn.import_value(state.bucket_export))
