"""What nDCG lost, and to what: bars by run, by slice or over time."""

from __future__ import annotations

from rankscope.records import record

LOSSES = ("retrieval", "truncation", "ordering", "undefined")
"""The parts of a bar, from the start of the pipeline to its end."""


@record(frozen=True, slots=True)
class LossBar:
    """What was lost by a run, in a slice, or at a time.

    Args:
        name: The run, the slice or the time.
        retrieval: What documents that were not retrieved cost; nothing where that cannot be seen.
        truncation: What documents retrieved below the cutoff cost.
        ordering: What the order down to the cutoff cost.
        undefined: What queries without an ideal count as lost.
    """

    name: str
    retrieval: float | None
    truncation: float
    ordering: float
    undefined: float = 0.0

    @property
    def total(self) -> float:
        """All that was lost: 1 less the value."""
        return sum(getattr(self, name) or 0.0 for name in LOSSES)


@record(frozen=True, slots=True)
class LossBars:
    """What nDCG lost, stacked.

    Args:
        measure: The measure.
        by: What a bar is: `run`, the attribute of slices, or a time.
        bars: The bars, in order.
        is_over_time: Whether the bars follow each other in time, from left to right.
    """

    measure: str
    by: str
    bars: tuple[LossBar, ...]
    is_over_time: bool = False

    @property
    def observes_retrieval(self) -> bool:
        """Whether it can be seen what was not retrieved, in any bar."""
        return any(bar.retrieval is not None for bar in self.bars)
