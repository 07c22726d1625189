"""Compare columns of scores in one table, or values that were computed elsewhere."""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence

from rankscope.comparison.compute import compare_columns, compare_rankings, name_anew
from rankscope.comparison.estimates import MeasureValues
from rankscope.comparison.query_axis import Axis
from rankscope.deferred import np
from rankscope.engine.items import read_items_for
from rankscope.engine.query_values import check_cluster_column
from rankscope.engine.requests import read_policy
from rankscope.errors import UsageError
from rankscope.evaluation.rankings import Rankings, rank_rows
from rankscope.inputs.query_table import read_query_table
from rankscope.inputs.recognition import recognise_table
from rankscope.inputs.tables import JoinedColumns
from rankscope.measures.direction import DIRECTIONS
from rankscope.settings.policy import Policy, check_choice, ties_of
from rankscope.settings.reading import Reading

TYPE_CHECKING = False
if TYPE_CHECKING:
    from typing import Literal, Unpack

    from numpy.typing import NDArray

    from rankscope.comparison.compute import Testing
    from rankscope.comparison.query_axis import Attribute
    from rankscope.comparison.result import Comparison
    from rankscope.engine.requests import Measures
    from rankscope.measures.direction import Direction
    from rankscope.settings.policy import Duplicates, Ties
    from rankscope.typing import HistoryLike


def compare_table(
    table: object,
    measures: Measures,
    *,
    scores: Sequence[str],
    query: str | None = None,
    doc: str | None = None,
    relevance: str | None = None,
    names: Sequence[str] | None = None,
    by: str | Sequence[str] | None = None,
    cluster: str | None = None,
    ties: Ties = "average",
    bounds: bool | None = None,
    policy: Policy | str | None = None,
    history: HistoryLike | None = None,
    items: object = None,
    catalogue: object = None,
    duplicates: Duplicates = "error",
    encoding: Literal["utf-8", "latin-1"] = "utf-8",
    **testing: Unpack[Testing],
) -> Comparison:
    """Compare the score columns of a table, as if each were a run.

    Args:
        table: As in `evaluate_table`.
        measures: One or more measures, or their names.
        scores: The columns of scores, two or more. Larger scores rank first; change the sign of
            ranks.
        query: As in `evaluate_table`.
        doc: As in `evaluate_table`.
        relevance: As in `evaluate_table`.
        names: Short names of the runs (default: those of the columns).
        by: The columns of slices.
        cluster: The column of what queries depend within, as in `compare`.
        ties: As in `evaluate_table`.
        bounds: As in `compare`.
        policy: As in `compare`.
        history: As in `evaluate`, for measures of recommended items.
        items: As in `evaluate`.
        catalogue: As in `evaluate`.
        duplicates: As in `evaluate_table`.
        encoding: As in `evaluate_table`.
        **testing: As in `compare`.

    Raises:
        UsageError: An argument is invalid, or a column of scores holds ranks.
        InputError: A column is missing, or holds invalid values.
        FileError: A file can't be read.

    Examples:
        >>> log = {
        ...     "query_id": [n // 2 for n in range(40)],
        ...     "gains": [1, 0] * 20,
        ...     "old": [0.2, 0.4] * 20,
        ...     "new": [0.9, 0.1] * 20,
        ... }
        >>> found = compare_table(log, "nDCG@10", scores=["old", "new"], relevance="gains")
        >>> compared = found["nDCG@10", "new"]
        >>> round(compared.difference, 4), compared.wins
        (0.3691, 20)
    """
    if isinstance(scores, str) or len(scores) < 2:
        raise UsageError(
            f"expected two or more columns of scores, found {scores!r}",
            hint="write scores=['old', 'new'], or --scores old,new",
            code="bad_parameter",
        )
    check_cluster_column(cluster)
    slicing = [by] if isinstance(by, str) else [*(by or [])]
    attributes = [*slicing, *([cluster] if cluster is not None else [])]
    chosen = read_policy(policy, Policy(ties=ties))
    reading = Reading.read(duplicates=duplicates, encoding=encoding)
    known = read_items_for(measures, history=history, items=items, catalogue=catalogue)
    own = {"query": query, "doc": doc, "relevance": relevance}
    columns = list(dict.fromkeys(attributes))
    rankings = {
        score: rank_rows(
            Rankings,
            recognise_table(table),
            JoinedColumns({**own, "score": score}, columns),
            ties_of(chosen),
            reading,
        )
        for score in scores
    }
    for score, each in rankings.items():
        _refuse_ranks(score, each)
    return compare_rankings(
        name_anew(rankings, names),
        measures,
        reading,
        by=by,
        cluster=cluster,
        bounds=bounds,
        policy=chosen,
        known=known,
        testing=testing,
    )


def _refuse_ranks(name: str, rankings: Rankings) -> None:
    """Refuse scores that are ranks by their name and their values: the best would come last."""
    if not {"rank", "ranks", "position", "pos"} & {*name.lower().split("_")}:
        return
    starts, sizes = rankings.offsets[:-1], np.diff(rankings.offsets)
    starts, sizes, scores = starts[sizes > 0], sizes[sizes > 0], rankings.scores
    if not (sizes > 1).any():
        return
    lowest, highest = np.minimum.reduceat(scores, starts), np.maximum.reduceat(scores, starts)
    if (lowest == 1).all() and (highest == sizes).all():
        raise UsageError(
            f"the column {name!r} has ranks, but larger scores rank first",
            hint=f"change their sign: table[{name!r}] = -table[{name!r}]",
            code="ranks_as_scores",
        )


def compare_values(
    values: object,
    *,
    runs: Sequence[str] | None = None,
    measure: str = "value",
    range: tuple[float, float] | None = (0.0, 1.0),  # noqa: A002 - what the measure has
    better: Direction = "higher",
    query: str | None = None,
    by: Attribute | Sequence[str] | None = None,
    cluster: Attribute | None = None,
    attributes: object = None,
    encoding: str = "utf-8",
    **testing: Unpack[Testing],
) -> Comparison:
    """Compare runs by a table that has the value of each query under each run.

    Args:
        values: A table with one row per query and one column per run (a path, a data frame, or a
            mapping of column name to values; without a column of queries, each row is one), or a
            mapping of run to the values of its queries:
            `{"old": {"q1": 0.5, …}, "new": {"q1": 0.7, …}}`. Null and NaN mean no value.
        runs: The columns of the runs (default: all columns that aren't the query or an attribute).
        measure: What the values are called.
        range: The lowest and the highest value that the measure can have, `None` if it has no
            bounds. Intervals never leave it.
        better: Which values are better: `"higher"`, `"lower"`, or `"neither"`.
        query: The column of queries (default: found by its usual names).
        by: As in `compare`. A column of the table, too.
        cluster: As in `compare`. A column of the table, too.
        attributes: As in `compare`.
        encoding: The encoding of text files.
        **testing: As in `compare`.

    Raises:
        UsageError: An argument is invalid.
        InputError: A column is missing, holds invalid values, or a value is out of range.
        FileError: A file can't be read.

    Examples:
        >>> values = {"query_id": [f"q{n}" for n in range(12)], "old": [0.2, 0.4, 0.6] * 4}
        >>> values["new"] = [value + 0.1 for value in values["old"]]
        >>> values["user"] = ["ann", "bob", "cat", "dan"] * 3
        >>> found = compare_values(values, measure="nDCG@10", cluster="user")
        >>> compared = found["nDCG@10", "new"]
        >>> round(compared.difference, 4), compared.clusters
        (0.1, 4)
    """
    check_choice("better", better, DIRECTIONS)
    reading = Reading.read(encoding=encoding)
    named = [each for each in (by, cluster) if isinstance(each, str)]
    named += [*by] if isinstance(by, Sequence) and not isinstance(by, str) else []
    if isinstance(values, Mapping) and all(isinstance(each, Mapping) for each in values.values()):
        query_ids, columns = _align(values)
        axis = Axis.read(query_ids, attributes, by, cluster, reading)
    else:
        own = [] if attributes is not None else list(dict.fromkeys(named))
        table = read_query_table(values, reading, query=query, texts=own, numbers=runs)
        query_ids, columns = table.query_ids, dict(table.numbers)
        held = table if own else attributes
        axis = Axis.read(query_ids, held, by, cluster, reading)
    if len(columns) < 2:
        raise UsageError(
            f"expected the values of two or more runs, found {', '.join(columns) or 'none'}",
            hint="give one column of values for each run: runs=['old', 'new']",
            code="bad_parameter",
        )
    _check_lengths(columns)
    low, high = _check_range(columns, range)

    made = MeasureValues(
        name=measure,
        low=low,
        high=high,
        values=np.stack([*columns.values()])[:, axis.order],
        direction=better,
    )
    return compare_columns([made], runs=tuple(columns), axis=axis, testing=testing, policy=None)


def _align(
    values: Mapping[str, Mapping[str, float]],
) -> tuple[list[str], dict[str, NDArray[np.float64]]]:
    """Return all queries, and the values of each run in their order."""
    query_ids = list(dict.fromkeys(str(query) for of in values.values() for query in of))
    columns = {}
    for run, of in values.items():
        own = {str(query): value for query, value in of.items()}
        columns[str(run)] = np.array([float(own.get(query, math.nan)) for query in query_ids])
    return query_ids, columns


def _check_lengths(columns: Mapping[str, NDArray[np.float64]]) -> None:
    """Refuse columns of different lengths."""
    (first, values), *others = columns.items()
    for run, each in others:
        if len(each) != len(values):
            raise UsageError(
                f"expected as many values of {run} as of {first}, {len(values)}, found {len(each)}",
                hint="give one value for each query, NaN where there is none",
                code="bad_parameter",
            )


def _check_range(
    columns: Mapping[str, NDArray[np.float64]], given: tuple[float, float] | None
) -> tuple[float | None, float | None]:
    """Return the range of values, which all values must be in."""
    if given is None:
        return None, None
    low, high = given
    if not low < high:
        raise UsageError(
            f"expected a range with the lower end first, found {given!r}",
            hint="write range=(0, 1)",
            code="bad_parameter",
        )
    for run, values in columns.items():
        is_outside = (values < low - 1e-9) | (values > high + 1e-9)
        if is_outside.any():
            found = values[is_outside][0]
            raise UsageError(
                f"expected values from {low:g} to {high:g}, found {found:g} in {run}",
                hint="pass range=(0, 100) for percentages, the range of another measure, or "
                "range=None if it has no bounds",
                code="bad_parameter",
            )
    return low, high
