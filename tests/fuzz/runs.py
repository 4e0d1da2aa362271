"""How many inputs a short fuzz gives each parser: a second or two of them; ``make prove`` gives ``LONG`` times more."""

from __future__ import annotations

import pytest

GUIDED = {"body": 10_000, "message": 10_000, "pdf": 60, "docx": 1_000, "html": 2_000, "text": 4_000}
LONG = 20
FILES = 900  # broken documents, of all formats together

short_and_long = pytest.mark.parametrize(
    "times", [1, pytest.param(LONG, marks=[pytest.mark.thorough, pytest.mark.timeout(3_600)])]
)
