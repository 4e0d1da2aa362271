"""Every error that AWS documents for what we do has a meaning, and none of its words get out."""

from __future__ import annotations

from collections.abc import Iterator

import botocore.exceptions
import botocore.session
import pytest
from botocore.exceptions import BotoCoreError, ClientError, ConnectTimeoutError, ReadTimeoutError

from onceward.adapters.aws_errors import MEANINGS, UNAVAILABLE, Meaning, meaning_of, to_infrastructure, translated
from onceward.errors import InfrastructureError, StoreBusy

# Every operation that an adapter calls.
OPERATIONS = {
    "dynamodb": ("GetItem", "PutItem", "Query", "TransactWriteItems", "UpdateItem"),
    "sqs": ("ChangeMessageVisibility", "SendMessage"),
    "s3": ("GetObject", "HeadObject", "PutObject"),
    "secretsmanager": ("GetSecretValue",),
}


def modelled_errors() -> Iterator[tuple[str, str]]:
    """Service and code of every error in botocore's models of those operations."""
    session = botocore.session.get_session()
    for service, operations in OPERATIONS.items():
        model = session.get_service_model(service)
        for operation in operations:
            for shape in model.operation_model(operation).error_shapes:
                yield service, str(getattr(shape, "error_code"))  # noqa: B009 (its type in the stubs lacks it)


def a_client_error(code: str) -> ClientError:
    """An answer with this code."""
    return ClientError({"Error": {"Code": code, "Message": "the prompt was: hello"}}, "SomeOperation")


@pytest.mark.parametrize(("service", "code"), sorted(set(modelled_errors())))
def test_modelled_error_has_its_row(service: str, code: str) -> None:
    """A new version of botocore that knows another error is noticed."""
    assert code in MEANINGS[service]


@pytest.mark.parametrize("service", OPERATIONS)
def test_every_row_becomes_an_infrastructure_error(service: str) -> None:
    """Whatever an adapter does not read itself is raised as ours: busy, or the service's own."""
    for code, meaning in MEANINGS[service].items():
        expected = StoreBusy if meaning is Meaning.BUSY else UNAVAILABLE[service]

        assert type(to_infrastructure(a_client_error(code), service)) is expected


def test_services_are_the_same_in_both_tables() -> None:
    """No service is half known."""
    assert set(UNAVAILABLE) == set(MEANINGS) == set(OPERATIONS)


def test_unknown_code_is_an_outage() -> None:
    """A throttle in a new spelling must not lose a job."""
    assert meaning_of("SlowDownPlease", "dynamodb") is Meaning.DOWN


@pytest.mark.parametrize(
    "error",
    [
        ConnectTimeoutError(endpoint_url="http://127.0.0.1"),
        ReadTimeoutError(endpoint_url="http://127.0.0.1"),
        botocore.exceptions.NoCredentialsError(),
        botocore.exceptions.EndpointConnectionError(endpoint_url="http://127.0.0.1"),
        botocore.exceptions.ConnectionClosedError(endpoint_url="http://127.0.0.1"),
        a_client_error(""),
    ],
    ids=lambda error: type(error).__name__,
)
@pytest.mark.parametrize("service", OPERATIONS)
def test_no_answer_is_an_outage(service: str, error: BotoCoreError | ClientError) -> None:
    """Nobody knows then whether the request was applied: the callers' own tokens tell."""
    with pytest.raises(UNAVAILABLE[service]), translated(service):
        raise error


def test_errors_say_service_operation_and_code_and_nothing_else() -> None:
    """Messages of AWS may quote what was stored."""
    with pytest.raises(InfrastructureError) as raised, translated("dynamodb"):
        raise a_client_error("ValidationException")

    assert raised.value.detail == "dynamodb SomeOperation: ValidationException"
    assert raised.value.__suppress_context__


def test_answer_passes_as_it_is() -> None:
    """The adapter of that operation reads it."""
    with pytest.raises(ClientError), translated("s3", "NoSuchKey"):
        raise a_client_error("NoSuchKey")


def test_other_exceptions_pass() -> None:
    """A defect of ours is not dressed up as an outage."""
    with pytest.raises(ZeroDivisionError), translated("s3"):
        _ = 1 // 0
