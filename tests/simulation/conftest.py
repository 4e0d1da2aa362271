"""Sum up what the simulation did, over all tests and processes of a run, in its last lines."""

from __future__ import annotations

import time
from collections import Counter
from collections.abc import Callable, Iterator
from pathlib import Path

import pytest

from tests.simulation.catalogue import story_of
from tests.simulation.explore import Report, Tally
from tests.simulation.failures import commit, keep

FIGURES = ("boundaries", "scenarios", "faults", "checks")
MILLISECONDS = "milliseconds"
LEAST = 100_000  # scenarios of every whole run: fewer prove less than is claimed, however quick they are
TOTAL: Counter[str] = Counter()
FOLDER = Path(__file__).parent
USUAL = "not soak and not thorough"  # what `make test` leaves out


@pytest.fixture
def tally(record_property: Callable[[str, object], None]) -> Iterator[Tally]:
    """Add what a test explored to the sums and tell what it found; a failure is shrunk and kept as a regression."""
    total, began = Report(), time.process_time()

    def add(report: Report) -> list[str]:
        total.add(report)
        assert report.scenarios > 0, "nothing was explored, so nothing was shown"
        kept = [f"kept as {keep(one, story_of(one.story))}" for one in report.failed[:1] if one.plan.faults]
        return [*map(str, report.failed[:10]), *kept]

    yield add
    for name in FIGURES:
        record_property(name, getattr(total, name))
    record_property(MILLISECONDS, int((time.process_time() - began) * 1000))


def pytest_collection_modifyitems(items: list[pytest.Item]) -> None:
    """Give each test here half an hour: a story has a thousand plans, and the machine has others to run first."""
    for item in items:
        if FOLDER in item.path.parents:
            item.add_marker(pytest.mark.timeout(1800))


def pytest_runtest_logreport(report: pytest.TestReport) -> None:
    """Take a test's figures from whichever process ran it."""
    if report.when == "teardown":
        for name, figure in report.user_properties:
            if name in (*FIGURES, MILLISECONDS) and isinstance(figure, int):
                TOTAL[name] += figure


def pytest_terminal_summary(terminalreporter: pytest.TerminalReporter) -> None:
    """Say what was done."""
    if TOTAL["scenarios"]:
        terminalreporter.write_line(
            f"simulation at {commit()}: {TOTAL['scenarios']:,} scenarios, {TOTAL['faults']:,} faults injected, "
            f"{TOTAL['checks']:,} invariant checks, "
            f"{1000 * TOTAL['scenarios'] / max(TOTAL[MILLISECONDS], 1):.0f} scenarios per second of a processor"
        )


@pytest.hookimpl(trylast=True)
def pytest_sessionfinish(session: pytest.Session) -> None:
    """Fail a whole run of this folder that has executed too little: a share set too small, a story that is lost."""
    config = session.config
    is_whole = [Path(one).resolve() for one in config.args] == [FOLDER] and not config.option.keyword
    is_usual = config.option.markexpr == USUAL and not hasattr(config, "workerinput") and not config.option.collectonly
    if is_whole and is_usual and session.exitstatus == pytest.ExitCode.OK and TOTAL["scenarios"] < LEAST:
        print(f"only {TOTAL['scenarios']:,} scenarios, not {LEAST:,}")
        session.exitstatus = pytest.ExitCode.TESTS_FAILED
