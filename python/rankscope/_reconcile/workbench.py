"""One input, evaluated by many sets of rules."""

from __future__ import annotations

import math
import sys
from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass, replace
from typing import TYPE_CHECKING, Any, TypeAlias

import numpy as np
from numpy.typing import NDArray

from rankscope._conventions.spec import Rules
from rankscope._evaluate.evaluating import load_qrels, refuse_one_stdin_for_both
from rankscope._evaluate.evaluation import Evaluation
from rankscope._evaluate.rankings import Rankings, rank_rows, rank_run
from rankscope._evaluate.refusals import check_order
from rankscope._evaluate.settings import refuse_single_precision
from rankscope._file import File
from rankscope._inputs.reading import JoinedColumns, Qrels
from rankscope._inputs.recognition import Input, recognise, recognise_table
from rankscope._names import as_dict
from rankscope._settings import Policy, Reading, ScoreType, Ties, ties_of
from rankscope._show import Printed, Tabular
from rankscope._show.table import Cell, Table, format_value
from rankscope.errors import MeasureError, PolicyError, RankscopeError
from rankscope.typing import InputLike

Rank: TypeAlias = Callable[[Ties, ScoreType], Rankings]
Regrade: TypeAlias = Callable[[float], float]

if TYPE_CHECKING:
    from rankscope._show.table import ColumnValues


@dataclass(frozen=True, slots=True)
class Outcome:
    """The outcome of a set of rules: values, or an error.

    Args:
        measure: The name of their measure in the evaluation.
        evaluation: An evaluation under their policy, if there is one.
        error: Why there is none.
    """

    measure: str = ""
    evaluation: Evaluation | None = None
    error: RankscopeError | None = None

    @property
    def value(self) -> float:
        """The mean; NaN if there is none."""
        return self.evaluation[self.measure] if self.evaluation else math.nan

    @property
    def queries(self) -> int:
        """How many queries the mean is over."""
        return self.evaluation.denominators[self.measure] if self.evaluation else 0

    @property
    def values(self) -> NDArray[np.float64]:
        """The value of each query."""
        return self.evaluation.per_query(self.measure) if self.evaluation else np.empty(0)

    @property
    def by_query(self) -> dict[str, float]:
        """The value of each query, by its ID as text."""
        queries = self.evaluation.query_texts if self.evaluation else []
        return dict(zip(queries, self.values.tolist(), strict=True))


class Workbench:
    """An input, and the outcomes of the rules evaluated so far.

    Args:
        rank: Ranks the input by an order of ties and a score type.
        ties: The order of ties where nothing else is said.
        grades: The different grades.
        qrels: The judgments; none for a table.
        files: The arguments of a command that reads this input; empty if none does.
    """

    def __init__(
        self, rank: Rank, ties: Ties, grades: list[float], qrels: Qrels | None, files: str
    ) -> None:
        self._rank = rank
        self.policy = Policy(ties=ties)
        self.grades = grades
        self.qrels = qrels
        self.files = files
        self._outcomes: dict[Rules, Outcome] = {}

    @classmethod
    def of_run(
        cls, qrels: InputLike | Qrels, run: InputLike, reading: Reading, files: str = ""
    ) -> Workbench:
        """Make a workbench for judgments and a run."""
        if not isinstance(qrels, Qrels):
            refuse_one_stdin_for_both(qrels, run)
        judged = load_qrels(qrels, reading)
        kept: InputLike = _keep(recognise(run, "run", reading.columns), run)  # type: ignore[assignment]  # it stays one

        def rank(ties: Ties, score_type: ScoreType) -> Rankings:
            return rank_run(Rankings, judged, kept, ties, replace(reading, score_type=score_type))

        return cls(rank, "doc_id", judged.judgments.grades(), judged, files)

    @classmethod
    def of_table(cls, table: object, reading: Reading, files: str = "") -> Workbench:
        """Make a workbench for a table whose rows hold both scores and grades."""
        kept = _keep(recognise_table(table), table)
        refuse_single_precision(reading)
        columns = JoinedColumns(reading.columns)

        def rank(ties: Ties | None, score_type: ScoreType) -> Rankings:
            rankings = rank_rows(Rankings, recognise_table(kept), columns, ties, reading)
            check_order(rankings, rankings.tie_policy, score_type)
            return rankings

        usual = rank(None, "float64")
        return cls(rank, usual.tie_policy, usual.grades, None, files)

    def rank(self, rules: Rules) -> Rankings:
        """Rank the input as rules say."""
        return self._rank(ties_of(rules.policy), rules.score_type)

    @property
    def sizes(self) -> NDArray[np.int64]:
        """The number of documents of each query."""
        return np.diff(self._rank(ties_of(self.policy), "float64").offsets)

    def judged(self, rankings: Rankings, number: int) -> dict[str, float]:
        """Return the grade of each judged document of a query, by its place in rankings."""
        if self.qrels is not None:
            return dict(self.qrels.judgments.documents(number))
        start, stop = rankings.offsets[number : number + 2].tolist()
        docs = rankings.doc_texts(rankings.query_texts[number])
        # There may be no ids at all.
        pairs = zip(docs, rankings.relevance[start:stop].tolist(), strict=False)
        return {doc: grade for doc, grade in pairs if not math.isnan(grade)}

    def vary(
        self, regrade: Regrade | None = None, *, sign: int = 1, depth: int | None = None
    ) -> Workbench:
        """Return the input with other grades, scores with a sign, or a run cut at a depth."""
        usual = self._rank(ties_of(self.policy), "float64")
        if self.qrels is None:
            return Workbench.of_table(_copy_table(usual, regrade, sign), Reading())
        judged: InputLike | Qrels = self.qrels
        if regrade:
            judged = {
                query: {doc: regrade(grade) for doc, grade in self.judged(usual, number).items()}
                for number, query in enumerate(usual.query_texts)
            }
        return Workbench.of_run(judged, _copy_run(usual, sign, depth), Reading())

    def evaluate(self, wanted: Iterable[Rules]) -> None:
        """Evaluate under each of these rules, for `outcome` to return."""
        by_order: dict[tuple[Ties, ScoreType], dict[Policy, list[Rules]]] = {}
        for rules in dict.fromkeys(wanted):
            if rules not in self._outcomes:
                policies = by_order.setdefault((ties_of(rules.policy), rules.score_type), {})
                policies.setdefault(rules.policy, []).append(rules)
        for order, policies in by_order.items():
            try:
                # One order at a time is held in memory.
                rankings = self._rank(*order)
            except PolicyError as error:  # there is no such order
                missing = Outcome(error=error)
                self._outcomes |= {rules: missing for alike in policies.values() for rules in alike}
                continue
            for alike in policies.values():
                self._outcomes |= _evaluate(rankings, alike)

    def outcome(self, rules: Rules) -> Outcome:
        """Return the outcome of rules."""
        if rules not in self._outcomes:
            self.evaluate([rules])
        return self._outcomes[rules]


def _keep(found: Input, given: object) -> object:
    """Read an input into memory if it can be read only once."""
    if found.is_stdin:
        text = sys.stdin.buffer.read()
        return File(text, found.format, found.columns) if found.format else text  # type: ignore[arg-type]  # one that is known
    if found.kind == "rows":
        return [*found.value]
    if isinstance(found.value, dict):  # of records, which may come one by one
        return found.value
    # A reader of Arrow batches.
    return given.read_all() if hasattr(given, "read_all") else given


def _copy_run(rankings: Rankings, sign: int, depth: int | None) -> dict[str, dict[str, float]]:
    """Return lists as a run: their scores with this sign, and their first documents."""
    scores = np.split(sign * rankings.scores, rankings.offsets[1:-1])
    return {
        query: dict(zip(rankings.doc_texts(query)[:depth], own.tolist(), strict=False))
        for query, own in zip(rankings.query_texts, scores, strict=True)
        if len(own)
    }


def _copy_table(rankings: Rankings, regrade: Regrade | None, sign: int) -> dict[str, list[Any]]:
    """Return rankings as a table with other grades, and scores with this sign."""
    queries, grades = rankings.query_texts, rankings.relevance.tolist()
    columns: dict[str, list[Any]] = {
        "query_id": np.repeat(queries, np.diff(rankings.offsets)).tolist(),
        "relevance": [*map(regrade, grades)] if regrade else grades,
        "score": (sign * rankings.scores).tolist(),
    }
    if rankings.has_doc_ids:
        columns["doc_id"] = [doc for query in queries for doc in rankings.doc_texts(query)]
    return columns


def _evaluate(rankings: Rankings, alike: Sequence[Rules]) -> Mapping[Rules, Outcome]:
    """Evaluate the measures of rules with one policy, in one pass if all are accepted."""
    try:
        evaluation = rankings.evaluate([each.measure for each in alike], policy=alike[0].policy)
    except (MeasureError, PolicyError) as error:
        if len(alike) == 1:
            return {alike[0]: Outcome(error=error)}
        outcomes: dict[Rules, Outcome] = {}
        for rules in alike:
            outcomes |= _evaluate(rankings, [rules])
        return outcomes
    return {rules: Outcome(rules.measure.name, evaluation) for rules in alike}


@dataclass(frozen=True, slots=True)
class RuleDifference:
    """A setting in which two conventions differ.

    Args:
        rule: The setting, such as `ties`.
        one: Its value in the first convention.
        other: Its value in the second convention.
        queries: The number of queries whose value under the first convention changes with the
            setting of the second.
        value: The mean of the first convention with this setting of the second; NaN if it can't be
            changed alone.
    """

    rule: str
    one: str
    other: str
    queries: int
    value: float


@dataclass(frozen=True, slots=True)
class DocumentDifference:
    """A document that two conventions treat differently because of a setting.

    Args:
        rule: The setting.
        doc_id: The document.
        grade: Its grade; NaN if it is unjudged.
        one: How the first convention treats it.
        other: How the second convention treats it.
    """

    rule: str
    doc_id: str
    grade: float
    one: str
    other: str


@dataclass(frozen=True, slots=True)
class QueryDifference:
    """A query whose value differs between two conventions.

    Args:
        query_id: The query.
        one: Its value under the first convention; NaN if it is left out.
        other: Its value under the second convention.
        rules: The settings that cause the difference: changing one of them alone changes a value.
        documents: The documents that these settings affect.
        remarks: Other effects, as sentences.
    """

    query_id: str
    one: float
    other: float
    rules: tuple[str, ...]
    documents: tuple[DocumentDifference, ...] = ()
    remarks: tuple[str, ...] = ()


@dataclass(frozen=True, slots=True, kw_only=True)
class Difference(Printed, Tabular):
    """The difference between two conventions.

    Args:
        one: The first convention.
        other: The second convention.
        measures: The measure under each convention.
        values: The mean under each convention.
        rules: The settings in which they differ.
        queries: The queries whose values differ, largest difference first. The first ones have
            documents and remarks.
        explained: The number of queries with documents and remarks.
    """

    one: str
    other: str
    measures: tuple[str, str]
    values: tuple[float, float]
    rules: tuple[RuleDifference, ...]
    queries: tuple[QueryDifference, ...]
    explained: int

    @property
    def table(self) -> Table:
        """A table with one row per query whose values differ."""
        columns: dict[str, list[Cell]] = {
            "query_id": [each.query_id for each in self.queries],
            self.one: [each.one for each in self.queries],
            self.other: [each.other for each in self.queries],
            "rules": [", ".join(each.rules) for each in self.queries],
        }
        return Table(columns)

    def to_dict(self) -> dict[str, object]:
        """Return the result as dicts and lists."""
        return {
            "one": {"name": self.one, "measure": self.measures[0], "value": self.values[0]},
            "other": {"name": self.other, "measure": self.measures[1], "value": self.values[1]},
            "rules": [as_dict(rule) for rule in self.rules],
            "queries": [
                as_dict(query) | {"documents": [as_dict(each) for each in query.documents]}
                for query in self.queries
            ],
        }

    def _tabulate(self) -> Mapping[str, ColumnValues]:
        return self.table.columns

    def _parts(self) -> list[str | Table]:
        names = (self.one, self.other)
        pairs = zip(names, self.values, self.measures, strict=True)
        parts: list[str | Table] = [
            f"{name}: {measure} = {format_value(value)}" for name, value, measure in pairs
        ]
        if self.rules:
            titles = ("rule", self.one, self.other, "queries changed", "value with it")
            rows = (as_dict(rule).values() for rule in self.rules)
            parts += ["", Table(dict(zip(titles, zip(*rows, strict=True), strict=True)))]
        for query in self.queries[: self.explained]:
            parts += ["", *_explain(query)]
        left = len(self.queries) - self.explained
        return [*parts, *(["", f"and {left} more queries"] if left > 0 else [])]

    __repr__ = Printed.__str__


def _explain(query: QueryDifference) -> list[str]:
    by = f" by {', '.join(query.rules)}" if query.rules else ""
    return [
        f"{query.query_id}: {format_value(query.one)} and {format_value(query.other)}{by}",
        *(f"  {remark}" for remark in query.remarks),
        *(f"  {_say(document)}" for document in query.documents),
    ]


def _say(document: DocumentDifference) -> str:
    grade = "unjudged" if math.isnan(document.grade) else f"grade {document.grade:g}"
    return f"{document.rule}: {document.doc_id} ({grade}): {document.one} / {document.other}"
