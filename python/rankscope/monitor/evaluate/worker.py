"""Worker processes that read a store, and the messages between them and the process that writes it.

Requests to a service wait for its process, and a thread that evaluates would make them wait longer,
because only one thread of Python runs at a time. A worker process reads the store itself, and asks
the process that started it to write.
"""

from __future__ import annotations

import os
import pickle
import signal
import subprocess
import sys
import threading
import traceback
from collections import deque
from collections.abc import Callable, Iterable, Iterator
from concurrent.futures import Future, ThreadPoolExecutor
from contextlib import suppress
from pathlib import Path
from queue import SimpleQueue
from typing import IO, Any, Self, TypeVar

from rankscope.errors import FileError
from rankscope.monitor.store import borrow_store
from rankscope.monitor.store.store import Store

T = TypeVar("T")


COMMAND = (
    "import sys; sys.path[:] = {path!r}; from rankscope.monitor.evaluate.worker import main; main()"
)


class Worker:
    """A process that works on a store; it starts with the first piece of work.

    It does one piece of work at a time and ends with this process, however that ends.

    Args:
        store: The store, which this process writes.
        is_modest: Whether all other processes go first, where the system knows of such a thing.

    Examples:
        >>> from tempfile import TemporaryDirectory
        >>> from operator import methodcaller
        >>> from rankscope.monitor.store import open_store
        >>> with TemporaryDirectory() as folder:
        ...     store = open_store(f"sqlite:///{folder}/events.db")
        ...     with Worker(store) as worker:
        ...         worker.run(methodcaller("projects"))
        ...     store.close()
        []
    """

    def __init__(self, store: Store, *, is_modest: bool = False) -> None:
        self._store = store
        self._is_modest = is_modest
        self._process: subprocess.Popen[bytes] | None = None
        self._is_closed = False
        self._one_at_a_time = threading.Lock()

    def __enter__(self) -> Self:
        return self

    def __exit__(self, *_raised: object) -> None:
        self.close()

    def run(self, work: Callable[[Store], T]) -> T:
        """Run a function in the worker process and return its result."""
        with self._one_at_a_time:
            process = self._start()
            try:
                what, said = self._converse(work)
            except (EOFError, OSError) as error:
                self._end()
                raise FileError(
                    f"worker process {process.pid} ended before its work was done",
                    hint="it may have run out of memory; the next run starts another one",
                    code="worker_ended",
                ) from error
            except BaseException:
                # What was half said cannot be gone on with.
                self._end()
                raise
        if what == "failed":
            raise said
        return said  # type: ignore[no-any-return]  # what the work returned

    def close(self, seconds: float | None = None) -> None:
        """End the process and the work it is doing; it holds nothing that could be lost."""
        self._is_closed = True
        process = self._process
        if process is not None:
            process.kill()
        if self._one_at_a_time.acquire(timeout=-1 if seconds is None else seconds):
            try:
                self._end()
            finally:
                self._one_at_a_time.release()

    def _start(self) -> subprocess.Popen[bytes]:
        if self._process is None and not self._is_closed:
            # Nothing but what this process itself is made of.
            self._process = subprocess.Popen(  # noqa: S603
                [sys.executable, "-P", "-c", COMMAND.format(path=sys.path)],
                stdin=subprocess.PIPE,
                stdout=subprocess.PIPE,
                # An interrupt at the terminal is for this process alone, which then ends the other.
                process_group=0 if os.name == "posix" else None,
            )
            # If it has ended already, the next piece of work reports that.
            with suppress(OSError):
                self._messages.send(self._store.url, self._is_modest)
        # Looked at once more: who closes this may have found no process to end.
        if self._process is None or self._is_closed:
            self._end()
            raise FileError("the worker is closed", code="store_closed")
        return self._process

    @property
    def _messages(self) -> Messages:
        process = self._process
        if process is None or process.stdin is None or process.stdout is None:
            raise EOFError
        return Messages(process.stdout, process.stdin)

    def _converse(self, work: Callable[[Store], object]) -> tuple[str, Any]:
        """Send work to the process, write what it asks for, and return the answer."""
        messages = self._messages
        messages.send(work)
        while (answer := messages.receive())[0] == "write":
            messages.send(*self._write(*answer[1:]))
        what, said = answer
        return what, said

    def _write(self, work: Callable[..., Any], size: int) -> tuple[str, object]:
        """Write what the process asks for."""
        try:
            return "done", self._store.transact(work, size).result()
        except Exception as error:  # noqa: BLE001 - whatever it is, it is for who asked
            return "failed", error

    def _end(self) -> None:
        process, self._process = self._process, None
        if process is not None:
            process.kill()
            for pipe in (process.stdin, process.stdout):
                # What was not read by a process that has ended is not read any more.
                with suppress(OSError):
                    if pipe is not None:
                        pipe.close()
            process.wait()


class Workers:
    """Several workers; the first idle one does the next piece of work.

    Args:
        store: The store, which this process writes.
        most: How many there are. Each is started when it first has something to do.
    """

    def __init__(self, store: Store, most: int) -> None:
        self._workers = [Worker(store) for _ in range(most)]
        self._idle: SimpleQueue[Worker] = SimpleQueue()
        for worker in self._workers:
            self._idle.put(worker)

    def __enter__(self) -> Self:
        return self

    def __exit__(self, *_raised: object) -> None:
        self.close()

    def run(self, work: Callable[[Store], T]) -> T:
        """Run a function in the first idle worker, as `Worker.run` does."""
        worker = self._idle.get()
        try:
            return worker.run(work)
        finally:
            self._idle.put(worker)

    def close(self, seconds: float | None = None) -> None:
        """End all processes and the work they are doing."""
        for worker in self._workers:
            worker.close(seconds)


def run_in_order(store: Store, works: Iterable[Callable[[Store], T]], most: int) -> Iterator[T]:
    """Run functions in worker processes and yield their results in order."""
    with (
        ThreadPoolExecutor(most, "rankscope-worker") as threads,
        # Closed first, however this ends: threads wait for them.
        Workers(store, most) as workers,
    ):
        coming: deque[Future[T]] = deque()
        for work in works:
            coming.append(threads.submit(workers.run, work))
            if len(coming) > 2 * most:
                yield coming.popleft().result()
        while coming:
            yield coming.popleft().result()


class Messages:
    """Sends and receives objects between a process and its own child.

    Args:
        incoming: Where they come from.
        outgoing: Where they go.
    """

    def __init__(self, incoming: IO[bytes], outgoing: IO[bytes]) -> None:
        self._incoming = incoming
        self._outgoing = outgoing

    def send(self, *message: object) -> None:
        """Send objects together."""
        # All of it at once: what cannot be pickled sends nothing.
        self._outgoing.write(pickle.dumps(message, pickle.HIGHEST_PROTOCOL))
        self._outgoing.flush()

    def receive(self) -> tuple[Any, ...]:
        """Receive what was sent together."""
        try:
            received: tuple[Any, ...] = pickle.load(self._incoming)  # noqa: S301 - of our own
        except pickle.UnpicklingError as error:
            raise EOFError from error
        return received


MODESTY = 19


def main() -> None:
    """Work until the process that started this one has ended."""
    incoming, outgoing = _take_pipes()
    received: SimpleQueue[tuple[Any, ...]] = SimpleQueue()
    messages = Messages(incoming, outgoing)
    threading.Thread(target=_listen, args=(messages, received), daemon=True).start()
    # A signal to all processes of a service is for the one that started this one.
    signal.signal(signal.SIGTERM, signal.SIG_IGN)
    url, is_modest = received.get()
    if is_modest and hasattr(os, "nice"):
        os.nice(MODESTY)

    def ask(work: Callable[..., Any], size: int) -> object:
        """Ask the other process to write, and return the result."""
        messages.send("write", work, size)
        what, said = received.get()
        if what == "failed":
            raise said
        return said

    store = borrow_store(url, ask)
    while True:
        (work,) = received.get()
        try:
            done = "done", work(store)
        except Exception as error:  # noqa: BLE001 - whatever it is, it is for who asked
            done = "failed", error
        messages.send(*done)


def _listen(messages: Messages, received: SimpleQueue[tuple[Any, ...]]) -> None:
    """Receive messages, and end this process as soon as the other one has ended."""
    try:
        while True:
            received.put(messages.receive())
    except EOFError:
        pass
    except Exception:  # noqa: BLE001 - what was sent cannot be read here
        traceback.print_exc()
    # Nothing here could be lost.
    os._exit(0)


def _take_pipes() -> tuple[Any, Any]:
    """Keep the pipes for messages; other output of this process goes to standard error."""
    incoming, outgoing = os.fdopen(os.dup(0), "rb"), os.fdopen(os.dup(1), "wb")
    with Path(os.devnull).open("rb") as nothing:
        os.dup2(nothing.fileno(), 0)
    os.dup2(2, 1)
    sys.stdout = sys.stderr
    return incoming, outgoing
