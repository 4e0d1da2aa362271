"""What every blob store promises."""

import asyncio
import hashlib
from dataclasses import replace
from datetime import timedelta

import pytest

from onceward.usecases.ports import BlobInfo, UploadForm
from tests.support.blob_bench import BlobBench

KEY = "jobs/acme/QHW5N2C7T4VXK3LBMFZ6ARDJEY-4SGPI2UO/result"
DOCUMENT = "documents/acme/QHW5N2C7T4VXK3LBMFZ6ARDJEY"
PDF = "application/pdf"
BODY = b"%PDF-1.7 a contract"
FIVE_MINUTES = timedelta(minutes=5)


def put(bench: BlobBench, key: str, body: bytes) -> None:
    """Store an object."""
    asyncio.run(bench.blob.put(key, body, "application/json"))


def get(bench: BlobBench, key: str, version: str | None = None) -> bytes | None:
    """Read an object."""
    return asyncio.run(bench.blob.get(key, version))


def head(bench: BlobBench, key: str) -> BlobInfo | None:
    """Ask what is stored."""
    return asyncio.run(bench.blob.head(key))


def upload_form(bench: BlobBench, body: bytes, valid: timedelta = FIVE_MINUTES) -> UploadForm:
    """A form for exactly this document."""
    digest = hashlib.sha256(body).hexdigest()
    return asyncio.run(bench.blob.upload_form(DOCUMENT, content_type=PDF, sha256=digest, size=len(body), valid=valid))


class ObjectPromises:
    """Storing and reading. A subclass gives the fixture ``bench``: an empty bucket."""

    @pytest.mark.parametrize("body", [b"", b"{}", bytes(range(256)) * 4096])
    def test_stored_object_is_read_back(self, bench: BlobBench, body: bytes) -> None:
        """Bytes are bytes; their checksum is computed by the store."""
        put(bench, KEY, body)

        info = head(bench, KEY)
        assert get(bench, KEY) == body
        assert info is not None
        assert (info.key, info.size, info.content_type) == (KEY, len(body), "application/json")
        assert info.sha256 == hashlib.sha256(body).hexdigest()

    def test_absent_object_is_none(self, bench: BlobBench) -> None:
        """Absence is an answer, not an error."""
        assert get(bench, "documents/globex/AAAAAAAAAAAAAAAAAAAAAAAAAA") is None
        assert head(bench, "documents/globex/AAAAAAAAAAAAAAAAAAAAAAAAAA") is None

    def test_storing_again_changes_nothing(self, bench: BlobBench) -> None:
        """A write whose answer was lost is written again: no new version, nothing else to see."""
        put(bench, KEY, BODY)
        before = head(bench, KEY)

        put(bench, KEY, BODY)

        assert head(bench, KEY) == before

    def test_named_version_is_read(self, bench: BlobBench) -> None:
        """A job reads the version that it was created with."""
        put(bench, KEY, BODY)
        info = head(bench, KEY)

        assert info is not None
        assert get(bench, KEY, info.version) == BODY

    def test_keys_do_not_reach_each_other(self, bench: BlobBench) -> None:
        """A key that begins like another is another."""
        put(bench, KEY, BODY)

        assert get(bench, KEY[:-1]) is None
        assert get(bench, f"{KEY}/part") is None


class FormPromises:
    """Upload forms that are held to size, type, key and time."""

    def test_document_as_promised_is_taken(self, bench: BlobBench) -> None:
        """What was announced is what is stored, under its key and type."""
        assert bench.post(upload_form(bench, BODY), BODY)

        info = head(bench, DOCUMENT)
        assert info is not None
        assert (info.size, info.content_type) == (len(BODY), PDF)
        assert get(bench, DOCUMENT) == BODY

    @pytest.mark.parametrize("body", [b"", BODY[:-1], BODY + b"!"])
    def test_other_size_is_refused(self, bench: BlobBench, body: bytes) -> None:
        """Not a byte more, not a byte less; nothing is stored."""
        assert not bench.post(upload_form(bench, BODY), body)
        assert head(bench, DOCUMENT) is None

    @pytest.mark.parametrize(("field", "value"), [("key", "documents/globex/stolen"), ("Content-Type", "text/html")])
    def test_changed_field_is_refused(self, bench: BlobBench, field: str, value: str) -> None:
        """A form reaches no other tenant's key and stores no other type."""
        form = upload_form(bench, BODY)

        assert not bench.post(replace(form, fields={**form.fields, field: value}), BODY)
        assert head(bench, DOCUMENT) is None
        assert head(bench, "documents/globex/stolen") is None

    def test_expired_form_is_refused(self, bench: BlobBench) -> None:
        """A form that leaks is soon useless."""
        assert not bench.post(upload_form(bench, BODY, valid=timedelta(0)), BODY)

    def test_second_post_leaves_the_first_version_readable(self, bench: BlobBench) -> None:
        """A form may be posted twice; a job that resolved the first version still reads it."""
        form = upload_form(bench, BODY)
        bench.post(form, BODY)
        first = head(bench, DOCUMENT)
        bench.post(form, BODY)

        assert first is not None
        assert get(bench, DOCUMENT, first.version) == BODY


class ChecksumPromises:
    """Upload forms that are held to the very bytes."""

    def test_other_bytes_of_the_same_size_are_refused(self, bench: BlobBench) -> None:
        """The checksum of the form is compared with what arrives."""
        assert not bench.post(upload_form(bench, BODY), BODY[::-1])
        assert head(bench, DOCUMENT) is None

    def test_checksum_of_an_upload_is_told(self, bench: BlobBench) -> None:
        """A job's documents can be compared by it."""
        bench.post(upload_form(bench, BODY), BODY)

        info = head(bench, DOCUMENT)
        assert info is not None
        assert info.sha256 == hashlib.sha256(BODY).hexdigest()


class BlobPromises(ObjectPromises, FormPromises, ChecksumPromises):
    """All of them."""
