"""The tasks, and the log of every side effect, in one SQLite file: what is committed has happened.

One connection under one lock: a promise about a second request is kept by the database's own uniqueness.
"""

import json
import sqlite3
import threading
import time
from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Any

PROMISES = ("by-header", "by-natural-key", "by-lookup", "plain")

SCHEMA = """
CREATE TABLE IF NOT EXISTS tasks (
    id INTEGER PRIMARY KEY, promise TEXT NOT NULL, source_ticket TEXT, title TEXT, external_id TEXT
);
CREATE UNIQUE INDEX IF NOT EXISTS one_per_ticket ON tasks (source_ticket) WHERE promise = 'by-natural-key';
CREATE TABLE IF NOT EXISTS keys (key TEXT PRIMARY KEY, body TEXT NOT NULL, task INTEGER NOT NULL);
CREATE TABLE IF NOT EXISTS effects (
    number INTEGER PRIMARY KEY, at REAL NOT NULL, promise TEXT NOT NULL, task INTEGER NOT NULL,
    source_ticket TEXT, key TEXT
);
"""


@dataclass(frozen=True, slots=True)
class Answer:
    """A status and a JSON body."""

    status: int
    body: Any


class Tasks:
    """All tasks of one file."""

    def __init__(self, file: Path) -> None:
        self._lock = threading.Lock()
        self._database = sqlite3.connect(file, check_same_thread=False)
        self._database.executescript(SCHEMA)

    def create(self, promise: str, given: Mapping[str, Any], key: str | None) -> Answer:
        """Make a task, or keep the promise about a request that came before; effect and promise are one commit."""
        with self._lock, self._database:
            if promise == "by-header" and key is not None:
                known = self._database.execute("SELECT body, task FROM keys WHERE key = ?", (key,)).fetchone()
                if known is not None:
                    is_same = known[0] == _canonical(given)
                    return Answer(201, self._task(known[1])) if is_same else _problem(422, "key_reused")
            try:
                task = self._insert(promise, given)
            except sqlite3.IntegrityError:
                return _problem(409, "task_exists")
            if promise == "by-header" and key is not None:
                self._database.execute("INSERT INTO keys VALUES (?, ?, ?)", (key, _canonical(given), task))
            self._database.execute(
                "INSERT INTO effects (at, promise, task, source_ticket, key) VALUES (?, ?, ?, ?, ?)",
                (time.time(), promise, task, given.get("source_ticket"), key or given.get("external_id")),
            )
            return Answer(201, self._task(task))

    def find(self, promise: str, name: str) -> Answer:
        """A task by its natural key or by the caller's id."""
        column = {"by-natural-key": "source_ticket", "by-lookup": "external_id"}.get(promise)
        if column is None:
            return _problem(404, "unknown_url")
        with self._lock:
            query = f"SELECT id FROM tasks WHERE promise = ? AND {column} = ? ORDER BY id"  # noqa: S608 - our own names
            found = self._database.execute(query, (promise, name)).fetchone()
            return _problem(404, "task_not_found") if found is None else Answer(200, self._task(found[0]))

    def effects(self) -> list[dict[str, Any]]:
        """Every side effect, the oldest first."""
        with self._lock:
            rows = self._database.execute("SELECT at, promise, task, source_ticket, key FROM effects ORDER BY number")
            names = ("at", "promise", "task", "source_ticket", "key")
            return [dict(zip(names, row, strict=True)) for row in rows]

    def forget(self) -> None:
        """Remove everything."""
        with self._lock, self._database:
            for table in ("tasks", "keys", "effects"):
                self._database.execute(f"DELETE FROM {table}")  # noqa: S608 - our own names

    def _insert(self, promise: str, given: Mapping[str, Any]) -> int:
        made = self._database.execute(
            "INSERT INTO tasks (promise, source_ticket, title, external_id) VALUES (?, ?, ?, ?)",
            (promise, given.get("source_ticket"), given.get("title"), given.get("external_id")),
        )
        return int(made.lastrowid or 0)

    def _task(self, number: int) -> dict[str, Any]:
        columns = "id, source_ticket, title, external_id"
        query = f"SELECT {columns} FROM tasks WHERE id = ?"  # noqa: S608 - our own names
        row = self._database.execute(query, (number,)).fetchone()
        return dict(zip(columns.split(", "), row, strict=True))


def _canonical(given: Mapping[str, Any]) -> str:
    return json.dumps(given, sort_keys=True)


def _problem(status: int, code: str) -> Answer:
    return Answer(status, {"code": code})
