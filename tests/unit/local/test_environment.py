"""No local program can reach a real account, and the cloud's Lambdas see nothing of the user's shell."""

from pathlib import Path

from onceward.local.environment import cdk_environment, emulator_environment

URL = "http://127.0.0.1:1"
SHELL = {
    "PATH": "/usr/bin",
    "HOME": "/home/me",
    "HTTPS_PROXY": "http://proxy",
    "AWS_PROFILE": "production",
    "AWS_SESSION_TOKEN": "real",
    "CDK_DEFAULT_ACCOUNT": "123456789012",
    "PYTHONPATH": "/elsewhere",
}


def test_cdk_is_led_to_the_local_cloud_and_nowhere_else(tmp_path: Path) -> None:
    """Profiles, sessions and accounts of the shell are gone; proxies and caches stay."""
    environment = cdk_environment(URL, tmp_path, SHELL)

    assert environment["AWS_ENDPOINT_URL"] == URL
    assert environment["HTTPS_PROXY"] == "http://proxy"
    assert not {"AWS_PROFILE", "AWS_SESSION_TOKEN", "CDK_DEFAULT_ACCOUNT", "PYTHONPATH"} & set(environment)
    assert environment["PATH"].endswith(":/usr/bin")


def test_emulator_inherits_nothing(tmp_path: Path) -> None:
    """Its Lambdas inherit its environment, so it holds no variable that AWS would not have, and no AWS key."""
    environment = emulator_environment(4566, tmp_path)

    assert environment["HOME"] == str(tmp_path)
    assert environment["STATE_DIR"] == str(tmp_path / "state")
    assert environment["BIND_HOST"] == "127.0.0.1"
    assert [name for name in environment if name.startswith(("AWS_", "ONCEWARD_"))] == []
