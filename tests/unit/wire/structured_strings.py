"""The official table of structured-field strings (ID-41), as facts: what RFC 8941 makes of each field value.

Source: httpwg/structured-field-tests, ``string.json`` (14 rows) and ``string-generated.json`` (256 rows: each of the
128 ASCII characters between quotes with a space on either side, and each behind a backslash).
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass

FOO = " ".join(["foo"] * 65)


@dataclass(frozen=True, slots=True)
class Row:
    """One row: the field's lines as they are sent, and the value they have; ``None``: they must be refused."""

    name: str
    lines: tuple[str, ...]
    value: str | None

    @property
    def header(self) -> str:
        """The lines as a gateway hands them on."""
        return ", ".join(self.lines)


BY_HAND = (
    Row("basic", ('"foo bar"',), "foo bar"),
    Row("empty", ('""',), ""),
    Row("long", (f'"{FOO} "',), f"{FOO} "),
    Row("whitespace", ('"   "',), "   "),
    Row("non-ascii", ('"füü"',), None),
    Row("tab", ('"\t"',), None),
    Row("newline", ('" \n "',), None),
    Row("single quoted", ("'foo'",), None),
    Row("unbalanced", ('"foo',), None),
    Row("quoting", ('"foo \\"bar\\" \\\\ baz"',), 'foo "bar" \\ baz'),
    Row("bad quoting", ('"foo \\,"',), None),
    Row("ending quote", ('"foo \\"',), None),
    Row("abruptly ending quote", ('"foo \\',), None),
    Row("two lines", ('"foo', 'bar"'), "foo, bar"),
)


def generated() -> Iterator[Row]:
    """Printable ASCII stands in quotes but for quote and backslash, and those two alone stand behind a backslash."""
    for code in range(128):
        one = chr(code)
        is_plain = 0x20 <= code < 0x7F and one not in '"\\'
        yield Row(f"0x{code:02x}", (f'" {one} "',), f" {one} " if is_plain else None)
    for code in range(128):
        one = chr(code)
        yield Row(f"escaped 0x{code:02x}", (f'"\\{one}"',), one if one in '"\\' else None)


TABLE = (*BY_HAND, *generated())
