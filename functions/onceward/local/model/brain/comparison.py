"""Compare two lists of facts, as the prompt of `document.compare` shows them: a fact that only one list has differs.

Facts of one kind that are left over on both sides are told in pairs, in their order.
"""

import json
import re
from collections.abc import Iterator

from onceward.local.model import STAND_IN_NOTICE

_LISTS = re.compile(r"<first>\n(.*?)</first>\n<second>\n(.*?)</second>", re.DOTALL)
type Facts = dict[str, dict[str, str]]  # words by place, by kind

_MOST = 200  # of the kind's own limit
_LONGEST = 500  # characters of a sentence


def find_lists(prompt: str) -> tuple[str, str] | None:
    """Return both lists, if the prompt shows two."""
    found = _LISTS.search(prompt)
    return None if found is None else (found[1], found[2])


def compare(first: str, second: str) -> str:
    """Return the comparison as JSON; the same lists always give the same."""
    differences = list(_differences(_facts(first), _facts(second)))[:_MOST]
    count = len(differences)
    summary = f"{count} difference{'' if count == 1 else 's'} found by the {STAND_IN_NOTICE}."
    return json.dumps({"summary": summary, "differences": differences}, ensure_ascii=False)


def _facts(listed: str) -> Facts:
    """Return the facts of a list by kind: place and words; a title is no fact."""
    facts: Facts = {}
    for line in listed.splitlines():
        place, _, words = line.partition(": ")
        if "/" in place:
            facts.setdefault(place.partition("/")[0], {})[place] = words
    return facts


def _differences(first: Facts, second: Facts) -> Iterator[dict[str, str | None]]:
    for kind in dict.fromkeys([*first, *second]):
        ours, theirs = first.get(kind, {}), second.get(kind, {})
        left = [place for place, words in ours.items() if words not in theirs.values()]
        right = [place for place, words in theirs.items() if words not in ours.values()]
        for index in range(max(len(left), len(right))):
            here = left[index] if index < len(left) else None
            there = right[index] if index < len(right) else None
            said = " / ".join(words for words in (ours.get(here or ""), theirs.get(there or "")) if words)
            yield {"what": f"{kind}: {said}"[:_LONGEST], "first": here, "second": there}
