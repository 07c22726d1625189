"""Write what was found, for readers."""

from __future__ import annotations

from typing import TYPE_CHECKING

from dev.environments import ROOT
from dev.simulate.rules import RUN_LENGTH
from dev.simulate.searches import (
    A_DAY,
    BASELINE_DAYS,
    CHANGE_DAY,
    CHANGES,
    DAYS,
    QUERIES,
    SEASON,
    SLICES,
)
from dev.simulate.trials import SEED

if TYPE_CHECKING:
    from dev.simulate.trials import Delay, Outcome

RECORDS = ROOT / "dev" / "simulate" / "records"


def render_record(outcomes: list[Outcome], runs: int) -> str:
    """Set what was found as Markdown.

    Args:
        outcomes: What each rule did.
        runs: In how many quarters.

    Returns:
        What was simulated, a table of false alarms, and one of delays.
    """
    bound = DAYS / RUN_LENGTH
    swing = SEASON.max() - SEASON.min()
    head = (
        f"{runs:,} quarters of {DAYS} days with {A_DAY} searches a day, after a baseline of "
        f"{BASELINE_DAYS} days. {QUERIES:,} queries, of which the head comes back every day; a "
        "query has a quality of its own. nDCG has mass at 0 and at 1; weekends are "
        f"{swing:.3f} worse. The change comes on day {CHANGE_DAY + 1}. Seed {SEED}."
    )
    ours = (
        f"e-SR sees the means of queries, promises {RUN_LENGTH:,.0f} days between false alarms, "
        f"and so a false alarm in at most {bound:.0%} of the quarters. Its floor is the lower end "
        "of a t interval of 95 % around the mean of the baseline, less the tolerance. It begins "
        "anew after an alarm."
    )
    delays = (
        "In half of the runs, and in nine of ten; the day of the change counts as 1. In brackets "
        f"the share of runs with an alarm within {DAYS - CHANGE_DAY} days, where it is not all. A "
        "rule that often alarms without a reason is soon right, too; a fall within the tolerance "
        f"is none. The slice is one of {SLICES}, so that all searches together fall by 0.035."
    )
    by_rule = [
        f"| {each.rule} | {each.false_share:.1%} | {each.false_alarms:.2f} |" for each in outcomes
    ]
    by_change = [
        f"| {each.rule} | {' | '.join(map(_show, each.delays.values()))} |" for each in outcomes
    ]
    lines = [
        *(head, "", ours, ""),
        *("## Without a change", "", "Alarms on days in a row are one.", ""),
        "| rule | quarters with a false alarm | false alarms a quarter |",
        *("|---|--:|--:|", *by_rule, ""),
        *("## Days until the alarm", "", delays, ""),
        f"| rule | {' | '.join(change.name for change in CHANGES)} |",
        *(f"|---|{'--:|' * len(CHANGES)}", *by_change, ""),
    ]
    return "\n".join(lines)


def _show(delay: Delay) -> str:
    half, most = ("–" if days is None else str(days) for days in (delay.half, delay.most))
    share = "" if delay.found == 1 else f" ({delay.found:.0%})"
    return f"{half}, {most}{share}"
