"""What an error of an AWS client means to us: one table from botocore's errors to ours.

An adapter reads the errors that are answers (a condition that failed, an object that is absent) before it gets here.
Everything else is infrastructure: the job goes back to where it was and is tried again later, also when our own
rights or configuration are wrong, because the next deploy mends those and no job may be lost until then.

What is raised names service, operation and code, and never the service's message: that may quote what we stored.
A test asks botocore's service models for every error of every operation that we use: each has its row here.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from enum import StrEnum
from typing import Final

from botocore.exceptions import BotoCoreError, ClientError

from onceward.errors import (
    BlobUnavailable,
    InfrastructureError,
    QueueUnavailable,
    SecretUnavailable,
    StoreBusy,
    StoreUnavailable,
)

UNAVAILABLE: Final[Mapping[str, type[InfrastructureError]]] = {
    "dynamodb": StoreUnavailable,
    "sqs": QueueUnavailable,
    "s3": BlobUnavailable,
    "secretsmanager": SecretUnavailable,
}


class Meaning(StrEnum):
    """What to expect of the same request later."""

    DOWN = "not answered, or refused for load: later it works"
    BUSY = "somebody else is writing there: with a little patience it works"
    LATE = "our hold of the message is over: it comes again by itself"
    WRONG = "our rights, our configuration or our request: a deploy must mend it"
    ANSWER = "an answer, which the adapter of that operation reads itself"


MEANINGS: Final[Mapping[str, Mapping[str, Meaning]]] = {
    "dynamodb": {
        "ConditionalCheckFailedException": Meaning.ANSWER,
        "TransactionCanceledException": Meaning.ANSWER,
        "TransactionConflictException": Meaning.BUSY,
        "TransactionInProgressException": Meaning.BUSY,
        "ReplicatedWriteConflictException": Meaning.BUSY,
        "InternalServerError": Meaning.DOWN,
        "ProvisionedThroughputExceededException": Meaning.DOWN,
        "RequestLimitExceeded": Meaning.DOWN,
        "ThrottlingException": Meaning.DOWN,
        "IdempotentParameterMismatchException": Meaning.WRONG,
        "ItemCollectionSizeLimitExceededException": Meaning.WRONG,
        "ResourceNotFoundException": Meaning.WRONG,
    },
    "sqs": {
        "MessageNotInflight": Meaning.LATE,
        "ReceiptHandleIsInvalid": Meaning.LATE,
        "KmsThrottled": Meaning.DOWN,
        "RequestThrottled": Meaning.DOWN,
        "InvalidAddress": Meaning.WRONG,
        "InvalidMessageContents": Meaning.WRONG,
        "InvalidSecurity": Meaning.WRONG,
        "KmsAccessDenied": Meaning.WRONG,
        "KmsDisabled": Meaning.WRONG,
        "KmsInvalidKeyUsage": Meaning.WRONG,
        "KmsInvalidState": Meaning.WRONG,
        "KmsNotFound": Meaning.WRONG,
        "KmsOptInRequired": Meaning.WRONG,
        "QueueDoesNotExist": Meaning.WRONG,
        "UnsupportedOperation": Meaning.WRONG,
    },
    "s3": {
        "NoSuchKey": Meaning.ANSWER,
        "NoSuchVersion": Meaning.ANSWER,
        "404": Meaning.ANSWER,  # HEAD has no body to name its error in
        "PreconditionFailed": Meaning.ANSWER,
        "SlowDown": Meaning.DOWN,
        "EncryptionTypeMismatch": Meaning.WRONG,
        "InvalidObjectState": Meaning.WRONG,
        "InvalidRequest": Meaning.WRONG,
        "InvalidWriteOffset": Meaning.WRONG,
        "TooManyParts": Meaning.WRONG,
    },
    "secretsmanager": {
        "InternalServiceError": Meaning.DOWN,
        "DecryptionFailure": Meaning.WRONG,
        "InvalidParameterException": Meaning.WRONG,
        "InvalidRequestException": Meaning.WRONG,
        "ResourceNotFoundException": Meaning.WRONG,
    },
}


@contextmanager
def translated(service: str, *answers: str) -> Iterator[None]:
    """Raise our error instead of botocore's; its message and traceback stay behind, they may quote content.

    A ``ClientError`` whose code is one of ``answers`` passes: the caller reads it.
    """
    try:
        yield
    except (ClientError, BotoCoreError) as error:
        if isinstance(error, ClientError) and code_of(error) in answers:
            raise
        raise to_infrastructure(error, service) from None


def to_infrastructure(error: ClientError | BotoCoreError, service: str) -> InfrastructureError:
    """The error of ours that stands for this one."""
    if isinstance(error, BotoCoreError):  # no answer at all: connection, time limit, credentials, endpoint
        return UNAVAILABLE[service](f"{service}: {type(error).__name__}")
    code = code_of(error)
    detail = f"{service} {error.operation_name}: {code}"
    if meaning_of(code, service) is Meaning.BUSY:
        return StoreBusy(detail)
    return UNAVAILABLE[service](detail)


def code_of(error: ClientError) -> str:
    """The service's own code; empty if its answer had none (a proxy's page, say)."""
    return str(error.response.get("Error", {}).get("Code", ""))


def meaning_of(code: str, service: str) -> Meaning:
    """What a code means; one that no model names (throttles and rights have many spellings) is taken for an outage."""
    return MEANINGS[service].get(code, Meaning.DOWN)
