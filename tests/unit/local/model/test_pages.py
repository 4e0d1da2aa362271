"""Pages become one stream without headers and footers, and every quote stands on one page."""

from onceward.local.model.brain.pages import MAX_QUOTE, find_pages, read_document


def test_pages_are_found_in_the_layout_shared_with_the_kind() -> None:
    """Numbers and texts come back as they were put in."""
    prompt = '<document>\n<page number="1">\nOne\n</page>\n<page number="2">\n\n</page>\n</document>'

    assert find_pages(prompt) == [(1, "\nOne\n"), (2, "\n\n")]


def test_a_prompt_without_a_document_has_no_pages() -> None:
    """Text that merely speaks of documents is no document."""
    assert find_pages("Summarise the document on page 1.") == []


def test_running_headers_and_footers_do_not_interrupt_a_sentence() -> None:
    """A sentence goes on over a page break as if the lines that all pages share were not there."""
    head, foot = "Acme / Globex - draft {}", "Page {} of 2"
    pages = [
        (1, f"{head.format(1)}\nThe Supplier shall deliver\n{foot.format(1)}"),
        (2, f"{head.format(2)}\nthe goods. The end.\n{foot.format(2)}"),
    ]
    document = read_document(pages)

    assert [document.text_of(span) for span in document.sentences] == [
        "The Supplier shall deliver the goods.",
        "The end.",
    ]


def test_a_quote_of_a_sentence_over_two_pages_is_cut_to_the_page_it_refers_to() -> None:
    """A reference never joins text of two pages."""
    document = read_document([(1, "Alpha beta gamma"), (2, "delta epsilon. Zeta.")])
    start = document.text.index("delta")

    assert document.reference(start, start + 5).page == 2
    assert document.reference(start, start + 5).quote == "delta epsilon."
    assert document.reference(0, 5).quote == "Alpha beta gamma"


def test_a_long_sentence_is_quoted_around_the_fact() -> None:
    """Quotes stay short, hold the fact, and are cut between words."""
    text = "word " * 300 + "12 March 2026 " + "word " * 300
    document = read_document([(1, text)])
    start = document.text.index("12 March")
    quote = document.reference(start, start + 13).quote

    assert len(quote) <= MAX_QUOTE
    assert "12 March 2026" in quote
    assert quote.startswith("word ")
    assert quote.endswith(" word")
