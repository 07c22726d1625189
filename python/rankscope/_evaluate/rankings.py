"""Rankings: ranked lists joined with judgments, from any input."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import replace
from typing import TYPE_CHECKING, Self, TypeVar, Unpack

from rankscope._core import Rankings as CoreRankings
from rankscope._evaluate.columns import Choices, Columns
from rankscope._evaluate.evaluating import load_qrels, make_evaluation, refuse_unmatched
from rankscope._evaluate.evaluation import Evaluation
from rankscope._evaluate.query_values import By, Clusters, Weights, refuse_cluster_alone
from rankscope._evaluate.refusals import check_order, refuse_beaten_ideals
from rankscope._evaluate.runs import Evaluated
from rankscope._evaluate.runs import evaluate_rankings as evaluate_core
from rankscope._evaluate.settings import (
    Settings,
    choose_ties,
    read_table_options,
    refuse_single_precision,
)
from rankscope._inputs import arrays
from rankscope._inputs.numbers import is_judged, no_judgments
from rankscope._inputs.reading import JoinedColumns, Qrels, Queries, check_items, read_items_for
from rankscope._inputs.reading import rank_run as read_ranked
from rankscope._inputs.recognition import Input, recognise, recognise_table
from rankscope._inputs.table_files import TableFile
from rankscope._names import check_choice
from rankscope._settings import (
    CHOICES,
    Interval,
    Policy,
    Reading,
    Ties,
    count_threads,
    read_interval,
)
from rankscope._show.progress import watch
from rankscope.errors import RankscopeError
from rankscope.measures.parse import Measures, hold_measures

if TYPE_CHECKING:
    from numpy.typing import ArrayLike

    from rankscope._conventions import Convention
    from rankscope._evaluate.settings import TableOptions
    from rankscope._inputs.arrays import GroupsLike
    from rankscope._inputs.reading import Note
    from rankscope._settings import ReadingOptions
    from rankscope.typing import HistoryLike, InputLike


class Rankings(Columns):
    """Ranked lists joined with their judgments: how they are made, and their values.

    `rankscope.Rankings` adds what else can be asked of them.
    """

    @classmethod
    def from_run(
        cls,
        judgments: InputLike | Qrels,
        run: InputLike,
        *,
        ties: Ties = "doc_id",
        **options: Unpack[ReadingOptions],
    ) -> Self:
        """Join a run with its judgments, and rank it.

        Args:
            judgments: As in `evaluate`.
            run: As in `evaluate`. It is read into memory.
            ties: How equal scores are ordered, as in `Policy`.
            **options: How the inputs are read, as in `evaluate`.

        Raises:
            UsageError: An argument is not one of its choices.
            InputError: The input doesn't have the expected format.
            FileError: A file can't be read.
        """
        return rank_run(cls, judgments, run, ties, Reading.of("from_run", options))

    @classmethod
    def from_table(
        cls,
        table: object,
        *,
        attributes: Sequence[str] = (),
        ties: Ties | None = None,
        **options: Unpack[TableOptions],
    ) -> Self:
        """Rank the rows of a table that hold both a score, or a rank, and a grade.

        Args:
            table: A pandas or Polars data frame (lazy ones are collected), an Arrow table, a DuckDB
                relation, any object with `__arrow_c_stream__`, a mapping of column name to array, a
                path, or a `File`. The rows of a query don't have to be contiguous.
            attributes: Columns with attributes of the query, such as its country, for `by` in
                `evaluate`. All rows of a query must agree. Null becomes the value `<missing>`.
            ties: How equal scores are ordered (default: `"doc_id"` if there is a column of
                documents, else `"average"`, the expected value over all orders).
            **options: The columns and labels, and how the table is read, as in `evaluate`.

        Raises:
            UsageError: An argument is not one of its choices, or both labels and grades are given.
            InputError: A column is missing, or holds invalid values.

        Examples:
            >>> table = {"qid": [1, 1, 2], "label": [1, 0, 1], "score": [0.1, 0.9, 0.5]}
            >>> Rankings.from_table(table).evaluate("RR")["RR"]
            0.75
            >>> log = {"qid": [1, 1], "rank": [1, 2], "events": [["view"], ["click", "buy"]]}
            >>> Rankings.from_table(log, labels="events", positive={"click": 1, "buy": 5}).relevance
            array([0., 6.])
        """
        if ties is not None:
            check_choice("ties", ties, CHOICES["ties"])
        reading, columns = read_table_options("from_table", options)
        refuse_single_precision(reading)
        columns = replace(columns, attributes=attributes)
        return rank_rows(cls, recognise_table(table), columns, ties, reading)

    @classmethod
    def from_arrays(
        cls,
        y_true: ArrayLike,
        y_score: ArrayLike,
        *,
        groups: GroupsLike | None = None,
        ties: Ties = "average",
    ) -> Self:
        """Rank the rows of two matrices of queries by documents, or the rows of two columns.

        Args:
            y_true: Grades, shape (queries, documents), or (rows,) with `groups`. NaN means
                unjudged.
            y_score: Scores of the same shape. Larger scores rank first. NaN or masked means that
                there is no document.
            groups: The queries of one-dimensional input, as in `ndcg_score`.
            ties: How equal scores are ordered, by anything except ids.

        Raises:
            UsageError: One-dimensional input has no groups, or they could be IDs and sizes.
            InputError: The shapes differ, or a value isn't a number.

        Examples:
            >>> Rankings.from_arrays([[3, 2, 0], [1, 0, 0]], [[0.1, 0.2, 0.3], [9, 8, 7]])
            Rankings(2 queries, 6 documents, ties='average')
            >>> Rankings.from_arrays([3, 2, 1], [0.1, 0.2, 0.3], groups=["a", "b", "a"])
            Rankings(2 queries, 3 documents, ties='average')
        """
        return rank_groups(arrays.from_rows(y_true, y_score, groups), ties, cls)

    @classmethod
    def from_groups(
        cls,
        relevance: ArrayLike,
        scores: ArrayLike,
        group_sizes: ArrayLike,
        *,
        ties: Ties = "average",
    ) -> Self:
        """Rank rows that are sorted by query, with group sizes as in LightGBM and XGBoost.

        Args:
            relevance: The grade of each row, shape (rows,). NaN means unjudged.
            scores: The score of each row, shape (rows,).
            group_sizes: The number of rows of each query, shape (queries,).
            ties: How equal scores are ordered, by anything except ids.

        Raises:
            InputError: The sizes don't add up to the number of rows, or a value isn't a number.

        Examples:
            >>> rankings = Rankings.from_groups([1, 0, 0, 2], [0.1, 0.2, 0.3, 0.4], [3, 1])
            >>> rankings.evaluate("RR")["RR"]
            0.6666666666666666
        """
        return rank_groups(arrays.from_groups(relevance, scores, group_sizes), ties, cls)

    @classmethod
    def from_lists(
        cls, lists: Iterable[Sequence[float]], *, ideal: Iterable[Sequence[float]] | None = None
    ) -> Self:
        """Make rankings from lists of grades that are already in rank order.

        Args:
            lists: For each query the grades of its documents, best rank first. NaN means unjudged.
            ideal: For each query all judged grades, in any order (default: those of the list).

        Raises:
            InputError: A value is not a number.

        Examples:
            >>> from rankscope import nDCG
            >>> rankings = Rankings.from_lists([[3, 1, 2, 0, 2]])
            >>> round(rankings.evaluate(nDCG(gain="exp2"))[nDCG(gain="exp2")], 6)
            0.95085
        """
        return rank_groups(arrays.from_lists(lists, ideal, "lists"), "input", cls)

    def evaluate(
        self,
        measures: Measures,
        *,
        policy: Policy | str | None = None,
        convention: Convention | str | None = None,
        by: By | None = None,
        interval: float | Interval | None = None,
        cluster: str | Clusters | None = None,
        weights: str | Weights | None = None,
        history: HistoryLike | None = None,
        items: object = None,
        catalogue: object = None,
        threads: int | None = None,
    ) -> Evaluation:
        """Evaluate the rankings.

        Args:
            measures: As in `evaluate`.
            policy: As in `evaluate`; `ties` has to be that of the rankings, which is the default.
            convention: As in `evaluate`. If scores are tied, its `ties` must be those of the
                rankings.
            by: One or more attributes, or a mapping of query to value, for the `slices`.
            interval: As in `evaluate`, also for each slice.
            cluster: As in `evaluate`, or the name of an attribute.
            weights: As in `evaluate`, or the name of an attribute.
            history: As in `evaluate`, for measures of recommended items.
            items: As in `evaluate`.
            catalogue: As in `evaluate`.
            threads: As in `evaluate`.

        Raises:
            UsageError: A measure, the policy, its ties or an attribute is none.
            InputError: A query violates the policy, or a list beats its given ideal.

        Examples:
            >>> table = {"qid": [1, 2], "label": [1, 0], "score": [2, 1], "country": ["de", "at"]}
            >>> rankings = Rankings.from_table(table, attributes=["country"])
            >>> print(rankings.evaluate("P@1", by="country").slices)
            country  queries     P@1  P@1 n
            at             1  0.0000      1
            de             1  1.0000      1
        """
        measures = hold_measures(measures)
        settings = Settings(
            measures=measures,
            policy=policy,
            convention=convention,
            interval=read_interval(interval),
            by=by,
            cluster=cluster,
            weights=weights,
            items=read_items_for(measures, history=history, items=items, catalogue=catalogue),
        )
        return self._evaluate(settings, threads)

    def _evaluate(self, settings: Settings, threads: int | None) -> Evaluation:
        choices, grades = self._choices, self._core.grades()
        request = settings.request(ties=choices.ties, grades=grades)
        if request.convention is not None:
            check_order(self, request.ties, request.score_type)
        refuse_cluster_alone(settings.cluster, settings.interval)
        request = settings.look_up(request, self._queries.read_ids, self._read_attribute)
        plan = request.plan(
            request.ties if request.convention is None else choices.ties,
            choices.duplicates,
            items=check_items(request.measures, settings.items),
            judgments=self._judgments,
        )
        reading = Reading(duplicates=choices.duplicates, threads=count_threads(threads))
        try:
            values = evaluate_core(self._core, plan, request.measures, reading.threads)
        except RankscopeError as error:
            if error.file == "table":  # the core has no names of tables
                error.file = self._name
            raise
        evaluated = Evaluated(values, self._name, self._notes)
        refuse_unmatched(evaluated, request, self._judgments)
        evaluation = make_evaluation(evaluated, request, settings, reading, self._queries)
        if choices.has_ideal:
            measures = [item for item in evaluation.measures if item.row.level == "query"]
            refuse_beaten_ideals(self, measures, [*map(evaluation.per_query, measures)])
        return evaluation


def rank_run(
    kind: type[Kind], qrels: InputLike | Qrels, run: InputLike, ties: Ties, reading: Reading
) -> Kind:
    """Read a run into memory, join it with its judgments, and rank it."""
    check_choice("ties", ties, CHOICES["ties"])
    qrels = load_qrels(qrels, reading)
    source = recognise(run, "run", reading.columns)
    notes: list[Note] = []
    core = read_ranked(qrels.judgments, source, ties, reading, notes=notes, tell=None)
    choices = Choices(ties, reading.duplicates, reading.scores_as)
    return kind(qrels.queries, core, source.name, choices, notes=notes, judgments=qrels.judgments)


def rank_rows(
    kind: type[Kind],
    source: Input,
    names: JoinedColumns,
    ties: Ties | None,
    reading: Reading,
    *,
    numbers_docs: bool = True,
    file: TableFile | None = None,
) -> Kind:
    """Rank the rows of a table, which may be open already.

    The values of measures need no numbers of documents, which take longer than the values.
    """
    from rankscope._inputs.rows import read_whole
    from rankscope._inputs.tabular import open_joined

    notes: list[Note] = []
    with (
        watch(source.name, source.find_size, None if file else reading.progress) as tell,
        read_whole(file or open_joined(source, names, reading, tell), notes) as rows,
    ):
        columns, ids = rows.joined(names.attributes, names.attributed)
        is_even = len(columns.relevance) == len(columns.scores) > 0
        if is_even and not is_judged(columns.relevance):
            raise no_judgments(source.name)
        ties = ties or choose_ties(has_documents=columns.docs is not None)
        core = CoreRankings.from_table(
            columns, ties, reading.duplicates, numbers_docs, reading.threads
        )
    queries = Queries(source.name, reading.duplicates, core.query_ids, source=ids)
    choices = Choices(ties, reading.duplicates, "float64")
    return kind(queries, core, source.name, choices, notes=notes)


def rank_groups(groups: arrays.Groups, ties: Ties, kind: type[Kind]) -> Kind:
    """Rank rows that are sorted by query."""
    check_choice("ties", ties, CHOICES["ties"])
    threads = count_threads(None)
    core = CoreRankings.from_groups(
        groups.offsets, groups.relevance, groups.scores, groups.ideal, ties, threads
    )
    queries = Queries("arrays", "error", core.query_ids)
    choices = Choices(ties, "error", "float64", has_ideal=groups.ideal is not None)
    return kind(queries, core, "arrays", choices)


def evaluate_rankings(rankings: Rankings, settings: Settings, reading: Reading) -> Evaluation:
    """Evaluate rankings."""
    return rankings._evaluate(settings, reading.threads)  # noqa: SLF001 - a part of it


Kind = TypeVar("Kind", bound="Rankings")
