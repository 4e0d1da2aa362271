"""The tree's judge finds what the house does not allow, and nothing in the tree as it is."""

from pathlib import Path

import pytest

from tests.support.tree import ROOT, judge, tracked_files

LONG_FUNCTION = "def f():\n" + "    x = 1\n" * 41
LONG_DOCSTRING = 'def f():\n    """Say.\n' + "    more\n" * 60 + '    """\n    return 1\n'


@pytest.mark.parametrize(
    ("name", "text", "expected"),
    [
        ("domain/utils.py", "", 1),
        ("helpers/job.py", "", 1),
        ("domain/job.py", "", 0),
        ("domain/job.py", "x = 1\n" * 299, 0),
        ("domain/job.py", "x = 1\n" * 300, 1),
        ("domain/job.py", LONG_FUNCTION, 1),
        ("domain/job.py", LONG_DOCSTRING, 0),
        ("locks/dev.txt", "--index-url https://registry\n", 1),
        ("locks/dev.txt", "ruff==1 --hash=sha256:0\n", 0),
    ],
)
def test_judge_counts_what_is_not_allowed(tmp_path: Path, name: str, text: str, expected: int) -> None:
    """Each rule has a file that breaks it and a file that just keeps it."""
    path = tmp_path / name
    path.parent.mkdir(parents=True)
    path.write_text(text)

    assert expected == len(list(judge(tmp_path, [path])))


def test_judge_looks_at_the_whole_repository() -> None:
    """Files that are not committed yet are judged too; ignored ones are not."""
    names = {path.relative_to(ROOT).as_posix() for path in tracked_files(ROOT)}

    assert "tests/support/tree.py" in names
    assert not any(name.startswith((".venv/", ".local/")) for name in names)
