"""Sentences end where they end: not at abbreviations, ordinals or clause numbers, but at headings and list items."""

import pytest

from onceward.local.model.brain.pages import read_document


def sentences(text: str) -> list[str]:
    """Split one page's text."""
    document = read_document([(1, text)])
    return [document.text_of(span) for span in document.sentences]


@pytest.mark.parametrize(
    "text",
    [
        "Acme Foods, Inc. and Globex Ltd. The Supplier agree.",
        "Dieser Vertrag beginnt am 12. März 2026.",
        "See clause 5. Fees are due, i.e. The Customer pays.",
        "Signed by Dr. Jonas Wittkamp for the Supplier.",
        "The price is EUR 1.250.000 in total.",
        "The Supplier shall, within ten days\nof receipt,\nreply.",
    ],
)
def test_a_stop_inside_a_sentence_does_not_end_it(text: str) -> None:
    """Names, dates, numbers and line breaks do not cut a sentence."""
    assert sentences(text) == [" ".join(text.split())]


def test_headings_and_numbered_clauses_stand_alone() -> None:
    """A heading is no part of the sentence below it."""
    parts = [
        "1. Term",
        "1.1 It begins on 1 April 2026.",
        "TERMINATION",
        "Either party may leave;",
        "(a) the Supplier",
        "(b) the Customer.",
    ]

    assert sentences("\n".join(parts)) == parts


def test_a_wrapped_date_at_the_start_of_a_line_is_no_clause_number() -> None:
    """German ordinals look like clause numbers and are none."""
    assert sentences("Der Vertrag endet spätestens am\n12. März 2026 um Mitternacht.") == [
        "Der Vertrag endet spätestens am 12. März 2026 um Mitternacht."
    ]


def test_the_rows_of_a_table_are_kept_apart() -> None:
    """A lone sum ends its row."""
    assert sentences("Signature\n2 March 2026\nEUR 45,000.00\nAcceptance\n30 June 2026\nEUR 82,500.00")[-1].endswith(
        "EUR 82,500.00"
    )
