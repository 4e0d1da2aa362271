"""The model is the one that the user's environment names, and its key goes nowhere but into the secret."""

from pathlib import Path

import pytest

from onceward.local.failure import LocalError
from onceward.local.model import STAND_IN_MODEL
from onceward.local.model_choice import ANTHROPIC_MODEL, OPENAI_MODEL, choose_model, stand_in_server


@pytest.mark.parametrize(
    ("environ", "url", "key"),
    [
        ({}, "http://127.0.0.1:9/v1", "none"),
        ({"OPENAI_API_KEY": "sk"}, "https://api.openai.com/v1", "sk"),
        ({"ONCEWARD_MODEL_URL": "http://mine/v1", "ONCEWARD_MODEL_NAME": "m"}, "http://mine/v1", "none"),
        (
            {"ONCEWARD_MODEL_URL": "http://mine/v1", "ONCEWARD_MODEL_NAME": "m", "OPENAI_API_KEY": "sk"},
            "http://mine/v1",
            "sk",
        ),
        ({"ANTHROPIC_API_KEY": "sk-ant"}, "https://api.anthropic.com/v1", "sk-ant"),
        ({"ANTHROPIC_API_KEY": "sk-ant", "OPENAI_API_KEY": "sk"}, "https://api.openai.com/v1", "sk"),
    ],
)
def test_model_is_chosen_by_the_environment(tmp_path: Path, environ: dict[str, str], url: str, key: str) -> None:
    """A server of one's own goes before OpenAI, that before Anthropic, and that before the stand-in."""
    choice = choose_model(environ, stand_in_server(tmp_path, 9))

    assert (url, key) == (choice.url, choice.key)
    assert choice.is_stand_in == (not environ)
    assert (choice.context["model_api"] == "anthropic") == ("anthropic" in url)


@pytest.mark.parametrize(
    ("environ", "name"),
    [
        ({"ONCEWARD_MODEL_URL": "http://mine/v1", "ONCEWARD_MODEL_NAME": "llama3.2"}, "llama3.2"),
        ({"OPENAI_API_KEY": "sk"}, OPENAI_MODEL),
        ({"OPENAI_API_KEY": "sk", "ONCEWARD_MODEL_NAME": "gpt-5"}, "gpt-5"),
        ({"ANTHROPIC_API_KEY": "sk-ant"}, ANTHROPIC_MODEL),
        ({"ANTHROPIC_API_KEY": "sk-ant", "ONCEWARD_MODEL_NAME": "claude-sonnet-5"}, "claude-sonnet-5"),
        ({"ONCEWARD_MODEL_NAME": "of no server"}, STAND_IN_MODEL),
    ],
)
def test_model_s_name_is_the_user_s_or_the_provider_s_small_one(
    tmp_path: Path, environ: dict[str, str], name: str
) -> None:
    """The stand-in is one model and keeps its name, which says what it is."""
    assert choose_model(environ, stand_in_server(tmp_path, 9)).name == name


@pytest.mark.parametrize("environ", [{}, {"ONCEWARD_MODEL_NAME": ""}, {"OPENAI_API_KEY": "sk"}])
def test_server_of_one_s_own_without_a_model_s_name_is_one_clear_line(tmp_path: Path, environ: dict[str, str]) -> None:
    """Nobody here can guess what it serves, and a wrong name would fail after the whole deploy."""
    with pytest.raises(LocalError, match=r"^which model of http://mine/v1\? .*ONCEWARD_MODEL_NAME=\.\.\.$"):
        choose_model({"ONCEWARD_MODEL_URL": "http://mine/v1", **environ}, stand_in_server(tmp_path, 9))


def test_key_is_in_no_parameter_and_in_no_representation(tmp_path: Path) -> None:
    """Parameters end in templates, representations in logs."""
    choice = choose_model({"OPENAI_API_KEY": "sk-secret"}, stand_in_server(tmp_path, 9))

    assert "sk-secret" not in str(choice.context)
    assert "sk-secret" not in repr(choice)


def test_another_model_is_another_name_and_another_key_is_not(tmp_path: Path) -> None:
    """What was asked of one model is no answer of another's; a key that was renewed asks nothing anew."""
    environs = [{}, {"OPENAI_API_KEY": "sk"}, {"OPENAI_API_KEY": "sk", "ONCEWARD_MODEL_NAME": "gpt-5"}]
    names = [choose_model(environ, stand_in_server(tmp_path, 9)).digest for environ in environs]

    assert len(set(names)) == len(environs)
    assert choose_model({"OPENAI_API_KEY": "sk-2"}, stand_in_server(tmp_path, 9)).digest == names[1]
