"""The evaluator of pytrec_eval: dictionaries in, and dictionaries of values out."""

from __future__ import annotations

import math
import sys
from itertools import chain

from rankscope.errors import FormatError
from rankscope.pytrec_eval.checks import (
    check_grades,
    check_scores,
    read_grade,
    read_level,
    read_whole,
)
from rankscope.pytrec_eval.judged import load
from rankscope.pytrec_eval.names import read_names
from rankscope.records import record
from rankscope.trec_eval.evaluating import plan_requests
from rankscope.trec_eval.undefined import CORRECTED, RETRIEVED, Known, correct
from rankscope.trec_eval.values import QueryValues, evaluate_scores, plan_kernels

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Iterable, Mapping, Sequence
    from typing import Literal, TypeAlias

    from rankscope.pytrec_eval.judged import Judged
    from rankscope.trec_eval.requests import Requested

    Scores: TypeAlias = Mapping[str, Mapping[str, float]]

LEAST = 0.000_01
"""The smallest value in a geometric mean."""

CONSTANTS = {"runid": 0.0, "num_q": 1.0, "relstring": 0.0}
"""Measures with one value for all queries; texts have the value 0."""

READ_AGAIN = {"score_overflow", "score_not_number", "inexact_number"}
"""The codes of errors about scores that pytrec_eval takes: infinite, boolean, or large integers."""


@record(frozen=True, slots=True)
class _Options:
    level: int
    documents: int = 0
    dialect: Literal["9"] = "9"
    complete_rel_info_wanted: bool = False


@record(frozen=True, slots=True)
class _Column:
    """A key of the result, with the texts of the computations that it needs."""

    requested: Requested
    name: str
    place: int = 0
    kernels: tuple[str, ...] = ()


class RelevanceEvaluator:
    """Evaluate runs against judgments, with the keys and the values of pytrec_eval.

    The values of all measures are those of pytrec_eval to the last bit, and so are their keys and
    the order of the keys. Scores are compared in single precision, and documents with equal scores
    are ranked by descending ID.

    Args:
        query_relevance: The grade of each judged document, as `{"q1": {"d1": 1}}`. Grades are whole
            numbers; one below 0 means that the document wasn't judged. Queries without documents
            are left out.
        measures: The names of measures and nicknames: `"map"`, `"ndcg_cut_10"`, `"P.5,10"`,
            `"official"`. `supported_measures` and `supported_nicknames` list them.
        relevance_level: The lowest grade that counts as relevant (default: 1).
        judged_docs_only_flag: Whether documents without a judgment are removed from the run first.

    Raises:
        MeasureError: A measure is unknown, or has parameters that it can't use. It is a
            `ValueError`.
        InputTypeError: An argument, an ID or a grade has another type. It is a `TypeError`.
        FormatError: An ID is empty or isn't text that a file can hold.

    Examples:
        >>> evaluator = RelevanceEvaluator({"q1": {"a": 2, "b": 0}}, ["ndcg_cut_1,2"])
        >>> evaluator.evaluate({"q1": {"a": 1.0, "b": 2.0}})
        {'q1': {'ndcg_cut_1': 0.0, 'ndcg_cut_2': 0.6309297535714575}}
    """

    def __init__(
        self,
        query_relevance: Mapping[str, Mapping[str, int]],
        measures: Iterable[str],
        relevance_level: int = 1,
        judged_docs_only_flag: bool = False,
    ) -> None:
        requests = read_names(measures)
        self._options = _Options(read_level(relevance_level))
        judged_only = bool(read_whole(judged_docs_only_flag, "judged_docs_only_flag"))
        check_grades(query_relevance)
        self._judged = {query: dict(docs) for query, docs in query_relevance.items() if docs}
        grades = set(chain.from_iterable(docs.values() for docs in self._judged.values()))
        self._grades = [read_grade(grade) for grade in sorted(grades)]
        self._plan_columns(requests, judged_only=judged_only)
        self._held = [load(self._judged)] if self._judged else []

    def _plan_columns(self, requests: Sequence[Requested], *, judged_only: bool) -> None:
        computed = [one for one in requests if one.entry.name not in CONSTANTS]
        wanted, kernels = plan_requests(computed, self._grades, self._options)
        kernels[repr(RETRIEVED)] = RETRIEVED  # so that there is one
        columns = [
            _Column(one, _name(one, name), place, tuple(map(repr, several)))
            for one, name, place, several in wanted
        ]
        columns += [_Column(one, one.entry.name) for one in requests if one.entry.name in CONSTANTS]
        order = {one.entry.name: place for place, one in enumerate(requests)}
        self._columns = sorted(columns, key=lambda column: order[column.requested.entry.name])
        self._kernels = list(kernels)
        self._plan = plan_kernels(kernels.values(), score_type="float32", judged_only=judged_only)

    def evaluate(self, scores: Scores) -> dict[str, dict[str, float]]:
        """Return the values of each query that is judged and in the run, by measure.

        Args:
            scores: The score of each retrieved document, as `{"q1": {"d1": 0.5}}`. The result has
                the queries in this order.

        Raises:
            InputTypeError: An ID or a score has another type. It is a `TypeError`.
            FormatError: A score is NaN, or an ID is empty or isn't text that a file can hold.
        """
        if not scores:
            return {}
        check_scores(scores)
        queries = [query for query in scores if query in self._judged]
        if not queries:
            return {}
        judged = self._find(queries)
        table = self._compute(judged, scores)
        rows = list(zip(*table, strict=True)) or [()] * len(judged.places)
        names = [column.name for column in self._columns]
        return {
            query: dict(zip(names, rows[judged.places[query]], strict=True)) for query in queries
        }

    def _find(self, queries: Sequence[str]) -> Judged:
        """Return the judgments of these queries, and not of many others."""
        for held in self._held:
            if held.suits(queries):
                return held
        made = load({query: self._judged[query] for query in queries})
        self._held = [self._held[0], made]
        return made

    def _compute(self, judged: Judged, scores: Scores) -> list[Sequence[float]]:
        """Return the values of each key by query."""
        try:
            values = evaluate_scores(judged.judgments, scores, self._plan, len(self._kernels))
        except FormatError as error:
            if error.code not in READ_AGAIN:
                raise
            finite = {
                query: {document: _to_finite(score) for document, score in documents.items()}
                for query, documents in scores.items()
            }
            values = evaluate_scores(judged.judgments, finite, self._plan, len(self._kernels))
        by_kernel = dict(zip(self._kernels, values, strict=True))
        found = QueryValues(judged.judgments, values, [], [])
        known = Known(self._options, self._grades, found, by_kernel)
        return [self._finish(column, known, len(judged.places)) for column in self._columns]

    def _finish(self, column: _Column, known: Known, count: int) -> Sequence[float]:
        entry = column.requested.entry
        if not column.kernels:
            return [CONSTANTS[entry.name]] * count
        columns = [known.columns[kernel] for kernel in column.kernels]
        if entry.name in CORRECTED:
            columns = correct(column.requested, column.name, columns, column.place, known)
        values = columns[0]
        if entry.mean == "geometric":
            return [math.log(max(value, LEAST)) for value in values]
        return values.tolist()


def _name(requested: Requested, printed: str) -> str:
    """Return the key of a measure, which has no other parameters than cutoffs and levels."""
    entry = requested.entry
    return printed if entry.takes in {"cutoffs", "levels"} else entry.name


def _to_finite(score: float) -> float:
    """Return a score that compares with others in single precision as this one does."""
    most = sys.float_info.max
    return float(min(max(score, -most), most))
