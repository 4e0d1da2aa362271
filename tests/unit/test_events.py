"""The sample payloads: each is somebody's test."""

from __future__ import annotations

from pathlib import Path

ROOT = Path(__file__).parents[2]


def test_no_sample_is_forgotten() -> None:
    """Each file of ``events/`` is named by a test, with its ending or without."""
    tests = "".join(path.read_text(encoding="utf-8") for path in (ROOT / "tests").rglob("test_*.py"))
    samples = sorted((ROOT / "events").iterdir())

    assert samples
    assert [one.name for one in samples if f'"{one.stem}"' not in tests and f'"{one.name}"' not in tests] == []
