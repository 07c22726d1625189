"""The part of a store that archiving and deletion need."""

from __future__ import annotations

from typing import Protocol

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Callable
    from concurrent.futures import Future
    from typing import TypeVar

    from sqlalchemy import Connection, Engine

    from rankscope.monitor.store.tables.transaction import Transaction

    T = TypeVar("T")


class Writer(Protocol):
    """The part of a store that archiving needs; see `Store`."""

    engine: Engine

    def query(self, read: Callable[[Connection], T]) -> T:
        """Call a function that reads."""

    def transact(self, work: Callable[[Transaction], T], size: int = 1) -> Future[T]:
        """Do some work in a transaction of the writer."""
