"""Sums are read in any common grouping and on either side of their currency."""

import pytest

from onceward.local.model.brain.money import find_sums


@pytest.mark.parametrize(
    ("written", "amount", "currency"),
    [
        ("USD 1,250,000.00", "1250000.00", "USD"),
        ("€12.500,50", "12500.50", "EUR"),
        ("$4,200", "4200", "USD"),
        ("US$ 4,200", "4200", "USD"),
        ("C$99.95", "99.95", "CAD"),
        ("5 million euros", "5000000", "EUR"),
        ("1.5 million US dollars", "1500000", "USD"),
        ("£3.5m", "3500000", "GBP"),
        ("$1.2bn", "1200000000", "USD"),
        ("EUR 90 000", "90000", "EUR"),
        ("EUR 90\u00a0000,50", "90000.50", "EUR"),
        ("CHF 12'500.-", "12500", "CHF"),
        ("12’500.00 Swiss francs", "12500.00", "CHF"),
        ("1.250.000,00 EUR", "1250000.00", "EUR"),
        ("1.250 €", "1250", "EUR"),
        ("USD 0.125", "0.125", "USD"),
        ("1,5 Mio. EUR", "1500000", "EUR"),
        ("3,5 Millionen Euro", "3500000", "EUR"),
        ("2 millions d’euros", "2000000", "EUR"),
        ("2,5 millones de euros", "2500000", "EUR"),
        ("1 200 000 francs suisses", "1200000", "CHF"),
        ("Rs. 5,00,000", "500000", "INR"),
        ("¥1,000,000", "1000000", "JPY"),
        ("7,100 (USD)", "7100", "USD"),
        ("the sum of 5,000 in CHF", "5000", "CHF"),
        ("pounds sterling 640.00", "640.00", "GBP"),
        ("one hundred and twenty-five thousand euros", "125000", "EUR"),
        ("50,000 (fifty thousand) euros", "50000", "EUR"),
        ("$4,200 USD", "4200", "USD"),
        ("AUD $4,200", "4200", "AUD"),
    ],
)
def test_a_sum_is_read_in_each_of_its_formats(written: str, amount: str, currency: str) -> None:
    """Value and currency are right whatever the grouping, the scale and the side of the currency."""
    found = [(f"{one.amount:f}", one.currency) for one in find_sums(f"a fee of {written} is due")]

    assert found == [(amount, currency)]


def test_a_year_before_a_currency_belongs_to_its_date() -> None:
    """In a payment table the year of the due date is not taken for the sum."""
    assert [f"{one.amount:f}" for one in find_sums("30 June 2026 EUR 82,500.00")] == ["82500.00"]


def test_a_number_after_a_sum_is_not_another_sum() -> None:
    """A currency word belongs to one number only."""
    assert [f"{one.amount:f}" for one in find_sums("paid 5,000 dollars 30 days later")] == ["5000"]


@pytest.mark.parametrize(
    "text", ["within 30 days", "number 09418827", "99.5 per cent", "clause 4.2", "100 users", "kr 500"]
)
def test_a_number_without_a_known_currency_is_no_sum(text: str) -> None:
    """Only money is money."""
    assert list(find_sums(text)) == []


def test_a_number_beyond_any_sum_is_left_out() -> None:
    """The answer's shape allows fifteen digits; more is a number beside a currency by chance."""
    assert list(find_sums("EUR 999999999999999 billion")) == []
