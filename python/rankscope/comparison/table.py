"""Compare columns of scores in one table."""

from __future__ import annotations

from rankscope.comparison.compute import compare_rankings, name_anew
from rankscope.deferred import np
from rankscope.engine.items import read_items_for
from rankscope.engine.query_values import check_cluster_column
from rankscope.engine.requests import read_policy
from rankscope.errors import UsageError
from rankscope.evaluation.rankings import Rankings, rank_rows
from rankscope.inputs.recognition import recognise_table
from rankscope.inputs.tables import JoinedColumns
from rankscope.settings.policy import Policy, ties_of
from rankscope.settings.reading import Reading

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Sequence
    from typing import Literal, Unpack

    from rankscope.comparison.compute import Testing
    from rankscope.comparison.result import Comparison
    from rankscope.engine.requests import Measures
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
    bounds: bool = True,
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
