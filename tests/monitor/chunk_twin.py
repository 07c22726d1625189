"""What the core computes for a chunk, written with NumPy: every bit of both must be the same."""

from __future__ import annotations

import math
from collections import defaultdict
from dataclasses import replace
from itertools import pairwise

import numpy as np
from rankscope._evaluate.rankings import Rankings, rank_groups
from rankscope._inputs.attribution import Labels, grade_labels
from rankscope.measures import IDCG, OrderingLoss, TruncationLoss
from rankscope.monitor.ask.regrets import find_regrets
from rankscope.monitor.evaluate.grades import Graded
from rankscope.monitor.evaluate.values import PARTS, place_items
from rankscope.monitor.events.event import LABEL_KINDS
from rankscope.monitor.events.limits import SECOND
from rankscope.monitor.store.chunks import offsets_of

from tests.monitor.chunks import integers

LABEL = LABEL_KINDS.index("label")
RETRACTION = LABEL_KINDS.index("retraction")


def read(texts):
    offsets, whole = texts[0].tolist(), texts[1].tobytes()
    return [whole[start:end] for start, end in pairwise(offsets)]


def find_shown(chunk):
    """The row of the document of each label, or -1."""
    offsets, shown = chunk.items.offsets.tolist(), read(chunk.items.doc_ids)
    told = zip(chunk.labels.rankings.tolist(), read(chunk.labels.doc_ids), strict=True)
    found = []
    for ranking, doc in told:
        rows = range(offsets[ranking], offsets[ranking + 1])
        found.append(next((row for row in rows if shown[row] == doc), -1))
    return found


def grade(chunk, definition, now):
    items, labels = chunk.items, chunk.labels
    window = definition.window * SECOND
    is_mature = np.full(len(chunk.times), now is None) | (chunk.times + window <= (now or 0))
    late, unshown = np.zeros((2, len(chunk.times)), dtype=np.int64)
    ages = labels.times - chunk.times[labels.rankings]
    # By document, the labels that stand after corrections and retractions.
    standing = defaultdict(list)
    for at, (row, ranking) in enumerate(zip(find_shown(chunk), labels.rankings, strict=True)):
        if row < 0:
            unshown[ranking] += 1
        elif now is not None and ages[at] >= window:
            late[ranking] += 1
        elif now is None or labels.times[at] <= now:
            if labels.kinds[at] != LABEL:
                standing[row].clear()
            standing[row] += [at] if labels.kinds[at] != RETRACTION else []
    relevance = items.relevance.copy()
    for row, told in standing.items():
        relevance[row] = combine(labels, told, definition.attribution)
    is_labelled = count_in(~np.isnan(relevance), items.offsets) > 0
    is_closed = np.repeat(is_mature, np.diff(items.offsets)) & np.isnan(relevance)
    relevance[is_closed] = definition.attribution.unlabelled
    effective = integers([at for row in sorted(standing) for at in standing[row]])
    return Graded(
        relevance=relevance,
        is_mature=is_mature,
        is_labelled=is_labelled,
        pending=count_in(np.isnan(relevance), items.offsets),
        ages=ages[effective],
        aged=labels.rankings[effective],
        late=late,
        unshown=unshown,
    )


def combine(labels, told, attribution):
    """The grade of a document by its labels, NaN without any."""
    if not told:
        return math.nan
    names = [name for at in told for name in labels.names[labels.codes[at]]]
    said = Labels(names, np.arange(len(names)), np.array([len(names)]))
    values = [value for value in labels.values[told].tolist() if not math.isnan(value)]
    (grade,) = grade_labels(said, attribution).tolist() if names or not values else [None]
    worth = [] if grade is None else [grade]
    return (sum if attribution.combine == "sum" else max)([*worth, *values])


def count_in(marks, offsets):
    before = offsets_of(marks.astype(np.int64))
    return before[offsets[1:]] - before[offsets[:-1]]


def evaluate(chunk, graded, definition):
    items, relevance = chunk.items, graded.relevance
    sizes = np.diff(items.offsets)
    rankings = np.repeat(np.arange(len(sizes)), sizes)
    is_refused = np.zeros(len(sizes), dtype=np.bool_)
    is_refused[rankings[np.abs(relevance) > definition.max_grade]] = True
    relevance = np.where(is_refused[rankings], np.nan, relevance)
    relevant = np.bincount(rankings[relevance > 0], minlength=len(sizes))
    placed = place_items(items, relevance, definition.depth)
    names = [
        name for measure in definition.measures for name in (measure, *parts(measure, definition))
    ]
    found = rank_groups(placed.groups, "input", Rankings).evaluate(
        names, policy=replace(definition.policy, empty="skip"), threads=1
    )
    fill = {"zero": 0.0, "one": 1.0}.get(definition.policy.empty)
    columns = {}
    for measure in definition.measures:
        value = np.where(is_refused, np.nan, found.per_query(measure))
        is_undefined = np.isnan(value) & ~is_refused
        columns[measure.name] = value if fill is None else np.where(is_undefined, fill, value)
        beside = parts(measure, definition)
        if not beside:
            continue
        lost = np.where(is_refused, np.nan, 0.0)
        truncation, ordering, ideal = (
            np.where(is_refused, np.nan, found.per_query(part)) for part in beside
        )
        if fill is None:
            undefined = np.where(is_undefined, np.nan, lost)
        else:
            truncation, ordering = (
                np.where(is_undefined, 0.0, one) for one in (truncation, ordering)
            )
            undefined = np.where(is_undefined, 1.0 - fill, lost)
        for part, column in zip(PARTS, (truncation, ordering, undefined, ideal), strict=True):
            columns[f"{measure.name} {part}"] = column
    same = (items.scores[1:] == items.scores[:-1]) & (rankings[1:] == rankings[:-1])
    is_tied = np.zeros(len(sizes), dtype=np.bool_)
    is_tied[rankings[1:][same]] = True
    return columns, {
        "documents": sizes,
        "relevant": relevant,
        "unjudged": graded.pending,
        "is_empty": (relevant == 0) & ~is_refused,
        "is_missing": sizes == 0,
        "is_tied": is_tied,
        "has_gaps": placed.has_gaps,
        "is_refused": is_refused,
    }


def parts(measure, definition):
    if measure.row.name != "nDCG" or definition.policy.negative == "minmax":
        return ()
    return tuple(make(**measure.settings) for make in (TruncationLoss, OrderingLoss, IDCG))


def costs(chunk, graded, definition):
    items = chunk.items
    placed = place_items(items, graded.relevance, definition.depth)
    found = find_regrets(
        rank_groups(placed.groups, "input", Rankings), definition.measures[0], definition.policy
    )
    sizes = np.diff(items.offsets)
    starts = placed.groups.offsets
    at_place = np.full(int(starts[-1]), -1, dtype=np.int64)
    of_items = np.repeat(np.arange(len(sizes)), sizes)
    at_place[starts[of_items] + placed.places - 1] = np.arange(len(of_items))
    queries = found.queries.astype(np.int64)
    rows = at_place[starts[queries] + found.ranks.astype(np.int64) - 1]
    return queries.tolist(), rows.tolist(), found.grades, found.regrets


def name_clusters(chunk):
    """The cluster of each ranking: its user, else its query, else the ranking itself."""
    columns = [
        [kind + name if name else b"" for name in read(column)]
        for kind, column in (
            (b"u", chunk.user_ids),
            (b"q", chunk.query_keys),
            (b"r", chunk.ranking_ids),
        )
    ]
    return [user or query or ranking for user, query, ranking in zip(*columns, strict=True)]
