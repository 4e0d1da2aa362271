"""A failed CDK command is told in the one line that says most."""

import pytest

from onceward.local.cdk import context_arguments, telling_line


@pytest.mark.parametrize(
    ("log", "expected"),
    [
        (
            "synth\n❌  OncewardState-dev failed: no such bucket\n\nat line 3\n",
            "❌  OncewardState-dev failed: no such bucket",
        ),
        ("\x1b[31mAccessDenied error\x1b[0m\nbye\n", "AccessDenied error"),
        ("-c lease_seconds: must be greater than 0\n", "-c lease_seconds: must be greater than 0"),
        ("only this\n", "only this"),
        ("", "it said nothing"),
    ],
)
def test_failed_run_is_told_by_its_telling_line(log: str, expected: str) -> None:
    """The last line that names an error is shown, without colours; else the last line."""
    assert expected == telling_line(log)


def test_parameters_become_context_of_the_command_line() -> None:
    """Each parameter is one ``-c name=value``."""
    assert context_arguments({"stage": "dev", "lease_seconds": "2"}) == ["-c", "stage=dev", "-c", "lease_seconds=2"]
