"""Rankings that were read from a lake, as columns."""

from __future__ import annotations

from itertools import chain

from rankscope.deferred import np
from rankscope.inputs.arrow import load_arrow
from rankscope.monitor.events.digest import digest
from rankscope.monitor.store.lake.cells import code_values, join_texts, spread, take
from rankscope.monitor.store.tables.documents import offsets_of
from rankscope.records import record

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Sequence
    from typing import TypeAlias

    from numpy.typing import NDArray

    from rankscope.monitor.events.event import Environment, Label, Ranking
    from rankscope.monitor.store.lake.cells import Foreign

    Content: TypeAlias = tuple[str, str, Environment, tuple[tuple[str, str], ...]]
    """A model, its version, its environment, and attributes."""

NAN = float("nan")


@record(frozen=True, slots=True, kw_only=True)
class Shown:
    """Rankings that have passed all checks, in the order of their files and rows.

    Args:
        places: Numbers that ascend in that order.
        event_ids: Texts of Arrow, as are the next four.
        ranking_ids: Their ids.
        query_keys: Their query keys.
        user_ids: Their users.
        times: When they were shown, in microseconds since 1970 in UTC.
        contexts: For each one the place of its context in `contents`.
        contents: What rankings have in common.
        offsets: The documents of ranking `q` are rows `offsets[q]:offsets[q + 1]`.
        doc_ids: Texts of Arrow, in rank order.
        ranks: Their ranks.
        scores: Their scores, NaN for none.
        relevance: Their grades, likewise.
        labels: The labels that were logged with documents.
    """

    places: NDArray[np.int64]
    event_ids: Foreign
    ranking_ids: Foreign
    query_keys: Foreign
    user_ids: Foreign
    times: NDArray[np.int64]
    contexts: NDArray[np.int64]
    contents: tuple[Content, ...]
    offsets: NDArray[np.int64]
    doc_ids: Foreign
    ranks: NDArray[np.int64]
    scores: NDArray[np.float64]
    relevance: NDArray[np.float64]
    labels: tuple[Label, ...] = ()

    def __len__(self) -> int:
        return len(self.times)

    def choose(self, chosen: NDArray[np.int64]) -> Shown:
        """Return some rankings, in an order."""
        if len(chosen) == len(self) and (chosen == np.arange(len(self))).all():
            return self
        documents = spread(self.offsets, chosen)
        ranking_ids = take(self.ranking_ids, chosen)
        is_one = self.event_ids is self.ranking_ids
        return Shown(
            places=self.places[chosen],
            event_ids=ranking_ids if is_one else take(self.event_ids, chosen),
            ranking_ids=ranking_ids,
            query_keys=take(self.query_keys, chosen),
            user_ids=take(self.user_ids, chosen),
            times=self.times[chosen],
            contexts=self.contexts[chosen],
            contents=self.contents,
            offsets=offsets_of(np.diff(self.offsets)[chosen]),
            doc_ids=take(self.doc_ids, documents),
            ranks=self.ranks[documents],
            scores=self.scores[documents],
            relevance=self.relevance[documents],
            labels=self.labels,
        )

    def sort(self) -> Shown:
        """Return the rankings by time, then by `ranking_id`."""
        order = np.argsort(self.times, kind="stable")
        times = self.times[order]
        is_tied = np.zeros(len(order), dtype=np.bool_)
        same = times[1:] == times[:-1]
        is_tied[1:] |= same
        is_tied[:-1] |= same
        tied = order[is_tied]
        if len(tied):
            by_id = load_arrow("pyarrow.compute").sort_indices(take(self.ranking_ids, tied))
            ranks = np.zeros(len(order), dtype=np.int64)
            ranks[tied[by_id.to_numpy()]] = np.arange(len(tied))
            order = np.lexsort((ranks, self.times))
        return self.choose(order)


def join_shown(parts: Sequence[Shown]) -> Shown:
    """Put rankings together, in the order of their places."""
    some = [part for part in parts if len(part)] or list(parts[:1])
    if len(some) == 1:
        return some[0]
    known: dict[Content, int] = {}
    contexts = [
        np.array([known.setdefault(one, len(known)) for one in part.contents], dtype=np.int64)[
            part.contexts
        ]
        for part in some
    ]

    def join(name: str) -> NDArray[np.generic]:
        return np.concatenate([getattr(part, name) for part in some])

    whole = Shown(
        places=join("places"),  # type: ignore[arg-type]  # as are all others
        event_ids=join_texts([part.event_ids for part in some]),
        ranking_ids=join_texts([part.ranking_ids for part in some]),
        query_keys=join_texts([part.query_keys for part in some]),
        user_ids=join_texts([part.user_ids for part in some]),
        times=join("times"),  # type: ignore[arg-type]  # likewise
        contexts=np.concatenate(contexts),
        contents=tuple(known),
        offsets=offsets_of(np.concatenate([np.diff(part.offsets) for part in some])),
        doc_ids=join_texts([part.doc_ids for part in some]),
        ranks=join("ranks"),  # type: ignore[arg-type]  # likewise
        scores=join("scores"),  # type: ignore[arg-type]  # likewise
        relevance=join("relevance"),  # type: ignore[arg-type]  # likewise
        labels=tuple(chain.from_iterable(part.labels for part in some)),
    )
    return whole.choose(np.argsort(whole.places, kind="stable"))


def make_shown(
    rankings: Sequence[Ranking], places: Sequence[int], labels: Sequence[Label] = ()
) -> Shown:
    """Turn rankings into columns."""
    arrow = load_arrow()
    contents: dict[Content, int] = {}
    codes = [contents.setdefault(content_of(ranking), len(contents)) for ranking in rankings]

    def texts(name: str) -> Foreign:
        return arrow.array([getattr(ranking, name) for ranking in rankings], arrow.large_string())

    def numbers(name: str) -> NDArray[np.float64]:
        return np.array(
            [
                NAN if value is None else value
                for ranking in rankings
                for value in (getattr(ranking.items, name) or [None] * len(ranking.items))
            ],
            dtype=np.float64,
        )

    doc_ids = [doc_id for ranking in rankings for doc_id in ranking.items.doc_ids]
    ranks = [rank for ranking in rankings for rank in ranking.items.ranks]
    sizes = np.array([len(ranking.items) for ranking in rankings], dtype=np.int64)
    return Shown(
        places=np.array(places, dtype=np.int64),
        event_ids=texts("event_id"),
        ranking_ids=texts("ranking_id"),
        query_keys=texts("query_key"),
        user_ids=texts("user_id"),
        times=np.array([ranking.time for ranking in rankings], dtype=np.int64),
        contexts=np.array(codes, dtype=np.int64),
        contents=tuple(contents),
        offsets=offsets_of(sizes),
        doc_ids=arrow.array(doc_ids, arrow.large_string()),
        ranks=np.array(ranks, dtype=np.int64),
        scores=numbers("scores"),
        relevance=numbers("relevance"),
        labels=tuple(labels),
    )


def content_of(ranking: Ranking) -> Content:
    """Return what a ranking has in common with others."""
    return ranking.model, ranking.version, ranking.environment, ranking.attributes


def drop_repeated(shown: Shown) -> tuple[Shown, dict[str, int]]:
    """Drop rankings whose ids came before, and count them as ingestion does."""
    suspects = np.zeros(len(shown), dtype=np.bool_)
    is_one = shown.event_ids is shown.ranking_ids
    for ids in (shown.ranking_ids,) if is_one else (shown.ranking_ids, shown.event_ids):
        codes, values = code_values(ids)
        if len(values) < len(codes):
            suspects |= np.bincount(codes)[codes] > 1
    if not suspects.any():
        return shown, {}
    by_ranking: dict[str, bytes] = {}
    by_event: dict[str, bytes] = {}
    dropped: list[int] = []
    counts = {"duplicate": 0, "conflict": 0}
    for place in np.flatnonzero(suspects).tolist():
        ranking = to_ranking(shown, place)
        content = digest(ranking)
        before = by_event.get(ranking.event_id) or by_ranking.get(ranking.ranking_id)
        if before is None:
            by_event[ranking.event_id] = by_ranking[ranking.ranking_id] = content
        else:
            dropped.append(place)
            counts["duplicate" if before == content else "conflict"] += 1
    kept = np.delete(np.arange(len(shown)), dropped)
    return shown.choose(kept), {code: count for code, count in counts.items() if count}


def to_ranking(shown: Shown, place: int) -> Ranking:
    """Return one of the rankings."""
    from rankscope.monitor.events.event import Items, Ranking  # noqa: PLC0415 - for one ranking

    rows = slice(int(shown.offsets[place]), int(shown.offsets[place + 1]))

    def numbers(column: NDArray[np.float64]) -> tuple[float | None, ...]:
        listed = tuple(None if value != value else value for value in column[rows].tolist())  # noqa: PLR0124 - NaN alone differs from itself
        return () if listed.count(None) == len(listed) else listed

    return Ranking(
        shown.event_ids[place].as_py(),
        shown.ranking_ids[place].as_py(),
        int(shown.times[place]),
        Items(
            tuple(shown.doc_ids[rows].to_pylist()),
            tuple(shown.ranks[rows].tolist()),
            numbers(shown.scores),
            numbers(shown.relevance),
        ),
        shown.query_keys[place].as_py(),
        shown.user_ids[place].as_py(),
        *shown.contents[shown.contexts[place]],
    )
