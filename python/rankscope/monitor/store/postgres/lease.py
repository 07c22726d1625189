"""The lease of the one process that evaluates, and the transactions that need it."""

from __future__ import annotations

from typing import TYPE_CHECKING

from rankscope.errors import FileError
from rankscope.monitor.store.transaction import NumberCache, Transaction

if TYPE_CHECKING:
    from sqlalchemy import Connection


class Lease:
    """The lease of one store, as one process has it.

    It is an advisory lock of the connection that writes. If the connection is lost, the server
    releases the lock and another process can take it; then windows that were computed under the
    lost lease are not written any more, as they could be older than those of the other process.

    Args:
        number: The number of the lock.
    """

    def __init__(self, number: int) -> None:
        self._number = number
        self._holder: Connection | None = None
        self._is_lost = False

    @property
    def is_held(self) -> bool:
        """Whether this process has the lease, unless its connection was lost unnoticed."""
        return self._holder is not None

    def take(self, connection: Connection) -> bool:
        """Take the lease unless another process has it, and return whether it was taken."""
        self._is_lost = False
        if self._holder is not connection:
            asked = connection.exec_driver_sql("SELECT pg_try_advisory_lock(%s)", (self._number,))
            self._holder = connection if asked.scalar_one() else None
        return self._holder is connection

    def lose(self) -> None:
        """Note that the connection is lost, and the lease with it."""
        self._is_lost = self._is_lost or self._holder is not None
        self._holder = None

    def require(self, connection: Connection) -> None:
        """Refuse to write windows unless this process has the lease, or nobody has it."""
        if self._holder is connection:
            return
        if not self._is_lost:
            # Until the end of the transaction, so that nobody takes the lease meanwhile.
            asked = connection.exec_driver_sql(
                "SELECT pg_try_advisory_xact_lock(%s)", (self._number,)
            )
            if asked.scalar_one():
                return
        raise FileError(
            "another process evaluates the store, or did while the connection was lost",
            hint="its values are up to date after its next evaluation",
            code="store_evaluated",
        )


class PostgresTransaction(Transaction):
    """A transaction of one of several processes that write.

    Args:
        connection: The connection, within the transaction.
        seq: The number of the last event so far.
        cache: The numbers of projects and contexts.
        lease: The lease of this process.
    """

    def __init__(
        self,
        connection: Connection,
        seq: int,
        cache: NumberCache,
        lease: Lease,
    ) -> None:
        super().__init__(connection, seq, cache)
        self._lease = lease

    def require_evaluator(self) -> None:
        """Refuse to write windows where another process evaluates the store."""
        self._lease.require(self.connection)

    def take_lease(self) -> bool:
        """Take the lease unless another process has it, and return whether this one has it."""
        return self._lease.take(self.connection)
