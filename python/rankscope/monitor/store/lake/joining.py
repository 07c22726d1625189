"""Joins labels with the rankings of an hour, each label once."""

from __future__ import annotations

from typing import NamedTuple

from rankscope.deferred import np
from rankscope.inputs.arrow import load_arrow
from rankscope.monitor.events.event import LABEL_KINDS, Label
from rankscope.monitor.events.reader import make_label_id
from rankscope.monitor.store.lake.cells import code_values, make_keys, take, to_marks
from rankscope.monitor.store.lake.labels import Given, join_given

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Sequence
    from typing import Any

    from numpy.typing import NDArray

    from rankscope.monitor.store.lake.cells import Foreign


SPARSE = 5
"""Of 2^5 keys of labels, about one is taken for that of a ranking that it isn't."""


class KeyedLabels(NamedTuple):
    """Labels, and a key for the ranking of each: equal ids have equal keys."""

    given: Given
    keys: NDArray[np.uint64]

    @classmethod
    def of(cls, given: Given) -> KeyedLabels:
        """Make the keys of labels."""
        return cls(given, make_keys(given.ranking_ids))

    @property
    def nbytes(self) -> int:
        """Their memory."""
        return self.given.nbytes + int(self.keys.nbytes)


class Joined(NamedTuple):
    """The labels of some rankings, in the order in which they count.

    Args:
        given: The labels.
        rankings: The position of the ranking of each label.
        matched: How many rows of labels are of these rankings.
        counts: By code, how many of them were left out: `duplicate` or `conflict`.
    """

    given: Given
    rankings: NDArray[np.int64]
    matched: int
    counts: dict[str, int]


def join_labels(
    ranking_ids: Foreign,
    files: Sequence[KeyedLabels],
    since: int,
    until: int,
    *,
    event_ids: bool,
) -> Joined:
    """Find the labels of rankings, and drop those that are repeated."""
    return choose_labels(find_labels(ranking_ids, files, since, until), event_ids=event_ids)


class Found(NamedTuple):
    """The labels of some rankings in the order of their files, and the position of each ranking."""

    given: Given
    rankings: NDArray[np.int64]


def find_labels(
    ranking_ids: Foreign, files: Sequence[KeyedLabels], since: int, until: int
) -> Found:
    """Find the labels of rankings; see `join_labels`."""
    arrow, compute = load_arrow(), load_arrow("pyarrow.compute")
    # Almost all labels of a file are of other hours. Most of those are ruled out by a few bits of
    # their keys, which takes a tenth of the time of looking their texts up.
    mask = np.uint64((1 << max(len(ranking_ids).bit_length() + SPARSE, 10)) - 1)
    may_be = np.zeros(int(mask) + 1, dtype=np.bool_)
    may_be[make_keys(ranking_ids) & mask] = True
    near = [np.flatnonzero(may_be[file.keys & mask]) for file in files]
    near = [
        places[(one.given.times[places] >= since) & (one.given.times[places] < until)]
        for one, places in zip(files, near, strict=True)
    ]
    pool = arrow.chunked_array(
        [
            take(one.given.ranking_ids, places)
            for one, places in zip(files, near, strict=True)
            if len(places)
        ],
        arrow.large_string(),
    )
    found = compute.fill_null(compute.index_in(pool, value_set=ranking_ids), -1).to_numpy()
    parts, positions = [], []
    end = 0
    for one, places in zip(files, near, strict=True):
        at = found[end : end + len(places)]
        end += len(places)
        is_theirs = at >= 0
        if is_theirs.any():
            parts.append(one.given.choose(places[is_theirs]))
            positions.append(at[is_theirs].astype(np.int64))
    rankings = np.concatenate(positions) if positions else np.zeros(0, dtype=np.int64)
    return Found(join_given(parts), rankings)


def choose_labels(found: Found, *, event_ids: bool) -> Joined:
    """Drop labels that are repeated, and sort the others; see `join_labels`."""
    given, rankings = found
    kept, counts = _drop_repeated(given, rankings)
    matched = len(given)
    if len(kept) < len(given):
        given, rankings = given.choose(kept), rankings[kept]
    return Joined(*_sort(given, rankings, event_ids=event_ids), matched, counts)


def _drop_repeated(
    given: Given, rankings: NDArray[np.int64]
) -> tuple[NDArray[np.int64], dict[str, int]]:
    """Find the first label of each event; those without an id are known by what they say."""
    count = len(given)
    everything = np.arange(count)
    if count < 2:
        return everything, {}
    docs, _ = code_values(given.doc_ids)
    # Adding 0.0 makes the two zeros one.
    bits = (given.values + 0.0).view(np.int64)
    keys = (bits, given.codes, given.kinds, given.times, docs, rankings)
    order = np.lexsort(keys)
    is_new = np.zeros(count, dtype=np.bool_)
    for key in keys:
        ordered = key[order]
        is_new[1:] |= ordered[1:] != ordered[:-1]
    content = np.empty(count, dtype=np.int64)
    content[order] = np.cumsum(is_new)
    has_id = to_marks(load_arrow("pyarrow.compute").not_equal(given.event_ids, ""))
    keeps = np.ones(count, dtype=np.bool_)
    without = np.flatnonzero(~has_id)
    _, first = np.unique(content[without], return_index=True)
    keeps[without] = False
    keeps[without[first]] = True
    duplicates = len(without) - len(first)
    conflicts = 0
    named = np.flatnonzero(has_id)
    if len(named):
        ids, _ = code_values(given.event_ids.take(load_arrow().array(named)))
        _, first, of_id = np.unique(ids, return_index=True, return_inverse=True)
        is_first = np.zeros(len(named), dtype=np.bool_)
        is_first[first] = True
        keeps[named] = is_first
        is_same = content[named] == content[named][first[of_id]]
        duplicates += int((~is_first & is_same).sum())
        conflicts += int((~is_first & ~is_same).sum())
    counts = {"duplicate": duplicates, "conflict": conflicts}
    return np.flatnonzero(keeps), {code: number for code, number in counts.items() if number}


def _sort(
    given: Given, rankings: NDArray[np.int64], *, event_ids: bool
) -> tuple[Given, NDArray[np.int64]]:
    """Sort labels by ranking, then by time, then by the id of the event."""
    order = np.lexsort((given.times, rankings))
    times, of = given.times[order], rankings[order]
    ties = np.zeros(len(order), dtype=np.bool_)
    same = (times[1:] == times[:-1]) & (of[1:] == of[:-1])
    ties[1:] |= same
    ties[:-1] |= same
    needed = np.ones(len(order), dtype=np.bool_) if event_ids else ties
    if not needed.any():
        return given.choose(order), of
    ids = given.event_ids.take(load_arrow().array(order)).to_pylist()
    for place in np.flatnonzero(needed).tolist():
        ids[place] = ids[place] or name_label(given, int(order[place]))
    tied = np.flatnonzero(ties).tolist()
    ranked = sorted(tied, key=lambda at: (int(of[at]), int(times[at]), ids[at].encode()))
    places = np.arange(len(order))
    places[tied] = ranked
    sorted_ids = [ids[at] for at in places.tolist()]
    chosen = given.choose(order[places])
    found = Given(
        chosen.ranking_ids,
        chosen.doc_ids,
        load_arrow().array(sorted_ids, load_arrow().large_string()),
        chosen.times,
        chosen.kinds,
        chosen.names,
        chosen.codes,
        chosen.values,
    )
    return found, of[places]


def name_label(given: Given, place: int) -> str:
    """Make the event id of a label that has none, as the event reader does."""
    value = float(given.values[place])
    kind: Any = LABEL_KINDS[int(given.kinds[place])]
    return make_label_id(
        Label(
            "",
            given.ranking_ids[place].as_py(),
            given.doc_ids[place].as_py(),
            int(given.times[place]),
            given.names[int(given.codes[place])],
            None if value != value else value,  # noqa: PLR0124 - NaN alone differs from itself
            kind,
        )
    )
