"""A run, and perhaps a baseline, evaluated by the judgments of several sources."""

from __future__ import annotations

from collections.abc import Iterator
from typing import TYPE_CHECKING

from rankscope._evaluate.query_values import order_queries
from rankscope._evaluate.rankings import Rankings, rank_run
from rankscope.deferred import np
from rankscope.errors import UsageError
from rankscope.file import File
from rankscope.settings.policy import ties_of

if TYPE_CHECKING:
    from collections.abc import Sequence
    from typing import TypeAlias

    from numpy.typing import NDArray

    from rankscope._evaluate.evaluation import Evaluation
    from rankscope._inputs.qrels import Qrels
    from rankscope.measures import Measure
    from rankscope.settings.policy import Policy, Ties
    from rankscope.settings.reading import Reading
    from rankscope.typing import InputLike

    Rows: TypeAlias = tuple[tuple[str, ...], tuple[bool, ...]]


def hold_runs(run: InputLike, baseline: InputLike | None) -> list[InputLike]:
    """Return a run, and a baseline if there is one, so that they can be read several times."""
    runs = [run] if baseline is None else [run, baseline]
    for given in runs:
        path = given.path if isinstance(given, File) else given
        if isinstance(path, str) and path == "-":
            raise UsageError(
                "the run is read twice, so it cannot be standard input",
                hint="write it to a file first",
                code="stdin_twice",
            )
    return [list(given) if isinstance(given, Iterator) else given for given in runs]


def rank_runs(
    qrels: Qrels, runs: Sequence[InputLike], ties: Ties, reading: Reading
) -> list[Rankings]:
    """Rank each run."""
    return [rank_run(Rankings, qrels, run, ties, reading) for run in runs]


def refuse_aggregate(policy: Policy) -> None:
    """Raise an error for a policy that aggregates in another way than by the mean."""
    if policy.aggregate != "mean":
        raise UsageError(
            f"a model's judgments help to estimate means, found aggregate={policy.aggregate!r}",
            hint="set policy='aggregate=mean'",
            code="aggregate_unavailable",
        )


def order_values(evaluations: Sequence[Evaluation], measure: Measure) -> dict[str, float]:
    """Return the value or the difference of each query, in the order of their ids as text."""
    first, *others = evaluations
    values = first.per_query(measure)
    for other in others:
        values = values - other.per_query(measure)
    texts = first.query_texts
    return {texts[at]: float(values[at]) for at in order_queries(texts)}


ORDERS = ("doc_id", "doc_id_asc", "input")
"""The ties that don't depend on grades."""


def find_changed(
    qrels: Qrels,
    runs: Sequence[InputLike],
    measures: Sequence[Measure],
    policy: Policy,
    reading: Reading,
) -> list[NDArray[np.bool_]]:
    """Return for each measure in which queries of `qrels` its value could depend on the run.

    In the others, both runs have the same documents in the same order, so that their values are
    equal whatever the judgments. Queries are in the order of their ids as text. Of a single run,
    the value of every query counts.
    """
    if len(runs) < 2:
        return [np.ones(len(qrels.query_texts), dtype=bool) for _ in measures]
    ties = ties_of(policy)
    is_ordered = ties in ORDERS
    rankings = rank_runs(qrels, runs, ties if is_ordered else "doc_id", reading)
    lists = [*zip(*map(_list_rows, rankings), strict=True)]
    cutoffs = [_find_cutoff(measure, policy) if is_ordered else None for measure in measures]
    return [
        np.array(
            [
                docs[:cutoff] != others[:cutoff] or (not is_ordered and tied != others_tied)
                for (docs, tied), (others, others_tied) in lists
            ],
            dtype=bool,
        )
        for cutoff in cutoffs
    ]


def _find_cutoff(measure: Measure, policy: Policy) -> int | None:
    """Return the last rank that a measure sees, `None` if it sees all."""
    is_local = "cutoff_local" in measure.row.properties
    is_whole = measure.parameters.get("ideal") == "retrieved" or policy.unjudged == "remove"
    return measure.k if is_local and not is_whole else None


def _list_rows(rankings: Rankings) -> list[Rows]:
    """Return the documents of each query, and whether each is tied with the one before."""
    offsets, scores = rankings.offsets, rankings.scores
    queries, rows = rankings.query_texts, []
    for at in order_queries(queries):
        own = scores[offsets[at] : offsets[at + 1]]
        tied: list[bool] = (own[1:] == own[:-1]).tolist()
        rows.append((tuple(rankings.doc_texts(queries[at])), tuple(tied)))
    return rows
