"""Contracts as real PDFs with known content: the sample that ships, and generated ones that prove the extraction."""

from tests.support.contracts.generate import Expected, generate
from tests.support.contracts.recall import Recall, measure_recall, misquoted, read_pages
from tests.support.contracts.sample import sample_pdf

__all__ = ["Expected", "Recall", "generate", "measure_recall", "misquoted", "read_pages", "sample_pdf"]
