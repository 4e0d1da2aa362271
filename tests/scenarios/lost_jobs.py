"""Jobs that stand at all places of their runs at once, in one process, so that one loss is a loss at each of them."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

from onceward.domain.job import Job
from onceward.domain.states import JobState, WaitingFor
from tests.scenarios.crash_table import Crash
from tests.scenarios.stack import PATIENCE_WITH_STARTS, until
from tests.scenarios.witness import Calls, Witness
from tests.scenarios.worker_processes import has_reached, holder_of
from tests.support.deployed.terms import MAX_ATTEMPTS, kind_of


@dataclass(frozen=True, slots=True, kw_only=True)
class Evidence:
    """What is known of one job when all has come to rest."""

    shown: dict[str, Any]
    row: Job
    calls: Calls
    verbs: list[str]
    letters: list[dict[str, Any]]

    @property
    def outcomes(self) -> tuple[str, ...]:
        """How its attempts ended, as its tenant sees it."""
        return tuple(attempt["outcome"] for attempt in self.shown["attempts"])


def evidence_of(witness: Witness, job_id: str) -> Evidence:
    """Ask everybody about one job."""
    return Evidence(
        shown=witness.shown(job_id),
        row=witness.row(job_id),
        calls=witness.calls(job_id),
        verbs=witness.entries(job_id),
        letters=witness.letters(job_id),
    )


class LostJobs:
    """One job for each line; all of them reach their places before anything happens to their processes."""

    def __init__(self, witness: Witness, lines: Sequence[Crash], title: str) -> None:
        """Bring each job to its place; those of a first attempt are delivered with the others' second one."""
        self._witness = witness
        self._title = title
        self.ids = {crash: self._created(crash) for crash in lines if crash.is_last}
        refused = list(self.ids.values())
        for job_id in refused:
            witness.when(job_id, lambda job: job.waiting_for is WaitingFor.RETRY, "its first attempt was refused")
        with witness.stack.queue_closed():
            self.ids |= {crash: self._created(crash) for crash in lines if not crash.is_last}
            until(lambda: witness.visible() >= len(lines) or None, "all messages can be delivered in one batch")
        until(
            lambda: all(self._is_there(crash) for crash in lines) or None,
            "each job is at its place",
            PATIENCE_WITH_STARTS,
        )
        self.holders = {holder_of(witness.stack, job_id) for job_id in self.ids.values()}

    def _created(self, crash: Crash) -> str:
        """A job whose first attempt is refused if it is the last one that is to be lost."""
        model, name = self._witness.stack.model, f"{self._title} {crash.promise} {crash.name}"
        if crash.is_last:
            model.behave(text=name, status=429, times=1)
        attempt = MAX_ATTEMPTS if crash.is_last else 1
        if crash.place != "in_model":
            kind = kind_of("test.ask", crash.promise)
            return self._witness.created(kind, f"{name} [[stop {crash.place} @{attempt}]]")
        model.behave(text=name, hold=name, stage="after", times=1)
        return self._witness.created(kind_of("test.patient", crash.promise), name)

    def _is_there(self, crash: Crash) -> bool:
        """Whether its run has come to the place, or the model has worked and holds its answer back."""
        job_id = self.ids[crash]
        if crash.place == "in_model":
            return self._witness.calls(job_id).computations > 0
        return has_reached(self._witness.stack, job_id)

    def at_rest(self) -> dict[Crash, Evidence]:
        """All evidence, once every job is at rest and no message is left."""
        for job_id in self.ids.values():
            self._witness.at_rest(job_id)
        self._witness.quiet()
        return {crash: self.evidence(crash) for crash in self.ids}

    def evidence(self, crash: Crash) -> Evidence:
        """Ask everybody about one job."""
        return evidence_of(self._witness, self.ids[crash])

    def cancel_reviews(self) -> None:
        """Leave nothing behind that would be looked at for a month."""
        for job_id in self.ids.values():
            if self._witness.row(job_id).state is JobState.NEEDS_REVIEW:
                self._witness.cancel(job_id)
        for job_id in self.ids.values():
            self._witness.when(job_id, lambda job: job.state.is_terminal, "it has ended")
