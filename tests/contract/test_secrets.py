"""Secrets on ministack and on moto: read once, seen again after a rotation, unavailable without a value."""

from __future__ import annotations

import asyncio
import itertools
from collections.abc import Iterator
from typing import TYPE_CHECKING

import boto3
import pytest

from onceward.adapters.secrets import CONFIG, KEPT, Secrets
from onceward.adapters.system import ThreadRunner
from onceward.errors import SecretUnavailable
from onceward.local.cloud import LocalCloud
from onceward.local.environment import REGION
from onceward.local.server import free_port
from tests.support.fakes import FakeClock
from tests.support.loopback import ON_LOOPBACK

if TYPE_CHECKING:
    from mypy_boto3_secretsmanager import SecretsManagerClient

JOBS_OF_A_BATCH = 10

_numbers = itertools.count(1)


def secretsmanager_at(endpoint_url: str | None = None) -> SecretsManagerClient:
    """The client as it is configured on AWS; without an endpoint, moto's."""
    return boto3.client(
        "secretsmanager",
        endpoint_url=endpoint_url,
        region_name=REGION,
        aws_access_key_id="test",
        aws_secret_access_key="test",
        config=CONFIG.merge(ON_LOOPBACK),
    )


@pytest.fixture
def threads() -> Iterator[ThreadRunner]:
    """As many threads as jobs ask at once."""
    with ThreadRunner(JOBS_OF_A_BATCH) as threads:
        yield threads


class SecretPromises:
    """A subclass gives the fixture ``client``."""

    def test_secret_is_read_once(self, client: SecretsManagerClient, threads: ThreadRunner) -> None:
        """All jobs of a batch together ask once, and so do later ones for five minutes."""
        secret = client.create_secret(Name=f"model-{next(_numbers)}", SecretString="first")["Name"]
        secrets, asked = Secrets(client, threads, FakeClock()), []
        client.meta.events.register("before-call.secretsmanager.GetSecretValue", lambda **_: asked.append(1))

        async def all_jobs() -> list[str]:
            return await asyncio.gather(*(secrets.get(secret) for _job in range(JOBS_OF_A_BATCH)))

        assert asyncio.run(all_jobs()) == ["first"] * JOBS_OF_A_BATCH
        assert asyncio.run(secrets.get(secret)) == "first"
        assert asked == [1]

    def test_rotated_secret_is_seen_after_five_minutes(
        self, client: SecretsManagerClient, threads: ThreadRunner
    ) -> None:
        """A rotation needs no deploy."""
        clock = FakeClock()
        secret = client.create_secret(Name=f"model-{next(_numbers)}", SecretString="first")["Name"]
        secrets = Secrets(client, threads, clock)
        assert asyncio.run(secrets.get(secret)) == "first"

        client.put_secret_value(SecretId=secret, SecretString="second")
        assert asyncio.run(secrets.get(secret)) == "first"
        clock.move(KEPT)
        assert asyncio.run(secrets.get(secret)) == "second"

    def test_secret_without_a_value_is_unavailable(self, client: SecretsManagerClient, threads: ThreadRunner) -> None:
        """As the stack makes it, before the operator has set it; once it is set, it is read."""
        secret = client.create_secret(Name=f"model-{next(_numbers)}")["Name"]
        secrets = Secrets(client, threads, FakeClock())

        with pytest.raises(SecretUnavailable):
            asyncio.run(secrets.get(secret))

        client.put_secret_value(SecretId=secret, SecretString="set")
        assert asyncio.run(secrets.get(secret)) == "set"

    def test_secret_of_bytes_is_unavailable(self, client: SecretsManagerClient, threads: ThreadRunner) -> None:
        """A provider's key is text."""
        secret = client.create_secret(Name=f"model-{next(_numbers)}", SecretBinary=b"\x00")["Name"]

        with pytest.raises(SecretUnavailable, match="no text value"):
            asyncio.run(Secrets(client, threads, FakeClock()).get(secret))


class TestSecretsOnMinistack(SecretPromises):
    """Over the wire."""

    @pytest.fixture
    def client(self, ministack: LocalCloud) -> SecretsManagerClient:
        """A client of the emulated account."""
        return secretsmanager_at(ministack.endpoint_url)


class TestSecretsOnMoto(SecretPromises):
    """In this process."""

    @pytest.fixture
    def client(self, moto_aws: None) -> SecretsManagerClient:
        """A client of this process's account."""
        return secretsmanager_at()


def test_secrets_that_cannot_be_reached_are_unavailable(threads: ThreadRunner) -> None:
    """No answer at all is infrastructure: the job is tried again later."""
    client = secretsmanager_at(f"http://127.0.0.1:{free_port()}")

    with pytest.raises(SecretUnavailable, match=r"^secretsmanager: EndpointConnectionError$"):
        asyncio.run(Secrets(client, threads, FakeClock()).get("model"))
