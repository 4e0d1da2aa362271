"""Choose a title and a few sentences that stand for the whole document."""

import re
from collections import Counter
from collections.abc import Sequence

from onceward.local.model.brain.pages import Document
from onceward.local.model.brain.sentences import is_heading
from onceward.local.model.brain.vocabulary import any_of

_KIND_OF_PAPER = re.compile(
    any_of(
        "agreement/contract/statement of work/lease/licen[cs]e/amendment/order/terms/deed/memorandum/addendum/policy"
        "/report/invoice/notice/vertrag/vereinbarung/contrat/accord/convention/contrato/acuerdo/convenio/contratto/overeenkomst"
    ),
    re.IGNORECASE,
)
_WORD = re.compile(r"[^\W\d_]{4,}")
_MAX_TITLE = 160  # characters
_TITLE_WORDS = 10
_SENTENCES = 3
_LENGTHS = range(40, 420)  # characters; shorter says nothing, longer is no summary
_SCORED = 2_000  # sentences; the opening of a long document introduces it


def find_title(document: Document) -> str:
    """Return the first title-like line of the body, else of the header, else the first line."""
    lines = document.opening_lines
    for index, line in enumerate(lines):
        if _is_title(line):
            following = lines[index + 1] if index + 1 < len(lines) else ""
            goes_on = line.isupper() and following.isupper() and is_heading(following)
            return f"{line} {following}" if goes_on else line
    running = [line for line in document.edge_lines if _is_title(line)]
    if running:
        return min(running, key=len)
    return next((line[:_MAX_TITLE] for line in lines if re.search(r"[^\W\d_]{2}", line)), "")


def _is_title(line: str) -> bool:
    """A few words, no figures, no end of a sentence, and one word that says what sort of paper it is."""
    short = len(line.split()) <= _TITLE_WORDS and not re.search(r"[\d:]|[.,;]$", line)
    return bool(short and line[:1].isupper() and _KIND_OF_PAPER.search(line))


def summarise(document: Document) -> str:
    """Return two to four whole sentences in document order, the weightiest by word frequency, early ones first."""
    texts = [document.text_of(span) for span in document.sentences[:_SCORED]]
    chosen = choose_sentences(texts, _SENTENCES)
    return " ".join(texts[index] for index in chosen)


def choose_sentences(texts: Sequence[str], count: int) -> list[int]:
    """Return the indexes of the `count` sentences with the most frequent words, in their order."""
    words_of = [[word.lower() for word in _WORD.findall(text)] for text in texts]
    frequency = Counter(word for words in words_of for word in words)
    fitting = [index for index, text in enumerate(texts) if len(text) in _LENGTHS] or list(range(len(texts)))

    def score(index: int) -> float:
        words = set(words_of[index])
        return sum(frequency[word] for word in words) / (len(words) + 8) / (1 + 0.05 * index)

    best = sorted(fitting, key=lambda index: (-score(index), index))[:count]
    return sorted(best)
