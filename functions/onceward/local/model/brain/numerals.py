"""Read English number words ("one hundred and twenty-five thousand") as integers."""

import re

_UNITS = (
    *("zero", "one", "two", "three", "four", "five", "six", "seven", "eight", "nine", "ten", "eleven", "twelve"),
    *("thirteen", "fourteen", "fifteen", "sixteen", "seventeen", "eighteen", "nineteen"),
)
_TENS = ("twenty", "thirty", "forty", "fifty", "sixty", "seventy", "eighty", "ninety")
_SMALL = {word: value for value, word in enumerate(_UNITS)} | {word: 20 + 10 * i for i, word in enumerate(_TENS)}
_LARGE = {"thousand": 1_000, "million": 1_000_000, "billion": 1_000_000_000}
_WORD = "|".join(sorted([*_SMALL, *_LARGE, "hundred"], key=len, reverse=True))
NUMERAL_PATTERN = rf"\b(?:{_WORD})\b(?:[ -](?:and )?(?:{_WORD})\b){{0,16}}"


def read_numeral(words: str) -> int:
    """Return the value of number words that `NUMERAL_PATTERN` matched."""
    total = group = 0
    for word in re.split(r"[ -]", words.lower()):
        if word in _SMALL:
            group += _SMALL[word]
        elif word == "hundred":
            group = max(group, 1) * 100
        elif word in _LARGE:
            total += max(group, 1) * _LARGE[word]
            group = 0
    return total + group
