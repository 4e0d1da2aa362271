"""Choose the model that answers: a real one if the user's environment names one, else the stand-in of this machine.

The key of a real model goes into the deployed secret and nowhere else: no file, no log, no parameter of the stack.
"""

import hashlib
from collections.abc import Mapping
from dataclasses import dataclass, field
from pathlib import Path

from onceward.local.environment import stand_in_environment
from onceward.local.failure import LocalError
from onceward.local.model import STAND_IN_MODEL
from onceward.local.places import DEV_PROGRAMS
from onceward.local.server import Server

OPENAI_URL = "https://api.openai.com/v1"
OPENAI_MODEL = "gpt-5-mini"
ANTHROPIC_URL = "https://api.anthropic.com/v1"
ANTHROPIC_MODEL = "claude-haiku-4-5"
NO_KEY = "none"  # a server of one's own may ask for none; the secret still needs a value


@dataclass(frozen=True, slots=True, kw_only=True)
class ModelChoice:
    """A model's address and name, and the key it wants."""

    url: str
    name: str
    api: str = "openai"
    key: str = field(default=NO_KEY, repr=False)
    capability: str = "none"  # only what the provider documents
    is_stand_in: bool = False

    @property
    def context(self) -> dict[str, str]:
        """Spell the choice as parameters of the CDK app; the key is none of them."""
        return {
            "model_api": self.api,
            "model_url": self.url,
            "model_name": self.name,
            "model_capability": self.capability,
        }

    @property
    def digest(self) -> str:
        """Name the choice in letters that fit an idempotency key: another model is asked anew, another key is not."""
        return hashlib.sha256(repr(sorted(self.context.items())).encode()).hexdigest()[:12]


def choose_model(environ: Mapping[str, str], stand_in: Server) -> ModelChoice:
    """Read the user's wish: a compatible server of one's own first, then OpenAI, then Anthropic, else the stand-in.

    A server of one's own has names that nobody here can guess: without one nothing is deployed.
    """
    openai, anthropic = environ.get("OPENAI_API_KEY", ""), environ.get("ANTHROPIC_API_KEY", "")
    name = environ.get("ONCEWARD_MODEL_NAME")
    if url := environ.get("ONCEWARD_MODEL_URL"):
        if not name:
            raise LocalError(f"which model of {url}? Name it as that server does: ONCEWARD_MODEL_NAME=...")
        return ModelChoice(url=url, name=name, key=openai or NO_KEY)
    if openai:
        return ModelChoice(url=OPENAI_URL, name=name or OPENAI_MODEL, key=openai)
    if anthropic:
        return ModelChoice(url=ANTHROPIC_URL, name=name or ANTHROPIC_MODEL, api="anthropic", key=anthropic)
    return ModelChoice(url=f"{stand_in.url}/v1", name=STAND_IN_MODEL, is_stand_in=True)


def stand_in_server(folder: Path, port: int) -> Server:
    """Describe the model server that ships with the repository."""
    return Server(
        name="model-server",
        folder=folder,
        port=port,
        command=[str(DEV_PROGRAMS / "python"), "-m", "onceward.local.model", "--port", str(port)],
        environment=stand_in_environment(folder),
        health="/health",
    )
