"""Count false alarms and delays on simulated quarters: `python -m dev.simulate [--short]`."""

from __future__ import annotations

import argparse
import math
import sys

from dev.record import write_page
from dev.simulate.record import RECORDS, render_record
from dev.simulate.rules import RUN_LENGTH
from dev.simulate.searches import DAYS
from dev.simulate.trials import Outcome, simulate

RUNS = 300
FEW_RUNS = 20


def main() -> int:
    """Simulate, and hold false alarms against the promise.

    Returns:
        Exit status: 0 where the promise is kept, 1 where it is not.
    """
    parser = argparse.ArgumentParser(prog="python -m dev.simulate", description=__doc__)
    parser.add_argument("--short", action="store_true", help="few runs, and no record")
    options = parser.parse_args()
    runs = FEW_RUNS if options.short else RUNS
    outcomes = simulate(runs)
    text = render_record(outcomes, runs)
    print(text)
    if not options.short:
        page = write_page("False alarms and delays", text, RECORDS)
        print(f"Written to {page}", file=sys.stderr)
    broken = [each for each in outcomes if each.rule.startswith("e-SR") and breaks(each, runs)]
    for each in broken:
        print(
            f"{each.rule}: expected a false alarm in at most {DAYS / RUN_LENGTH:.0%} of the "
            f"quarters, found {each.false_share:.0%} of {runs}",
            file=sys.stderr,
        )
    return 1 if broken else 0


def breaks(outcome: Outcome, runs: int) -> bool:
    """Say whether there are more false alarms than chance would have while the promise is kept.

    Args:
        outcome: What a rule did.
        runs: In how many quarters.

    Returns:
        Whether its share is more than three standard errors above what is promised.
    """
    bound = DAYS / RUN_LENGTH
    return outcome.false_share > bound + 3 * math.sqrt(bound * (1 - bound) / runs)


if __name__ == "__main__":
    sys.exit(main())
