"""What keeps a deployment into AWS from beginning is one line that says what to do."""

import pytest

from onceward.local.aws import require_account, require_stage
from onceward.local.failure import LocalError


@pytest.mark.parametrize(
    ("stage", "told"),
    [("", "STAGE=dev"), ("Bad Stage!", "small letters, digits and hyphens"), ("local", "for this machine")],
)
def test_stage_that_cannot_be_is_told_why(stage: str, told: str) -> None:
    """None, a malformed one, and one of the local cloud."""
    with pytest.raises(LocalError, match=told):
        require_stage("deploy", stage)


def test_profile_that_does_not_exist_is_one_line(monkeypatch: pytest.MonkeyPatch) -> None:
    """boto3 looks for it as soon as there is a session."""
    monkeypatch.setenv("AWS_PROFILE", "nope")
    monkeypatch.setenv("AWS_REGION", "us-east-1")

    with pytest.raises(LocalError, match=r"AWS_PROFILE \(The config profile \(nope\) could not be found\)$"):
        require_account()
