"""Makes methods of a store of functions that read and write."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from functools import partial, update_wrapper
from typing import TYPE_CHECKING, Any, Concatenate, ParamSpec, TypeVar

from rankscope.monitor.store.transaction import Transaction

P = ParamSpec("P")
T = TypeVar("T")

if TYPE_CHECKING:
    from sqlalchemy import Connection

    from rankscope.monitor.store.store import Store, StoreReader


def reads(
    function: Callable[Concatenate[Connection, P], T],
) -> Callable[Concatenate[StoreReader, P], T]:
    """Make a method of a function that reads; all it reads is of one moment."""

    def method(self: StoreReader, /, *args: P.args, **named: P.kwargs) -> T:
        with self.engine.connect() as connection:
            return function(connection, *args, **named)

    update_wrapper(method, function)
    return method


def asks(
    function: Callable[Concatenate[Any, P], T],
) -> Callable[Concatenate[StoreReader, str, P], T]:
    """Make a method that asks the events of a project, all read at one moment."""

    def method(self: StoreReader, project: str, /, *args: P.args, **named: P.kwargs) -> T:
        with self.engine.connect() as connection:
            source = self.open_log(connection, project)
            answer: T = getattr(source, function.__name__)(*args, **named)
            return answer

    update_wrapper(method, function)
    return method


def writes(
    function: Callable[Concatenate[Transaction, P], T],
) -> Callable[Concatenate[Store, P], T]:
    """Make a method of a function that writes; it returns once the result is durable."""

    def method(self: Store, /, *args: P.args, **named: P.kwargs) -> T:
        try:
            return self.transact(fold(function, args, named)).result()
        finally:
            # Also where it fails: it may be on the disk nevertheless.
            self.note_write(function)

    update_wrapper(method, function)
    return method


# A function of this module, so that work can be sent to another process.
def _call(
    function: Callable[..., T],
    args: tuple[object, ...],
    named: dict[str, Any],
    transaction: Transaction,
) -> T:
    return function(transaction, *args, **named)


def fold(
    function: Callable[..., T], args: Sequence[object], named: dict[str, Any]
) -> Callable[[Transaction], T]:
    """Return work of a transaction: a call of a function with more arguments."""
    return partial(_call, function, tuple(args), named)
