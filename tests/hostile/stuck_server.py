"""Serves a store whose counters never end: by SQL, or by Python that looks at no deadline."""

from __future__ import annotations

import sys
import threading

from rankscope.monitor.server.run import shutdown
from rankscope.monitor.server.run.service import serve_store
from rankscope.monitor.store.sqlite.store import SQLiteStore
from sqlalchemy import text

ENDLESS = text(
    "WITH RECURSIVE number(n) AS (SELECT 1 UNION ALL SELECT n + 1 FROM number) "
    "SELECT count(*) FROM number"
)


class StuckStore(SQLiteStore):
    """A store that never answers how many events it took."""

    def counters(self, project):
        """Say that it is stuck, and be so."""
        # In one piece: two threads may print at once.
        print("stuck\n", end="", flush=True)  # noqa: T201 - the parent process reads it
        if sys.argv[2] == "python":
            threading.Event().wait()

        def read(connection):
            return {project: connection.execute(ENDLESS).scalar_one()}

        return self.query(read)


if __name__ == "__main__":
    shutdown.STOPPING_SECONDS = 0.1  # soon; what reads nothing more has as long as usual
    if sys.argv[2] == "python":
        shutdown.FORCING_SECONDS = 1.0
    with StuckStore(sys.argv[1]) as store:
        serve_store(store, port=0, announce=lambda address: print(address, flush=True))  # noqa: T201
