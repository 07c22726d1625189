"""Turns chunks of rankings into the documented tables of rankings and labels.

Rankings are one per row, with their documents as lists; labels are one per row, and name their
ranking. The columns are those that `rankscope monitor export` writes.
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any, TypeAlias

import numpy as np
import pyarrow as pa
from numpy.typing import NDArray

from rankscope.monitor.arrays import (
    write_numbers,
    write_texts,
    write_times,
)
from rankscope.monitor.events.event import LABEL_KINDS
from rankscope.monitor.store.records import Chunk, Context, LabelColumns, require_ids

Foreign: TypeAlias = Any  # of PyArrow, which has no types


MAKERS = ("model", "version", "environment")
"""The columns of what made a ranking; with `attributes`, they are its context."""


def describe_rankings() -> Foreign:
    """Return the schema of a table of rankings, in the order of its columns."""
    text = pa.large_string()
    names = ("query_key", "user_id", *MAKERS)
    return pa.schema(
        [
            ("event_id", text),
            ("ranking_id", text),
            ("time", pa.timestamp("us", "UTC")),
            *((name, text) for name in names),
            ("attributes", pa.map_(pa.string(), pa.string())),
            ("doc_id", pa.large_list(text)),
            ("rank", pa.large_list(pa.int64())),
            ("score", pa.large_list(pa.float64())),
            ("relevance", pa.large_list(pa.float64())),
        ]
    )


def describe_labels() -> Foreign:
    """Return the schema of a table of labels, in the order of its columns."""
    text = pa.large_string()
    return pa.schema(
        [
            ("event_id", text),
            ("ranking_id", text),
            ("time", pa.timestamp("us", "UTC")),
            ("doc_id", text),
            ("kind", pa.string()),
            ("labels", pa.list_(pa.string())),
            ("value", pa.float64()),
        ]
    )


def write_rankings(chunk: Chunk, contexts: Mapping[int, Context]) -> Foreign:
    """Return the rankings of a chunk that has the ids of events as a record batch."""
    schema = describe_rankings()
    items = chunk.items
    offsets = pa.array(items.offsets)
    columns = [
        write_texts(require_ids(chunk.event_ids)),
        write_texts(chunk.ranking_ids),
        write_times(chunk.times),
        write_texts(chunk.query_keys),
        write_texts(chunk.user_ids),
        *write_contexts(chunk.contexts, contexts),
        *(
            pa.LargeListArray.from_arrays(offsets, values)
            for values in (
                write_texts(items.doc_ids),
                pa.array(items.ranks),
                write_numbers(items.scores),
                write_numbers(items.relevance),
            )
        ),
    ]
    return pa.record_batch(columns, schema=schema)


def write_contexts(numbers: NDArray[np.int64], contexts: Mapping[int, Context]) -> list[Foreign]:
    """Return the columns `model`, `version`, `environment` and `attributes` of some rankings."""
    there, places = np.unique(numbers, return_inverse=True)
    common = [contexts[number] for number in there.tolist()]
    taken = pa.array(places)
    columns: list[Foreign] = [
        pa.array([getattr(context, name) for context in common], pa.large_string()).take(taken)
        for name in MAKERS
    ]
    kind = describe_rankings().field("attributes").type
    columns.append(pa.array([context.attributes for context in common], kind).take(taken))
    return columns


def write_labels(chunk: Chunk) -> Foreign:
    """Return the labels of a chunk that has the ids of events as a record batch."""
    labels = chunk.labels
    columns = [
        write_texts(require_ids(labels.event_ids)),
        write_texts(chunk.ranking_ids).take(pa.array(labels.rankings)),
        write_times(labels.times),
        write_texts(labels.doc_ids),
        write_kinds(labels.kinds),
        write_names(labels, where=_say_what_happened(labels)),
        write_numbers(labels.values),
    ]
    return pa.record_batch(columns, schema=describe_labels())


def _say_what_happened(labels: LabelColumns) -> NDArray[np.bool_]:
    """Whether each label has a list; a reader refuses a grade or a retraction beside one."""
    is_list = np.array([bool(said) for said in labels.names], dtype=np.bool_)[labels.codes]
    is_alone = np.isnan(labels.values) & (labels.kinds != LABEL_KINDS.index("retraction"))
    said: NDArray[np.bool_] = is_list | is_alone
    return said


def write_kinds(kinds: NDArray[np.int8]) -> Foreign:
    """Return the kinds of labels as words."""
    return pa.array(LABEL_KINDS).take(pa.array(kinds))


def write_names(labels: LabelColumns, where: NDArray[np.bool_] | None = None) -> Foreign:
    """Return what labels say happened, a list for each."""
    names = pa.array([list(said) for said in labels.names], pa.list_(pa.string()))
    return names.take(pa.array(labels.codes, mask=None if where is None else ~where))
