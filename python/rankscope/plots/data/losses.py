"""What nDCG lost, and to what: bars by run, by slice or over time."""

from __future__ import annotations

import math

from rankscope.errors import UsageError
from rankscope.records import record

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Mapping

    from rankscope.results.losses import Losses

UNDEFINED = "undefined"
"""The part of queries without an ideal."""
PARTS = ("retrieval", "truncation", "ordering", UNDEFINED)


@record(frozen=True, slots=True)
class LossBar:
    """What was lost by a run, in a slice, or at a time.

    Args:
        name: The run, the slice or the time.
        sizes: The size of each part; nothing where it cannot be seen.
    """

    name: str
    sizes: tuple[float | None, ...]

    @property
    def total(self) -> float:
        """All that was lost."""
        return math.fsum(size for size in self.sizes if size is not None)


@record(frozen=True, slots=True)
class LossBars:
    """What nDCG lost, stacked.

    Args:
        measure: The measure.
        by: What a bar is: `run`, the attribute of slices, or a time.
        bars: The bars, in order.
        parts: What each bar is stacked of, from the start of the pipeline to its end.
        is_over_time: Whether the bars follow each other in time, from left to right.
    """

    measure: str
    by: str
    bars: tuple[LossBar, ...]
    parts: tuple[str, ...] = PARTS
    is_over_time: bool = False

    @classmethod
    def of_runs(cls, losses: Mapping[str, Losses]) -> LossBars:
        """Take the means of runs, a bar a run.

        Args:
            losses: By run, what `Rankings.losses` gives.

        Raises:
            UsageError: They are not of one measure, or not of the same stages.

        Examples:
            >>> import rankscope as rs
            >>> rankings = rs.Rankings.from_run({"q": {"a": 1, "b": 1}}, {"q": {"c": 2, "a": 1}})
            >>> bars = LossBars.of_runs({"mine": rankings.losses("nDCG@10")}).bars
            >>> [round(size, 4) for size in bars[0].sizes]
            [0.3869, 0.0, 0.2263, 0.0]
        """
        first = next(iter(losses.values()))
        parts = _parts_of(first)
        for each in losses.values():
            if each.measure != first.measure or _parts_of(each) != parts:
                raise UsageError(
                    f"expected losses of {first.measure} by {', '.join(parts)}, found those of "
                    f"{each.measure} by {', '.join(_parts_of(each))}",
                    hint="draw them apart",
                    code="not_alike",
                )
        bars = tuple(
            LossBar(name, tuple(_see(each, part, each.means[part]) for part in parts))
            for name, each in losses.items()
        )
        return cls(str(first.measure), "run", bars, parts)

    @classmethod
    def of_slices(
        cls, losses: Losses, *, by: str | None = None, is_over_time: bool = False
    ) -> LossBars:
        """Take the means of the slices of one run, a bar a slice.

        Args:
            losses: What `Rankings.losses` gives with `by`.
            by: What a slice is; the name of the attribute if left out.
            is_over_time: Whether the slices are times; they are sorted then.

        Raises:
            UsageError: There are no slices.
        """
        slices = losses.slices
        if slices is None:
            raise UsageError(
                "expected losses with slices, found none",
                hint="write rankings.losses(nDCG @ 10, by='country')",
                code="no_slices",
            )
        parts = _parts_of(losses)
        attribute = slices.names[0]
        names = map(str, slices.column(attribute))
        columns = [slices.array(part).tolist() for part in parts]
        bars = [
            LossBar(
                name, tuple(_see(losses, part, size) for part, size in zip(parts, row, strict=True))
            )
            for name, *row in zip(names, *columns, strict=True)
        ]
        if is_over_time:
            bars.sort(key=lambda bar: bar.name)
        return cls(str(losses.measure), by or attribute, tuple(bars), parts, is_over_time)

    @property
    def unseen(self) -> tuple[str, ...]:
        """The parts that cannot be seen in any bar."""
        return tuple(
            part
            for at, part in enumerate(self.parts)
            if self.bars and all(bar.sizes[at] is None for bar in self.bars)
        )


def _parts_of(losses: Losses) -> tuple[str, ...]:
    return tuple(name for name in losses.means if name != "value")


def _see(losses: Losses, part: str, size: float) -> float | None:
    """Give a loss, or nothing where it cannot be seen."""
    return None if part == "retrieval" and not losses.observes_retrieval else size
