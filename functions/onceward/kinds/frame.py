"""Keep a document inside its frame: the only tags in a prompt are ours, however a document spells its own.

No ``<`` of a document is shown, nor what passes for one: it is shown as a look-alike. What cannot be seen is not shown
at all: it hides tags from us, and words from whoever reads the document. ``TWINS`` and ``is_hidden`` undo both on the
two sides of a comparison, so that a quote can still be found.
"""

from __future__ import annotations

import re
import unicodedata
from collections.abc import Mapping

LESS = "‹"  # noqa: RUF001 - how the beginning of a tag is shown
AND = "⅋"  # how the beginning of an entity is shown that stands for one
# "<", what Unicode's compatibility forms make one of (UAX 15), and its confusables (UTS 39) that are no letters.
_LIKE_LESS = "<﹤＜˂❮𝈶"  # noqa: RUF001 - these very characters
_LIKE_AND = "&﹠＆"  # noqa: RUF001 - these very characters
_ENTITY = re.compile(rf"[{_LIKE_AND}](?=[\s\u200c\u200d]*(?:lt|amp|#))", re.IGNORECASE)  # &lt; &#60; &#x3c; &amp;lt;
_SHOWN: Mapping[int, str] = str.maketrans(dict.fromkeys(_LIKE_LESS, LESS))

# Format characters (Cf) that are part of a text: joiners of Persian and India's scripts, signs of numbers and verses.
_VISIBLE = frozenset(map(chr, (0x200C, 0x200D, *range(0x0600, 0x0606), 0x06DD, 0x070F, 0x0890, 0x0891, 0x08E2)))
# Marks that are never seen by themselves; runs of them carry whole texts.
_HIDDEN_MARKS = frozenset(map(chr, (0x034F, *range(0xFE00, 0xFE10), *range(0xE0100, 0xE01F0))))

TWINS: Mapping[int, str] = str.maketrans(
    {**dict.fromkeys(_LIKE_LESS + LESS, "<"), **dict.fromkeys(_LIKE_AND + AND, "&")}
)


def shown(text: str) -> str:
    """The text as a model may see it: nothing hidden, no beginning of a tag or of an entity that stands for one."""
    seen = text if text.isascii() else "".join(character for character in text if not is_hidden(character))
    return _ENTITY.sub(AND, seen).translate(_SHOWN)


def is_hidden(character: str) -> bool:
    """Whether a character is there and not to be seen."""
    if character in _HIDDEN_MARKS:
        return True
    return unicodedata.category(character) == "Cf" and character not in _VISIBLE
