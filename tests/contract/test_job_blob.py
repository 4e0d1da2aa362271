"""One suite, every blob store: in memory, and on ministack and moto as far as they go."""

from __future__ import annotations

import asyncio
import base64
import json
from collections.abc import Iterator
from datetime import UTC, datetime, timedelta
from typing import TYPE_CHECKING

import boto3
import pytest

from onceward.adapters.s3 import CONFIG, S3Blob
from onceward.adapters.system import ThreadRunner
from onceward.errors import BlobUnavailable
from onceward.local.cloud import LocalCloud
from onceward.local.environment import REGION
from onceward.local.server import free_port
from tests.contract.job_blob import BODY, DOCUMENT, BlobPromises, ChecksumPromises, FormPromises, ObjectPromises
from tests.contract.job_blob import upload_form as form_for
from tests.support.blob_bench import BlobBench, MemoryBlobBench, S3Bench
from tests.support.loopback import ON_LOOPBACK

if TYPE_CHECKING:
    from mypy_boto3_s3 import S3Client

# What the emulators do not keep, as measured and read in their sources. AWS documents all of it.
NOT_KEPT_BY_MINISTACK = {
    ChecksumPromises: "a posted form's checksum field is held to the policy, but not to the file, and is not stored",
}
NOT_KEPT_BY_MOTO = {
    ChecksumPromises: "as ministack",
    FormPromises: "a posted form's policy is not looked at: any size, type, field and time passes",
}


def s3_at(endpoint_url: str | None = None) -> S3Client:
    """The client as it is configured on AWS; without an endpoint, moto's."""
    return boto3.client(
        "s3",
        endpoint_url=endpoint_url,
        region_name=REGION,
        aws_access_key_id="test",
        aws_secret_access_key="test",
        aws_session_token="session",  # as every Lambda has one: a form must carry it
        config=CONFIG.merge(ON_LOOPBACK),
    )


@pytest.fixture(scope="class")
def ministack_client(ministack: LocalCloud) -> S3Client:
    """One client for all tests, as a warm function has it."""
    return s3_at(ministack.endpoint_url)


@pytest.fixture(scope="class")
def moto_client(moto_aws: None) -> S3Client:
    """One client for all tests."""
    return s3_at()


class TestMemoryBlob(BlobPromises):
    """All of it."""

    @pytest.fixture
    def bench(self) -> BlobBench:
        """An empty bucket."""
        return MemoryBlobBench()


class TestS3BlobOnMinistack(ObjectPromises, FormPromises):
    """Over the wire."""

    @pytest.fixture
    def bench(self, ministack_client: S3Client) -> Iterator[BlobBench]:
        """A new bucket in an emulated account."""
        with ThreadRunner(2) as threads:
            yield S3Bench(ministack_client, threads)


class TestS3BlobOnMoto(ObjectPromises):
    """In this process."""

    @pytest.fixture
    def bench(self, moto_client: S3Client) -> Iterator[BlobBench]:
        """A new bucket in this process."""
        with ThreadRunner(1) as threads:
            yield S3Bench(moto_client, threads)


@pytest.mark.parametrize(
    ("suite", "not_kept"),
    [(TestS3BlobOnMinistack, NOT_KEPT_BY_MINISTACK), (TestS3BlobOnMoto, NOT_KEPT_BY_MOTO)],
)
def test_what_an_emulator_is_not_asked_is_written_down(suite: type, not_kept: dict[type, str]) -> None:
    """Every promise is put to it, or it is said why not."""
    assert set(BlobPromises.__mro__) - {BlobPromises} <= set(suite.__mro__) | set(not_kept)


def test_form_holds_the_upload_to_every_promise() -> None:
    """The policy as AWS reads it: exact key, type, size and checksum, five minutes, and no field it does not know."""
    with ThreadRunner(1) as threads:
        blob = S3Blob(s3_at(), threads, "bucket")
        before = datetime.now(UTC).replace(microsecond=0)
        form = asyncio.run(
            blob.upload_form(
                DOCUMENT, content_type="application/pdf", sha256="ab" * 32, size=19, valid=timedelta(minutes=5)
            )
        )

    policy = json.loads(base64.b64decode(form.fields["policy"]))
    checksum = base64.b64encode(bytes.fromhex("ab" * 32)).decode()
    assert {"bucket": "bucket"} in policy["conditions"]
    assert {"key": DOCUMENT} in policy["conditions"]
    assert {"Content-Type": "application/pdf"} in policy["conditions"]
    assert {"x-amz-checksum-algorithm": "SHA256"} in policy["conditions"]
    assert {"x-amz-checksum-sha256": checksum} in policy["conditions"]
    assert ["content-length-range", 19, 19] in policy["conditions"]
    conditioned = {name for condition in policy["conditions"] if isinstance(condition, dict) for name in condition}
    assert set(form.fields) - {"policy", "x-amz-signature"} == conditioned - {"bucket"}
    assert form.fields["x-amz-algorithm"] == "AWS4-HMAC-SHA256"
    assert form.expires_at - before <= timedelta(minutes=5, seconds=1)
    assert form.expires_at >= before + timedelta(minutes=5)
    assert form.url.startswith("https://bucket.s3.")


def test_same_form_can_be_posted_by_hand_only_as_promised(ministack_client: S3Client) -> None:
    """The checksum field itself is part of the policy: a form with another checksum is refused on ministack too."""
    with ThreadRunner(1) as threads:
        bench = S3Bench(ministack_client, threads)
        form = form_for(bench, BODY)
        other = base64.b64encode(bytes(32)).decode()
        changed = type(form)(form.url, {**form.fields, "x-amz-checksum-sha256": other}, form.expires_at)

        assert not bench.post(changed, BODY)


def test_bucket_that_cannot_be_reached_is_unavailable() -> None:
    """No answer at all is infrastructure and never absence."""
    with ThreadRunner(1) as threads:
        blob = S3Blob(s3_at(f"http://127.0.0.1:{free_port()}"), threads, "bucket")

        for story in (blob.get(DOCUMENT), blob.head(DOCUMENT), blob.put(DOCUMENT, b"", "text/plain")):
            with pytest.raises(BlobUnavailable, match=r"^s3: EndpointConnectionError$"):
                asyncio.run(story)


def test_missing_bucket_is_not_a_missing_object(moto_client: S3Client) -> None:
    """A wrong name in the configuration must not look like a lost document."""
    with ThreadRunner(1) as threads, pytest.raises(BlobUnavailable, match="NoSuchBucket"):
        asyncio.run(S3Blob(moto_client, threads, "no-such-bucket").get(DOCUMENT))
