"""Chunks of rankings and labels, without a store."""

from __future__ import annotations

from itertools import groupby

import numpy as np
from rankscope.monitor.events.event import LABEL_KINDS, Items, Label, Ranking
from rankscope.monitor.store.chunks import offsets_of
from rankscope.monitor.store.records import Chunk, Context, ItemColumns, LabelColumns

TYPE_CHECKING = False
if TYPE_CHECKING:
    from rankscope.monitor.arrays import Texts


def texts(values: list[str]) -> Texts:
    encoded = [value.encode() for value in values]
    sizes = np.array([len(one) for one in encoded], dtype=np.int64)
    return offsets_of(sizes), np.frombuffer(b"".join(encoded), np.uint8)


def integers(values: list[int]) -> np.ndarray[tuple[int], np.dtype[np.int64]]:
    return np.array(values, dtype=np.int64)


def documents(lists: list[Items]) -> ItemColumns:
    scores = [one for items in lists for one in items.scores or [None] * len(items)]
    grades = [one for items in lists for one in items.relevance or [None] * len(items)]
    return ItemColumns(
        offsets_of(np.array([len(items) for items in lists], dtype=np.int64)),
        texts([doc_id for items in lists for doc_id in items.doc_ids]),
        integers([rank for items in lists for rank in items.ranks]),
        np.array(scores, dtype=float),
        np.array(grades, dtype=float),
    )


def make_chunk(rankings: list[Ranking], *labels: Label) -> tuple[Chunk, dict[int, Context]]:
    places = {ranking.ranking_id: at for at, ranking in enumerate(rankings)}
    told = sorted(labels, key=lambda one: (places[one.ranking_id], one.time, one.event_id.encode()))
    names = [name for name, _ in groupby(sorted(one.labels for one in told))]
    commons = [Context(one.model, one.version, one.environment, one.attributes) for one in rankings]
    numbers = {common: number for number, common in enumerate(dict.fromkeys(commons))}
    chunk = Chunk(
        integers(list(range(len(rankings)))),
        integers([one.time for one in rankings]),
        integers([numbers[common] for common in commons]),
        texts([one.ranking_id for one in rankings]),
        texts([one.query_key for one in rankings]),
        texts([one.user_id for one in rankings]),
        documents([one.items for one in rankings]),
        LabelColumns(
            integers([places[one.ranking_id] for one in told]),
            texts([one.doc_id for one in told]),
            integers([one.time for one in told]),
            np.array([LABEL_KINDS.index(one.kind) for one in told], dtype=np.int8),
            tuple(names),
            integers([names.index(one.labels) for one in told]),
            np.array([np.nan if one.value is None else one.value for one in told], dtype=float),
        ),
    )
    return chunk, {number: common for common, number in numbers.items()}
