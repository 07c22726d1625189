"""Events from production: rankings that were shown, and labels that arrive later."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from typing import Literal, TypeAlias

Environment: TypeAlias = Literal["production", "validation", "training"]
LabelKind: TypeAlias = Literal["label", "correction", "retraction"]


ENVIRONMENTS: tuple[str, ...] = ("production", "validation", "training")
"""Where a ranking was made, the default first."""

LABEL_KINDS: tuple[str, ...] = ("label", "correction", "retraction")
RETRACTION = LABEL_KINDS.index("retraction")
"""What a label does, the default first; the place of a word is how it is stored."""


@dataclass(frozen=True, slots=True)
class Item:
    """One document of a ranking.

    Args:
        doc_id: The document.
        rank: Its rank as logged, 1 the best.
        score: What the ranker gave it, or `None`.
        relevance: Its grade, where it was known when it was logged, or `None`.
    """

    doc_id: str
    rank: int
    score: float | None = None
    relevance: float | None = None


@dataclass(frozen=True, slots=True)
class Items:
    """The documents of a ranking, in rank order, as columns.

    Args:
        doc_ids: The documents.
        ranks: Their ranks as logged, ascending.
        scores: Their scores, `None` for a document without one; empty where none has one.
        relevance: Their grades, likewise.

    Examples:
        >>> items = Items.of([Item("b", 2), Item("a", 1, score=0.5)])
        >>> items.doc_ids, items.ranks, items.scores, items.relevance
        (('a', 'b'), (1, 2), (0.5, None), ())
        >>> list(items)[0]
        Item(doc_id='a', rank=1, score=0.5, relevance=None)
    """

    doc_ids: tuple[str, ...]
    ranks: tuple[int, ...]
    scores: tuple[float | None, ...] = ()
    relevance: tuple[float | None, ...] = ()

    @classmethod
    def of(cls, items: list[Item]) -> Items:
        """Make columns from documents in any order."""
        ordered = sorted(items, key=lambda item: item.rank)
        return cls(
            tuple(item.doc_id for item in ordered),
            tuple(item.rank for item in ordered),
            unless_all_none(item.score for item in ordered),
            unless_all_none(item.relevance for item in ordered),
        )

    def __len__(self) -> int:
        return len(self.doc_ids)

    def __iter__(self) -> Iterator[Item]:
        nothing = (None,) * len(self.doc_ids)
        columns = (self.doc_ids, self.ranks, self.scores or nothing, self.relevance or nothing)
        return map(Item, *columns)


def unless_all_none(values: Iterator[float | None]) -> tuple[float | None, ...]:
    """Return a column of numbers, empty if it holds none."""
    column = tuple(values)
    return () if column.count(None) == len(column) else column


@dataclass(frozen=True, slots=True)
class Ranking:
    """One list that was shown, the unit of averaging.

    Args:
        event_id: What it is known by when it is sent again.
        ranking_id: What labels name; one in a project.
        time: When it was shown, in microseconds since 1970 in UTC.
        items: What was shown.
        query_key: What repeats, such as the text of the query; empty where unknown.
        user_id: Who saw it, the cluster of intervals; empty where unknown.
        model: The model that ranked; empty where unknown.
        version: Its version; empty where unknown.
        environment: Where it was ranked.
        attributes: Names and values, by name, such as `(("country", "de"), ("device", "tv"))`.
    """

    event_id: str
    ranking_id: str
    time: int
    items: Items
    query_key: str = ""
    user_id: str = ""
    model: str = ""
    version: str = ""
    environment: Environment = "production"
    attributes: tuple[tuple[str, str], ...] = ()


@dataclass(frozen=True, slots=True)
class Label:
    """A label: feedback on one document of a ranking.

    Args:
        event_id: What it is known by when it is sent again.
        ranking_id: The ranking.
        doc_id: The document.
        time: When it happened, in microseconds since 1970 in UTC.
        labels: What happened, such as `("click", "buy")`.
        value: A grade in place of labels, or `None`.
        kind: A `label` adds to those before it, a `correction` takes the place of all before it,
            a `retraction` takes all before it away.
    """

    event_id: str
    ranking_id: str
    doc_id: str
    time: int
    labels: tuple[str, ...] = ()
    value: float | None = None
    kind: LabelKind = "label"


Event: TypeAlias = Ranking | Label
