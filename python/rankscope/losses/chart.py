"""The data of a plot of losses by run, by slice or over time."""

from __future__ import annotations

import math

from rankscope.errors import UsageError
from rankscope.records import record

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Mapping

    from rankscope.losses.result import Losses

UNDEFINED = "undefined"
"""The part of queries without relevant documents."""
PARTS = ("retrieval", "truncation", "ordering", UNDEFINED)


@record(frozen=True, slots=True)
class LossBar:
    """The losses of a run, a slice or a time span.

    Args:
        name: The run, the slice or the time span.
        sizes: The size of each part; `None` if it isn't observable.
    """

    name: str
    sizes: tuple[float | None, ...]

    @property
    def total(self) -> float:
        """The total loss."""
        return math.fsum(size for size in self.sizes if size is not None)


@record(frozen=True, slots=True)
class LossBars:
    """The data of a plot of losses as stacked bars.

    Args:
        measure: The measure.
        by: What each bar shows: `run`, or the attribute of slices.
        bars: The bars, in order.
        parts: The parts of each bar, from the start of the pipeline to its end.
        is_over_time: Whether the bars are time spans, drawn from left to right.
    """

    measure: str
    by: str
    bars: tuple[LossBar, ...]
    parts: tuple[str, ...] = PARTS
    is_over_time: bool = False

    @classmethod
    def of_runs(cls, losses: Mapping[str, Losses]) -> LossBars:
        """Return the data for several runs, with one bar per run.

        Args:
            losses: The result of `Rankings.losses` for each run.

        Raises:
            UsageError: The results are for different measures or stages.

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
                    f"expected losses of {first.measure} by {', '.join(parts)}, found losses of "
                    f"{each.measure} by {', '.join(_parts_of(each))}",
                    hint="draw them in separate plots",
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
        """Return the data for the slices of one run, with one bar per slice.

        Args:
            losses: The result of `Rankings.losses` with `by`.
            by: What a slice is (default: the name of the attribute).
            is_over_time: Whether the slices are time spans, which are then sorted by name.

        Raises:
            UsageError: The result has no slices.
        """
        slices = losses.slices
        if slices is None:
            raise UsageError(
                "the losses have no slices",
                hint="write rankings.losses(nDCG @ 10, by='country')",
                code="no_slices",
            )
        parts = _parts_of(losses)
        attribute = ", ".join(slices.attributes)
        names = slices.labels
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
        """The parts that aren't observable in any bar."""
        return tuple(
            part
            for at, part in enumerate(self.parts)
            if self.bars and all(bar.sizes[at] is None for bar in self.bars)
        )


def _parts_of(losses: Losses) -> tuple[str, ...]:
    return tuple(name for name in losses.means if name != "value")


def _see(losses: Losses, part: str, size: float) -> float | None:
    """Return a loss, or `None` if it isn't observable."""
    return None if part == "retrieval" and not losses.observes_retrieval else size
