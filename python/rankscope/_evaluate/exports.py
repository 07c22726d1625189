"""What evaluations of one run and of several leave as: data frames, and JSON documents."""

from __future__ import annotations

from abc import abstractmethod

from rankscope.output import exports
from rankscope.output.documents import write_json
from rankscope.output.exports import Tabular
from rankscope.output.layout.writers import Written
from rankscope.output.printed import Printed

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Mapping
    from typing import Literal, TypeAlias

    import pandas as pd
    import polars as pl
    import pyarrow as pa

    from rankscope._evaluate.evaluation import Evaluation
    from rankscope._evaluate.slices import Slices
    from rankscope.output.estimate import Estimate
    from rankscope.output.exports import ColumnValues, Shape

    Names: TypeAlias = Literal["canonical", "plain"]


class Exported(Printed, Written, Tabular):
    """The results of evaluating runs, as frames and documents."""

    @abstractmethod
    def _rows(self, names: Names, shape: Shape | None) -> Mapping[str, ColumnValues]:
        """Return the columns of a frame."""

    @abstractmethod
    def _document(self, *, by_query: bool) -> dict[str, object]:
        """Return what the JSON document holds."""

    def _tabulate(self) -> Mapping[str, ColumnValues]:
        return self._rows("canonical", None)

    def to_pandas(self, names: Names = "canonical", *, shape: Shape | None = None) -> pd.DataFrame:
        """Return the values of queries, or the means of several runs, as a pandas data frame.

        Args:
            names: `canonical` (`nDCG@10`) or `plain` (`ndcg_at_10`).
            shape: `wide` for one row per query and one column per measure; `long` for one row per
                query and measure, in the columns `measure` and `value`. Several runs have a column
                `run`, and by default one row each, with their means; one run is `wide` by default.
                The column of queries has the name and the type of the input. If you asked for
                slices, their attributes follow.

        Raises:
            UsageError: pandas is not installed, or an argument isn't one of its choices.
        """
        return exports.to_pandas(self._rows(names, shape))

    def to_polars(self, names: Names = "canonical", *, shape: Shape | None = None) -> pl.DataFrame:
        """Return the values of queries, or the means of several runs, as a Polars data frame.

        Args:
            names: As in `to_pandas`.
            shape: As in `to_pandas`.

        Raises:
            UsageError: Polars is not installed, or an argument isn't one of its choices.
        """
        return exports.to_polars(self._rows(names, shape))

    def to_arrow(self, names: Names = "canonical", *, shape: Shape | None = None) -> pa.Table:
        """Return the values of queries, or the means of several runs, as an Arrow table.

        Args:
            names: As in `to_pandas`.
            shape: As in `to_pandas`.

        Raises:
            UsageError: pyarrow is not installed, or an argument isn't one of its choices.
        """
        return exports.to_arrow(self._rows(names, shape))

    def to_json(self, *, per_query: bool = False, indent: int | None = 2) -> str:
        """Return means, counts and settings as JSON, as `rankscope eval --json` prints them.

        Args:
            per_query: Whether to include the values of each query.
            indent: As in other results: the blanks of each level, or `None` for one line.
        """
        return write_json(self._document(by_query=per_query), indent=indent)

    __repr__ = Printed.__str__


def describe_evaluation(evaluation: Evaluation, *, by_query: bool) -> dict[str, object]:
    """Return the means with all that belongs to them, and the values of queries if asked for."""
    document: dict[str, object] = {
        "measures": dict(evaluation),
        "denominators": evaluation.denominators,
        **({"intervals": evaluation.intervals} if evaluation.intervals else {}),
        **({"estimates": _describe(evaluation.estimates)} if evaluation.estimates else {}),
        "counts": evaluation.counts.to_dict(),
        "policy": evaluation.policy.to_dict(),
        **({"convention": evaluation.convention.address} if evaluation.convention else {}),
        "diagnostics": evaluation.diagnostics,
    }
    if evaluation.slices is not None:
        document["slices"] = _list_slices(evaluation.slices)
    if by_query:
        values = evaluation.to_dict().values()
        document["per_query"] = dict(zip(evaluation.query_texts, values, strict=True))
    return document


def _list_slices(slices: Slices) -> object:
    """Return slices by their value; as a list of rows if there are several attributes."""
    if len(slices.attributes) == 1:
        return slices.to_dict()
    return [dict(zip(slices.names, row, strict=True)) for row in write_slices(slices)]


def write_slices(slices: Slices) -> list[tuple[str | int | float | None, ...]]:
    """Return the rows of slices with their values as text, the same from all formats of files."""
    first = len(slices.attributes)
    pairs = zip(slices.texts(), slices.rows(), strict=True)
    return [(*texts, *row[first:]) for texts, row in pairs]


def _describe(estimates: Mapping[str, Estimate]) -> dict[str, dict[str, object]]:
    """Return how each interval was made, or why there is none."""
    fields = ("method", "level", "n", "clusters", "effective", "reason")
    return {
        name: {field: getattr(each, field) for field in fields} for name, each in estimates.items()
    }
