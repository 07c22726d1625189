"""Baselines by the words that people choose them by, and what is said of any."""

from __future__ import annotations

from rankscope.monitor.configuration import BaselineChoice
from rankscope.monitor.times import format_time

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Mapping

BASELINES: Mapping[str, BaselineChoice | None] = {
    "validation": BaselineChoice(),
    "training": BaselineChoice(environment="training"),
    "version": BaselineChoice(kind="version"),
    "none": None,
}
"""Those that need no more than a word; others name a period, a model or a version."""


def describe_baseline(choice: BaselineChoice | None) -> str:
    """Say what values are held against.

    Examples:
        >>> describe_baseline(BASELINES["validation"]), describe_baseline(None)
        ('validation set', 'none')
        >>> describe_baseline(BaselineChoice(model="search", version="3"))
        'validation set of search 3'
    """
    if choice is None:
        return "none"
    if choice.kind == "version":
        what = "the version before the newest"
    elif choice.since is not None and choice.until is not None:
        what = f"{format_time(choice.since)} to {format_time(choice.until)}"
    else:
        what = f"{choice.environment} set"
    who = " ".join(filter(None, (choice.model, choice.version)))
    return f"{what} of {who}" if who else what
