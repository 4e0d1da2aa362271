"""Duties name their bearer; risks are graded by what they say."""

import pytest

from onceward.local.model.brain.obligations import find_obligations
from onceward.local.model.brain.pages import Document, read_document
from onceward.local.model.brain.parties import find_parties
from onceward.local.model.brain.risks import find_risks

OPENING = 'This is made between Acme Ltd (the "Supplier") and Globex Ltd (the "Customer").\n'


def document(text: str) -> Document:
    """Put a text on one page."""
    return read_document([(1, OPENING + text)])


@pytest.mark.parametrize(
    ("text", "who", "what"),
    [
        ("The Supplier shall deliver the report.", "Supplier", "deliver the report"),
        ("The Customer agrees to pay the fee.", "Customer", "pay the fee"),
        ("Acme Ltd must, at its own cost, return all data.", "Acme Ltd", "at its own cost, return all data"),
        ("The Supplier will install the software.", "Supplier", "install the software"),
        ("Each party shall keep it secret.", "Each party", "keep it secret"),
        (
            "The goods must be brought by the Supplier to the yard.",
            "Supplier",
            "be brought by the Supplier to the yard",
        ),
        ("The Customer is obliged to insure the goods.", "Customer", "insure the goods"),
    ],
)
def test_a_duty_has_its_bearer_and_its_content(text: str, who: str, what: str) -> None:
    """Who comes before the modal word, or by "by" in a passive; what comes after it."""
    given = document(text)
    found = [(duty.who, duty.what) for duty in find_obligations(given, find_parties(given))]

    assert found == [(who, what)]


@pytest.mark.parametrize(
    "text",
    [
        "This Agreement shall be governed by the laws of Kenya.",
        "The Supplier shall not be liable for lost profit.",
        "The Customer may end it at any time.",
    ],
)
def test_what_binds_nobody_to_an_act_is_no_duty(text: str) -> None:
    """Governing law, limits of liability and rights are not obligations."""
    given = document(text)

    assert list(find_obligations(given, find_parties(given))) == []


@pytest.mark.parametrize(
    ("text", "label", "severity"),
    [
        ("The Supplier shall indemnify the Customer against all claims.", "Indemnity", "high"),
        ("A penalty of EUR 500 is due for each day.", "Penalty", "high"),
        ("Either party may terminate it for convenience at month end.", "Termination without cause", "high"),
        ("It renews automatically for one year at a time.", "Automatic renewal", "medium"),
        ("Interest of nine per cent is owed on overdue sums.", "Late payment", "medium"),
        ("Either party may terminate with three months of notice.", "Termination", "medium"),
        ("This agreement is governed by the laws of Germany.", "Jurisdiction", "low"),
        ("Für jeden Tag fällt eine Vertragsstrafe von 500 EUR an.", "Penalty", "high"),
    ],
)
def test_a_risk_is_named_and_graded_by_its_gravest_words(text: str, label: str, severity: str) -> None:
    """The gravest row of the table that fits gives name and severity."""
    found = [(risk.what.partition(":")[0], risk.severity.value) for risk in find_risks(document(text))]

    assert found == [(label, severity)]


def test_a_heading_alone_is_no_risk() -> None:
    """The word "Termination" above a clause says nothing yet."""
    assert list(find_risks(document("6. Termination"))) == []
