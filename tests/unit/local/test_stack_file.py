"""What other tools read about the running stack is complete, and private."""

import json
from pathlib import Path

from onceward.local.stack_file import describe_stack, write_private

OUTPUTS = {
    "ApiId": "abc",
    "JobsTable": "jobs",
    "AccountsTable": "accounts",
    "FlightsTable": "flights",
    "JobsQueueUrl": "q",
    "DeadLettersQueueUrl": "d",
    "Bucket": "b",
}


def test_stack_is_described_as_other_tools_expect() -> None:
    """The names are an interface: changing one breaks tools that are not in this repository."""
    stack = describe_stack("http://127.0.0.1:1", OUTPUTS, {"acme": "t"}, "http://127.0.0.1:2/v1")

    assert json.loads(json.dumps(stack)) == {
        "api_url": "http://127.0.0.1:1/_aws/execute-api/abc/$default",
        "aws_endpoint_url": "http://127.0.0.1:1",
        "region": "us-east-1",
        "model_url": "http://127.0.0.1:2/v1",
        "tokens": {"acme": "t"},
        "tables": {"jobs": "jobs", "accounts": "accounts", "flights": "flights"},
        "queues": {"jobs": "q", "dead_letters": "d"},
        "bucket": "b",
    }


def test_file_with_tokens_is_for_its_owner_only(tmp_path: Path) -> None:
    """Other users of the machine cannot read a token, also when the file was there before."""
    path = tmp_path / "stack.json"
    path.write_text("old")
    path.chmod(0o644)

    write_private(path, "new")

    assert path.read_text() == "new"
    assert path.stat().st_mode & 0o077 == 0
    assert list(tmp_path.iterdir()) == [path]
