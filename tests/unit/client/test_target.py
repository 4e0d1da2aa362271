"""Whom the client asks, as whom, and what it takes along to do so."""

import subprocess
import sys
from pathlib import Path

import pytest

from onceward.client import Misconfigured, Onceward
from onceward.client.request import CANCEL_SUFFIX, DOCUMENTS, JOBS, read_job
from onceward.client.sending import arguments_of
from onceward.client.target import find_target
from onceward.errors import MalformedKey
from onceward.handlers import routes

URL = "https://api.test"


@pytest.mark.parametrize(
    "url", ["", "api.test", "ftp://api.test", "https://", "http://a:port", "https://api.test/?a=1"]
)
def test_address_must_be_one(url: str) -> None:
    """What is no address of an API is told before anything is sent."""
    with pytest.raises(Misconfigured, match="ONCEWARD_URL"):
        find_target(url, "token", 0, 1)


@pytest.mark.parametrize("token", ["two words", "line\n", "é"])
def test_token_is_checked_and_never_quoted(token: str) -> None:
    """What is no token would be quoted by the HTTP library's own error."""
    with pytest.raises(Misconfigured) as refused:
        Onceward(URL, token)
    assert token not in str(refused.value)
    with pytest.raises(Misconfigured) as refused:
        arguments_of(read_job("J"), find_target(URL, lambda: token, 0, 1))
    assert token not in str(refused.value)


def test_target_does_not_show_its_token() -> None:
    """A target in a log or a traceback holds no secret."""
    assert "hunter2" not in repr(find_target(URL, "hunter2", 0, 1))


def test_environment_stands_in_for_arguments(monkeypatch: pytest.MonkeyPatch) -> None:
    """``ONCEWARD_URL`` and ``ONCEWARD_TOKEN`` hold where nothing is given; an argument comes first."""
    monkeypatch.setenv("ONCEWARD_URL", "https://env.test/")
    monkeypatch.setenv("ONCEWARD_TOKEN", "env")

    assert arguments_of(read_job("J"), find_target(None, None, 0, 1))["url"] == "https://env.test/api/ai/jobs/J"
    assert find_target(URL, "own", 0, 1).authorization() == "Bearer own"


def test_no_token_is_told(monkeypatch: pytest.MonkeyPatch) -> None:
    """Without any token nothing is asked."""
    monkeypatch.delenv("ONCEWARD_TOKEN", raising=False)
    with pytest.raises(Misconfigured, match="ONCEWARD_TOKEN"):
        Onceward(URL)


@pytest.mark.parametrize("key", ["", "x" * 256, "é", "line\n"])
def test_bad_key_is_refused_before_it_is_sent(key: str) -> None:
    """A key that the API would refuse never leaves."""
    with Onceward(URL, "token") as client, pytest.raises(MalformedKey):
        client.jobs.submit("text.generate", {"prompt": "hi"}, key)


def test_paths_are_the_server_s() -> None:
    """The client may not import the routes, and spells them as they do."""
    assert (JOBS, DOCUMENTS) == (routes.JOBS, routes.DOCUMENTS)
    assert f"{JOBS}/<job_id>{CANCEL_SUFFIX}" == routes.CANCEL


def test_client_and_command_need_nothing_of_a_server() -> None:
    """The extra ``client`` is enough: no AWS library and nothing else of a Lambda is imported."""
    program = "import sys, onceward.client, onceward.cli.main; print(*sys.modules)"
    source = Path(__file__).parents[3] / "functions"
    done = subprocess.run(
        [sys.executable, "-c", program], env={"PYTHONPATH": str(source)}, capture_output=True, text=True, check=True
    )
    modules = done.stdout.split()
    ours = {name.split(".")[1] for name in modules if name.startswith("onceward.")}

    # The operator's commands name stories, and show a review as the API does; why a document was refused is said where
    # the limits of documents are.
    assert ours == {"cli", "client", "domain", "errors", "handlers", "kinds", "usecases", "wire"}
    assert not {"aws_lambda_powertools", "boto3", "botocore", "pypdf", "rfc8785"} & set(modules)
