"""Ingests rankings and labels, and answers for each of them once they are on the disk.

A small body is decoded on the event loop, which takes a few milliseconds. A medium one is decoded
in a thread, by the core, while other threads run. What the core can't decode, and larger or
compressed bodies, are decoded in another process under `rankscope serve`. Events are stored in
pieces, so that a small request never waits for a large one.
"""

from __future__ import annotations

import asyncio
import json
import time
from collections import Counter
from collections.abc import AsyncIterator, Callable, Iterator, Mapping
from contextlib import asynccontextmanager, nullcontext
from dataclasses import dataclass, replace
from functools import lru_cache, partial
from typing import TYPE_CHECKING, Any, Literal, NotRequired, TypeAlias

from anyio import CapacityLimiter, to_thread
from starlette.responses import JSONResponse, Response
from typing_extensions import TypedDict

from rankscope.errors import FormatError, InputError, UsageError
from rankscope.monitor.definition.configuration import find_expected
from rankscope.monitor.events.batch import pack_reading
from rankscope.monitor.events.bins import Edges
from rankscope.monitor.events.decoding import EventDecoder
from rankscope.monitor.events.limits import Limits
from rankscope.monitor.events.mismatch import Expected, NameCounts
from rankscope.monitor.events.outcome import STATUSES, count_rejections
from rankscope.monitor.events.reader import EventReader
from rankscope.monitor.events.rejection import Decoded, Reading, Rejection
from rankscope.monitor.intake.ingestion import StoreSink, count_unshown
from rankscope.monitor.intake.sets import MOST_RANKINGS, SETS, SetName, SetSink
from rankscope.monitor.server.api.events import Labels, Rankings, SetRankings
from rankscope.monitor.server.api.fields import Count
from rankscope.monitor.server.http.body import (
    ARROW,
    LINES,
    MemoryBudget,
    check_length,
    find_encoding,
    gunzip,
    parse_events,
    read_media_type,
    receive_body,
)
from rankscope.monitor.server.http.problems import RefusedRequestError
from rankscope.monitor.server.http.settings import Settings
from rankscope.monitor.server.routing.endpoint import Call, Endpoint
from rankscope.monitor.store.store import Store

Answer: TypeAlias = tuple[bytes, Mapping[str, int]]
"""A body in JSON, and for the log the number of objects by status."""

if TYPE_CHECKING:
    from rankscope import _core


ACCEPTS = ("application/json", "application/x-ndjson")
STATUSES_OF = {"bad_arrow": 400, "empty_body": 400, "batch_too_large": 413, "missing_extra": 415}
"""The status of a refused stream of Arrow by the code of its error; 422 where it is another."""


class SetAnswer(TypedDict):
    """What became of a set that was replaced."""

    accepted: Count
    duplicate: Count
    replaced: Count
    notes: dict[str, Count]
    unknown_fields: dict[str, Count]
    request_id: str


class ItemAnswer(TypedDict):
    """What became of one event, and why."""

    status: Literal["accepted", "duplicate", "conflict", "rejected"]
    code: NotRequired[str]
    message: NotRequired[str]
    field: NotRequired[str]
    hint: NotRequired[str]


class MismatchAnswer(TypedDict):
    """A name of a label or an attribute that doesn't match the configuration of the project."""

    kind: Literal["unknown_label", "unmatched_label", "missing_attribute", "unknown_attribute"]
    name: str
    count: Count
    of: Count
    like: str
    message: str


class BatchAnswer(TypedDict):
    """What became of a batch of events."""

    accepted: Count
    duplicate: Count
    conflict: Count
    rejected: Count
    notes: dict[str, Count]
    unknown_fields: dict[str, Count]
    mismatches: list[MismatchAnswer]
    items: list[ItemAnswer]
    request_id: str


SMALL_BYTES = 16 << 10
"""The largest body that is decoded on the event loop: a few rankings, in a few milliseconds."""

LARGE_BYTES = 1 << 20
"""The largest body that is decoded in a thread: that takes the core a few milliseconds, less than
it takes to send the body to another process. Larger bodies are decoded one at a time, so that
others find a free process.

A compressed body counts as eight times its size, which is usual for events in JSON.
"""
PACKED = 8

SET_BYTES = 64 << 20
"""The largest set that is replaced, once it is decompressed."""

PIECE = 250
"""Events of a large batch that are stored in one transaction; others are stored in between."""

REMEMBERED = 1.0
"""For so many seconds, the names that a project is configured with are not read again, nor are
labels looked up after some that match."""

CONFLICT = {
    "code": "event_conflict",
    "message": "this id was sent before with different content; the first version stays",
}
ANSWERS = {status: {"status": status} for status in STATUSES}
ANSWERS["conflict"] |= CONFLICT


@dataclass(frozen=True, slots=True)
class Body:
    """A body of events, and how to decode it.

    Args:
        project: The project of the key it was sent with.
        content: Its bytes, as they were sent.
        kind: `rankings` or `labels`.
        is_packed: Whether it is compressed by gzip.
        is_lines: Whether it is NDJSON.
        request_id: The id of the request, for the answer.
        is_arrow: Whether it is a stream of Arrow.
        bins: The edges of bins of attributes that are numbers, by name.
    """

    project: str
    content: bytes
    kind: str
    is_packed: bool
    is_lines: bool
    request_id: str
    is_arrow: bool = False
    bins: tuple[tuple[str, Edges], ...] = ()


class Ingest:
    """Ingests events.

    Args:
        store: The store of the events.
        settings: Limits on bodies.
        memory: Counts the bytes of bodies.
        now: Returns the time, in microseconds since 1970 in UTC.
        threads: Limits how many large bodies are decoded at a time.
        run: Runs the decoding of a large body, such as `Worker.run` (default: in a thread).
    """

    def __init__(
        self,
        store: Store,
        settings: Settings,
        memory: MemoryBudget,
        now: Callable[[], int],
        threads: CapacityLimiter,
        *,
        run: Callable[[Callable[[Store], Answer]], Answer] | None = None,
    ) -> None:
        self._store = store
        self._settings = settings
        self._now = now
        self._threads = threads
        self._decoding = CapacityLimiter(settings.decoders)
        self._memory = memory
        self._large = CapacityLimiter(1)
        self._run = run or (lambda work: work(store))
        self._expected: dict[str, tuple[float, Expected | None]] = {}
        self._placed: dict[str, float] = {}

        self.endpoints = (
            *(
                Endpoint(
                    "POST",
                    f"/v1/{kind}",
                    "ingest",
                    partial(self._take, kind=kind),
                    summary=f"Log {kind}: one, a list, or one on each line.",
                    body=events,
                    accepts=(*ACCEPTS, ARROW),
                    result=BatchAnswer,
                )
                for kind, events in (("rankings", Rankings), ("labels", Labels))
            ),
            Endpoint(
                "PUT",
                "/v1/sets/{environment}",
                "admin",
                self._replace,
                summary="Replace a validation or training set at once, or leave it as it was.",
                body=SetRankings,
                accepts=ACCEPTS,
                result=SetAnswer,
            ),
        )

    async def _take(self, call: Call, kind: str) -> Response:
        async with self._receive(call, kind, ARROW) as body:
            reading = await self._decode(body)
            if reading is None:
                content, counts = await self._take_elsewhere(body)
            else:
                statuses = await self._store_pieces(body, reading)
                expected = await self._find_expected(body.project)
                placed = (0, 0) if expected is None else await self._count_unshown(body, reading)
                content, counts = write_answer(reading, statuses, body, expected, placed)
        return _answer(call, body, content, counts)

    @asynccontextmanager
    async def _receive(self, call: Call, kind: str, *others: str) -> AsyncIterator[Body]:
        """Receive a body, whose bytes count as held until the context ends."""
        request = call.request
        form = read_media_type(request, *others)
        check_length(request, self._settings)
        project = call.principal.project
        expected = await self._find_expected(project) if kind == "rankings" else None
        with self._memory.reserve() as hold:
            yield Body(
                project,
                await receive_body(request, self._settings, hold),
                kind,
                find_encoding(request) == "gzip",
                form in LINES,
                request.state.request_id,
                is_arrow=form == ARROW,
                bins=() if expected is None else tuple(expected.bins.items()),
            )

    async def _replace(self, call: Call) -> Response:
        environment = next((name for name in SETS if name == call.part("environment")), None)
        if environment is None:
            raise RefusedRequestError(
                404, "expected the set validation or training, found another", code="no_set"
            )
        async with self._receive(call, "rankings") as body:
            batch = max(MOST_RANKINGS, self._settings.batch)
            settings = replace(self._settings, plain_bytes=SET_BYTES, batch=batch)
            work = partial(
                store_set, body=body, settings=settings, now=self._now(), environment=environment
            )
            async with self._large:
                content, counts = await to_thread.run_sync(self._run, work, limiter=self._threads)
        return _answer(call, body, content, counts)

    async def _decode(self, body: Body) -> Decoded | None:
        """Decode a body in this process; `None` where that could take long."""
        if body.is_packed or body.is_arrow or len(body.content) > LARGE_BYTES:
            return None
        if len(body.content) <= SMALL_BYTES:
            return decode_body(body, self._settings, self._now())
        decode = partial(
            decode_text, body.content, body, self._settings, self._now(), is_plain=True
        )
        return await to_thread.run_sync(decode, limiter=self._decoding)

    async def _store_pieces(self, body: Body, reading: Decoded) -> bytes:
        """Store events; those of a small body are stored together."""
        most = PIECE if len(body.content) > SMALL_BYTES else len(reading.batch)
        statuses = b""
        for piece, rejected in cut_pieces(reading, most):
            stored = await asyncio.wrap_future(self._store.submit(body.project, piece, rejected))
            statuses += stored.statuses
        return statuses

    async def _find_expected(self, project: str) -> Expected | None:
        """Return the names that a project is configured with, as of at most a second ago."""
        now = time.monotonic()
        known = self._expected.get(project)
        if known is None or now - known[0] >= REMEMBERED:
            find = partial(find_expected, self._store, project)
            known = now, await to_thread.run_sync(find, limiter=self._decoding)
            self._expected[project] = known
        return known[1]

    async def _count_unshown(self, body: Body, reading: Decoded) -> tuple[int, int]:
        """Look up whether labels match documents; if they do, not again within a second."""
        now = time.monotonic()
        if body.kind != "labels" or now < self._placed.get(body.project, now):
            return 0, 0
        count = partial(count_unshown, self._store, body.project, reading.batch)
        known, unshown = await to_thread.run_sync(count, limiter=self._decoding)
        if known and not unshown:
            self._placed[body.project] = now + REMEMBERED
        return known, unshown

    async def _take_elsewhere(self, body: Body) -> Answer:
        work = partial(store_large, body=body, settings=self._settings, now=self._now())
        size = len(body.content) * (PACKED if body.is_packed else 1)
        async with self._large if size > LARGE_BYTES else nullcontext():
            return await to_thread.run_sync(self._run, work, limiter=self._threads)


def _answer(call: Call, body: Body, content: bytes, counts: Mapping[str, int]) -> Response:
    call.request.state.said |= {"bytes": len(body.content), **counts}
    return Response(content, media_type=JSONResponse.media_type)


def store_large(store: Store, body: Body, settings: Settings, now: int) -> Answer:
    """Decode a body, store its events piece by piece, and return the answer.

    Each piece waits until the one before is on the disk. If the process ends in between, the
    sender gets no answer and sends everything again; what was stored already is then a duplicate.
    """
    reading = decode_body(body, settings, now)
    statuses = b""
    for piece, rejected in cut_pieces(reading, PIECE):
        statuses += store.submit(body.project, piece, rejected).result().statuses
    expected, placed = find_expected(store, body.project), (0, 0)
    if expected is not None and body.kind == "labels":
        placed = count_unshown(store, body.project, reading.batch)
    return write_answer(reading, statuses, body, expected, placed)


def cut_pieces(reading: Decoded, most: int) -> Iterator[tuple[_core.EventBatch, Mapping[str, int]]]:
    """Cut events into the pieces that are stored one after the other, at least one."""
    batch = reading.batch
    rejected: Mapping[str, int] = count_rejections(reading)
    if len(batch) <= most:
        yield batch, rejected
        return
    for start in range(0, len(batch), most):
        yield batch.cut(start, start + most), rejected
        rejected = {}


def store_set(
    store: Store, body: Body, settings: Settings, now: int, environment: SetName
) -> Answer:
    """Decode a body, replace a set by its rankings, and return the answer."""
    sink = SetSink(environment, StoreSink(store, body.project))
    reading = read_body(_unpack(body, settings), body, settings, now)
    statuses = sink.take(reading)
    for answer, status in zip(reading.answers, statuses, strict=True):
        reason = answer if isinstance(answer, Rejection) else status
        if isinstance(reason, Rejection):
            raise RefusedRequestError(
                422, f"{reason}; the set stays as it was", code="set_refused", hint=reason.hint
            )
        if reason == "conflict":
            raise RefusedRequestError(
                422, "expected each ranking once; the set stays as it was", code="set_refused"
            )
    try:
        replaced = sink.replace_collected()
    except (InputError, UsageError) as error:
        raise RefusedRequestError(
            422, error.message, code="set_refused", hint=error.hint
        ) from error
    counts = Counter(map(str, statuses))
    said = {
        "accepted": counts["accepted"],
        "duplicate": counts["duplicate"],
        "replaced": replaced,
        "notes": reading.notes,
        "unknown_fields": reading.unknown,
        "request_id": body.request_id,
    }
    return json.dumps(said, separators=(",", ":")).encode(), {"accepted": counts["accepted"]}


def decode_body(body: Body, settings: Settings, now: int) -> Decoded:
    """Decode a body as events that are ready to be stored."""
    plain = _unpack(body, settings)
    if body.is_arrow:
        return _decode_stream(plain, body, settings, now)
    reading = decode_text(plain, body, settings, now, is_plain=False)
    return reading or pack_reading(read_body(plain, body, settings, now))


def decode_text(
    plain: bytes, body: Body, settings: Settings, now: int, *, is_plain: bool
) -> Decoded | None:
    """Decode a body of JSON by the core; see `EventDecoder.decode_body`."""
    return _make_decoder(settings.events, body.bins).decode_body(
        plain,
        body.kind,
        is_lines=body.is_lines,
        most=settings.batch,
        now=now,
        is_plain=is_plain,
    )


def read_body(plain: bytes, body: Body, settings: Settings, now: int) -> Reading:
    """Read a body as events, object by object."""
    objects = parse_events(plain, settings.batch, is_lines=body.is_lines)
    reader = _make_reader(settings.events, body.bins)
    read = reader.read_labels if body.kind == "labels" else reader.read_rankings
    return read(objects, now=now)


def _decode_stream(plain: bytes, body: Body, settings: Settings, now: int) -> Decoded:
    from rankscope.monitor.intake.streams import decode_stream

    reader = _make_reader(settings.events, body.bins)
    try:
        return decode_stream(plain, body.kind, reader, most=settings.batch, now=now)
    except FormatError as error:
        raise RefusedRequestError(
            STATUSES_OF.get(error.code, 422), error.message, code=error.code, hint=error.hint
        ) from error


def _unpack(body: Body, settings: Settings) -> bytes:
    return gunzip(body.content, settings) if body.is_packed else body.content


@lru_cache(maxsize=64)
def _make_reader(limits: Limits, bins: tuple[tuple[str, Edges], ...]) -> EventReader:
    return EventReader(limits=limits, bins=dict(bins))


@lru_cache(maxsize=64)
def _make_decoder(limits: Limits, bins: tuple[tuple[str, Edges], ...]) -> EventDecoder:
    return EventDecoder(_make_reader(limits, bins))


def write_answer(
    reading: Decoded,
    told: bytes,
    body: Body,
    expected: Expected | None = None,
    placed: tuple[int, int] = (0, 0),
) -> Answer:
    """Write the answer to a body."""
    answer = answer_events(reading, told, expected, placed)
    counts = {name: answer[name] for name in STATUSES}
    said = json.dumps(answer | {"request_id": body.request_id}, separators=(",", ":"))
    return said.encode(), counts


def answer_events(
    reading: Decoded,
    told: bytes,
    expected: Expected | None = None,
    placed: tuple[int, int] = (0, 0),
) -> dict[str, Any]:
    """Make the answer to a batch."""
    statuses = reading.batch.tell(told)
    items = [ANSWERS[STATUSES[status]] for status in statuses]
    for one in reading.rejections:
        items[one.index] = _answer_rejected(one)
    counts = {status: statuses.count(code) for code, status in enumerate(STATUSES)}
    names = NameCounts()
    if expected is not None:
        names.add_batch(reading.batch)
        names.add_placed(*placed)
    return {status: counts[status] for status in STATUSES} | {
        "notes": reading.notes,
        "unknown_fields": reading.unknown,
        "mismatches": []
        if expected is None
        else [one.to_dict() for one in names.compare(expected)],
        "items": items,
    }


def _answer_rejected(rejection: Rejection) -> dict[str, str]:
    message = f"expected {rejection.expected}, found {rejection.found}"
    said = {"status": "rejected", "code": rejection.code, "message": message}
    more = {"field": rejection.where, "hint": rejection.hint}
    return said | {name: text for name, text in more.items() if text}
