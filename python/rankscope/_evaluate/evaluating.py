"""Evaluates measures under a policy by one call of the core."""

from __future__ import annotations

import math
from collections.abc import Callable, Iterable, Sequence
from dataclasses import replace
from functools import partial, reduce
from operator import add
from typing import TYPE_CHECKING, Any, TypeAlias

from rankscope._core import EMPTY_VALUES, Judgments, Plan, evaluate_dict
from rankscope._core import Evaluation as CoreEvaluation
from rankscope._evaluate.evaluation import Counts, Evaluation
from rankscope._evaluate.query_values import (
    make_estimates,
    make_slices,
    order_queries,
    read_attributes,
    refuse_cluster_alone,
)
from rankscope._evaluate.runs import Evaluated, evaluate_input
from rankscope._evaluate.settings import Request, Settings, refuse_whole_run
from rankscope._file import File
from rankscope._inputs.reading import Qrels, Queries, read_judgments
from rankscope._inputs.recognition import recognise, refuse_unpaired
from rankscope._names import quote
from rankscope._settings import Reading
from rankscope._show.diagnostics import Diagnostic, Estimate, describe, describe_note, estimate_run
from rankscope._show.progress import watch
from rankscope.errors import FormatError, UsageError
from rankscope.measures import Measure
from rankscope.measures.parse import Measures, find_second

if TYPE_CHECKING:
    from rankscope._inputs.reading import Note
    from rankscope.typing import InputLike, Second

    Evaluate: TypeAlias = Callable[[Qrels, Any, Request, Plan, Reading], Evaluated]


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
    attributes = read_attributes(
        settings.attributes, names, queries.read_ids() if names else [], reading
    )
    if names:
        queries = queries._replace(source=queries.source._replace(attributes=attributes.columns))
    request = settings.look_up(request, queries.read_ids, attributes.find)
    plan = request.plan(
        duplicates=reading.duplicates, items=settings.items, judgments=qrels.judgments
    )
    evaluated = evaluate(qrels, run, request, plan, reading)
    refuse_unmatched(evaluated, request, qrels.judgments)
    return make_evaluation(evaluated, request, settings, reading, queries)


def refuse_unmatched(evaluated: Evaluated, request: Request, judgments: Judgments | None) -> None:
    """Raise an error if no list of a run has a judged document."""
    values = evaluated.core
    counts = values.counts()
    is_of_items = all(measure.row.of_items for measure in request.measures)
    if judgments is None or is_of_items or not FEWEST <= counts.listed == counts.unmatched:
        return
    query, docs = values.unmatched() or (0, [])
    ids = judgments.query_ids()
    if any(doc in docs for other in range(len(ids)) for doc, _ in judgments.documents(other)):
        return  # a run of the same collection, without a hit
    judged = [doc for doc, _ in judgments.documents(query)]
    example: tuple[str, list[str], list[str]] = (ids[query], judged, docs)
    raise no_common_documents(counts.listed, example, values.notes(), evaluated.name)


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
    evaluated: Evaluated, request: Request, settings: Settings, reading: Reading, queries: Queries
) -> Evaluation:
    """Make a result from the values of a run."""
    values, measures, items = evaluated.core, request.measures, settings.items
    counts, notes = describe_run(evaluated, request, queries, reading.duplicates)
    means, denominators = values.means(), values.denominators()
    if items is not None and any("items" in measure.row.needs for measure in measures):
        notes += items.notes
    if math.isfinite(EMPTY_VALUES.get(request.policy.empty, math.nan)):
        # Measures of items stay undefined for want of attributes or of a history.
        notes += [
            describe("items_undefined", left_out, {"name": measure.name}, file=evaluated.name)
            for measure, denominator in zip(measures, denominators, strict=True)
            if measure.row.of_items and measure.row.level == "query"
            if (left_out := counts.evaluated - denominator)
        ]
    if request.slices:
        refuse_whole_run(measures, "by")
    estimates: dict[str, Estimate] = {}
    estimate = None
    if interval := settings.interval:
        estimate = partial(
            make_estimates,
            values,
            measures,
            interval=interval,
            order=order_queries(queries.read_ids()),
            clusters=request.clusters,
            threads=reading.threads,
        )
        of_all = estimate([0] * counts.queries, 1)
        estimates = {
            measure.name: of_all[at][0]
            if measure.row.level == "query"
            else estimate_run(means[at], interval.level, denominators[at])
            for at, measure in enumerate(measures)
        }
    if settings.strict:
        refuse_diagnostics(notes)
    row, is_mean = request.convention, request.policy.aggregate == "mean"
    if row and row.adds_in_order and request.weights is None and is_mean:
        means = _add_in_order(values, measures, order_queries(queries.read_ids()))
    return Evaluation(
        request,
        evaluated,
        queries,
        counts=counts,
        notes=notes,
        means=means,
        estimates=estimates,
        slices=make_slices(values, measures, request.slices, estimate, queries.source),
    )


def _add_in_order(
    values: CoreEvaluation, measures: Sequence[Measure], order: Sequence[int]
) -> list[float]:
    """Return means whose sums are rounded after each query."""
    means = values.means()
    for at, count in enumerate(values.denominators()):
        if measures[at].row.level == "query" and measures[at].row.mean == "mean":
            column = memoryview(values.values(at)).cast("d")
            defined = (column[query] for query in order if not math.isnan(column[query]))
            # `sum` rounds once from Python 3.12 on.
            means[at] = reduce(add, defined, 0.0) / count if count else math.nan
    return means


def describe_run(
    evaluated: Evaluated, request: Request, queries: Queries, duplicates: str
) -> tuple[Counts, list[Diagnostic]]:
    """Return the counts and the notes of an evaluated run."""
    values, run = evaluated.core, evaluated.name
    counted = values.counts()
    cutoffs = request.cutoffs
    at_cutoffs = dict(zip(cutoffs, values.at_cutoffs(), strict=True))
    counts = Counts(
        queries=counted.queries,
        evaluated=counted.evaluated,
        empty=counted.empty,
        missing=counted.missing,
        run_only=counted.run_only,
        tied=counted.tied,
        retrieved_at_k={k: retrieved for k, (retrieved, _) in at_cutoffs.items()},
        unjudged_at_k={k: unjudged for k, (_, unjudged) in at_cutoffs.items()},
    )
    choices = request.policy.to_dict() | {"duplicates": queries.duplicates}
    notes = [describe_note(note, choices, queries.name) for note in queries.notes]
    choices["duplicates"] = duplicates
    notes += [describe_note(note, choices, run) for note in (*evaluated.notes, *values.notes())]
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
    retrieved = counts.queries - counts.missing
    listed, unmatched = counted.listed, counted.unmatched
    shown, unjudged = at_cutoffs[cutoffs[-1]]
    # Where all that is judged is relevant, such as purchases, lists without any are usual.
    are_many = min(request.grades, default=1) <= 0 and 2 * listed <= 5 * unmatched < 5 * listed
    none_judged = "subtopics_unjudged" if queries.subtopics else "all_unjudged"
    whole = {
        "duplicate_measures": request.repeated,
        "grades_clipped": request.clipped,
        "n_missing": counts.missing,
        "n_run_only": counts.run_only,
        "n_no_relevant": counts.empty,
        "tied_scores": counted.flat,
        none_judged: unjudged if 0 < shown == unjudged else 0,
        "lists_unjudged": unmatched if are_many else 0,
        "sampled_candidates": retrieved if counted.candidates and retrieved >= FEWEST else 0,
    }
    choices["candidates"] = counted.candidates
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


def load_qrels(qrels: InputLike | Qrels, reading: Reading, second: Second = "") -> Qrels:
    """Read judgments, unless they were read before."""
    if isinstance(qrels, Qrels):
        return qrels
    source = recognise(qrels, "qrels", reading.columns)
    notes: list[Note] = []
    with watch(source.name, source.find_size, reading.progress) as tell:
        judgments, ids = read_judgments(source, reading, notes=notes, second=second, tell=tell)
    subtopics = judgments.subtopics() or 0
    if subtopics and _have_one_subtopic(judgments):
        notes.append(("one_subtopic", len(judgments.query_ids()), 0))
    duplicates, read_ids = reading.duplicates, judgments.query_ids
    return Qrels(
        judgments, Queries(source.name, duplicates, read_ids, tuple(notes), ids, subtopics)
    )


def _have_one_subtopic(judgments: Judgments) -> bool:
    """Check whether each query has one subtopic, which any relevant document then covers."""
    judged = [dict(judgments.documents(at)) for at in range(len(judgments.query_ids()))]
    if judgments.subtopics() != sum(map(len, judged)):  # a document has several
        return False
    best = ({max(docs, key=docs.__getitem__): 1.0} for docs in judged)
    run = dict(zip(judgments.query_ids(), best, strict=True))
    plan = Settings(measures="StRecall", policy="empty=one").request().plan()
    return evaluate_dict(judgments, plan, run).means() == [1.0]


def load_qrels_for(
    qrels: InputLike | Qrels,
    runs: Iterable[InputLike],
    measures: Measures,
    reading: Reading,
    *,
    subtopics: bool | None = None,
) -> Qrels:
    """Read judgments with what measures need of them, unless they were read before."""
    if not isinstance(qrels, Qrels):
        for run in runs:
            refuse_one_stdin_for_both(qrels, run)
            refuse_unpaired(qrels, run)
    return load_qrels(qrels, reading, find_second(measures, subtopics=subtopics))


def refuse_one_stdin_for_both(qrels: InputLike, run: InputLike) -> None:
    """Raise an error if judgments and run both come from standard input."""
    paths = [source.path if isinstance(source, File) else source for source in (qrels, run)]
    if all(isinstance(path, str) and path == "-" for path in paths):
        raise UsageError(
            "expected '-' for one input, found it for both",
            hint="name a file for the other",
            code="stdin_twice",
        )
