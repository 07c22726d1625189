"""The simulated events, when they arrive, and the faults planted in them."""

from __future__ import annotations

from rankscope.monitor.events.limits import HOUR, SECOND
from rankscope.records import record

TYPE_CHECKING = False
if TYPE_CHECKING:
    from typing import Any, Literal, TypeAlias

    from rankscope.monitor.definition.definition import Definition

    Route: TypeAlias = Literal["rankings", "labels"]
    Fault: TypeAlias = Literal[
        "", "duplicate", "conflict", "late", "unshown", "orphan", "behind", "rejected"
    ]

MILLISECOND = SECOND // 1000

POSITIVE = {"click": 1, "favourite": 2, "buy": 3}
"""The feedback of listeners, and what it adds to the grade of a track."""

WINDOW = 48 * HOUR
"""How long after a search feedback counts."""

ATTRIBUTES = ("country", "device", "query_type")
DEVICE = "tv"
"""Where the new version swaps the first and the last track."""

MODEL = "music-search"
VERSIONS = ("3", "4")
"""The old version and the released one."""

EXAMPLE = "sing along"
"""A query whose lists have the same grades each time; it is asked on that device only."""

EXAMPLE_GRADES = (6, 5, 1, 2, 0)
"""Those grades, in the order in which the version in use shows them."""


@record(frozen=True, slots=True)
class Delivery:
    """An event as it arrives.

    Args:
        arrives: When, in microseconds since 1970 in UTC.
        route: What it is sent as.
        event: Its fields.
        fault: What is wrong with it: it is a `duplicate`; a `conflict`, with the id of another
            event; it is of something that happened `late`, after the attribution window; of a track
            that was `unshown`; an `orphan`, of a ranking that never arrives; it lies `behind`, and
            arrives after its day was looked at; or it is to be `rejected`.
        code: Why it is to be rejected.
    """

    arrives: int
    route: Route
    event: dict[str, Any]
    fault: Fault = ""
    code: str = ""


@record(frozen=True, slots=True, kw_only=True)
class Story:
    """Events in the order in which they arrive.

    Args:
        seed: What it was made from.
        start: When production begins, in microseconds since 1970 in UTC.
        release: When the new version is released.
        end: When the story ends.
        validation: The set that was judged before, as rankings with grades.
        deliveries: What arrives between the start and the end.
    """

    seed: int
    start: int
    release: int
    end: int
    validation: tuple[dict[str, Any], ...]
    deliveries: tuple[Delivery, ...]


def define_story() -> Definition:
    """Return the definition of the values of the story."""
    from rankscope.monitor.definition.definition import define  # noqa: PLC0415 - the records need no measures

    return define(
        measures=("nDCG@1", "nDCG@5", "nDCG@10"), positive=POSITIVE, window=WINDOW // SECOND
    )
