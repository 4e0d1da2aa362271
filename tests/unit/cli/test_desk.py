"""Who a record names as the one that decided."""

from __future__ import annotations

from typing import Any

import pytest

from onceward.cli.aws import Aws
from onceward.cli.desk import Desk

ROLE = f"arn:aws-us-gov:sts::123456789012:assumed-role/{'r' * 64}/"


class Account:
    """AWS's own word on who is asking."""

    def __init__(self, arn: str) -> None:
        """One caller."""
        self.arn = arn

    def client(self, service: str, **_where: object) -> Any:
        """STS alone."""
        assert service == "sts"
        return self

    def get_caller_identity(self) -> dict[str, str]:
        """STS's answer."""
        return {"Arn": self.arn}


@pytest.mark.parametrize(
    ("arn", "who"),
    [
        (ROLE + "ann+ops@example.org", ROLE + "ann+ops@example.org"),
        (
            ROLE + "s" * 64,
            ROLE + "s" * 64,
        ),  # the longest names that IAM allows: it is the session that tells persons apart
        ("arn:aws:iam::123456789012:user/a b\n", "arn:aws:iam::123456789012:user/a_b_"),
        ("a" * 2_048, "a" * 256),
    ],
)
def test_it_is_whom_aws_names(arn: str, who: str) -> None:
    """Whole, on one line, and no longer than a record may be."""
    account: Any = Account(arn)

    assert Desk(ports=account, aws=Aws(session=account)).who() == who
