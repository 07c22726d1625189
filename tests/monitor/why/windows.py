"""Windows of queries, drawn with a seed, in which something changed or nothing did."""

from __future__ import annotations

import numpy as np
import rankscope as rs
from hypothesis import strategies as st
from rankscope.monitor.why.decomposition import decompose_groups
from rankscope.monitor.why.query_columns import QueryColumns, TextColumn
from rankscope.monitor.why.shared_slices import share_attribute

GOOD = [6, 5, 1, 2, 0]
SWAPPED = [0, 5, 1, 2, 6]
# Linear gains, 1 / log2(rank + 1), and an ideal of the list itself: the defaults.
GOOD_VALUE, SWAPPED_VALUE = rs.ndcg(GOOD), rs.ndcg(SWAPPED)
DEVICES = ("desktop", "phone", "tv")


def make_window(
    values,
    *,
    measure="nDCG@5",
    losses=None,
    ideal=None,
    key=None,
    cluster=None,
    observes_retrieval=True,
    **attributes,
):
    """A window whose losses are all by ordering, where nothing else is said."""
    value = np.array([*values], dtype=np.float64)
    none = np.zeros(len(value))
    lost = {"retrieval": none, "truncation": none, "ordering": 1 - value, "undefined": none}
    lost |= {name: np.array(column) for name, column in (losses or {}).items()}
    if not observes_retrieval:
        lost.pop("retrieval")
    ideals = none + 10 if ideal is None else np.array(ideal)
    return QueryColumns(
        measure=measure,
        value=value,
        retrieval=lost.get("retrieval"),
        truncation=lost["truncation"],
        ordering=lost["ordering"],
        undefined=lost["undefined"],
        ideal=ideals,
        relevant=np.where(ideals > 0, 4.0, 0.0),
        key=TextColumn.of(map(str, range(len(value))) if key is None else key),
        cluster=None if cluster is None else TextColumn.of(cluster),
        attributes={name: TextColumn.of(column) for name, column in attributes.items()},
    )


def draw_window(
    seed,
    queries=4000,
    *,
    swapped=False,
    devices=(0.3, 0.5, 0.2),
    versions=(0.5, 0.5),
    ideal=10.0,
    first_key=0,
    order=None,
):
    """Searches on three devices, with two versions, in four countries.

    The lists of version 4 on tv are those of the story, swapped or not. Users search three times on
    average; keys repeat between windows where they begin alike.
    """
    random = np.random.default_rng(seed)
    device = random.choice(DEVICES, queries, p=devices)
    version = random.choice(["3", "4"], queries, p=versions)
    country = random.choice(["at", "de", "fr", "us"], queries)
    user = random.integers(0, queries // 3, queries)
    key = random.integers(first_key, first_key + queries // 4, queries)
    value = random.beta(8, 2, queries)
    is_planted = (device == "tv") & (version == "4")
    value[is_planted] = SWAPPED_VALUE if swapped else GOOD_VALUE
    value *= 10.0 / ideal
    columns = [value, key, user, device, version, country]
    if order is not None:
        columns = [column[order] for column in columns]
    value, key, user, device, version, country = columns
    return make_window(
        value,
        ideal=[ideal] * queries,
        key=(f"query {number}" for number in key),
        cluster=(f"user {number}" for number in user),
        device=device.tolist(),
        version=version.tolist(),
        country=country.tolist(),
    )


def decompose(before, after, *by, most_values=50):
    axes = [share_attribute(before, after, name, most_values) for name in by]
    rows = [
        [*zip(*([axis.texts[code] for code in axis.codes[at]] for axis in axes), strict=True)]
        for at in (0, 1)
    ]
    groups = sorted({*rows[0], *rows[1]})
    codes = [np.array([groups.index(row) for row in window], dtype=np.int32) for window in rows]
    slices = [tuple(zip(by, group, strict=True)) for group in groups]
    return decompose_groups(before, after, slices, (codes[0], codes[1]))


TEXTS = st.sampled_from(["a", "b", "c", "d", None])
SHARES = st.floats(0, 1)
ROW = st.tuples(SHARES, SHARES, SHARES, SHARES, TEXTS, TEXTS)


def read_rows(rows):
    """Rows of a value, how much of the rest each loss has, and two attributes."""
    value = [row[0] for row in rows]
    retrieval = [(1 - row[0]) * row[1] for row in rows]
    truncation = [(1 - row[0] - lost) * row[2] for row, lost in zip(rows, retrieval, strict=True)]
    parts = zip(value, retrieval, truncation, strict=True)
    rest = [1 - one - two - three for one, two, three in parts]
    undefined = [lost if row[3] == 1 else 0.0 for lost, row in zip(rest, rows, strict=True)]
    return make_window(
        value,
        losses={
            "retrieval": retrieval,
            "truncation": truncation,
            "ordering": [lost - more for lost, more in zip(rest, undefined, strict=True)],
            "undefined": undefined,
        },
        one=[row[4] for row in rows],
        two=[row[5] for row in rows],
    )


WINDOWS = st.lists(ROW, min_size=1, max_size=40).map(read_rows)
"""Windows of any values and losses, with the attributes `one` and `two`."""
