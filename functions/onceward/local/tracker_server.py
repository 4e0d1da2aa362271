"""Describe the demonstration tracker as a server of ``make run``, and the place that it has in the stack."""

import json
from pathlib import Path

from onceward.local.environment import stand_in_environment
from onceward.local.places import DEV_PROGRAMS
from onceward.local.server import Server

HOST = "tracker.example"  # where the demonstration action is declared to happen


def tracker_server(folder: Path, port: int) -> Server:
    """The tracker that ships with the repository; its tasks end with the folder."""
    program = [str(DEV_PROGRAMS / "python"), "-m", "onceward.local.tracker"]
    return Server(
        name="tracker",
        folder=folder,
        port=port,
        command=[*program, "--port", str(port), "--database", str(folder / "tracker.sqlite")],
        environment=stand_in_environment(folder),
        health="/health",
    )


def tracker_context(tracker: Server) -> dict[str, str]:
    """The stack's parameter that puts the local tracker in the declared host's place."""
    return {"target_origins": json.dumps({HOST: tracker.url})}
