"""A run, and perhaps a baseline, evaluated by the judgments of several sources."""

from __future__ import annotations

from collections.abc import Iterator

from rankscope._evaluate.evaluating import evaluate_run
from rankscope._evaluate.query_values import order_queries
from rankscope._evaluate.rankings import Rankings, rank_run
from rankscope._evaluate.settings import Settings
from rankscope.deferred import np
from rankscope.errors import UsageError
from rankscope.file import File
from rankscope.records import record
from rankscope.settings.policy import ties_of

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Sequence
    from typing import TypeAlias

    from numpy.typing import NDArray

    from rankscope._evaluate.evaluation import Evaluation
    from rankscope._inputs.qrels import Qrels
    from rankscope.measures import Measure
    from rankscope.measures.reading import Measures
    from rankscope.settings.policy import Policy, Ties
    from rankscope.settings.reading import Reading
    from rankscope.typing import InputLike

    Rows: TypeAlias = tuple[tuple[str, ...], tuple[bool, ...]]


@record(frozen=True, slots=True)
class JudgedRuns:
    """A run, and perhaps a baseline, that can be read several times."""

    runs: list[InputLike]
    reading: Reading

    @classmethod
    def hold(cls, run: InputLike, baseline: InputLike | None, reading: Reading) -> JudgedRuns:
        """Hold a run and a baseline, if there is one.

        Raises:
            UsageError: One of them is standard input.
        """
        return cls([_hold(each) for each in (run, baseline) if each is not None], reading)

    @property
    def is_difference(self) -> bool:
        """Whether values are those of the run minus those of the baseline."""
        return len(self.runs) > 1

    def evaluate(
        self, qrels: Qrels, measures: Measures, policy: Policy | str | None
    ) -> list[Evaluation]:
        """Evaluate the runs, of which only means are estimated."""
        asked = Settings(measures=measures, policy=policy)
        evaluations = [evaluate_run(qrels, run, asked, self.reading) for run in self.runs]
        refuse_aggregate(evaluations[0].policy)
        return evaluations

    def rank(self, qrels: Qrels, ties: Ties) -> list[Rankings]:
        """Rank the runs."""
        return [rank_run(Rankings, qrels, run, ties, self.reading) for run in self.runs]


def _hold(run: InputLike) -> InputLike:
    path = run.path if isinstance(run, File) else run
    if isinstance(path, str) and path == "-":
        raise UsageError(
            "the run is read twice, so it cannot be standard input",
            hint="write it to a file first",
            code="stdin_twice",
        )
    return list(run) if isinstance(run, Iterator) else run


def refuse_aggregate(policy: Policy) -> None:
    """Raise an error for a policy that aggregates in another way than by the mean."""
    if policy.aggregate != "mean":
        raise UsageError(
            f"a model's judgments help to estimate means, found aggregate={policy.aggregate!r}",
            hint="set policy='aggregate=mean'",
            code="aggregate_unavailable",
        )


ORDERS = ("doc_id", "doc_id_asc", "input")
"""The ties that don't depend on grades."""


def find_changed(
    qrels: Qrels, runs: JudgedRuns, measures: Sequence[Measure], policy: Policy
) -> list[NDArray[np.bool_]]:
    """Return for each measure in which queries of `qrels` its value could depend on the run.

    In the others, both runs have the same documents in the same order, so that their values are
    equal whatever the judgments. Queries are in the order of their ids as text. Of a single run,
    the value of every query counts.
    """
    if not runs.is_difference:
        return [np.ones(len(qrels.query_texts), dtype=bool) for _ in measures]
    ties = ties_of(policy)
    is_ordered = ties in ORDERS
    lists = [*map(_list_rows, runs.rank(qrels, ties if is_ordered else "doc_id"))]
    found = []
    for measure in measures:
        cutoff = _find_cutoff(measure, policy) if is_ordered else None
        changed = [
            one[0][:cutoff] != other[0][:cutoff] or (not is_ordered and one[1] != other[1])
            for one, other in zip(*lists, strict=True)
        ]
        found.append(np.array(changed, dtype=bool))
    return found


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
