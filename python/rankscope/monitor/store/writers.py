"""The writing sides of stores, whatever database is behind them."""

from __future__ import annotations

from collections.abc import Callable
from concurrent.futures import Future
from typing import Any, TypeAlias, TypeVar

from rankscope.errors import FileError
from rankscope.monitor.store.commits import GroupCommitter
from rankscope.monitor.store.store import Store
from rankscope.monitor.store.transaction import Transaction

T = TypeVar("T")
Ask: TypeAlias = Callable[[Callable[[Transaction], Any], int], object]


class GroupWriter(Store):
    """The writing side of a store that commits in groups; a backend sets `_committer`."""

    _committer: GroupCommitter

    @property
    def failure(self) -> FileError | None:
        """The reason why nothing more is written, if that is so."""
        return self._committer.failure

    @property
    def waiting(self) -> int:
        """The number of events that wait to be committed."""
        return self._committer.waiting

    def transact(self, work: Callable[[Transaction], T], size: int = 1) -> Future[T]:
        """Do some work in a transaction of the writer; see `Store.transact`."""
        return self._committer.submit(work, size)


class BorrowedWriter(Store):
    """The writing side of a store that this process only reads: another one is asked to write.

    A backend puts it after its reader, and sets `_ask`: it lets the other process do some work of
    a size, as `Store.transact` does, and returns the result or raises its exception.
    """

    _ask: Ask

    @property
    def failure(self) -> FileError | None:
        """Always `None`: the other process knows whether it can write."""
        return None

    def transact(self, work: Callable[[Transaction], T], size: int = 1) -> Future[T]:
        """Let the other process do some work in a transaction of its writer."""
        done: Future[Any] = Future()
        try:
            done.set_result(self._ask(work, size))
        except Exception as error:  # noqa: BLE001 - whatever the work raises
            done.set_exception(error)
        return done
