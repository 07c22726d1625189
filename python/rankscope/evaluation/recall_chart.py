"""The data of a precision-recall plot."""

from __future__ import annotations

from rankscope.errors import MeasureError
from rankscope.measures import IPrec
from rankscope.records import record

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Mapping

    from rankscope.evaluation.evaluation import Evaluation


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
