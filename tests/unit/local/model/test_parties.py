"""Parties are found with their roles, whatever the contract's way of introducing them."""

import pytest

from onceward.local.model.brain.pages import read_document
from onceward.local.model.brain.parties import find_parties


def parties(text: str) -> list[tuple[str, str]]:
    """Return names and roles of a one-page text."""
    return [(party.name, party.role) for party in find_parties(read_document([(1, text)]))]


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        (
            'Made between Acme Foods, Inc., a Delaware corporation (the "Seller"), and Globex Ltd (the "Buyer").',
            [("Acme Foods, Inc.", "Seller"), ("Globex Ltd", "Buyer")],
        ),
        (
            "Zwischen der Hansa Werft GmbH & Co. KG, mit Sitz in Kiel, nachfolgend „Kunde“, und Nord AG („Anbieter“)",
            [("Hansa Werft GmbH & Co. KG", "Kunde"), ("Nord AG", "Anbieter")],
        ),
        (
            "Entre Lumière SAS, dont le siège est à Lyon (ci-après le « Client »), et Azur S.A. (le « Preneur »)",
            [("Lumière SAS", "Client"), ("Azur S.A.", "Preneur")],
        ),
        (
            'BETWEEN: (1) Maria Keller, residing at 4 Elm Street (the "Tenant"); and (2) Jonas Wolf (the "Landlord").',
            [("Maria Keller", "Tenant"), ("Jonas Wolf", "Landlord")],
        ),
        ("Client: Acme Foods\nSupplier: Globex Ltd", [("Acme Foods", "Client"), ("Globex Ltd", "Supplier")]),
        (
            "A loan is given by Acme Bank plc, hereinafter the Lender, to Globex Ltd, as Borrower, today.",
            [("Acme Bank plc", "Lender"), ("Globex Ltd", "Borrower")],
        ),
        (
            "An agreement between Acme Foods and Globex about eggs.",
            [("Acme Foods", "party"), ("Globex about eggs", "party")],
        ),
    ],
)
def test_parties_are_named_with_their_roles(text: str, expected: list[tuple[str, str]]) -> None:
    """The name ends before its bearer's description; the role is the defined term."""
    assert parties(text) == expected


def test_defined_terms_that_are_no_party_are_left_out() -> None:
    """The terms "Services" and "Effective Date" bind nobody."""
    text = 'On 2 March 2026 (the "Effective Date") Acme Ltd (the "Supplier") begins the work (the "Services").'

    assert parties(text) == [("Acme Ltd", "Supplier")]


def test_a_text_without_parties_has_none() -> None:
    """Nothing is made up."""
    assert parties("The weather was fine and the harvest good.") == []
