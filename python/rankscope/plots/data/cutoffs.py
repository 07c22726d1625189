"""A measure by cutoff, with intervals, for one or several runs."""

from __future__ import annotations

from rankscope.errors import MeasureError
from rankscope.records import record

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Mapping

    from rankscope.measures import Measure
    from rankscope.results import Evaluation


@record(frozen=True, slots=True)
class CutoffLine:
    """A run.

    Args:
        run: What it is called.
        values: The mean at each cutoff.
        lower: The lower end of the interval at each cutoff; empty where there are none.
        upper: The upper end.
    """

    run: str
    values: tuple[float, ...]
    lower: tuple[float, ...] = ()
    upper: tuple[float, ...] = ()


@record(frozen=True, slots=True)
class CutoffCurve:
    """A measure by cutoff.

    Args:
        measure: The measure without its cutoff, such as `nDCG`.
        cutoffs: The cutoffs, ascending.
        lines: The runs.
        level: The probability with which the intervals cover, if it is known.
    """

    measure: str
    cutoffs: tuple[int, ...]
    lines: tuple[CutoffLine, ...]
    level: float | None = None

    @classmethod
    def of(
        cls,
        evaluations: Mapping[str, Evaluation],
        measure: Measure | None = None,
        *,
        level: float | None = None,
    ) -> CutoffCurve:
        """Take them from evaluations at several cutoffs.

        Args:
            evaluations: By run, what `evaluate` gives for such as
                `[nDCG @ 1, nDCG @ 5, nDCG @ 10]`.
            measure: The measure, where they have several; its cutoff does not matter.
            level: The level that was asked for, to be written on the plot.

        Raises:
            MeasureError: The first evaluation has no such measure with two cutoffs, or another has
                other ones.

        Examples:
            >>> import rankscope as rs
            >>> wanted = [rs.nDCG @ k for k in (1, 2)]
            >>> found = rs.evaluate({"q": {"a": 1}}, {"q": {"b": 2, "a": 1}}, wanted)
            >>> CutoffCurve.of({"mine": found}).lines[0].values
            (0.0, 0.6309297535714575)
        """
        first = next(iter(evaluations.values()))
        uncut = {each: each(k=None) for each in first.measures if each.k is not None}
        wanted = next(iter(uncut.values()), None) if measure is None else measure(k=None)
        found = {each.k or 0: each for each in uncut if uncut[each] == wanted}
        if len(found) < 2:
            raise MeasureError(
                f"expected a measure at several cutoffs, found {', '.join(first)}",
                hint="evaluate [nDCG @ k for k in (1, 3, 5, 10)]",
                code="not_evaluated",
            )
        cutoffs = sorted(found)
        lines = tuple(
            CutoffLine(
                run,
                tuple(evaluation[found[k]] for k in cutoffs),
                *(
                    tuple(evaluation.intervals[found[k].name][end] for k in cutoffs)
                    for end in (0, 1)
                    if evaluation.intervals
                ),
            )
            for run, evaluation in evaluations.items()
        )
        return cls(str(wanted), tuple(cutoffs), lines, level)
