"""Takes rankings and labels, and answers for each of them once they are on the disk.

A small body is read where it arrives, on the event loop, which takes a few milliseconds. A larger
or packed one is read elsewhere, in a process of its own when the service runs as `rankscope
serve`, and stored in pieces, so that a small request never waits for a large one to end.
"""

from __future__ import annotations

import asyncio
import json
from collections import Counter
from contextlib import nullcontext
from functools import lru_cache, partial

from anyio import CapacityLimiter, to_thread
from starlette.responses import JSONResponse, Response

from rankscope.monitor.events.outcome import STATUSES, count_rejections, tell_statuses
from rankscope.monitor.events.reader import EventReader
from rankscope.monitor.events.rejection import Rejection
from rankscope.monitor.server.api.schemas import BATCH_ANSWER, LABELS, RANKINGS
from rankscope.monitor.server.http.body import (
    LINES,
    check_length,
    find_encoding,
    gunzip,
    read_form,
    receive_body,
)
from rankscope.monitor.server.http.endpoint import Endpoint
from rankscope.monitor.server.http.parser import Parser
from rankscope.records import record

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Callable, Mapping, Sequence
    from typing import Any, TypeAlias

    from rankscope.monitor.events.limits import Limits
    from rankscope.monitor.events.outcome import Outcome
    from rankscope.monitor.events.rejection import Reading
    from rankscope.monitor.server.http.body import Held
    from rankscope.monitor.server.http.endpoint import Asked
    from rankscope.monitor.server.settings import Settings
    from rankscope.monitor.store.store import Store

    Answer: TypeAlias = tuple[bytes, Mapping[str, int]]
    """A body in JSON, and for the log how many objects had which status."""

ACCEPTS = ("application/json", "application/x-ndjson")

SMALL_BYTES = 16 << 10
"""Bytes of a body that is read on the event loop: a few rankings, in a few milliseconds."""

LARGE_BYTES = 1 << 20
"""Bytes of a body of which one is read at a time, so that those in between have a process, too.

What is packed is taken for eight times as large as it is, as JSON of events packed by gzip is.
"""
PACKED = 8

PIECE = 250
"""Events of a large batch that are stored in one transaction; others are stored between them."""

CONFLICT = {
    "code": "event_conflict",
    "message": "expected what was sent under this id before, found something else; that stays",
}


@record(frozen=True, slots=True)
class Body:
    """A body of events, and how to read it.

    Args:
        project: The project of the key it was sent with.
        content: Its bytes, as they were sent.
        kind: `rankings` or `labels`.
        is_packed: Whether it is packed by gzip.
        is_lines: Whether it is NDJSON.
        request_id: The id of the request, which the answer repeats.
    """

    project: str
    content: bytes
    kind: str
    is_packed: bool
    is_lines: bool
    request_id: str


class Ingest:
    """Takes events.

    Args:
        store: Where they are stored.
        settings: How much is taken.
        held: Counts the bytes of bodies.
        now: Returns the time, in microseconds since 1970 in UTC.
        threads: Limits how many large bodies are read at a time.
        run: Runs the reading of a large body, such as `Worker.run`; by default in a thread here.
    """

    def __init__(
        self,
        store: Store,
        settings: Settings,
        held: Held,
        now: Callable[[], int],
        threads: CapacityLimiter,
        *,
        run: Callable[[Callable[[Store], Answer]], Answer] | None = None,
    ) -> None:
        self._store = store
        self._settings = settings
        self._now = now
        self._threads = threads
        self._held = held
        self._large = CapacityLimiter(1)
        self._run = run or (lambda work: work(store))

        self.endpoints = (
            Endpoint(
                "POST",
                "/v1/rankings",
                "ingest",
                partial(self._take, kind="rankings"),
                summary="Log rankings: one, a list of them, or one a line.",
                body=RANKINGS,
                accepts=ACCEPTS,
                result=BATCH_ANSWER,
            ),
            Endpoint(
                "POST",
                "/v1/labels",
                "ingest",
                partial(self._take, kind="labels"),
                summary="Log labels of rankings, sent before or not: likewise.",
                body=LABELS,
                accepts=ACCEPTS,
                result=BATCH_ANSWER,
            ),
        )

    async def _take(self, asked: Asked, kind: str) -> Response:
        request = asked.request
        form = read_form(request)
        check_length(request, self._settings)
        with self._held.hold() as hold:
            body = Body(
                asked.visitor.project,
                await receive_body(request, self._settings, hold),
                kind,
                find_encoding(request) == "gzip",
                form in LINES,
                request.state.request_id,
            )
            if body.is_packed or len(body.content) > SMALL_BYTES:
                content, counts = await self._take_elsewhere(body)
            else:
                reading = read_body(body, self._settings, self._now())
                rejected = count_rejections(reading)
                stored = self._store.submit(body.project, reading.events, rejected)
                outcomes = await asyncio.wrap_future(stored)
                content, counts = write_answer(reading, outcomes, body)
        request.state.said |= {"bytes": len(body.content), **counts}
        return Response(content, media_type=JSONResponse.media_type)

    async def _take_elsewhere(self, body: Body) -> Answer:
        work = partial(store_large, body=body, settings=self._settings, now=self._now())
        size = len(body.content) * (PACKED if body.is_packed else 1)
        async with self._large if size > LARGE_BYTES else nullcontext():
            return await to_thread.run_sync(self._run, work, limiter=self._threads)


def store_large(store: Store, body: Body, settings: Settings, now: int) -> Answer:
    """Read a body, store its events piece by piece, and write the answer.

    A piece waits until the one before is on the disk. If the process ends in between, the sender
    hears nothing, sends all of it again, and what was stored already is a duplicate.

    Args:
        store: Where events are stored.
        body: The body.
        settings: How much is taken.
        now: The time, in microseconds since 1970 in UTC.

    Raises:
        RefusedRequestError: The body cannot be read, or is too large.
        FileError: The store does not take it.
    """
    reading = read_body(body, settings, now)
    rejected: Mapping[str, int] = count_rejections(reading)
    outcomes: list[Outcome] = []
    events = reading.events
    for start in range(0, max(1, len(events)), PIECE):
        outcomes += store.append(body.project, events[start : start + PIECE], rejected)
        rejected = {}  # once
    return write_answer(reading, outcomes, body)


def read_body(body: Body, settings: Settings, now: int) -> Reading:
    """Read a body as events.

    Args:
        body: The body.
        settings: How much it may hold.
        now: The time, in microseconds since 1970 in UTC.

    Raises:
        RefusedRequestError: It cannot be read at all, or is too large.
    """
    plain = gunzip(body.content, settings) if body.is_packed else body.content
    objects = Parser(settings.batch).parse(plain, is_lines=body.is_lines)
    reader = _make_reader(settings.events)
    read = reader.read_labels if body.kind == "labels" else reader.read_rankings
    return read(objects, now=now)


@lru_cache(maxsize=8)
def _make_reader(limits: Limits) -> EventReader:
    return EventReader(limits=limits)


def write_answer(reading: Reading, outcomes: Sequence[Outcome], body: Body) -> Answer:
    """Write the answer to a body.

    Returns:
        It in JSON, and how many objects were accepted, a duplicate, a conflict and rejected.
    """
    answer = answer_events(reading, outcomes)
    counts = {name: answer[name] for name in STATUSES}
    said = json.dumps(answer | {"request_id": body.request_id}, separators=(",", ":"))
    return said.encode(), counts


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
