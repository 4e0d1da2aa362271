"""What a Bedrock error means: the one table of this provider, from botocore's errors to ours.

Service errors are told by their code, compared without case: streams and gateways spell them ``throttlingException``.
A refusal of the request itself is a bare ``ValidationException``; only there, and only among final meanings, the
message decides (seen in aws-samples/bedrock-chat#95).
"""

from __future__ import annotations

from collections.abc import Mapping
from datetime import datetime
from typing import Any

from botocore.exceptions import (
    BotoCoreError,
    ClientError,
    ConnectTimeoutError,
    EndpointConnectionError,
    NoAuthTokenError,
    NoCredentialsError,
    ParamValidationError,
    ProxyConnectionError,
    ReadTimeoutError,
)

from onceward.domain.retry import ErrorClass
from onceward.errors import CallFailure
from onceward.providers.http import HttpReply
from onceward.providers.meaning import (
    AUTH,
    BUSY,
    FORBIDDEN,
    NO_MONEY,
    NO_SUCH_MODEL,
    OVERLOADED,
    REFUSED,
    SERVER_ERROR,
    TIMED_OUT,
    TOO_LONG,
    UNMAPPED,
    Meaning,
    failure_from,
    refined_by_text,
)

MODEL_ERROR = Meaning(ErrorClass.OUTCOME_UNKNOWN, "provider_model_error")

BY_CODE: Mapping[str, Meaning] = {
    "accessdeniedexception": FORBIDDEN,
    "expiredtokenexception": AUTH,
    "incompletesignature": AUTH,
    "invalidsignatureexception": AUTH,
    "unrecognizedclientexception": AUTH,
    "validationexception": REFUSED,
    "resourcenotfoundexception": NO_SUCH_MODEL,
    "throttlingexception": BUSY,
    "toomanyrequestsexception": BUSY,
    "servicequotaexceededexception": NO_MONEY,
    "modelnotreadyexception": OVERLOADED,
    "serviceunavailableexception": OVERLOADED,
    "internalserverexception": SERVER_ERROR,
    "modelerrorexception": MODEL_ERROR,
    "modeltimeoutexception": TIMED_OUT,
}
BY_TEXT: Mapping[str, Meaning] = {
    "input is too long": TOO_LONG,
    "prompt is too long": TOO_LONG,
    "too many input tokens": TOO_LONG,
    "maximum context length": TOO_LONG,
}
NOT_SENT = (
    ConnectTimeoutError,
    EndpointConnectionError,
    NoAuthTokenError,
    NoCredentialsError,
    ParamValidationError,
    ProxyConnectionError,
)
MENDED_BY_DEPLOY = (NoAuthTokenError, NoCredentialsError, ParamValidationError)


def failure_of(error: ClientError, now: datetime) -> CallFailure:
    """The failure that a service error stands for."""
    response: Any = error.response
    said, told = response.get("Error", {}), response.get("ResponseMetadata", {})
    code = str(said.get("Code", ""))
    status = told.get("HTTPStatusCode")
    meaning = refined_by_text(BY_CODE.get(code.lower(), UNMAPPED), said.get("Message"), BY_TEXT)
    headers = {str(name).lower(): str(value) for name, value in told.get("HTTPHeaders", {}).items()}
    reply = HttpReply(status=status if isinstance(status, int) else 0, headers=headers, body=b"")
    return failure_from(meaning, reply, [code], now, told.get("RequestId"))


def transport_failure(error: BotoCoreError) -> CallFailure:
    """The failure of a call that got no answer: not connected is not sent, anything else is a maybe."""
    name = type(error).__name__
    if isinstance(error, MENDED_BY_DEPLOY):
        code = REFUSED.code if isinstance(error, ParamValidationError) else AUTH.code
        return CallFailure(name, code=code, error_class=ErrorClass.PERMANENT, was_sent=False)
    if isinstance(error, NOT_SENT):
        return CallFailure(name, code="provider_unreachable", error_class=ErrorClass.TRANSIENT, was_sent=False)
    code = TIMED_OUT.code if isinstance(error, ReadTimeoutError) else "connection_lost"
    return CallFailure(name, code=code, error_class=ErrorClass.OUTCOME_UNKNOWN, was_sent=True)
