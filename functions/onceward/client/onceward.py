"""The synchronous client: the loop that sends and sleeps, and the methods, each one story."""

from __future__ import annotations

import time
from types import TracebackType
from typing import Self

import httpx
from pydantic import JsonValue

from onceward.client import acting, stories
from onceward.client.answers import Job, NoAnswer, Reply
from onceward.client.document import Source, read_document
from onceward.client.request import JobInput, Request
from onceward.client.sending import arguments_of, reply_of
from onceward.client.stories import Send, Story, advance
from onceward.client.target import MAX_RETRIES, TIMEOUT, Target, Token, find_target
from onceward.wire.action_views import ActionAnswer, ActionList, ActionView
from onceward.wire.history import JobHistory
from onceward.wire.responses import AccountView, JobAccepted, JobList, JobView
from onceward.wire.reviews import ResolveReview, ReviewList, ReviewResolved, ReviewView


class Onceward:
    """One API, asked as one tenant. Safe to share between threads, as far as its ``http_client`` is.

    Leaving it never cancels a job.
    """

    def __init__(
        self,
        base_url: str | None = None,
        token: Token | None = None,
        *,
        http_client: httpx.Client | None = None,
        max_retries: int = MAX_RETRIES,
        timeout: float = TIMEOUT,
    ) -> None:
        """Ask nothing yet; raises ``Misconfigured``.

        Without arguments ``ONCEWARD_URL`` and ``ONCEWARD_TOKEN`` hold. A ``token`` that is a function is asked before
        each request: tokens expire. ``timeout`` is in seconds, for one try. A given ``http_client`` stays its owner's.
        """
        self._link = _Link(find_target(base_url, token, max_retries, timeout), http_client)
        self.documents = Documents(self._link)
        self.jobs = Jobs(self._link)
        self.actions = Actions(self._link)
        self.reviews = Reviews(self._link)

    def submit_and_wait(
        self,
        kind: str,
        input: JobInput,
        idempotency_key: str | None = None,
        *,
        timeout: float | None = None,
        coalesce: bool = True,
    ) -> JsonValue:
        """Create a job and wait for its result.

        Raises ``JobFailed``, ``JobCancelled``, ``OutcomeUnknown``, and ``WaitTimeout`` when the job goes on.
        """
        story = stories.submit_and_wait(self._link.target, kind, input, idempotency_key, timeout, coalesce=coalesce)
        return self._link.run(story)

    def act(
        self,
        action: str,
        arguments: JobInput,
        *,
        operation_id: str,
        run_id: str | None = None,
        timeout: float | None = None,
    ) -> ActionAnswer:
        """Let an action be done once, and return the operation with the target's response.

        Asked for again with the same ``operation_id`` it answers the same and changes nothing, in whatever run. What is
        lost on the way is asked again under the same key, with a rising attempt. Raises ``ActionFailed``,
        ``ActionParked``, and ``ActionUnfinished`` when the time is over and the operation goes on.
        """
        return self._link.run(acting.act(self._link.target, action, arguments, operation_id, run_id, timeout))

    def account(self) -> AccountView:
        """How the tenant's own account stands: what is left, held and charged; ``is_limited`` is false without one."""
        return self._link.run(stories.account(self._link.target))

    def close(self) -> None:
        """End the connections, unless the ``http_client`` was given."""
        self._link.close()

    def __enter__(self) -> Self:
        return self

    def __exit__(self, kind: type[BaseException] | None, error: BaseException | None, at: TracebackType | None) -> None:
        self.close()


class Documents:
    """The tenant's documents."""

    def __init__(self, link: _Link) -> None:
        self._link = link

    def upload(self, source: Source, content_type: str | None = None) -> str:
        """Upload a file, by its path or its bytes; the document's id, for a job's input."""
        return self._link.run(stories.upload(self._link.target, read_document(source, content_type)))


class Jobs:
    """The tenant's jobs."""

    def __init__(self, link: _Link) -> None:
        self._link = link

    def submit(self, kind: str, input: JobInput, idempotency_key: str | None = None, *, coalesce: bool = True) -> Job:
        """Create a job; once this returns it is stored and goes on by itself.

        Without a key one is made before the first send. If this raises, the job may be there all the same: the
        exception has the key, and the same submission with it finds or makes that one job. ``coalesce=False`` asks for
        a computation of its own, where the kind would share an equal one.
        """
        return self._link.run(stories.submit(self._link.target, kind, input, idempotency_key, coalesce=coalesce))

    def get(self, job_id: str) -> JobView:
        """How a job stands."""
        return self._link.run(stories.get(self._link.target, job_id))

    def wait(self, job_id: str, timeout: float | None = None) -> JobView:
        """Wait until the job has ended or needs review, ``timeout`` seconds at most; raises ``WaitTimeout``."""
        return self._link.run(stories.wait(self._link.target, job_id, timeout))

    def list(
        self,
        *,
        status: str | None = None,
        kind: str | None = None,
        limit: int | None = None,
        cursor: str | None = None,
    ) -> JobList:
        """One page, newest first; its ``next_cursor``, with the same filter, asks for the next one.

        A page may be short, or even empty, and still have a next one.
        """
        return self._link.run(stories.list_page(self._link.target, status, kind, limit, cursor))

    def cancel(self, job_id: str) -> JobAccepted:
        """Ask for the job's end; a running one ends a little later, an ended one stays as it is."""
        return self._link.run(stories.cancel(self._link.target, job_id))

    def erase(self, job_id: str) -> None:
        """Erase what a job that has ended holds: input, result, its documents. Row and costs stay (``erased_at``)."""
        self._link.run(stories.erase(self._link.target, job_id))

    def history(self, job_id: str) -> JobHistory:
        """Every attempt of every epoch, with its calls; answers that came late included."""
        return self._link.run(stories.history(self._link.target, job_id))


class Reviews:
    """The tenant's jobs whose outcome is unknown; for tokens with the scope ``ops``."""

    def __init__(self, link: _Link) -> None:
        self._link = link

    def list(self, *, limit: int | None = None, cursor: str | None = None) -> ReviewList:
        """One page; its ``next_cursor`` asks for the next one. A page may be short and still have a next one."""
        return self._link.run(stories.review_page(self._link.target, limit, cursor))

    def get(self, job_id: str) -> ReviewView:
        """What there is to decide, and what was decided."""
        return self._link.run(stories.review(self._link.target, job_id))

    def accept(self, job_id: str, epoch: int, result: JsonValue, *, why: str) -> ReviewResolved:
        """Take a result that was found at the provider; it is checked against the kind's model, and charged."""
        return self._resolve(job_id, ResolveReview(verdict="accept", epoch=epoch, why=why, result=result))

    def fail(self, job_id: str, epoch: int, *, why: str) -> ReviewResolved:
        """End the job without a result; nothing is charged."""
        return self._resolve(job_id, ResolveReview(verdict="fail", epoch=epoch, why=why))

    def retry(self, job_id: str, epoch: int, *, why: str, may_pay_twice: bool) -> ReviewResolved:
        """Open the job again, in its next epoch; ``may_pay_twice`` must be true, since it may."""
        verdict = ResolveReview(verdict="retry", epoch=epoch, why=why, may_pay_twice=may_pay_twice)
        return self._resolve(job_id, verdict)

    def _resolve(self, job_id: str, verdict: ResolveReview) -> ReviewResolved:
        return self._link.run(stories.resolve(self._link.target, job_id, verdict))


class Actions:
    """The tenant's agent actions."""

    def __init__(self, link: _Link) -> None:
        self._link = link

    def get(self, operation_id: str) -> ActionView:
        """How an operation stands, each transport attempt included."""
        return self._link.run(acting.get_action(self._link.target, operation_id))

    def list(self, run_id: str, *, limit: int | None = None, cursor: str | None = None) -> ActionList:
        """One page of a run's operations, newest first."""
        return self._link.run(acting.list_actions(self._link.target, run_id, limit, cursor))

    def approve(self, operation_id: str, fingerprint: str, why: str, *, epoch: int | None = None) -> ActionAnswer:
        """Let an operation that waits for it be sent, with just these arguments; takes the scope ``ops``.

        ``epoch``: the one that was looked at, so that this lets no later one pass, however late it arrives.
        """
        return self._link.run(acting.approve_action(self._link.target, operation_id, fingerprint, why, epoch))

    def reset(self, operation_id: str, epoch: int, why: str) -> ActionAnswer:
        """Run an operation that failed in ``epoch`` again, in a new epoch; takes the scope ``ops``."""
        return self._link.run(acting.reset_action(self._link.target, operation_id, epoch, why))


class _Link:
    """Drives stories: sleeps, sends, hands over what came back."""

    def __init__(self, target: Target, http_client: httpx.Client | None) -> None:
        self.target = target
        self._is_own = http_client is None
        self._http = http_client or httpx.Client()

    def run[Result](self, story: Story[Result]) -> Result:
        """Run a story to its end."""
        step = advance(story, None)
        while isinstance(step, Send):
            if step.after > 0:
                time.sleep(step.after)
            step = advance(story, self._send(step.request))
        return step.result

    def _send(self, request: Request) -> Reply | NoAnswer:
        """Send once."""
        try:
            return reply_of(self._http.request(**arguments_of(request, self.target)))
        except httpx.RequestError as error:
            return NoAnswer(error)

    def close(self) -> None:
        """Close what is our own."""
        if self._is_own:
            self._http.close()
