"""A store that another process writes: this one reads it, and asks that one to write."""

from __future__ import annotations

from concurrent.futures import Future

from rankscope.monitor.store.sqlite.store import BUSY_SECONDS, SQLiteReader
from rankscope.monitor.store.sqlite.writer import StoreWriter

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Callable
    from pathlib import Path
    from typing import Any, TypeVar

    from rankscope.monitor.store.tables.transaction import Transaction

    T = TypeVar("T")


class BorrowedStore(SQLiteReader, StoreWriter):
    """Reads a file of SQLite that another process has opened to write.

    Args:
        path: The file.
        ask: Lets that process do a piece of work, and gives what it returned, or raises what it
            raised; the work and its size are those of `Store.transact`.
    """

    def __init__(
        self, path: Path, ask: Callable[[Callable[[Transaction], Any], int], object]
    ) -> None:
        super().__init__(path, BUSY_SECONDS)
        self._ask = ask

    def transact(self, work: Callable[[Transaction], T], size: int = 1) -> Future[T]:
        """Let the other process do other work in a transaction of its writer."""
        done: Future[Any] = Future()
        try:
            done.set_result(self._ask(work, size))
        except Exception as error:  # noqa: BLE001 - as of any work that fails
            done.set_exception(error)
        return done
