"""``--help`` lists each command with a whole sentence."""

import pytest

from tests.unit.cli.command import command


@pytest.mark.parametrize("group", [(), ("account",), ("action",), ("dlq",), ("switch",)], ids=" ".join)
def test_no_command_s_sentence_is_cut(group: tuple[str, ...]) -> None:
    """Where the first sentence is too long for the list, it ends in dots."""
    shown = command(*group, "--help").out
    _, found, commands = shown.partition("Commands:\n")

    assert found
    assert "..." not in commands
