"""Serves the store that is named as people do, evaluating so often, and prints the address."""

from __future__ import annotations

import sys

from rankscope.monitor.server.run.service import serve_store
from rankscope.monitor.store.sqlite.store import SQLiteStore


def tell(address):
    print(address, flush=True)  # noqa: T201 - the parent process reads it


if __name__ == "__main__":
    with SQLiteStore(sys.argv[1]) as store:
        serve_store(store, port=0, seconds=float(sys.argv[2]), announce=tell)
