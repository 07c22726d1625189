"""The data of plots: a measure by cutoff, and precision by recall."""

from __future__ import annotations

from rankscope.errors import MeasureError
from rankscope.measures import IPrec
from rankscope.records import record

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Mapping

    from rankscope._evaluate.evaluation import Evaluation
    from rankscope.measures import Measure


@record(frozen=True, slots=True)
class CutoffLine:
    """The line of a run.

    Args:
        run: The name of the run.
        values: The mean at each cutoff.
        lower: The lower end of the interval at each cutoff; empty without intervals.
        upper: The upper end of the interval at each cutoff; empty without intervals.
    """

    run: str
    values: tuple[float, ...]
    lower: tuple[float, ...] = ()
    upper: tuple[float, ...] = ()


@record(frozen=True, slots=True)
class CutoffCurve:
    """The data of a plot of a measure by cutoff.

    Args:
        measure: The measure without its cutoff, such as `nDCG`.
        cutoffs: The cutoffs, in ascending order.
        lines: The line of each run.
        level: The confidence level of the intervals, if known.
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
        """Return the data from evaluations at several cutoffs.

        Args:
            evaluations: The result of `evaluate` for each run, with measures such as
                `[nDCG @ 1, nDCG @ 5, nDCG @ 10]`.
            measure: The measure, if the results have several. Its cutoff doesn't matter.
            level: The confidence level of the intervals, to show on the plot.

        Raises:
            MeasureError: The first result doesn't have the measure at two cutoffs or more, or
                another result has different ones.

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


@record(frozen=True, slots=True)
class PrecisionLine:
    """The line of a run.

    Args:
        run: The name of the run.
        precision: The mean interpolated precision at each recall level.
    """

    run: str
    precision: tuple[float, ...]


@record(frozen=True, slots=True)
class PrecisionRecall:
    """The data of a precision-recall plot.

    Args:
        recall: The recall levels, in ascending order from 0 to 1.
        lines: The line of each run.
    """

    recall: tuple[float, ...]
    lines: tuple[PrecisionLine, ...]

    @classmethod
    def of(cls, evaluations: Mapping[str, Evaluation]) -> PrecisionRecall:
        """Return the data from evaluations of interpolated precision.

        Args:
            evaluations: The result of `evaluate` for each run, with measures such as
                `[IPrec @ (tenth / 10) for tenth in range(11)]`.

        Raises:
            MeasureError: The first result has fewer than two levels, or another lacks one of them.

        Examples:
            >>> import rankscope as rs
            >>> wanted = [rs.IPrec @ recall for recall in (0, 0.5, 1)]
            >>> found = rs.evaluate({"q": {"a": 1, "c": 1}}, {"q": {"a": 2, "b": 1}}, wanted)
            >>> PrecisionRecall.of({"mine": found}).lines[0].precision
            (1.0, 1.0, 0.0)
        """
        first = next(iter(evaluations.values()))
        levels = {
            float(str(each.parameters["recall"])): each
            for each in first.measures
            if each.row is IPrec.row
        }
        if len(levels) < 2:
            raise MeasureError(
                f"expected interpolated precision at several levels, found {', '.join(first)}",
                hint="evaluate [IPrec @ (tenth / 10) for tenth in range(11)]",
                code="not_evaluated",
            )
        recall = sorted(levels)
        lines = tuple(
            PrecisionLine(run, tuple(evaluation[levels[level]] for level in recall))
            for run, evaluation in evaluations.items()
        )
        return cls(tuple(recall), lines)
