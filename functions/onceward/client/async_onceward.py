"""The asynchronous client: the same stories, driven by a loop that awaits."""

from __future__ import annotations

import asyncio
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


class AsyncOnceward:
    """``Onceward`` for asyncio; it belongs to the event loop it is first used on. Cancelling a call cancels no job."""

    def __init__(
        self,
        base_url: str | None = None,
        token: Token | None = None,
        *,
        http_client: httpx.AsyncClient | None = None,
        max_retries: int = MAX_RETRIES,
        timeout: float = TIMEOUT,
    ) -> None:
        """As ``Onceward``; raises ``Misconfigured``."""
        self._link = _Link(find_target(base_url, token, max_retries, timeout), http_client)
        self.documents = AsyncDocuments(self._link)
        self.jobs = AsyncJobs(self._link)
        self.actions = AsyncActions(self._link)
        self.reviews = AsyncReviews(self._link)

    async def submit_and_wait(
        self,
        kind: str,
        input: JobInput,
        idempotency_key: str | None = None,
        *,
        timeout: float | None = None,
        coalesce: bool = True,
    ) -> JsonValue:
        """See ``Onceward.submit_and_wait``."""
        story = stories.submit_and_wait(self._link.target, kind, input, idempotency_key, timeout, coalesce=coalesce)
        return await self._link.run(story)

    async def act(
        self,
        action: str,
        arguments: JobInput,
        *,
        operation_id: str,
        run_id: str | None = None,
        timeout: float | None = None,
    ) -> ActionAnswer:
        """See ``Onceward.act``."""
        return await self._link.run(acting.act(self._link.target, action, arguments, operation_id, run_id, timeout))

    async def account(self) -> AccountView:
        """See ``Onceward.account``."""
        return await self._link.run(stories.account(self._link.target))

    async def close(self) -> None:
        """End the connections, unless the ``http_client`` was given."""
        await self._link.close()

    async def __aenter__(self) -> Self:
        return self

    async def __aexit__(
        self, kind: type[BaseException] | None, error: BaseException | None, at: TracebackType | None
    ) -> None:
        await self.close()


class AsyncDocuments:
    """The tenant's documents."""

    def __init__(self, link: _Link) -> None:
        self._link = link

    async def upload(self, source: Source, content_type: str | None = None) -> str:
        """See ``Documents.upload``; a file is read in a thread."""
        document = await asyncio.to_thread(read_document, source, content_type)
        return await self._link.run(stories.upload(self._link.target, document))


class AsyncJobs:
    """The tenant's jobs."""

    def __init__(self, link: _Link) -> None:
        self._link = link

    async def submit(
        self, kind: str, input: JobInput, idempotency_key: str | None = None, *, coalesce: bool = True
    ) -> Job:
        """See ``Jobs.submit``."""
        return await self._link.run(stories.submit(self._link.target, kind, input, idempotency_key, coalesce=coalesce))

    async def get(self, job_id: str) -> JobView:
        """See ``Jobs.get``."""
        return await self._link.run(stories.get(self._link.target, job_id))

    async def wait(self, job_id: str, timeout: float | None = None) -> JobView:
        """See ``Jobs.wait``."""
        return await self._link.run(stories.wait(self._link.target, job_id, timeout))

    async def list(
        self,
        *,
        status: str | None = None,
        kind: str | None = None,
        limit: int | None = None,
        cursor: str | None = None,
    ) -> JobList:
        """See ``Jobs.list``."""
        return await self._link.run(stories.list_page(self._link.target, status, kind, limit, cursor))

    async def cancel(self, job_id: str) -> JobAccepted:
        """See ``Jobs.cancel``."""
        return await self._link.run(stories.cancel(self._link.target, job_id))

    async def erase(self, job_id: str) -> None:
        """See ``Jobs.erase``."""
        await self._link.run(stories.erase(self._link.target, job_id))

    async def history(self, job_id: str) -> JobHistory:
        """See ``Jobs.history``."""
        return await self._link.run(stories.history(self._link.target, job_id))


class AsyncReviews:
    """The tenant's jobs whose outcome is unknown; for tokens with the scope ``ops``."""

    def __init__(self, link: _Link) -> None:
        self._link = link

    async def list(self, *, limit: int | None = None, cursor: str | None = None) -> ReviewList:
        """See ``Reviews.list``."""
        return await self._link.run(stories.review_page(self._link.target, limit, cursor))

    async def get(self, job_id: str) -> ReviewView:
        """See ``Reviews.get``."""
        return await self._link.run(stories.review(self._link.target, job_id))

    async def accept(self, job_id: str, epoch: int, result: JsonValue, *, why: str) -> ReviewResolved:
        """See ``Reviews.accept``."""
        return await self._resolve(job_id, ResolveReview(verdict="accept", epoch=epoch, why=why, result=result))

    async def fail(self, job_id: str, epoch: int, *, why: str) -> ReviewResolved:
        """See ``Reviews.fail``."""
        return await self._resolve(job_id, ResolveReview(verdict="fail", epoch=epoch, why=why))

    async def retry(self, job_id: str, epoch: int, *, why: str, may_pay_twice: bool) -> ReviewResolved:
        """See ``Reviews.retry``."""
        verdict = ResolveReview(verdict="retry", epoch=epoch, why=why, may_pay_twice=may_pay_twice)
        return await self._resolve(job_id, verdict)

    async def _resolve(self, job_id: str, verdict: ResolveReview) -> ReviewResolved:
        return await self._link.run(stories.resolve(self._link.target, job_id, verdict))


class AsyncActions:
    """The tenant's agent actions."""

    def __init__(self, link: _Link) -> None:
        self._link = link

    async def get(self, operation_id: str) -> ActionView:
        """See ``Actions.get``."""
        return await self._link.run(acting.get_action(self._link.target, operation_id))

    async def list(self, run_id: str, *, limit: int | None = None, cursor: str | None = None) -> ActionList:
        """See ``Actions.list``."""
        return await self._link.run(acting.list_actions(self._link.target, run_id, limit, cursor))

    async def approve(self, operation_id: str, fingerprint: str, why: str, *, epoch: int | None = None) -> ActionAnswer:
        """See ``Actions.approve``."""
        return await self._link.run(acting.approve_action(self._link.target, operation_id, fingerprint, why, epoch))

    async def reset(self, operation_id: str, epoch: int, why: str) -> ActionAnswer:
        """See ``Actions.reset``."""
        return await self._link.run(acting.reset_action(self._link.target, operation_id, epoch, why))


class _Link:
    """Drives stories: sleeps, sends, hands over what came back."""

    def __init__(self, target: Target, http_client: httpx.AsyncClient | None) -> None:
        self.target = target
        self._is_own = http_client is None
        self._http = http_client or httpx.AsyncClient()

    async def run[Result](self, story: Story[Result]) -> Result:
        """Run a story to its end."""
        step = advance(story, None)
        while isinstance(step, Send):
            if step.after > 0:
                await asyncio.sleep(step.after)
            step = advance(story, await self._send(step.request))
        return step.result

    async def _send(self, request: Request) -> Reply | NoAnswer:
        """Send once."""
        try:
            return reply_of(await self._http.request(**arguments_of(request, self.target)))
        except httpx.RequestError as error:
            return NoAnswer(error)

    async def close(self) -> None:
        """Close what is our own."""
        if self._is_own:
            await self._http.aclose()
