"""Takes rankings and labels, and answers for each of them once they are on the disk."""

from __future__ import annotations

import asyncio
from collections import Counter

from anyio import to_thread
from starlette.responses import JSONResponse

from rankscope.monitor.outcomes import STATUSES, count_rejections, tell_statuses
from rankscope.monitor.read_events import EventReader
from rankscope.monitor.refusal import Rejection
from rankscope.monitor.server.api.schemas import BATCH_ANSWER, LABELS, RANKINGS
from rankscope.monitor.server.bodies import (
    LINES,
    check_length,
    find_encoding,
    read_form,
    receive_body,
)
from rankscope.monitor.server.endpoint import Endpoint
from rankscope.monitor.server.gunzip import gunzip
from rankscope.monitor.server.parse_objects import Parser

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Callable, Sequence
    from concurrent.futures import Future
    from typing import Any

    from anyio import CapacityLimiter

    from rankscope.monitor.reading import Reading
    from rankscope.monitor.server.bodies import Held
    from rankscope.monitor.server.endpoint import Asked
    from rankscope.monitor.server.settings import Settings
    from rankscope.monitor.store.protocol import Outcome, Store

ACCEPTS = ("application/json", "application/x-ndjson")

CONFLICT = {
    "code": "event_conflict",
    "message": "expected what was sent under this id before, found something else; that stays",
}


class Ingest:
    """Takes events.

    Args:
        store: Where they are stored.
        settings: How much is taken.
        held: Counts the bytes of bodies.
        now: Gives the time, in microseconds since 1970 in UTC.
        threads: How many decode at a time.
    """

    def __init__(
        self,
        store: Store,
        settings: Settings,
        held: Held,
        now: Callable[[], int],
        threads: CapacityLimiter,
    ) -> None:
        self._store = store
        self._settings = settings
        self._now = now
        self._threads = threads
        self._held = held
        self._reader = EventReader(limits=settings.events)

        self.endpoints = (
            Endpoint(
                "POST",
                "/v1/rankings",
                "ingest",
                self.post_rankings,
                summary="Log rankings: one, a list of them, or one a line.",
                body=RANKINGS,
                accepts=ACCEPTS,
                result=BATCH_ANSWER,
            ),
            Endpoint(
                "POST",
                "/v1/labels",
                "ingest",
                self.post_labels,
                summary="Log labels of rankings, sent before or not: likewise.",
                body=LABELS,
                accepts=ACCEPTS,
                result=BATCH_ANSWER,
            ),
        )

    async def post_rankings(self, asked: Asked) -> JSONResponse:
        """Take rankings."""
        return await self._take(asked, self._reader.read_rankings)

    async def post_labels(self, asked: Asked) -> JSONResponse:
        """Take labels."""
        return await self._take(asked, self._reader.read_labels)

    async def _take(self, asked: Asked, read: Callable[..., Reading]) -> JSONResponse:
        request = asked.request
        form = read_form(request)
        check_length(request, self._settings)
        with self._held.hold() as hold:
            body = await receive_body(request, self._settings, hold)
            is_packed = find_encoding(request) == "gzip"
            reading, stored = await to_thread.run_sync(
                self._decode,
                asked.visitor.project,
                body,
                form,
                is_packed,
                read,
                limiter=self._threads,
            )
            outcomes = await asyncio.wrap_future(stored)
        answer = answer_events(reading, outcomes)
        request.state.said |= {"bytes": len(body)} | {name: answer[name] for name in STATUSES}
        return JSONResponse(answer | {"request_id": request.state.request_id})

    def _decode(
        self,
        project: str,
        body: bytes,
        form: str,
        is_packed: bool,
        read: Callable[..., Reading],
    ) -> tuple[Reading, Future[list[Outcome]]]:
        """Read a body, and let the store take what is in it; in a thread, for it takes a while."""
        settings = self._settings
        plain = gunzip(body, settings) if is_packed else body
        objects = Parser(settings.batch).parse(plain, is_lines=form in LINES)
        reading = read(objects, now=self._now())
        return reading, self._store.submit(project, reading.events, count_rejections(reading))


def answer_events(reading: Reading, outcomes: Sequence[Outcome]) -> dict[str, Any]:
    """Make the answer to a batch.

    Args:
        reading: What it was read as.
        outcomes: What became of its events.

    Returns:
        How many of its objects were `accepted`, a `duplicate`, a `conflict` and `rejected`, and
        `items`: the same of each, in order, with the reason.
    """
    statuses = tell_statuses(reading, outcomes)
    items = list(map(_answer_one, reading.answers, statuses))
    counts = Counter(item["status"] for item in items)
    return {status: counts[status] for status in STATUSES} | {
        "notes": reading.notes,
        "unknown_fields": reading.unknown,
        "items": items,
    }


def _answer_one(answer: object, status: str) -> dict[str, str]:
    if isinstance(answer, Rejection):
        message = f"expected {answer.expected}, found {answer.found}"
        said = {"status": status, "code": answer.code, "message": message}
        more = {"field": answer.where, "hint": answer.hint}
        return said | {name: text for name, text in more.items() if text}
    return {"status": status} | (CONFLICT if status == "conflict" else {})
