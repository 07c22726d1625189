"""Evaluates measures under a policy by one call of the core."""

from __future__ import annotations

import math

from rankscope._core import EMPTY_VALUES, Plan
from rankscope._evaluate.evaluation import Counts, Evaluation
from rankscope._evaluate.groups import Resampling, join_groups, make_estimates, make_slices
from rankscope._evaluate.query_groups import (
    NONE,
    cluster_queries,
    list_names,
    read_attributes,
    read_by,
    slice_queries,
    weigh_queries,
)
from rankscope._evaluate.query_values import order_queries, refuse_cluster_alone
from rankscope._evaluate.requests import note_scale, read_request
from rankscope._evaluate.runs import evaluate_input
from rankscope.errors import FormatError, UsageError
from rankscope.measures.kernel import LONGEST_LIST
from rankscope.output.diagnostics import describe
from rankscope.output.estimate import estimate_run
from rankscope.records import record, replace
from rankscope.settings.policy import Policy, split_aggregate

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Callable, Iterable, Mapping, Sequence
    from typing import Any, Protocol, TypeAlias

    from rankscope._core import Evaluation as CoreEvaluation
    from rankscope._core import Judgments
    from rankscope._evaluate.groups import Groups
    from rankscope._evaluate.query_groups import By, Find
    from rankscope._evaluate.query_values import Clusters, Weights
    from rankscope._evaluate.requests import Request
    from rankscope._inputs.items import Items
    from rankscope._inputs.qrels import Qrels, Queries
    from rankscope._inputs.reading import Note
    from rankscope.conventions import Convention
    from rankscope.measures import Measure
    from rankscope.measures.reading import Measures
    from rankscope.output.diagnostics import Diagnostic
    from rankscope.output.estimate import Estimate
    from rankscope.settings.interval import Interval
    from rankscope.settings.policy import ScoreType, Ties
    from rankscope.settings.reading import Reading
    from rankscope.typing import InputLike

    Evaluated: TypeAlias = tuple[CoreEvaluation, str, Iterable[Note]]
    """The values, the name of the run, and what was noticed when it was read."""
    Evaluate: TypeAlias = Callable[[Qrels, Any, Request, Plan, Reading], Evaluated]

    class Counted(Protocol):
        """An answer of the core, or of its parts."""

        def counts(self) -> list[int]:
            """Return the numbers of queries."""

        def at_cutoffs(self) -> list[tuple[int, int]]:
            """Return retrieved and unjudged documents by cutoff."""

        def notes(self) -> list[tuple[str, int, int]]:
            """Return the code, the count and the first line of each note."""


FEWEST_SAMPLED = 10
"""Fewer lists that look like samples of candidates may do so by chance."""


def _evaluate_input(
    qrels: Qrels, run: InputLike, request: Request, plan: Plan, reading: Reading
) -> Evaluated:
    is_held = any(measure.row.of_items for measure in request.measures)
    return evaluate_input(qrels.judgments, run, plan, request.ties, reading, is_held=is_held)


@record(frozen=True, slots=True)
class Known:
    """What is known of each query: its slices, its cluster and its weight, if any."""

    slices: list[Groups]
    clusters: list[int] | None
    weights: list[float] | None


@record(frozen=True, slots=True, kw_only=True)
class Asked:
    """What is asked of a run or a table, besides how it is read.

    Args:
        measures: The measures.
        policy: The policy, or its text.
        convention: The convention, if any.
        interval: The intervals of means, if any.
        by: The slices, as the caller gives them; so are the next three.
        cluster: The clusters of queries.
        weights: The weights of queries.
        attributes: The table of the attributes that these name.
        items: What is known of items, if anything.
        strict: Whether to raise an error for suspicious input.
    """

    measures: Measures
    policy: Policy | str | None = None
    convention: Convention | str | None = None
    interval: Interval | None = None
    by: By | None = None
    cluster: str | Clusters | None = None
    weights: str | Weights | None = None
    attributes: object = None
    items: Items | None = None
    strict: bool = False

    def list_attributes(self) -> list[str]:
        """Return the attributes of queries that are named, each once."""
        return list_names(read_by(self.by), self.cluster, self.weights)

    def request(
        self,
        *,
        ties: Ties | None = None,
        grades: Sequence[float] = (),
        score_type: ScoreType | None = None,
    ) -> Request:
        """Read the measures and the policy, which has these ties unless it says otherwise."""
        return read_request(
            self.measures,
            self.policy,
            default=None if ties is None else Policy(ties=ties),
            convention=self.convention,
            score_type=score_type,
            grades=[*grades],
        )

    def resolve(self, queries: Sequence[str], reading: Reading) -> Asked:
        """Return the same with the values of queries in place of names of attributes."""
        names = self.list_attributes()
        if not names:
            return self
        held = read_attributes(self.attributes, names, queries, reading)

        known = self.look_up(lambda: [*queries], held.find)
        by, groups = self.by, join_groups(known.slices)
        if groups is not None:
            _, values, codes = groups
            by = dict(zip(queries, (values[code] for code in codes), strict=True))
        return replace(self, by=by, cluster=known.clusters, weights=known.weights, attributes=None)

    def look_up(self, read_ids: Callable[[], list[str]], find: Find) -> Known:
        """Return the slices, the clusters and the weights of queries, by what names them."""
        return Known(
            slice_queries(self.by, read_ids, find),
            cluster_queries(self.cluster, read_ids, find),
            weigh_queries(self.weights, read_ids, find),
        )

    def choose_ties(self) -> Ties | None:
        """Return the ties of the policy, `None` if they depend on whether there are documents."""
        chosen = {self.request(ties=choose_ties(has_documents=each)).ties for each in (True, False)}
        return chosen.pop() if len(chosen) == 1 else None


def evaluate_run(
    qrels: Qrels,
    run: InputLike | Sequence[InputLike],
    asked: Asked,
    reading: Reading,
    *,
    evaluate: Evaluate = _evaluate_input,
) -> Evaluation:
    """Evaluate a run. `rankscope.evaluate` documents the arguments."""
    refuse_cluster_alone(asked.cluster, asked.interval)
    grades, queries = qrels.judgments.grades(), qrels.queries
    request = asked.request(grades=grades, score_type=reading.score_type)
    reading = replace(reading, score_type=request.score_type)
    names = asked.list_attributes()
    held = NONE
    if names:
        held = read_attributes(asked.attributes, names, queries.read_ids(), reading)
        queries = replace(queries, source=replace(queries.source, attributes=held.columns))
    known = asked.look_up(queries.read_ids, held.find)
    plan = make_plan(
        request,
        request.ties,
        grades,
        reading.duplicates,
        weights=known.weights,
        items=asked.items,
        judgments=qrels.judgments,
    )
    answer, name, notes = evaluate(qrels, run, request, plan, reading)
    return make_evaluation(
        answer, request, reading, asked, known, queries=queries, run_name=name, run_notes=notes
    )


def choose_ties(*, has_documents: bool) -> Ties:
    """Return how equal scores are ordered by default.

    With ids, as in trec_eval, so that the same lists have the same values whether they come as one
    table or as judgments and a run. Without ids there is nothing to go by.
    """
    return "doc_id" if has_documents else "average"


def make_plan(
    request: Request,
    ties: str,
    grades: list[float],
    duplicates: str,
    *,
    weights: list[float] | None = None,
    items: Items | None = None,
    judgments: Judgments | None = None,
) -> Plan:
    """Make the plan that the core evaluates."""
    policy = request.policy
    if weights is not None:
        refuse_whole_run(request.measures, "weights")
    if policy.negative not in {"gain", "minmax"}:
        grades = [grade for grade in grades if grade >= 0]
    aggregate = split_aggregate(policy.aggregate)
    rows: list[tuple[str, str, Mapping[str, object], bool, tuple[str, float | None]]] = []
    for measure in request.measures:
        kernel, params = measure.kernel_spec(grades=grades)
        own = aggregate if measure.row.mean == "mean" else (measure.row.mean, None)
        if measure.row.level == "run":
            own = ("mean", None)
        rows.append((measure.name, kernel, params, measure.judged_only, own))
    fields = policy.to_dict() | {"ties": ties}
    core_items = None if items is None else items.known
    cutoffs = [k if k is None else min(k, LONGEST_LIST) for k in cutoffs_of(request.measures)]
    return Plan(
        rows,
        fields,
        duplicates,
        request.score_type,
        cutoffs,
        weights,
        items=core_items,
        judged=None if core_items is None else judgments,
    )


def cutoffs_of(measures: list[Measure]) -> list[int | None]:
    """Return the cutoffs of the measures, ascending. `None`, the whole list, comes last."""
    cutoffs = {measure.k for measure in measures}
    return [*sorted(k for k in cutoffs if k is not None), *([None] if None in cutoffs else [])]


def make_evaluation(
    answer: CoreEvaluation,
    request: Request,
    reading: Reading,
    asked: Asked,
    known: Known,
    *,
    queries: Queries,
    run_name: str,
    run_notes: Iterable[tuple[str, int, int]] = (),
) -> Evaluation:
    """Make a result from the core's answer."""
    interval, items = asked.interval, asked.items
    counts, notes = describe_answer(
        answer,
        request,
        queries=queries,
        run_name=run_name,
        run_notes=run_notes,
        duplicates=reading.duplicates,
    )
    if items is not None and any("items" in measure.row.needs for measure in request.measures):
        notes += items.notes
    if math.isfinite(EMPTY_VALUES.get(request.policy.empty, math.nan)):
        # Measures of items stay undefined for want of attributes or of a history.
        denominators = answer.denominators()
        notes += [
            describe("items_undefined", left_out, {"name": measure.name}, file=run_name)
            for at, measure in enumerate(request.measures)
            if measure.row.of_items and measure.row.level == "query"
            if (left_out := counts.evaluated - denominators[at])
        ]
    if known.slices:
        refuse_whole_run(request.measures, "by")
    estimates: dict[str, Estimate] = {}
    resampling = None
    if interval:
        order = order_queries(queries.read_ids())
        resampling = Resampling(interval, order, known.clusters, reading.threads)
        of_all = make_estimates(answer, request.measures, [0] * counts.queries, 1, resampling)
        means = answer.means()
        estimates = {
            measure.name: of_all[at][0]
            if measure.row.level == "query"
            else estimate_run(means[at], interval.level, answer.denominators()[at])
            for at, measure in enumerate(request.measures)
        }
    if asked.strict:
        refuse_diagnostics(notes)
    return Evaluation(
        measures=request.measures,
        policy=request.policy,
        counts=counts,
        notes=notes,
        queries=queries,
        answer=answer,
        convention=request.convention,
        names=request.names,
        estimates=estimates,
        attributes=known.slices,
        slices=make_slices(answer, request.measures, known.slices, resampling, queries.source),
    )


def refuse_whole_run(measures: Sequence[Measure], argument: str) -> None:
    """Raise an error for a measure that has no value for each query."""
    for measure in measures:
        if measure.row.level == "run":
            raise UsageError(
                f"{argument} has no effect on {measure}, which is one value of all lists together",
                hint=f"evaluate {measure} in a call of its own",
                code="bad_parameter",
            )


def describe_answer(
    answer: Counted,
    request: Request,
    *,
    queries: Queries,
    run_name: str,
    run_notes: Iterable[tuple[str, int, int]] = (),
    duplicates: str,
) -> tuple[Counts, list[Diagnostic]]:
    """Return the counts and the notes of the core's answer."""
    judged, evaluated, empty, missing, run_only, tied, flat, candidates = answer.counts()
    cutoffs = cutoffs_of(request.measures)
    at_cutoffs = dict(zip(cutoffs, answer.at_cutoffs(), strict=True))
    counts = Counts(
        queries=judged,
        evaluated=evaluated,
        empty=empty,
        missing=missing,
        run_only=run_only,
        tied=tied,
        retrieved_at_k={k: retrieved for k, (retrieved, _) in at_cutoffs.items()},
        unjudged_at_k={k: unjudged for k, (_, unjudged) in at_cutoffs.items()},
    )
    choices = request.policy.to_dict() | {"duplicates": queries.duplicates}
    notes = [
        describe(code, count, choices, file=queries.name, line=line)
        for code, count, line in queries.notes
    ]
    choices["duplicates"] = duplicates
    notes += [
        describe(code, count, choices, file=run_name, line=line)
        for code, count, line in (*run_notes, *answer.notes())
    ]
    if queries.subtopics and not all(measure.row.subtopics for measure in request.measures):
        notes.append(describe("subtopics_joined", queries.subtopics, choices))
    notes += [
        describe("other_definition", 1, {"name": name, "tool": tool, "difference": difference})
        for name, tool, difference in request.differences
    ]
    notes += note_scale(request)
    if all(measure.row.strata for measure in request.measures):
        # In sampled judgments, a negative grade marks a document that wasn't judged.
        notes = [note for note in notes if note.code != "negative_rel"]
    levels = [measure.value_of("rel") for measure in request.measures]
    if not any(isinstance(level, float) and level >= 1 for level in levels):
        notes = [note for note in notes if note.code != "fractional_rel"]
    deepest = cutoffs[-1]
    found = judged - missing
    shown, unjudged = at_cutoffs[deepest]
    unmatched = "subtopics_unjudged" if queries.subtopics else "all_unjudged"
    whole = {
        "duplicate_measures": request.repeated,
        "grades_clipped": request.clipped,
        "n_missing": missing,
        "n_run_only": run_only,
        "n_no_relevant": empty,
        "tied_scores": flat,
        unmatched: unjudged if 0 < shown == unjudged else 0,
        "sampled_candidates": found if candidates and found >= FEWEST_SAMPLED else 0,
    }
    choices["candidates"] = candidates
    notes += [describe(code, count, choices) for code, count in whole.items() if count]
    return counts, notes


def refuse_diagnostics(notes: Iterable[Diagnostic]) -> None:
    """Raise an error if there is any diagnostic, for `strict`."""
    for note in notes:
        if note.code == "other_definition":  # of a name, not of the input
            continue
        raise FormatError(
            f"expected nothing suspicious, as strict says; {note.sentence}",
            hint="fix the input, or remove strict",
            code=note.code,
            file=note.file or None,
            line=note.line or None,
        )
