"""The grammar of the Idempotency-Key; ID-41 is the official structured-field table, row by row."""

from __future__ import annotations

import pytest

from onceward.errors import KeyTooLong, MalformedKey, MissingKey
from onceward.wire.idempotency_key import MAX_LENGTH, read_key
from tests.unit.wire.structured_strings import TABLE, Row

# Where the official table and the design differ: the error, or the bare key that the header is to us.
OURS: dict[str, type[MalformedKey] | str] = {"empty": MalformedKey, "long": KeyTooLong, "single quoted": "'foo'"}


@pytest.mark.parametrize("header", ["k", "1b7c4e-x", "user@example.org-42", "a;b=c", "(:%)", "\\", "~" * MAX_LENGTH])
def test_a_bare_key_is_its_own_value(header: str) -> None:
    """Visible ASCII without comma and quote is taken as it is, up to 255 characters (ID-25)."""
    assert read_key(header) == header


@pytest.mark.parametrize("bare", ["1b7c4e-x", "k", "a\\b"])
def test_both_spellings_of_a_value_are_one_key(bare: str) -> None:
    """ID-23: quoted as the IETF draft asks, or bare as clients send it today, with white space around or not."""
    quoted = '"' + bare.replace("\\", "\\\\") + '"'

    assert read_key(quoted) == read_key(bare) == read_key(f"  {quoted}\t") == bare


@pytest.mark.parametrize(
    ("header", "value"),
    [
        ('"foo, bar"', "foo, bar"),
        ('"' + "foo " * 63 + '"', "foo " * 63),
        ('"' + "k" * MAX_LENGTH + '"', "k" * MAX_LENGTH),
    ],
)
def test_a_quoted_key_is_read_as_a_structured_field_string(header: str, value: str) -> None:
    """Spaces and commas too, and up to 255 characters."""
    assert read_key(header) == value


@pytest.mark.parametrize("row", [row for row in TABLE if row.name not in OURS], ids=lambda row: row.name)
def test_official_rows_are_read_as_listed(row: Row) -> None:
    """ID-41, ID-27: what begins with a quote has exactly the listed value, or is refused; two lines come joined."""
    if row.value is None:
        with pytest.raises(MalformedKey):
            read_key(row.header)
    else:
        assert read_key(row.header) == row.value


@pytest.mark.parametrize("row", [row for row in TABLE if row.name in OURS], ids=lambda row: row.name)
def test_exceptions_from_the_official_table_are_ours(row: Row) -> None:
    """An empty key and one beyond 255 characters name nothing; what begins with another sign is a bare key."""
    ours = OURS[row.name]
    if isinstance(ours, str):
        assert (row.value, read_key(row.header)) == (None, ours)
    else:
        assert row.value is not None
        with pytest.raises(ours):
            read_key(row.header)


def test_the_official_table_is_whole() -> None:
    """270 rows, and each exception is one of them."""
    assert len(TABLE) == 270
    assert set(OURS) <= {row.name for row in TABLE}


@pytest.mark.parametrize(
    "header",
    [
        pytest.param("", id="ID-25 empty"),
        pytest.param("   ", id="white space only"),
        pytest.param("k" * (MAX_LENGTH + 1), id="ID-25 256 characters"),
        pytest.param('"' + "k" * (MAX_LENGTH + 1) + '"', id="256 characters in quotes"),
        pytest.param("ключ-481", id="ID-26 not ASCII"),
        pytest.param("a\x00b", id="ID-27 NUL"),
        pytest.param("a b", id="a space in a bare key"),
        pytest.param("k35a,k35b", id="ID-35 sent twice, joined by the gateway"),
        pytest.param("k35a, k35b", id="ID-35 sent twice, joined with a space"),
        pytest.param('"k35a","k35b"', id="ID-35 sent twice in quotes"),
        pytest.param('"k";v=1', id="parameters"),
        pytest.param('fo"o', id="a quote inside a bare key"),
    ],
)
def test_anything_else_is_malformed(header: str) -> None:
    """A key that could be read in two ways is not guessed at: 400, and never an error of a store."""
    with pytest.raises(MalformedKey) as refused:
        read_key(header)

    assert not header.strip() or header.strip() not in refused.value.detail


def test_a_missing_header_is_told_apart() -> None:
    """Not sent is another mistake than sent wrong."""
    with pytest.raises(MissingKey):
        read_key(None)
