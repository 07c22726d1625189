"""The evaluator of pytrec_eval: dictionaries in, and dictionaries of values out."""

from __future__ import annotations

import math
import sys
from array import array
from collections import defaultdict
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from functools import partial
from itertools import chain, repeat
from typing import TYPE_CHECKING, TypeAlias, TypeVar

import numpy as np
from numpy.typing import NDArray

from rankscope._core import Evaluation, Judgments, evaluate_dict
from rankscope._names import quote
from rankscope._trec_eval.columns import RETRIEVED, Column, plan_columns
from rankscope._trec_eval.command import LEAST
from rankscope._trec_eval.evaluating import list_kernels, list_values, plan_kernels
from rankscope._trec_eval.requests import Options, Requested
from rankscope.errors import DuplicateError, FormatError
from rankscope.pytrec_eval.names import (
    check_grades,
    check_scores,
    read_level,
    read_names,
    read_whole,
)

Scores: TypeAlias = Mapping[str, Mapping[str, float]]
Number = TypeVar("Number", int, float)

if TYPE_CHECKING:
    from rankscope._trec_eval.columns import Doubles


CONSTANTS = {"runid": 0.0, "num_q": 1.0, "relstring": 0.0}
"""Measures with one value for all queries; texts have the value 0."""

MOST_EXACT = 2.0**53
"""From here on, some whole numbers are no doubles."""

READ_AGAIN = {"score_overflow", "score_not_number", "inexact_number"}
"""The codes of errors about scores that pytrec_eval takes: infinite, boolean, or large integers."""


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
        is_judged_only = bool(read_whole(judged_docs_only_flag, "judged_docs_only_flag"))
        options = Options(read_level(relevance_level), judged_only=is_judged_only)
        check_grades(query_relevance)
        self._judged = {query: dict(docs) for query, docs in query_relevance.items() if docs}
        self._judgments = _load(self._judged) if self._judged else None
        grades = self._judgments.grades() if self._judgments else []
        columns = (_plan(request, grades, options) for request in requests)
        self._columns = [*chain.from_iterable(columns)]
        kernels = {repr(RETRIEVED): RETRIEVED, **list_kernels(self._columns)}
        self._kernels = list(kernels)
        self._plan = plan_kernels(kernels.values(), options)

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
        judged, judgments = self._judged, self._judgments
        queries = [query for query in scores if query in judged]
        if not queries:
            return {}
        if judgments is None or 2 * len(queries) < len(judged):
            # Zeros would be computed for all others.
            judged = {query: judged[query] for query in queries}
            judgments = _load(judged)
        values = list_values(self._compute(judgments, scores), len(self._kernels))
        by_kernel = dict(zip(self._kernels, values, strict=True))
        names = [column.name for column in self._columns]
        table = [column.compute(by_kernel)[0].tolist() for column in self._columns]
        rows = dict(zip(judged, zip(*table, strict=True), strict=bool(table)))
        return {query: dict(zip(names, rows.get(query, ()), strict=True)) for query in queries}

    def _compute(self, judgments: Judgments, scores: Scores) -> Evaluation:
        try:
            return evaluate_dict(judgments, self._plan, scores)
        except FormatError as error:
            if error.code not in READ_AGAIN:
                raise
        finite = {
            query: {document: _to_finite(score) for document, score in documents.items()}
            for query, documents in scores.items()
        }
        return evaluate_dict(judgments, self._plan, finite)


def _load(grades: Mapping[str, Mapping[str, int]]) -> Judgments:
    """Load judgments as columns, which the core reads faster than dictionaries."""
    queries = list(chain.from_iterable(map(repeat, grades, map(len, grades.values()))))
    documents = list(chain.from_iterable(grades.values()))
    numbers = list(chain.from_iterable(judged.values() for judged in grades.values()))
    try:
        column = np.array(numbers, dtype=np.float64)
        if np.abs(column).max() >= MOST_EXACT:
            return Judgments.from_dict(grades, "error")
        return Judgments.from_columns(_pack(queries), _pack(documents), column, "error")
    except (FormatError, UnicodeEncodeError, OverflowError):
        return Judgments.from_dict(grades, "error")  # its errors say where


def _pack(texts: Sequence[str]) -> tuple[NDArray[np.int64], NDArray[np.uint8]]:
    """Return a column of texts: where each one starts and ends, and the bytes of all."""
    packed = "".join(texts).encode()
    lengths = map(len, texts if packed.isascii() else map(str.encode, texts))
    ends = np.cumsum(np.fromiter(lengths, np.int64, len(texts)))
    return np.concatenate((np.zeros(1, np.int64), ends)), np.frombuffer(packed, np.uint8)


def _plan(request: Requested, grades: Sequence[float], options: Options) -> Iterator[Column]:
    """Yield the keys of a measure, with no other parameters than cutoffs and levels."""
    entry = request.entry
    if entry.name in CONSTANTS:
        yield Column(request, entry.name, (RETRIEVED,), partial(_fill, CONSTANTS[entry.name]))
        return
    for column in plan_columns(request, grades, options):
        name = column.name if entry.takes in {"cutoffs", "levels"} else entry.name
        finish = _take_logarithms if entry.is_geometric else column.finish
        yield column._replace(name=name, finish=finish)


def _fill(value: float, counts: Doubles) -> Sequence[Doubles]:
    return [array("d", [value] * len(counts))]


def _take_logarithms(values: Doubles) -> Sequence[Doubles]:
    return [array("d", [math.log(max(value, LEAST)) for value in values])]


def _to_finite(score: float) -> float:
    """Return a score that compares with others in single precision as this one does."""
    return float(min(max(score, -sys.float_info.max), sys.float_info.max))


class RepeatedDocumentError(DuplicateError, AssertionError):
    """The same document twice in a query, which pytrec_eval reports as an `AssertionError`."""


def parse_qrel(f_qrel: Iterable[str]) -> dict[str, dict[str, int]]:
    """Return the judgments in the lines of a TREC file, by query and document.

    Args:
        f_qrel: The lines, such as an open file.

    Raises:
        FormatError: A line doesn't have four fields, or its grade isn't a whole number.
        RepeatedDocumentError: A document is judged twice for a query; it is an `AssertionError`.

    Examples:
        >>> dict(parse_qrel(["q1 0 d1 1", "q1 0 d2 0"]))
        {'q1': {'d1': 1, 'd2': 0}}
    """
    return _parse(f_qrel, "qrels", "query, 0, document, grade", int)


def parse_run(f_run: Iterable[str]) -> dict[str, dict[str, float]]:
    """Return the scores in the lines of a TREC file, by query and document.

    Args:
        f_run: The lines, such as an open file.

    Raises:
        FormatError: A line doesn't have six fields, or its score isn't a number.
        RepeatedDocumentError: A document is listed twice for a query; it is an `AssertionError`.

    Examples:
        >>> dict(parse_run(["q1 Q0 d1 1 0.5 mine"]))
        {'q1': {'d1': 0.5}}
    """
    return _parse(f_run, "run", "query, Q0, document, rank, score, name", float)


def _parse(
    lines: Iterable[str], name: str, fields: str, read: Callable[[str], Number]
) -> dict[str, dict[str, Number]]:
    count, at = len(fields.split()), 3 if name == "qrels" else 4
    expected, code = ("a whole number", "rel") if at == 3 else ("a score", "score")
    parsed: dict[str, dict[str, Number]] = defaultdict(dict)
    for number, line in enumerate(lines, start=1):
        values = line.split()
        if len(values) != count:
            raise FormatError(
                f"expected {count} fields ({fields}), found {len(values)}",
                hint="fields are separated by blanks or tabs",
                code="field_count",
                file=name,
                line=number,
            )
        query, _, document, *_ = values
        if document in parsed[query]:
            raise RepeatedDocumentError(
                f"expected each document once per query, found {quote(document)} again",
                hint="remove one of the lines",
                code="duplicate_doc",
                file=name,
                line=number,
            )
        try:
            parsed[query][document] = read(values[at])
        except ValueError:
            raise FormatError(
                f"expected {expected}, found {quote(values[at])}",
                hint=f"the fields of a line are {fields}",
                code=f"{code}_not_number",
                file=name,
                line=number,
            ) from None
    return parsed
