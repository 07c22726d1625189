"""The process of a worker; see `rankscope.monitor.evaluate.worker`."""

from __future__ import annotations

import os
import signal
import sys
import threading
import traceback
from pathlib import Path
from queue import SimpleQueue

from rankscope.monitor.evaluate.worker import Messages
from rankscope.monitor.store import borrow_store

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Callable
    from typing import Any

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
