"""Evaluates all that a store has: `python -m load.evaluating STORE`."""

from __future__ import annotations

import json
import sys
import time

from rankscope.monitor.monitor import Monitor

from load.configuration import CONFIGURATION, PROJECT


def main() -> None:
    """Evaluate, and print how many rankings that were and how long it took."""
    begin = time.perf_counter()
    with Monitor.open(f"sqlite:///{sys.argv[1]}", PROJECT) as monitor:
        monitor.configure(CONFIGURATION)
        done = monitor.evaluate()
    print(json.dumps({"rankings": done.rankings, "seconds": time.perf_counter() - begin}))


if __name__ == "__main__":
    main()
