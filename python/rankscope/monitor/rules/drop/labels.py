"""Labels: whether a final day of a stream has as many of them as usual."""

from __future__ import annotations

from rankscope.deferred import np
from rankscope.records import record
from rankscope.stats.sequential.label_rate import fit_label_rate, judge_label_rate

TYPE_CHECKING = False
if TYPE_CHECKING:
    from rankscope.monitor.rules.stream import LabelDay, Labels
    from rankscope.stats.sequential.label_rate import LabelRate

MOST_DAYS = 28
"""The usual number of labels is that of so many days, those with an unusual one left out."""
LONG = 14
"""After so many unusual days on end, what was unusual is usual."""


@record(frozen=True, slots=True)
class LabelCheck:
    """Whether a day has as many labels as usual.

    Args:
        state: Whether it has fewer or more.
        days: The days by which the next one is judged.
        told: What is unusual, in a few words.
    """

    state: Labels
    days: tuple[LabelDay, ...]
    told: str = ""


def check_labels(days: tuple[LabelDay, ...], *, day: int, rankings: int, labels: int) -> LabelCheck:
    """Check whether a final day of a stream has as many labels as usual.

    Examples:
        >>> days = tuple((day, 100, 150, True) for day in range(28))
        >>> check_labels(days, day=28, rankings=100, labels=80).told
        '0.80 labels per ranking instead of 1.50'
        >>> check_labels(days, day=28, rankings=100, labels=140).state
        'usual'
    """
    if not rankings:
        return LabelCheck("usual", days)
    usual = _fit(days)
    if usual is None:
        return LabelCheck("usual", (*days, (day, rankings, labels, True))[-MOST_DAYS:])
    verdict = judge_label_rate(usual, labels=labels, rankings=rankings, day=day)
    is_usual = verdict.state == "usual"
    known = (*days, (day, rankings, labels, is_usual))[-MOST_DAYS:]
    if len(known) >= LONG and not any(one[3] for one in known[-LONG:]):
        known = tuple((one[0], one[1], one[2], True) for one in known[-LONG:])
    if is_usual:
        return LabelCheck("usual", known)
    told = f"{verdict.rate:.2f} labels per ranking instead of {verdict.expected:.2f}"
    return LabelCheck(verdict.state, known, told)


def _fit(days: tuple[LabelDay, ...]) -> LabelRate | None:

    usual = [day[:3] for day in days if day[3]]
    if not usual:
        return None
    number, rankings, labels = np.array(usual, dtype=np.int64).T
    return fit_label_rate(labels, rankings, number)
