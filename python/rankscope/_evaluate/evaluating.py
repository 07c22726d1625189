"""Evaluates measures under a policy by one call of the core."""

from __future__ import annotations

import math
from functools import partial, reduce
from operator import add

from rankscope._core import EMPTY_VALUES, Plan
from rankscope._evaluate.evaluation import Counts, Evaluation
from rankscope._evaluate.query_values import (
    NONE,
    order_queries,
    read_attributes,
    refuse_cluster_alone,
)
from rankscope._evaluate.runs import evaluate_input
from rankscope._evaluate.settings import Known, Request, Settings, refuse_whole_run
from rankscope._evaluate.slices import make_estimates, make_slices
from rankscope.errors import FormatError
from rankscope.names import quote
from rankscope.output.diagnostics import describe, describe_note
from rankscope.output.estimate import estimate_run
from rankscope.records import replace

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Callable, Iterable, Mapping, Sequence
    from typing import Any, Protocol, TypeAlias

    from rankscope._core import Evaluation as CoreEvaluation
    from rankscope._core import Judgments
    from rankscope._evaluate.settings import Request
    from rankscope._inputs.qrels import Qrels, Queries
    from rankscope._inputs.reading import Note
    from rankscope.measures import Measure
    from rankscope.output.diagnostics import Diagnostic
    from rankscope.output.estimate import Estimate
    from rankscope.settings.reading import Reading
    from rankscope.typing import InputLike

    Evaluated: TypeAlias = tuple[CoreEvaluation, str, Iterable[Note], Mapping[str, str]]
    """The values, the name of the run, what was noticed when it was read, and by role the columns
    that were found by their usual names."""
    Evaluate: TypeAlias = Callable[[Qrels, Any, Request, Plan, Reading], Evaluated]

    class Counted(Protocol):
        """An answer of the core, or of its parts."""

        def counts(self) -> list[int]:
            """Return the numbers of queries."""

        def at_cutoffs(self) -> list[tuple[int, int]]:
            """Return retrieved and unjudged documents by cutoff."""

        def notes(self) -> list[tuple[str, int, int]]:
            """Return the code, the count and the first line of each note."""


FEWEST = 10
"""Fewer lists may look like samples of candidates, or have no judged document, by chance."""


def _evaluate_input(
    qrels: Qrels, run: InputLike, request: Request, plan: Plan, reading: Reading
) -> Evaluated:
    return evaluate_input(
        qrels.judgments, run, plan, request.ties, reading, measures=request.measures
    )


def evaluate_run(
    qrels: Qrels,
    run: InputLike | Sequence[InputLike],
    settings: Settings,
    reading: Reading,
    *,
    evaluate: Evaluate = _evaluate_input,
) -> Evaluation:
    """Evaluate a run. `rankscope.evaluate` documents the arguments."""
    refuse_cluster_alone(settings.cluster, settings.interval)
    grades, queries = qrels.judgments.grades(), qrels.queries
    request = settings.request(grades=grades, score_type=reading.score_type)
    reading = replace(reading, score_type=request.score_type)
    names = settings.list_attributes()
    held = NONE
    if names:
        held = read_attributes(settings.attributes, names, queries.read_ids(), reading)
        queries = replace(queries, source=replace(queries.source, attributes=held.columns))
    known = settings.look_up(queries.read_ids, held.find)
    plan = request.plan(
        duplicates=reading.duplicates,
        weights=known.weights,
        items=settings.items,
        judgments=qrels.judgments,
    )
    answer, name, notes, usual = evaluate(qrels, run, request, plan, reading)
    refuse_unmatched(answer, request, qrels.judgments, name)
    return make_evaluation(
        answer,
        request,
        reading,
        settings,
        known,
        queries=queries,
        run_name=name,
        run_notes=notes,
        run_columns=usual,
    )


def refuse_unmatched(
    answer: CoreEvaluation, request: Request, judgments: Judgments | None, name: str
) -> None:
    """Raise an error if no list of a run has a judged document."""
    *_, listed, unmatched = answer.counts()
    is_of_items = all(measure.row.of_items for measure in request.measures)
    if judgments is None or is_of_items or not FEWEST <= listed == unmatched:
        return
    query, docs = answer.unmatched() or (0, [])
    ids = judgments.query_ids()
    if any(doc in docs for other in range(len(ids)) for doc, _ in judgments.documents(other)):
        return  # a run of the same collection, without a hit
    known = [doc for doc, _ in judgments.documents(query)]
    raise no_common_documents(listed, (ids[query], known, docs), answer.notes(), name)


def no_common_documents(
    listed: int,
    example: tuple[str, Sequence[str], Sequence[str]],
    notes: Iterable[tuple[str, int, int]],
    name: str,
) -> FormatError:
    """Return the error for lists without a judged document.

    The example is a query, the documents of its judgments, and those of its list.
    """
    query, *documents = example
    judged, retrieved = (" and ".join(map(quote, few[:2])) or "none" for few in documents)
    codes = [code for code, *_ in notes]
    return FormatError(
        f"expected judged documents in the run, found none in {listed} lists: for query "
        f"{quote(query)}, judged are {judged}, in the run are {retrieved}",
        hint=(
            "the IDs differ only in case or Unicode normalization: write them alike"
            if "ids_equal_after_normalisation" in codes
            else "are both of the same collection? Write the IDs of documents alike"
        ),
        code="no_common_documents",
        file=name or None,
    )


def make_evaluation(
    answer: CoreEvaluation,
    request: Request,
    reading: Reading,
    settings: Settings,
    known: Known,
    *,
    queries: Queries,
    run_name: str,
    run_notes: Iterable[Note] = (),
    run_columns: Mapping[str, str] | None = None,
) -> Evaluation:
    """Make a result from the core's answer."""
    interval, items = settings.interval, settings.items
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
    estimate = None
    if interval:
        estimate = partial(
            make_estimates,
            answer,
            request.measures,
            interval=interval,
            order=order_queries(queries.read_ids()),
            clusters=known.clusters,
            threads=reading.threads,
        )
        of_all = estimate([0] * counts.queries, 1)
        means = answer.means()
        estimates = {
            measure.name: of_all[at][0]
            if measure.row.level == "query"
            else estimate_run(means[at], interval.level, answer.denominators()[at])
            for at, measure in enumerate(request.measures)
        }
    if settings.strict:
        refuse_diagnostics(notes)
    means = answer.means()
    row = request.convention
    if row and row.adds_in_order and known.weights is None and request.policy.aggregate == "mean":
        means = _add_in_order(answer, request.measures, order_queries(queries.read_ids()))
    return Evaluation(
        request,
        answer,
        queries,
        counts=counts,
        notes=notes,
        means=means,
        run_columns=(run_name, run_columns or {}),
        estimates=estimates,
        attributes=known.slices,
        slices=make_slices(answer, request.measures, known.slices, estimate, queries.source),
    )


def _add_in_order(
    answer: CoreEvaluation, measures: Sequence[Measure], order: Sequence[int]
) -> list[float]:
    """Return means whose sums are rounded after each query."""
    means = answer.means()
    for at, count in enumerate(answer.denominators()):
        if measures[at].row.level == "query" and measures[at].row.mean == "mean":
            values = memoryview(answer.values(at)).cast("d")
            defined = (values[query] for query in order if not math.isnan(values[query]))
            # `sum` rounds once from Python 3.12 on.
            means[at] = reduce(add, defined, 0.0) / count if count else math.nan
    return means


def describe_answer(
    answer: Counted,
    request: Request,
    *,
    queries: Queries,
    run_name: str,
    run_notes: Iterable[Note] = (),
    duplicates: str,
) -> tuple[Counts, list[Diagnostic]]:
    """Return the counts and the notes of the core's answer."""
    judged, evaluated, empty, missing, run_only, tied, flat, candidates, *lists = answer.counts()
    listed, unmatched = lists
    cutoffs = request.cutoffs
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
    notes = [describe_note(note, choices, queries.name) for note in queries.notes]
    choices["duplicates"] = duplicates
    notes += [describe_note(note, choices, run_name) for note in (*run_notes, *answer.notes())]
    if queries.subtopics and not all(measure.row.subtopics for measure in request.measures):
        notes.append(describe("subtopics_joined", queries.subtopics, choices))
    notes += [
        describe("other_definition", 1, {"name": name, "tool": tool, "difference": difference})
        for name, tool, difference in request.differences
    ]
    notes += request.note_scale()
    if all(measure.row.strata for measure in request.measures):
        # In sampled judgments, a negative grade marks a document that wasn't judged.
        notes = [note for note in notes if note.code != "negative_rel"]
    levels = [measure.value_of("rel") for measure in request.measures]
    if not any(isinstance(level, float) and level >= 1 for level in levels):
        notes = [note for note in notes if note.code != "fractional_rel"]
    deepest = cutoffs[-1]
    found = judged - missing
    shown, unjudged = at_cutoffs[deepest]
    # Where all that is judged is relevant, such as purchases, lists without any are usual.
    are_many = min(request.grades, default=1) <= 0 and 2 * listed <= 5 * unmatched < 5 * listed
    none_judged = "subtopics_unjudged" if queries.subtopics else "all_unjudged"
    whole = {
        "duplicate_measures": request.repeated,
        "grades_clipped": request.clipped,
        "n_missing": missing,
        "n_run_only": run_only,
        "n_no_relevant": empty,
        "tied_scores": flat,
        none_judged: unjudged if 0 < shown == unjudged else 0,
        "lists_unjudged": unmatched if are_many else 0,
        "sampled_candidates": found if candidates and found >= FEWEST else 0,
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
