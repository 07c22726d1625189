"""Explanations: how the value of one logged ranking is computed."""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence
from dataclasses import replace

import numpy as np
from numpy.typing import NDArray

from rankscope import Explanation, RelevanceExplanation
from rankscope._evaluate.rankings import Rankings, rank_groups
from rankscope._explain.explain import EXPLAINED, OF_RELEVANCE, derive_value
from rankscope._explain.explanation import LIMIT, Documents
from rankscope._explain.query import RankedQuery
from rankscope.errors import MeasureError, UsageError
from rankscope.measures import Measure
from rankscope.monitor.arrays import Texts
from rankscope.monitor.ask.logged_explanation import LoggedDocument, LoggedExplanation, Source
from rankscope.monitor.ask.regrets import find_regrets
from rankscope.monitor.ask.trace import find_traced
from rankscope.monitor.definition.definition import Definition
from rankscope.monitor.evaluate.grades import JudgedLabel, grade_chunk, judge_labels
from rankscope.monitor.evaluate.values import PlacedItems, evaluate_chunk, place_items
from rankscope.monitor.events.event import LABEL_KINDS, Items, Label, Ranking
from rankscope.monitor.events.limits import SECOND
from rankscope.monitor.events.times import to_datetime
from rankscope.monitor.plain import make_plain
from rankscope.monitor.store.chunks import offsets_of
from rankscope.monitor.store.records import Chunk, ItemColumns, LabelColumns
from rankscope.monitor.store.store import StoreReader

Numbers = Mapping[int, float]


def explain_logged(
    store: StoreReader,
    project: str,
    definition: Definition,
    ranking_id: str,
    *,
    now: int,
    measure: Measure | str | None = None,
) -> LoggedExplanation:
    """Explain the value of a logged ranking as of a moment."""
    ranking = store.find_ranking(project, ranking_id)
    if ranking is None:
        raise UsageError(
            f"there is no logged ranking {ranking_id!r:.120}",
            hint="pass the ranking_id under which it was logged",
            code="unknown_ranking",
        )
    chosen = _choose(definition, measure)
    as_of = now if ranking.environment == "production" else None
    return explain_ranking(
        ranking, store.find_labels(project, ranking_id), definition, chosen, as_of
    )


def explain_ranking(
    ranking: Ranking,
    labels: Sequence[Label],
    definition: Definition,
    measure: Measure,
    now: int | None,
) -> LoggedExplanation:
    """Explain the value of a ranking."""
    alone = definition.only(measure)
    chunk = take_alone(ranking, labels)
    graded = grade_chunk(chunk, alone, now)
    values = evaluate_chunk(chunk, graded, alone)
    (measured,) = values.measures
    judged = judge_labels(ranking, labels, definition, now)
    placed = place_items(chunk.items, graded.relevance, alone.depth)
    is_refused = bool(values.is_refused[0])
    derivation = None if is_refused else _derive(ranking, placed, alone)
    return LoggedExplanation(
        ranking=ranking,
        measure=measure,
        definition=definition.hash,
        policy=alone.policy,
        value=float(measured.value[0]),
        now=None if now is None else to_datetime(now),
        closes=None if now is None else to_datetime(ranking.time + definition.window * SECOND),
        is_final=bool(graded.is_mature[0]),
        is_empty=bool(values.is_empty[0]),
        is_refused=is_refused,
        has_gaps=bool(values.has_gaps[0]),
        pending=int(graded.pending[0]) if not graded.is_mature[0] else 0,
        documents=_list_documents(
            ranking,
            graded.relevance.tolist(),
            placed.places.tolist(),
            judged,
            is_final=bool(graded.is_mature[0]),
            derivation=derivation,
            regrets={} if is_refused else _find_regrets(placed, alone),
        ),
        labels=judged,
        losses=None
        if not measured.parts
        else {
            "retrieval": None,
            **{
                name: make_plain(float(measured.parts[name][0]))
                for name in ("truncation", "ordering", "undefined")
            },
        },
        derivation=derivation,
    )


def _choose(definition: Definition, measure: Measure | str | None) -> Measure:
    if measure is not None:
        return definition.only(measure).measures[0]
    try:
        return find_traced(definition)
    except MeasureError:
        return definition.measures[0]


def _derive(
    ranking: Ranking, placed: PlacedItems, definition: Definition
) -> Explanation | RelevanceExplanation | None:
    """Derive the value, if the measure has a derivation."""
    (measure,) = definition.measures
    if measure.row.name not in {*EXPLAINED, *OF_RELEVANCE}:
        return None
    grades = placed.groups.relevance.tolist()
    docs: list[str | None] = [None] * len(grades)
    for doc_id, place in zip(ranking.items.doc_ids, placed.places.tolist(), strict=True):
        docs[place - 1] = doc_id
    known = [at for at, grade in enumerate(grades) if not math.isnan(grade)]
    query = RankedQuery(
        query_id=ranking.ranking_id,
        docs=docs,  # type: ignore[arg-type]  # a rank without a document has no name
        grades=grades,
        scores=placed.groups.scores.tolist(),
        ties="input",
        judged=[grades[at] for at in known],
        judged_docs=[docs[at] or "" for at in known],
        sees_all=False,
    )
    found = derive_value(query, measure, definition.policy, max(LIMIT, measure.k or 0))
    logged = dict(zip(placed.places.tolist(), ranking.items.ranks, strict=True))
    return _say_ranks(found, logged)


def _say_ranks(
    found: Explanation | RelevanceExplanation, logged: Mapping[int, int]
) -> Explanation | RelevanceExplanation:
    """Show documents at their logged ranks, and no grades at ranks without a document."""

    def say(place: int | None) -> int | None:
        return None if place is None else logged[place]

    def say_all(documents: Documents) -> Documents:
        shown = (replace(each, rank=say(each.rank)) for each in documents.shown)
        return replace(documents, shown=tuple(shown))

    has_gaps = any(place != rank for place, rank in logged.items()) or len(logged) < max(
        logged, default=0
    )
    if has_gaps:
        # What stands at the ranks between is not known, so that nothing can take its place.
        found = replace(found, best=None, worst=None)
    if not isinstance(found, Explanation):
        return replace(found, below=say_all(found.below))
    return replace(
        found,
        rows=tuple(row if row.rank in logged else replace(row, grade=None) for row in found.rows),
        ideal_rows=tuple(replace(row, found_at=say(row.found_at)) for row in found.ideal_rows),
        below=say_all(found.below),
        swap=None if has_gaps else found.swap,
    )


def _find_regrets(placed: PlacedItems, definition: Definition) -> Numbers:
    """Return the regret of each document by its place; empty for measures without regrets."""
    (measure,) = definition.measures
    if measure.row.name not in {"nDCG", "DCG", "CG"}:
        return {}
    rankings = rank_groups(placed.groups, "input", Rankings)
    try:
        found = find_regrets(rankings, measure, definition.policy)
    except UsageError:
        return {}
    return dict(zip(found.ranks.tolist(), found.regrets.tolist(), strict=True))


def _list_documents(
    ranking: Ranking,
    grades: Sequence[float],
    places: Sequence[int],
    labels: Sequence[JudgedLabel],
    *,
    is_final: bool,
    derivation: Explanation | RelevanceExplanation | None,
    regrets: Numbers,
) -> tuple[LoggedDocument, ...]:
    counting = {each.label.doc_id for each in labels if each.counts}
    heard = {each.label.doc_id for each in labels if each.is_heard}
    rows = {row.rank: row for row in derivation.rows} if isinstance(derivation, Explanation) else {}
    ideal = (
        {row.doc_id: row.rank for row in derivation.ideal_rows}
        if isinstance(derivation, Explanation)
        else {}
    )
    found = []
    for item, grade, place in zip(ranking.items, grades, places, strict=True):
        source: Source = "pending"
        if item.doc_id in counting:
            source = "labels"
        elif item.relevance is not None and item.doc_id not in heard:
            source = "logged"
        elif is_final:
            source = "unlabelled"
        row = rows.get(place)
        found.append(
            LoggedDocument(
                rank=item.rank,
                doc_id=item.doc_id,
                score=item.score,
                grade=make_plain(grade),
                source=source,
                gain=None if row is None else row.gain,
                discount=None if row is None else row.discount,
                contribution=None if row is None else row.contribution,
                ideal_rank=ideal.get(item.doc_id),
                regret=regrets.get(place),
            )
        )
    return tuple(found)


def take_alone(ranking: Ranking, labels: Sequence[Label]) -> Chunk:
    """Return a chunk that holds one ranking."""
    said = list(dict.fromkeys(label.labels for label in labels))
    count = len(labels)
    return Chunk(
        np.zeros(1, dtype=np.int64),
        np.array([ranking.time], dtype=np.int64),
        np.zeros(1, dtype=np.int64),
        _join([ranking.ranking_id]),
        _join([ranking.query_key]),
        _join([ranking.user_id]),
        _to_columns(ranking.items),
        LabelColumns(
            np.zeros(count, dtype=np.int64),
            _join([label.doc_id for label in labels]),
            np.array([label.time for label in labels], dtype=np.int64),
            np.array([LABEL_KINDS.index(label.kind) for label in labels], dtype=np.int8),
            tuple(said),
            np.array([said.index(label.labels) for label in labels], dtype=np.int64),
            np.array(
                [np.nan if label.value is None else label.value for label in labels],
                dtype=np.float64,
            ),
        ),
    )


def _to_columns(items: Items) -> ItemColumns:
    count = len(items)

    def to_numbers(column: tuple[float | None, ...]) -> NDArray[np.float64]:
        return np.array(column or [None] * count, dtype=np.float64)  # NaN for `None`

    return ItemColumns(
        np.array([0, count]),
        _join(items.doc_ids),
        np.array(items.ranks, dtype=np.int64),
        to_numbers(items.scores),
        to_numbers(items.relevance),
    )


def _join(texts: Sequence[str]) -> Texts:

    encoded = [text.encode() for text in texts]
    sizes = np.array([len(ids) for ids in encoded], dtype=np.int64)
    return offsets_of(sizes), np.frombuffer(b"".join(encoded), np.uint8)
