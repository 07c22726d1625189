"""Rankscope in ir_measures: a provider for its measures, and rankscope's measures as its own."""

from __future__ import annotations

import math
from collections.abc import Callable, Iterable, Iterator
from functools import partial
from typing import TYPE_CHECKING, Any

import rankscope as rs
from rankscope._conventions import Convention
from rankscope._settings import ScoreType
from rankscope.integrations._frames import require

if TYPE_CHECKING:
    import pandas as pd


def make_provider(
    *,
    policy: rs.Policy | str | None = None,
    convention: Convention | str | None = None,
    score_type: ScoreType | None = None,
) -> Any:
    """Return a provider of ir_measures whose values rankscope computes.

    By default, its values are those of trec_eval, and so of ir_measures. It has the measures that
    both tools know, accepts grades that aren't integers, and needs no other program.

    Args:
        policy: As in `rankscope.evaluate`.
        convention: As in `rankscope.evaluate`.
        score_type: The precision in which scores are compared (default: single precision, as in
            trec_eval, unless a convention sets it).

    Returns:
        An `ir_measures.Provider`. Documents that occur twice in a query are an error.

    Raises:
        UsageError: ir_measures is not installed.

    Examples:
        >>> from ir_measures import AP, nDCG
        >>> qrels = {"q1": {"d1": 2, "d2": 0, "d3": 1}}
        >>> run = {"q1": {"d2": 0.9, "d1": 0.8, "d3": 0.7}}
        >>> make_provider().calc_aggregate([nDCG @ 10, AP], qrels, run)[AP]
        0.5833333333333333
    """
    base = require("ir_measures").Provider
    provider = type("RankscopeProvider", (_Provider, base), {})()
    provider.settings = _settings(policy, convention, score_type)
    return provider


def register(provider: object = None) -> None:
    """Let `ir_measures.calc_aggregate` and its other functions compute measures with rankscope.

    This changes ir_measures for the whole process; `unregister` undoes it. Measures that rankscope
    doesn't know are still computed by the other providers of ir_measures.

    Args:
        provider: A result of `make_provider` (default: one with the default settings).

    Raises:
        UsageError: ir_measures is not installed.

    Examples:
        >>> import ir_measures
        >>> register()
        >>> ir_measures.calc_aggregate([ir_measures.RR], {"q": {"d1": 0.5}}, {"q": {"d1": 1.0}})
        {RR: 0.0}
        >>> unregister()
    """
    library = require("ir_measures")
    unregister()
    provider = make_provider() if provider is None else provider
    library.providers.register(provider)
    # The first provider that supports a measure computes it.
    library.DefaultPipeline.providers.insert(0, provider)


def unregister() -> None:
    """Undo `register`: ir_measures computes all measures with its own providers again."""
    library = require("ir_measures")
    library.providers.registry.pop("rankscope", None)
    providers = library.DefaultPipeline.providers
    providers[:] = [provider for provider in providers if provider.NAME != "rankscope"]


def make_measure(
    measure: rs.Measure | str,
    *,
    policy: rs.Policy | str | None = None,
    convention: Convention | str | None = None,
    score_type: ScoreType | None = None,
    name: str | None = None,
) -> Any:
    """Return a measure of rankscope as a measure of ir_measures.

    It works wherever ir_measures takes measures, without `register`, with all parameters and
    policies of rankscope.

    Args:
        measure: The measure, or its name.
        policy: As in `rankscope.evaluate`.
        convention: As in `rankscope.evaluate`.
        score_type: As in `make_provider`.
        name: The name in results (default: that of the measure, with the policy and the convention
            in brackets if you set them).

    Returns:
        An `ir_measures.Measure`. A query that the policy leaves out has the value NaN, and isn't in
        the mean that ir_measures reports.

    Raises:
        UsageError: ir_measures is not installed.
        MeasureError: The measure doesn't exist, or isn't averaged with the arithmetic mean.

    Examples:
        >>> import ir_measures
        >>> qrels = {"q1": {"d1": 2, "d3": 1}}
        >>> run = {"q1": {"d2": 0.9, "d1": 0.8, "d3": 0.7}}
        >>> condensed = make_measure("RR", policy="unjudged=remove")
        >>> ir_measures.calc_aggregate([condensed], qrels, run)
        {RR [unjudged=remove]: 1.0}
    """
    base = require("ir_measures").Measure
    ours = rs.parse(measure)
    if ours.row.mean == "geometric":
        problem = f"{ours} has a geometric mean, which ir_measures can't compute"
        hint = "evaluate it with rankscope.evaluate"
        raise rs.errors.MeasureError(problem, hint=hint, code="bad_parameter")
    notes = ", ".join(str(value) for value in (policy, convention) if value is not None)
    shown = name or (f"{ours} [{notes}]" if notes else str(ours))
    theirs = type("RankscopeMeasure", (_Measure, base), {"NAME": shown, "__name__": shown})()
    theirs.ours, theirs.name = ours, name
    theirs.settings = _settings(policy, convention, score_type)
    return theirs


def _settings(
    policy: rs.Policy | str | None, convention: Convention | str | None, score_type: str | None
) -> dict[str, Any]:
    if score_type is None and convention is None:
        score_type = "float32"
    return {"policy": policy, "convention": convention, "score_type": score_type}


class _Provider:
    """What rankscope's provider has besides the methods of `ir_measures.Provider`."""

    NAME = "rankscope"
    settings: dict[str, Any]

    def supports(self, measure: Any) -> bool:
        measure.validate_params()
        if hasattr(measure, "runtime_impl"):  # such measures bring their own computation
            return False
        try:
            # Nothing is known of items.
            return not _translate(measure, {}).row.of_items
        except rs.errors.MeasureError:
            return False

    def _evaluator(self, measures: Iterable[Any], qrels: object) -> _Evaluator:
        return _Evaluator(list(measures), qrels, self.settings)


class _Evaluator:
    """Evaluates runs against the same judgments, with the methods of `ir_measures.Evaluator`."""

    def __init__(self, measures: list[Any], qrels: object, settings: dict[str, Any]) -> None:
        self.measures = measures
        by_subtopic = any(_translate(measure, {}).row.subtopics for measure in measures)
        self._judgments = _Judgments(qrels, by_subtopic=by_subtopic)
        self.qrel_qids = {*self._judgments.queries.values()}
        grades = self._judgments.grades
        self._ours = {measure: _translate(measure, grades) for measure in measures}
        self._settings = settings

    def iter_calc(self, run: object) -> Iterator[Any]:
        yield from self.calc(run).per_query

    def calc_aggregate(self, run: object) -> dict[Any, float]:
        return {**self.calc(run).aggregated}

    def calc(self, run: object) -> Any:
        library = require("ir_measures")
        measures = list(dict.fromkeys(self._ours.values()))
        evaluation = self._judgments.evaluate(run, measures, self._settings)
        means, values = {}, []
        for theirs, ours in self._ours.items():
            means[theirs] = 0.0 if evaluation is None else evaluation[ours]
            for query, value in self._judgments.values(evaluation, ours):
                values.append(library.Metric(query, theirs, value))
        return library.CalcResults(means, values)


class _Measure:
    """What a measure of rankscope has besides the methods of `ir_measures.Measure`."""

    ours: rs.Measure
    name: str | None
    settings: dict[str, Any]

    def runtime_impl(self, qrels: pd.DataFrame, run: object) -> Iterator[Any]:
        # ir_measures calls this for measures that bring their own computation.
        if qrels.empty:  # such as a batch of PyTerrier in which no query is judged
            return
        library = require("ir_measures")
        judgments = _Judgments(qrels, by_subtopic=self.ours.row.subtopics)
        evaluation = judgments.evaluate(run, [self.ours], self.settings)
        for query, value in judgments.values(evaluation, self.ours):
            yield library.Metric(query, self, value)

    def aggregator(self) -> _Aggregator:
        return _Aggregator(is_sum=self.ours.row.mean == "sum")

    def __call__(self, **parameters: object) -> Any:
        return self._make(self.ours(**parameters))

    def __matmul__(self, value: float) -> Any:
        return self._make(self.ours @ value)

    def __eq__(self, other: object) -> bool:
        if not isinstance(other, _Measure):
            return False  # PyTerrier would take it for one of ir_measures with the same name
        theirs = (other.ours, other.name, other.settings)
        return (self.ours, self.name, self.settings) == theirs

    def __hash__(self) -> int:
        return hash((_Measure, self.ours))

    def __reduce__(self) -> tuple[object, ...]:
        return self._make, (self.ours,)

    @property
    def _make(self) -> Callable[[rs.Measure], Any]:
        return partial(make_measure, name=self.name, **self.settings)


class _Judgments:
    """Judgments in one of the forms of ir_measures, read once.

    If their iteration is the subtopic, other measures take the highest grade of each document.
    """

    def __init__(self, qrels: object, *, by_subtopic: bool) -> None:
        rows = _read_rows(qrels, "relevance", by_subtopic=by_subtopic)
        if isinstance(rows, dict):
            queries = [*rows]
            grades = {grade for docs in rows.values() for grade in docs.values()}
        elif isinstance(rows, list):
            queries, grades = [row[0] for row in rows], {row[-1] for row in rows}
        else:
            queries, grades = rows["query_id"].unique(), {*rows["relevance"].unique()}
        # ir_measures compares ids with those of its caller, which may be integers.
        self.queries = {str(query): query for query in queries}
        self.grades = {grade: grade for grade in grades | {0}}
        self._qrels = rs.read_qrels(rows, subtopics=by_subtopic)

    def evaluate(
        self, run: object, measures: list[rs.Measure], settings: dict[str, Any]
    ) -> rs.Evaluation | None:
        """Return the values of a run, or `None` if it is empty and each value is thus 0.

        Raises:
            EmptyError: The run is empty, and a policy or a convention may give it other values.
        """
        try:
            rows = _read_rows(run, "score")
            evaluation: rs.Evaluation = rs.evaluate(self._qrels, rows, measures, **settings)
        except rs.errors.EmptyError:
            # PyTerrier passes an empty run for the queries that are in none of its batches.
            if settings["policy"] is None and settings["convention"] is None:
                return None
            raise
        return evaluation

    def values(
        self, evaluation: rs.Evaluation | None, measure: rs.Measure
    ) -> Iterator[tuple[Any, float]]:
        """Return the value of each query, by the id that it has in the judgments."""
        if evaluation is None:
            return ((query, 0.0) for query in self.queries.values())
        pairs = zip(evaluation.query_ids, evaluation.per_query_list(measure), strict=True)
        return ((self.queries[str(query)], value) for query, value in pairs)


class _Aggregator:
    """The exact mean or sum of the values of queries, without those that a policy leaves out."""

    def __init__(self, *, is_sum: bool) -> None:
        self._is_sum = is_sum
        self._values: list[float] = []

    def add(self, value: float) -> None:
        if not math.isnan(value):
            self._values.append(value)

    def result(self) -> float:
        total = math.fsum(self._values)
        if self._is_sum:
            return total
        return total / len(self._values) if self._values else math.nan


def _read_rows(table: Any, number: str, *, by_subtopic: bool = False) -> Any:
    """Return dicts as they are, the columns of a frame, or a list of tuples."""
    names = ["query_id", *(["iteration"] if by_subtopic else []), "doc_id", number]
    if isinstance(table, dict):
        if by_subtopic:
            problem = "expected judgments with an iteration, which is the subtopic, found a dict"
            hint = "pass a data frame, or what ir_measures.read_trec_qrels returns"
            raise rs.errors.FormatError(problem, hint=hint, code="subtopics_missing")
        return table
    try:
        if hasattr(table, "columns"):
            return table[names].rename(columns={"iteration": "subtopic"})
        return [tuple(getattr(row, name) for name in names) for row in table]
    except (AttributeError, KeyError, TypeError) as error:
        problem = f"expected rows with {', '.join(names)}, found {type(table).__name__}"
        hint = "pass a data frame, a dict of dicts, or what ir_measures.read_trec_run returns"
        raise rs.errors.FormatError(problem, hint=hint, code="input_type") from error


def _translate(measure: Any, grades: dict[Any, Any]) -> rs.Measure:
    """Return the measure of rankscope; grades that aren't in a table of gains are gains themselves.

    Raises:
        MeasureError: rankscope has no such measure.
    """
    parameters = dict(measure.params)
    if "gains" in parameters:
        parameters["gains"] = grades | parameters["gains"]
    return rs.parse(measure.NAME)(**parameters)
