"""Count false alarms and delays in simulated quarters: `python -m dev.simulate [--short]`."""

from __future__ import annotations

import argparse
import math
import os
import sys
from concurrent.futures import ProcessPoolExecutor, as_completed

from dev.simulate.cases import Row, list_cases
from dev.simulate.record import Record


def main() -> int:
    """Simulate, and compare what was found with what is required.

    Returns:
        Exit status: 0 if every case is as required, 1 if one is not.
    """
    parser = argparse.ArgumentParser(prog="python -m dev.simulate", description=__doc__)
    parser.add_argument("--short", action="store_true", help="few runs of some cases, no record")
    parser.add_argument("--times", type=float, default=1.0, help="multiplies the number of runs")
    parser.add_argument(
        "--only", metavar="TEXT", help="cases whose name has it; the record keeps the others' rows"
    )
    options = parser.parse_args()
    wanted = []
    for place, case in enumerate(list_cases()):
        runs = case.short if options.short else math.ceil(case.runs * options.times)
        if runs and (options.only is None or options.only in case.name):
            wanted.append((place, case.name, runs))
    rows: list[Row] = []
    with ProcessPoolExecutor(os.cpu_count()) as pool:
        jobs = [pool.submit(_run, place, runs) for place, _, runs in wanted]
        named = {job: name for job, (_, name, _) in zip(jobs, wanted, strict=True)}
        record = Record() if options.only is None else Record.read()
        for job in as_completed(jobs):
            for row in job.result():
                rows.append(row)
                problem = [f"NOT AS REQUIRED: {row.problem}"] if row.problem else []
                print(*row.cells, *problem, sep=" | ", flush=True)
            if not options.short:
                # After each case, so that a run that is stopped leaves a record.
                record.cases[named[job]] = job.result()
                record.write([case.name for case in list_cases()])
    broken = [row for row in rows if row.problem]
    for row in broken:
        print(f"{row.cells[0]}: not as required: {row.problem}", file=sys.stderr)
    return 1 if broken else 0


def _run(place: int, runs: int) -> list[Row]:
    """Simulate a case, given its place and the number of runs."""
    return list(list_cases())[place].rows(runs)


if __name__ == "__main__":
    sys.exit(main())
