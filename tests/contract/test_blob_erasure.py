"""What every blob store promises of an erasure: no version is left, and nothing else is touched."""

from __future__ import annotations

import asyncio
from collections.abc import Iterator
from datetime import timedelta
from hashlib import sha256

import pytest

from onceward.adapters.system import ThreadRunner
from onceward.local.cloud import LocalCloud
from tests.contract.test_job_blob import s3_at
from tests.support.blob_bench import BlobBench, MemoryBlobBench, S3Bench

KEY = "documents/acme/QHW5N2C7T4VXK3LBMFZ6ARDJEY"
BODY = b"%PDF-1.7"


class ErasurePromises:
    """A subclass gives the fixture ``bench``: an empty bucket."""

    def test_no_version_of_an_erased_object_is_left(self, bench: BlobBench) -> None:
        """Uploaded twice, erased once: neither the newest nor a version named before can be read."""
        form = asyncio.run(
            bench.blob.upload_form(
                KEY,
                content_type="application/pdf",
                sha256=sha256(BODY).hexdigest(),
                size=len(BODY),
                valid=timedelta(minutes=5),
            )
        )
        versions = []
        for _ in range(2):
            assert bench.post(form, BODY)
            info = asyncio.run(bench.blob.head(KEY))
            assert info is not None
            versions.append(info.version)

        asyncio.run(bench.blob.erase(KEY))

        assert asyncio.run(bench.blob.head(KEY)) is None
        assert [asyncio.run(bench.blob.get(KEY, version)) for version in (None, *versions)] == [None] * 3

    def test_objects_of_longer_names_stay(self, bench: BlobBench) -> None:
        """A key is a whole name, never the beginning of others."""
        for key in (KEY, KEY + "2", KEY + "/x"):
            asyncio.run(bench.blob.put(key, b"{}", "application/json"))

        asyncio.run(bench.blob.erase(KEY))

        assert [asyncio.run(bench.blob.get(key)) for key in (KEY, KEY + "2", KEY + "/x")] == [None, b"{}", b"{}"]

    def test_erasing_nothing_is_fine(self, bench: BlobBench) -> None:
        """An erasure may be asked for again."""
        asyncio.run(bench.blob.erase(KEY))
        asyncio.run(bench.blob.erase(KEY))

        assert asyncio.run(bench.blob.head(KEY)) is None


class TestMemory(ErasurePromises):
    """The bucket in memory."""

    @pytest.fixture
    def bench(self) -> BlobBench:
        """An empty bucket."""
        return MemoryBlobBench()


class TestMinistack(ErasurePromises):
    """S3 as it is emulated."""

    @pytest.fixture
    def bench(self, ministack: LocalCloud) -> Iterator[BlobBench]:
        """A new bucket."""
        with ThreadRunner() as threads:
            yield S3Bench(s3_at(ministack.endpoint_url), threads)
