"""Logs rankings and labels from the process that serves them, without blocking it."""

from __future__ import annotations

import atexit
import json
import logging
import os
import random
import threading
import time
import weakref
from collections.abc import Callable, Mapping
from dataclasses import dataclass
from datetime import datetime
from typing import Any, Self

from rankscope.monitor.client.batches import Sender, Sizes, Transport, Waiting
from rankscope.monitor.client.http import HTTPTransport
from rankscope.monitor.events.json import EventJSON
from rankscope.monitor.events.names import LABEL_NAMES, RANKING_NAMES
from rankscope.monitor.events.reader import EventReader
from rankscope.monitor.events.rejection import RefusedError, show
from rankscope.monitor.events.times import read_clock, read_moment, to_micros
from rankscope.monitor.store.keys import Secret

RANKINGS = "/v1/rankings"
LABELS = "/v1/labels"
TIMES = frozenset(RANKING_NAMES["time"] + LABEL_NAMES["time"])

logger = logging.getLogger("rankscope.monitor")


@dataclass(frozen=True, slots=True, kw_only=True)
class Counts:
    """Counts of logged events by outcome. Each event is in exactly one of them.

    Args:
        accepted: Stored by the service.
        duplicate: Stored before.
        conflict: Not stored, for their ids had other content before.
        rejected: Not stored, for something is wrong with them.
        refused: Not stored, for the service cannot read what holds them.
        invalid: Not sent, for something is wrong with them.
        dropped: Not sent, for too many waited, or the client was closed.
        waiting: Not sent yet, or not known to be.
        retries: How often a batch was to be sent again.
    """

    accepted: int = 0
    duplicate: int = 0
    conflict: int = 0
    rejected: int = 0
    refused: int = 0
    invalid: int = 0
    dropped: int = 0
    waiting: int = 0
    retries: int = 0


class Client:
    """Logs rankings and labels to a service.

    `log_ranking` and `log_label` only check an event and put it aside, and raise nothing: a thread
    sends what waits, and sends it again with the same ids while the service cannot be reached. An
    event that the service would reject isn't sent: it is counted, and the first one with a reason
    is logged as a warning that names its field. What waits is
    bounded; beyond, the oldest events are dropped and counted. A child of the process that made a
    client has an empty one, with a thread of its own.

    Args:
        url: The address of the service, such as `http://127.0.0.1:8000`.
        key: A key with the scope `ingest`; empty for a service on this machine that has no keys.
        sizes: How much is sent at a time, and how much may wait.
        timeout: Seconds to wait for an answer.
        exit_seconds: Seconds for which what waits is still sent when the process ends.
        transport: What sends, in place of HTTP.
        is_strict: Whether `log_ranking` and `log_label` raise an error for an invalid event, as
            tests want it.
        now: Returns the current time as a `datetime` with a time zone (default: the clock of the
            system).

    Raises:
        UsageError: The address or the key is none.

    Examples:
        >>> from rankscope.monitor.client.http import Answer
        >>> class Printing:
        ...     def post(self, path, body):
        ...         print("sends to", path)
        ...         return Answer(200, {"accepted": 1})
        >>> with Client("http://127.0.0.1:8000", "rk_...", transport=Printing()) as client:
        ...     client.log_label({"ranking_id": "r1", "doc_id": "a", "labels": ["click"]})
        True
        sends to /v1/labels
        >>> client.counts().accepted
        1
        >>> strict = Client("http://127.0.0.1:8000", "rk_...", is_strict=True)
        >>> try:
        ...     strict.log_label({"ranking_id": "r1", "doc_id": "a", "labels": 1})
        ... except ValueError as error:
        ...     print(error.message)
        label of 'r1': labels: expected a label, or a list of them, found 1
    """

    def __init__(
        self,
        url: str,
        key: str,
        *,
        sizes: Sizes | None = None,
        timeout: float = 10.0,
        exit_seconds: float = 2.0,
        transport: Transport | None = None,
        is_strict: bool = False,
        now: Callable[[], datetime] | None = None,
    ) -> None:
        self._transport = transport or HTTPTransport(url, Secret(key), timeout)
        self._is_strict = is_strict
        self._now = read_clock if now is None else lambda: to_micros(read_moment(now(), "now"))
        self._reader, self._json = EventReader(), EventJSON()
        self._warned: set[str] = set()
        self._sizes = sizes or Sizes()
        self._exit_seconds = exit_seconds
        self._is_closing = False
        self._start()
        CLIENTS.add(self)

    def _start(self) -> None:
        """Start with an empty queue. The thread starts with the first event."""
        self._changed = threading.Condition()
        chance = random.Random().random  # noqa: S311 - when to come back is no secret
        self._sender = Sender(self._transport, self._sizes, self._changed, chance)
        self._thread: threading.Thread | None = None
        self._is_woken = False
        self._is_closed = False
        self._hurries = 0

    def restart(self) -> None:
        """Start over in a child process."""
        self._start()

    def __enter__(self) -> Self:
        return self

    def __exit__(self, *_raised: object) -> None:
        self.close()

    def log_ranking(self, ranking: Mapping[str, Any]) -> bool:
        """Log a ranking.

        Args:
            ranking: Its fields, as `POST /v1/rankings` takes them, numbers and arrays of NumPy
                among them; without a time, it is now.

        Returns:
            Whether it waits to be sent now; not if it is invalid, or too many wait.

        Raises:
            FormatError: It is invalid, and the client is strict.
        """
        return self._log(RANKINGS, ranking)

    def log_label(self, label: Mapping[str, Any]) -> bool:
        """Log a label for a document of a ranking.

        Args:
            label: Its fields, as `POST /v1/labels` takes them; without a time, it is now.

        Returns:
            Whether it waits to be sent now; not if it is invalid, or too many wait.

        Raises:
            FormatError: It is invalid, and the client is strict.
        """
        return self._log(LABELS, label)

    def counts(self) -> Counts:
        """Return what happened to the logged events."""
        with self._changed:
            return Counts(**self._sender.counts, waiting=self._sender.waiting)

    def flush(self, seconds: float = 10.0) -> bool:
        """Send all queued events, and wait until they are sent.

        Args:
            seconds: For how long at most.

        Returns:
            Whether nothing waits any more.
        """
        with self._changed:
            self._hurries += 1
            self._wake()
            try:
                return self._changed.wait_for(lambda: not self._sender.waiting, seconds)
            finally:
                self._hurries -= 1

    def close(self, seconds: float | None = None) -> None:
        """Send all queued events, and stop. Events that couldn't be sent are logged as a warning.

        Args:
            seconds: For how long at most; `exit_seconds` unless it is given.
        """
        with self._changed:
            if self._is_closing:
                return
            self._is_closing = True
            self._wake()
            thread = self._thread
        if thread is not None:
            thread.join(self._exit_seconds if seconds is None else seconds)
        with self._changed:
            self._is_closed = True
            self._wake()
            lost = self._sender.waiting + self._sender.counts["dropped"]
        if lost:
            logger.warning("%d events were not sent", lost)

    def _log(self, path: str, fields: Mapping[str, Any]) -> bool:
        try:
            line = self._write_line(path, fields)
        except RefusedError as error:
            with self._changed:
                self._sender.counts["invalid"] += 1
                is_new = error.code not in self._warned
                self._warned.add(error.code)
            if self._is_strict:
                raise
            if is_new:
                logger.warning("not sent: %s [%s]", error.message, error.code)
            return False
        with self._changed:
            if self._is_closing:
                self._sender.counts["dropped"] += 1
                return False
            sender = self._sender
            was_idle, was_full = not sender.waiting, sender.is_full()
            waits = sender.add(Waiting(path, line, time.monotonic()))
            self._run_thread()
            # The thread is woken when something changes for it, not by every event.
            if was_idle or sender.is_full() > was_full:
                self._wake()
        return waits

    def _write_line(self, path: str, fields: Mapping[str, Any]) -> bytes:
        """Serialize an event with its time, as the service accepts it."""
        now = self._now()
        try:
            event = dict(fields)
            if event.keys().isdisjoint(TIMES):
                event["time"] = now // 1000
            line = json.dumps(event, separators=(",", ":"), default=_to_plain).encode()
        except RefusedError:
            raise
        except Exception as error:  # whatever is logged, serving goes on
            kind = type(fields).__name__
            raise RefusedError("", "an object of JSON", f"a {kind}", code="json_type") from error
        # Checked as the service reads it, for what is written may differ from what was given.
        try:
            given = self._json.settle(self._json.load(line))
        except RefusedError as error:
            given = error
        read = self._reader.read_rankings if path == RANKINGS else self._reader.read_labels
        for rejection in read([given], now=now).rejections:
            refused = RefusedError(
                rejection.where,
                rejection.expected,
                rejection.found,
                code=rejection.code,
                hint=rejection.hint,
            )
            refused.message = f"{_name(path, event)}: {refused.message}"
            raise refused
        return line

    def _wake(self) -> None:
        """Wake the thread. The caller holds the lock."""
        self._is_woken = True
        self._changed.notify_all()

    def _run_thread(self) -> None:
        if self._thread is not None:
            return
        thread = threading.Thread(target=self._run, name="rankscope-client", daemon=True)
        try:
            thread.start()
        except RuntimeError:  # there are too many; the next event tries again
            return
        self._thread = thread

    def _run(self) -> None:
        changed = self._changed
        while not self._is_closed:
            with changed:
                self._is_woken = False
                hurries = self._is_closing or self._hurries > 0
            seconds = self._sender.step(time.monotonic(), hurries=hurries)
            with changed:
                changed.notify_all()  # callers of `flush` wait for it
                if seconds is None and self._is_closing:
                    return
                if not self._is_woken:
                    changed.wait(seconds)


def _to_plain(value: Any) -> object:  # noqa: ANN401 - whatever is logged
    """Return a number or an array of NumPy as JSON has it."""
    try:
        return value.tolist()
    except AttributeError:
        kind = type(value).__name__
        raise RefusedError("", "values that JSON has", f"a {kind}", code="json_type") from None


def _name(path: str, event: Mapping[str, Any]) -> str:
    """Name an event in messages."""
    ids = (event[name] for name in RANKING_NAMES["ranking_id"] if event.get(name) is not None)
    named = show(next(ids, "without ranking_id"))
    return f"ranking {named}" if path == RANKINGS else f"label of {named}"


CLIENTS: weakref.WeakSet[Client] = weakref.WeakSet()


def _restart_all() -> None:
    """Start over in a child process, which has no threads and whose parent sends the queue."""
    for client in list(CLIENTS):
        client.restart()


def _close_all() -> None:
    for client in list(CLIENTS):
        client.close()


os.register_at_fork(after_in_child=_restart_all)
atexit.register(_close_all)
