"""Simulate what rankscope says where the truth is known, and count the errors.

`python -m dev.simulate [--about PAGE] [--only TEXT] [--short]`
"""

from __future__ import annotations

import argparse
import math
import os
import sys
from concurrent.futures import ProcessPoolExecutor, as_completed
from typing import TYPE_CHECKING

from dev.simulate.alerts import ALERTS
from dev.simulate.clicks.page import CLICKS
from dev.simulate.compare.page import COMPARISONS
from dev.simulate.early.page import EARLY
from dev.simulate.expected import EXPECTED
from dev.simulate.record import Record

if TYPE_CHECKING:
    from dev.simulate.case import Case, Row

PAGES = {page.about: page for page in (ALERTS, COMPARISONS, CLICKS, EARLY, EXPECTED)}


def main() -> int:
    """Simulate, and compare what was found with what is required.

    Returns:
        Exit status: 0 if every case is as required, 1 if one is not.
    """
    parser = argparse.ArgumentParser(prog="python -m dev.simulate", description=__doc__)
    parser.add_argument("--short", action="store_true", help="few runs of some cases, no record")
    parser.add_argument("--times", type=float, default=1.0, help="multiplies the number of runs")
    parser.add_argument("--about", choices=PAGES, help="one record (default: all)")
    parser.add_argument(
        "--only", metavar="TEXT", help="cases whose name has it; the record keeps the others' rows"
    )
    options = parser.parse_args()
    wanted: list[tuple[str, Case, int]] = []
    for about, page in PAGES.items():
        for case in page.list_cases() if options.about in (None, about) else ():
            runs = case.short if options.short else math.ceil(case.runs * options.times)
            if runs and (options.only is None or options.only in case.name):
                wanted.append((about, case, runs))
    records = {
        about: Record(PAGES[about]) if options.only is None else Record.read(PAGES[about])
        for about, _, _ in wanted
    }
    rows: list[Row] = []
    with ProcessPoolExecutor(os.cpu_count()) as pool:
        jobs = {
            pool.submit(_run, about, case.name, runs): (about, case.name)
            for about, case, runs in wanted
        }
        for job in as_completed(jobs):
            for row in job.result():
                rows.append(row)
                problem = [f"NOT AS REQUIRED: {row.problem}"] if row.problem else []
                print(*row.cells, *problem, sep=" | ", flush=True)
            if not options.short:
                # After each case, so that a run that is stopped leaves a record.
                about, name = jobs[job]
                records[about].cases[name] = job.result()
                records[about].write()
    broken = [row for row in rows if row.problem]
    for row in broken:
        print(f"{row.cells[0]}: not as required: {row.problem}", file=sys.stderr)
    return 1 if broken else 0


def _run(about: str, name: str, runs: int) -> list[Row]:
    """Simulate a case, given its name and the number of runs."""
    (case,) = (each for each in PAGES[about].list_cases() if each.name == name)
    return case.rows(runs)


if __name__ == "__main__":
    sys.exit(main())
