"""Load the service, and hold all it says against what was sent: `python -m dev.load [--short]`."""

from __future__ import annotations

import argparse
import sys
import tempfile
from pathlib import Path
from typing import TYPE_CHECKING

from rankscope.monitor.events.times import read_clock
from rankscope.monitor.monitor import Monitor
from rankscope.monitor.store.keys import make_key
from rankscope.monitor.store.sqlite.store import SQLiteStore

from dev.load.configuration import CONFIGURATION, PROJECT
from dev.load.processes import evaluate, serve, watching
from dev.load.record import RECORDS, Loaded, Stored, find_misses, render_record
from dev.load.searches import BATCH
from dev.load.sending import list_labelled, send_all
from dev.load.stored import ask, fill
from dev.load.verifying import verify
from dev.machine import describe_machine
from dev.record import write_page

if TYPE_CHECKING:
    from rankscope.monitor.store.keys import Scope

RATE = 1000.0
SECONDS = 600
RANKINGS = 1_000_000
FEW_SECONDS = 20
FEW_RANKINGS = 10_000


def main() -> int:
    """Load, verify, and hold the figures against what is asked.

    Returns:
        Exit status: 0 where all is right, and, but for a short run, soon enough.
    """
    parser = argparse.ArgumentParser(prog="python -m dev.load", description=__doc__)
    parser.add_argument("--short", action="store_true", help="a little of it, and no record")
    parser.add_argument("--seconds", type=int, help="for how long rankings are sent")
    parser.add_argument("--rate", type=float, default=RATE, help="how many of them a second")
    parser.add_argument(
        "--together", action="store_true", help="send labels while rankings are sent"
    )
    parser.add_argument("--rankings", type=int, help="how many are stored in a full store")
    parser.add_argument(
        "--folder", type=Path, help="an empty folder, where stores are made and stay"
    )
    options = parser.parse_args()
    seconds = options.seconds or (FEW_SECONDS if options.short else SECONDS)
    rankings = options.rankings or (FEW_RANKINGS if options.short else RANKINGS)
    machine = describe_machine()
    with tempfile.TemporaryDirectory(prefix="rankscope-load-") as temporary:
        folder = options.folder or Path(temporary)
        loaded = load(folder / "loaded.db", seconds, options.rate, are_together=options.together)
        stored = look(folder / "stored.db", rankings)
    text = render_record(machine, loaded, stored)
    print(text)
    if loaded.wrong:
        print("\n".join(loaded.wrong[:20]), file=sys.stderr)
        return 1
    if options.short:
        return 0
    page = write_page("The service under load", text, RECORDS)
    print(f"Written to {page}", file=sys.stderr)
    misses = find_misses(loaded, stored)
    print("\n".join(misses), file=sys.stderr)
    return 1 if misses else 0


def load(path: Path, seconds: int, rate: float, *, are_together: bool) -> Loaded:
    """Send for a while, and verify all that was stored.

    Args:
        path: Where the store is made.
        seconds: For how long.
        rate: How many rankings a second.
        are_together: Whether labels are sent with the rankings, and not after them.
    """
    batches = round(rate * seconds / BATCH)
    key = _make_key(path, "ingest")
    with Monitor.open(f"sqlite:///{path}", PROJECT) as monitor:
        monitor.configure(CONFIGURATION)
    with serve(path) as service, watching(path, service):
        shown, told = send_all(service.port, key, batches, rate, are_together=are_together)
    size = path.stat().st_size
    evaluate(path)
    labelled = list_labelled(batches, are_together=are_together)
    compared, wrong = verify(path, batches, labelled)
    errors = shown.errors + told.errors
    wrong += [f"found {count} answers {what}" for what, count in errors.items()]
    return Loaded(rate, shown, told, service, size, compared, wrong, are_together)


def look(path: Path, rankings: int) -> Stored:
    """Fill a store, evaluate all of it, and look at its pages.

    Args:
        path: Where the store is made.
        rankings: How many rankings it has.
    """
    seconds = fill(path, rankings // BATCH)
    evaluation = evaluate(path)
    key = _make_key(path, "read")
    with serve(path) as service:
        asked = ask(service.port, key)
    return Stored(rankings, seconds, path.stat().st_size, evaluation, asked, service.peak)


def _make_key(path: Path, scope: Scope) -> str:
    key, shown = make_key(PROJECT, [scope], name="load", now=read_clock())
    with SQLiteStore(path) as store:
        store.add_key(key, "load")
    return shown.reveal()


if __name__ == "__main__":
    sys.exit(main())
