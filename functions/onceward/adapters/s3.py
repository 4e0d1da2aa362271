"""Objects in one versioned S3 bucket.

Absence is an answer only to a caller that may list the bucket (``s3:ListBucket``): to any other, S3 says 403 of what
does not exist, which here is an outage, because a lost permission must never look like a lost document.
"""

from __future__ import annotations

import base64
import json
from datetime import datetime, timedelta
from typing import TYPE_CHECKING, Final

from botocore.config import Config
from botocore.exceptions import ClientError

from onceward.adapters.aws_errors import code_of, translated
from onceward.adapters.threads import Threads
from onceward.usecases.ports import BlobInfo, UploadForm

if TYPE_CHECKING:  # stubs exist for the checker only
    from mypy_boto3_s3 import S3Client
    from mypy_boto3_s3.type_defs import HeadObjectOutputTypeDef

CONFIG: Final = Config(
    signature_version="s3v4",  # without it boto3 signs upload forms in a way that newer regions refuse
    connect_timeout=1,  # seconds
    # Seconds without a byte; a whole document may take longer. With all sends it ends within the API's 29 s, so that a
    # create whose large input cannot be stored is told so by us, not by the gateway.
    read_timeout=6,
    retries={"mode": "standard", "total_max_attempts": 3},
    max_pool_connections=64,  # more than the runner has threads: a call never waits for another's connection
)
ABSENT = frozenset({"NoSuchKey", "NoSuchVersion", "404"})  # "404": HEAD has no body to name its error in
PRESENT = frozenset({"PreconditionFailed", "412"})
UNVERSIONED = "null"  # S3's own name for the version of an object in a bucket without versions


class S3Blob:
    """The bucket behind the port. Checksums are SHA-256, hexadecimal at the port and base64 in S3."""

    def __init__(self, client: S3Client, threads: Threads, bucket: str) -> None:
        """Use a client that was configured with ``CONFIG``; nothing is asked of S3 yet."""
        self._client = client
        self._threads = threads
        self._bucket = bucket

    async def put(self, key: str, body: bytes, content_type: str) -> None:
        """Store an object if nothing is at its key.

        Nobody else writes the key, so what is there already is an earlier try of the same write (an answer that was
        lost, a second attempt): it stays, and no second version of it is paid for.
        """
        with translated("s3"):
            try:
                await self._threads.call(
                    self._client.put_object,
                    Bucket=self._bucket,
                    Key=key,
                    Body=body,
                    ContentType=content_type,
                    ChecksumAlgorithm="SHA256",
                    IfNoneMatch="*",
                )
            except ClientError as error:
                if code_of(error) not in PRESENT:
                    raise

    async def get(self, key: str, version: str | None = None) -> bytes | None:
        """An object's bytes, of the newest version or of the one named; ``None`` if it is not there."""
        named = {} if version is None else {"VersionId": version}
        with translated("s3"):
            try:
                return await self._threads.call(self._read, Bucket=self._bucket, Key=key, **named)
            except ClientError as error:
                if code_of(error) not in ABSENT:
                    raise
        return None

    async def head(self, key: str) -> BlobInfo | None:
        """What is stored under a key now; its version is immutable, whatever is uploaded over it later."""
        with translated("s3"):
            try:
                found = await self._threads.call(
                    self._client.head_object, Bucket=self._bucket, Key=key, ChecksumMode="ENABLED"
                )
            except ClientError as error:
                if code_of(error) not in ABSENT:
                    raise
                return None
        return BlobInfo(
            key=key,
            version=found.get("VersionId", UNVERSIONED),
            size=found["ContentLength"],
            sha256=_sha256(found),
            content_type=found.get("ContentType"),
        )

    async def erase(self, key: str) -> None:
        """Remove all versions of an object and its delete markers; what is gone in a versioned bucket is gone."""
        with translated("s3"):
            await self._threads.call(self._erase, key=key)

    async def upload_form(self, key: str, *, content_type: str, sha256: str, size: int, valid: timedelta) -> UploadForm:
        """Sign a form (POST policy) for one file of exactly this key, type, size and checksum.

        A browser posts the fields and then, last, the file as ``file``; S3 answers 204, 400 for another size or
        checksum, 403 for another field or a form that has expired. Whoever has the form may post the *same bytes*
        again until it expires: S3 documents ``If-None-Match`` for ``PutObject`` and ``CompleteMultipartUpload``
        only, not for POST. The checksum makes a second post store equal bytes, and a job reads the version that it
        resolved when it was created.
        """
        fields = {
            "Content-Type": content_type,
            "x-amz-checksum-algorithm": "SHA256",
            "x-amz-checksum-sha256": base64.b64encode(bytes.fromhex(sha256)).decode("ascii"),
        }
        with translated("s3"):
            form = await self._threads.call(
                self._client.generate_presigned_post,
                Bucket=self._bucket,
                Key=key,
                Fields=dict(fields),
                Conditions=[*({name: value} for name, value in fields.items()), ["content-length-range", size, size]],
                ExpiresIn=int(valid.total_seconds()),
            )
        return UploadForm(url=form["url"], fields=form["fields"], expires_at=_expiry(form["fields"]["policy"]))

    def _erase(self, *, key: str) -> None:
        """List and delete, in one thread. The prefix may name other objects too: only this very key goes."""
        pages = self._client.get_paginator("list_object_versions").paginate(Bucket=self._bucket, Prefix=key)
        for page in pages:
            for found in (*page.get("Versions", ()), *page.get("DeleteMarkers", ())):
                if found["Key"] == key:
                    self._client.delete_object(Bucket=self._bucket, Key=key, VersionId=found["VersionId"])

    def _read(self, **request: str) -> bytes:
        """Ask and read to the end, in one thread: the body comes after the answer and may break off too."""
        body: bytes = self._client.get_object(**request)["Body"].read()  # type: ignore[arg-type]
        return body


def _sha256(found: HeadObjectOutputTypeDef) -> str | None:
    """The stored checksum in hexadecimal; ``None`` if there is none, or if it is one over parts (``…-3``)."""
    stored = found.get("ChecksumSHA256", "")
    return base64.b64decode(stored).hex() if stored and "-" not in stored else None


def _expiry(policy: str) -> datetime:
    """When S3 stops taking the form: as it says itself, so that no second clock can differ."""
    return datetime.fromisoformat(json.loads(base64.b64decode(policy))["expiration"])
