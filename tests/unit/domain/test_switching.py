"""Names of switches, and what each of them stops."""

from __future__ import annotations

import pytest

from onceward.domain.switching import is_switch, is_switched_off


@pytest.mark.parametrize("name", ["all", "kind:text.generate", "provider:openai"])
def test_name_says_what_it_is_for(name: str) -> None:
    """One word for everything, a kind or a provider."""
    assert is_switch(name)


@pytest.mark.parametrize("name", ["", "ALL", "openai", "kind:", "kind:a b", "tenant:acme", "kind:" + "k" * 65, "all\n"])
def test_anything_else_is_no_switch(name: str) -> None:
    """A slip must not look like a switch that was thrown."""
    assert not is_switch(name)


@pytest.mark.parametrize(
    ("off", "expected"),
    [
        ((), False),
        (("all",), True),
        (("kind:text.generate",), True),
        (("provider:openai",), True),
        (("kind:document.analyze", "provider:anthropic"), False),
        (("kind:openai", "provider:text.generate"), False),
    ],
)
def test_any_switch_over_a_send_stops_it(off: tuple[str, ...], expected: bool) -> None:
    """Everything, its kind or its provider; nothing else."""
    assert expected is is_switched_off(frozenset(off), "text.generate", "openai")
