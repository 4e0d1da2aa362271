"""Make text of bytes, or say honestly that nobody can. Runs in the extraction child only.

In this order: a byte order mark, what the uploader declared, the pattern that UTF-16 leaves, UTF-8. Only then it is
guessed, and a guess counts only if it has no rival: a wrong letter in a contract is worse than a refusal.
"""

from __future__ import annotations

import codecs
import re

from charset_normalizer import CharsetMatches, from_bytes

from onceward.kinds.code_pages import HOME, is_written_in
from onceward.kinds.extracted import Unextractable
from onceward.kinds.extraction_limits import MAX_CHARACTERS

# The longer marks first: UTF-32's begins with UTF-16's.
_MARKS = (
    (codecs.BOM_UTF32_LE, "utf-32-le"),
    (codecs.BOM_UTF32_BE, "utf-32-be"),
    (codecs.BOM_UTF8, "utf-8"),
    (codecs.BOM_UTF16_LE, "utf-16-le"),
    (codecs.BOM_UTF16_BE, "utf-16-be"),
)
_BINARY = tuple(  # PNG, JPEG, GIF, PDF, ZIP, OLE, gzip, ELF, 7z, RAR
    bytes.fromhex(start)
    for start in (
        *("89504e470d0a", "ffd8ff", "474946383761", "474946383961", "255044462d", "504b0304", "d0cf11e0a1b1"),
        *("1f8b08", "7f454c46", "377abcaf271c", "526172211a07"),
    )
)
_DECLARABLE = re.compile(
    r"utf-(8|16|32)(-[lb]e)?|ascii|iso8859-\d+|cp125[0-8]|cp874|cp932|cp949|cp866|koi8-[ru]|shift_jis|euc_(jp|kr)"
    r"|iso2022_jp|gb2312|gbk|gb18030|big5|mac-roman"
)
# Those that are still met.
_GUESSED = (
    *("cp1250", "cp1251", "cp1252", "cp1253", "cp1254", "cp1255", "cp1256", "cp1257", "koi8_r"),
    *("cp932", "euc_jp", "gb18030", "big5", "cp949"),
)
_OF_EAST_ASIA = frozenset({"cp932", "euc_jp", "gb18030", "big5", "cp949"})
_SAMPLE = 64 * 1024  # bytes that a guess is made from
_LEAST_COHERENCE = 0.5  # of letters as frequent as in some language
_LEAD = 0.2  # of coherence, or of order, by which the best reading must be ahead of any other one
_LEAST_FOREIGN = 16  # bytes beyond ASCII; from fewer nobody can tell an alphabet
_LEAST_SAMPLE = 64  # bytes of mostly ASCII; from fewer nobody can tell a language
_LAST_OF_ASCII = 0x7F
_LEAST_ZEROS = 0.05  # of UTF-16's units: blanks and line ends alone are more of any text
_MOST_CONTROLS = 0.01  # of the characters; more is no text


def decode(content: bytes, declared: str | None) -> str:
    """The text; raises ``Unextractable`` (``unsupported_format`` for what is no text, ``unsupported_encoding``)."""
    if content.startswith(_BINARY):
        raise Unextractable("unsupported_format")
    text = _decoded(content, declared)
    controls = sum(character < " " and not character.isspace() for character in text)
    if controls > len(text) * _MOST_CONTROLS:
        raise Unextractable("unsupported_format")
    return text


def _decoded(content: bytes, declared: str | None) -> str:
    """By the first rule that applies."""
    for mark, encoding in _MARKS:
        if content.startswith(mark):
            return _strictly(content[len(mark) :], encoding)
    if declared is not None:
        return _strictly(content, _known(declared))
    if b"\x00" in content:
        return _strictly(content, _by_zeros(content))
    try:
        return content.decode("utf-8")
    except UnicodeDecodeError:
        if len(content) > 4 * MAX_CHARACTERS:  # no encoding makes fewer characters of it than we may read
            raise Unextractable("document_too_long") from None
        return _strictly(content, _guess(content))


def _strictly(content: bytes, encoding: str) -> str:
    """Decode without a single replacement."""
    try:
        return content.decode(encoding)
    except UnicodeError:
        raise Unextractable("unsupported_encoding") from None


def _known(declared: str) -> str:
    """A declared encoding that is one; what browsers call Latin 1 is its superset of Windows."""
    try:
        name = codecs.lookup(declared.strip().strip("\"'")).name
    except (LookupError, ValueError):
        raise Unextractable("unsupported_encoding") from None
    if _DECLARABLE.fullmatch(name) is None:
        raise Unextractable("unsupported_encoding")
    return "cp1252" if name in {"iso8859-1", "ascii"} else name


def _by_zeros(content: bytes) -> str:
    """UTF-16 without a mark: its ASCII has a zero beside each letter, always on the same side."""
    even, odd = content[::2].count(0), content[1::2].count(0)
    if len(content) % 2 or (even and odd) or max(even, odd) < len(content) // 2 * _LEAST_ZEROS:
        raise Unextractable("unsupported_format")
    return "utf-16-le" if odd else "utf-16-be"


def _guess(content: bytes) -> str:
    """The one reading that has no rival; raises ``Unextractable`` if there are several, or none."""
    sample = content[:_SAMPLE]
    is_foreign = sum(byte > _LAST_OF_ASCII for byte in sample) >= _LEAST_FOREIGN
    if len(sample) < _LEAST_SAMPLE and not is_foreign:
        raise Unextractable("unsupported_encoding")
    matches = from_bytes(sample, cp_isolation=list(_GUESSED), preemptive_behaviour=False)
    found = _by_language(sample, matches, is_foreign=is_foreign) or (_by_order(matches) if is_foreign else None)
    if found is None:
        raise Unextractable("unsupported_encoding")
    return found


def _by_language(sample: bytes, matches: CharsetMatches, *, is_foreign: bool) -> str | None:
    """The reading whose letters are as frequent as in its language; of equal ones, the language's own code page.

    Latin text with a few accents tells its language by its plain letters, any other alphabet needs letters enough.
    """
    best = max(matches, key=lambda match: match.coherence, default=None)
    if best is None or best.coherence < _LEAST_COHERENCE:
        return None
    near = [match for match in matches if match.coherence > best.coherence - _LEAD]
    home = HOME.get(best.language)
    if home is None:
        return best.encoding if len(near) == 1 and is_foreign else None
    is_agreed = all(match.language == best.language for match in near)
    is_home = any(home in match.could_be_from_charset for match in near)
    if not (is_agreed and is_home and is_written_in(sample.decode(home, "replace"), best.language)):
        return None
    return home


def _by_order(matches: CharsetMatches) -> str | None:
    """East Asia's encodings have no frequent letters, but a grammar of bytes: one that breaks nothing stands alone."""
    ordered = sorted(matches, key=lambda match: match.chaos)
    if not ordered or ordered[0].encoding not in _OF_EAST_ASIA:
        return None
    rivals = [match for match in ordered[1:] if match.chaos < ordered[0].chaos + _LEAD / 2]
    return None if rivals else ordered[0].encoding
