"""A bucket under test, and a browser that posts upload forms to it."""

from __future__ import annotations

import itertools
from typing import TYPE_CHECKING, Protocol

import httpx

from onceward.adapters.memory.blob import MemoryBlob
from onceward.adapters.s3 import S3Blob
from onceward.adapters.threads import Threads
from onceward.usecases.ports import Blob, UploadForm
from tests.support.fakes import FakeClock

if TYPE_CHECKING:
    from mypy_boto3_s3 import S3Client

_numbers = itertools.count(1)


class BlobBench(Protocol):
    """A bucket under test."""

    @property
    def blob(self) -> Blob:
        """The port."""
        ...

    def post(self, form: UploadForm, body: bytes) -> bool:
        """Post a file as a browser does; whether it was taken."""
        ...


class MemoryBlobBench:
    """The bucket in memory."""

    def __init__(self) -> None:
        """An empty bucket."""
        self.blob = MemoryBlob(FakeClock())

    def post(self, form: UploadForm, body: bytes) -> bool:
        """Post by hand."""
        return self.blob.upload(form, body)


class S3Bench:
    """A new versioned bucket in an emulated account."""

    def __init__(self, client: S3Client, threads: Threads) -> None:
        """Make it as the stack does."""
        bucket = f"bucket-{next(_numbers)}"
        client.create_bucket(Bucket=bucket)
        client.put_bucket_versioning(Bucket=bucket, VersioningConfiguration={"Status": "Enabled"})
        self.blob = S3Blob(client, threads, bucket)

    def post(self, form: UploadForm, body: bytes) -> bool:
        """Post a multipart form, the file last; 204 is S3's yes."""
        answer = httpx.post(form.url, data=dict(form.fields), files={"file": ("contract.pdf", body)}, trust_env=False)
        return answer.status_code == httpx.codes.NO_CONTENT
