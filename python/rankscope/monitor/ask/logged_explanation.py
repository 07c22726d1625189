"""The explanation of a ranking of the log."""

from __future__ import annotations

import math
from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from datetime import datetime
from typing import Literal, TypeAlias

from rankscope import Explanation, RelevanceExplanation
from rankscope._explain.explanation import DIGITS, Derivation
from rankscope._explain.terms import (
    Block,
    Column,
    Grid,
    Heading,
    Id,
    Inline,
    Sentence,
    write_fixed,
    write_number,
)
from rankscope._settings import Policy
from rankscope.measures import Measure
from rankscope.monitor.evaluate.grades import REASONS, JudgedLabel
from rankscope.monitor.events.event import Ranking
from rankscope.monitor.events.times import describe_time, to_datetime
from rankscope.monitor.plain import write_record

Source: TypeAlias = Literal["labels", "logged", "unlabelled", "pending"]


SOURCES = {
    "labels": "labels",
    "logged": "logged with the ranking",
    "unlabelled": "no label in the attribution window",
    "pending": "no label yet",
}
"""Where a grade is from, in words."""


@dataclass(frozen=True, slots=True, kw_only=True)
class LoggedDocument:
    """A document that was shown.

    Args:
        rank: Its rank as logged.
        doc_id: The document.
        score: What the ranker gave it, or `None`.
        grade: Its grade, `None` where it has none.
        source: Where that is from: `labels`, `logged` with the ranking, `unlabelled` (none came
            before the window closed), or `pending`.
        gain: Its gain; `None` below the cutoff, or where the measure has no gains, as are the next.
        discount: What a gain of 1 is worth at its rank.
        contribution: What its gain is worth there.
        ideal_rank: Where the ideal order has it, if it does.
        regret: What it is worth in the ideal order less what it is worth here, as a share of the
            ideal; `None` where it has no gain. A document that stands higher than it would there
            has a regret below 0. All of them add up to truncation and ordering.
    """

    rank: int
    doc_id: str
    score: float | None
    grade: float | None
    source: Source
    gain: float | None
    discount: float | None
    contribution: float | None
    ideal_rank: int | None
    regret: float | None

    def to_dict(self) -> dict[str, object]:
        """Return it as JSON holds it."""
        return write_record(self)


RANKING_FIELDS = (
    *("ranking_id", "time", "query_key", "user_id"),
    *("model", "version", "environment"),
)
LABEL_FIELDS = ("doc_id", "time", "kind", "labels", "value")
COMPUTED_FIELDS = (
    *("definition", "policy", "value", "now", "closes"),
    *("is_final", "is_empty", "is_refused", "has_gaps", "pending"),
)


@dataclass(frozen=True, slots=True, kw_only=True)
class LoggedExplanation(Derivation):
    """Why a ranking of the log has its value; `explain_logged` makes it.

    Args:
        ranking: The ranking.
        measure: The measure.
        definition: The hash of the definition that the value is a value of.
        policy: Its policy.
        value: The value, to the bit that of the windows; NaN where the mean leaves it out.
        now: The time as of which labels count, in UTC; `None` for a set, of which all do.
        closes: When the attribution window closes; `None` for a set.
        is_final: Whether it is closed: no label that comes later changes the value.
        is_empty: Whether there is no relevant document.
        is_refused: Whether a grade is larger than the definition allows, so that there is no value.
        has_gaps: Whether the ranks that were logged are not 1, 2, 3, …
        pending: How many documents have no grade yet.
        documents: The documents, in rank order.
        labels: The labels, in the order in which they count, and whether they do.
        losses: For nDCG, what adds up to 1 with the value: `retrieval` (`None`: not observable),
            `truncation`, `ordering` and `undefined`; otherwise `None`.
        derivation: How the value comes about, for measures that have a derivation.
    """

    ranking: Ranking
    measure: Measure
    definition: str
    policy: Policy
    value: float
    now: datetime | None
    closes: datetime | None
    is_final: bool
    is_empty: bool
    is_refused: bool
    has_gaps: bool
    pending: int
    documents: tuple[LoggedDocument, ...]
    labels: tuple[JudgedLabel, ...]
    losses: Mapping[str, float | None] | None
    derivation: Explanation | RelevanceExplanation | None

    @property
    def time(self) -> datetime:
        """When the ranking was shown, in UTC."""
        return to_datetime(self.ranking.time)

    @property
    def formula(self) -> str:
        """The formula with the numbers filled in; empty where there is no derivation."""
        return "" if self.derivation is None else self.derivation.formula

    def lay_out(self, digits: int = DIGITS) -> list[Block]:
        """Return the explanation as headings, sentences, equations and tables.

        Args:
            digits: Places after the point.
        """
        return list(_lay_out(self, digits))

    def to_dict(self) -> dict[str, object]:
        """Return it as JSON holds it, times as in RFC 3339."""
        labels = [
            {
                **write_record(each.label, LABEL_FIELDS, ("time",)),
                "counts": each.counts,
                "status": each.status,
                "reason": REASONS[each.status],
            }
            for each in self.labels
        ]
        return {
            **write_record(self.ranking, RANKING_FIELDS, ("time",)),
            "attributes": dict(self.ranking.attributes),
            "measure": self.measure.name,
            **write_record(self, COMPUTED_FIELDS),
            "documents": [each.to_dict() for each in self.documents],
            "labels": labels,
            "losses": None if self.losses is None else dict(self.losses),
            "derivation": None if self.derivation is None else self.derivation.to_dict(),
        }

    def __repr__(self) -> str:
        return (
            f"LoggedExplanation({self.measure}, ranking {self.ranking.ranking_id!r}, "
            f"value {write_fixed(self.value, DIGITS)})"
        )


def _lay_out(explained: LoggedExplanation, digits: int) -> Iterator[Block]:
    value, name = explained.value, str(explained.measure)
    what = f"{name} has no value" if math.isnan(value) else f"{name} = {write_fixed(value, digits)}"
    yield Heading((what, " for ranking ", Id(explained.ranking.ranking_id)))
    yield Sentence(tuple(_describe(explained)))
    yield Sentence((_say_maturity(explained),))
    yield from _list_grades(explained, digits)
    yield from _list_labels(explained)
    if explained.derivation is not None:
        yield from explained.derivation.lay_out(digits)[1:]


def _describe(explained: LoggedExplanation) -> Iterator[Inline]:
    """Describe the query, the user and the model."""
    shown = explained.ranking
    yield f"Shown {describe_time(shown.time)} in {shown.environment}"
    named = {
        "query": shown.query_key,
        "user": shown.user_id,
        "model": shown.model,
        "version": shown.version,
    }
    for name, text in named.items():
        if text:
            yield f", {name} "
            yield Id(text)
    for name, text in shown.attributes:
        yield ", "
        yield Id(name)
        yield " "
        yield Id(text)
    yield f". Computed with the definition {explained.definition[:12]}."


def _say_maturity(explained: LoggedExplanation) -> str:
    words = []
    if explained.closes is None:
        words.append("The ranking is from an uploaded set: all labels count.")
    elif explained.is_final:
        words.append(f"The value is final: labels counted until {describe_time(explained.closes)}.")
    else:
        words.append(
            f"The value is provisional: labels count until {describe_time(explained.closes)}, and "
            f"{explained.pending} of {len(explained.documents)} documents have no grade yet."
        )
    if explained.is_refused:
        words.append("A grade is higher than the definition allows, so there is no value.")
    if explained.has_gaps:
        words.append("The logged ranks have gaps; discounts use the logged ranks.")
    return " ".join(words)


def _list_grades(explained: LoggedExplanation, digits: int) -> Iterator[Block]:
    if not explained.documents:
        yield Sentence(("No documents were shown.",))
        return
    columns = (
        Column("rank"),
        Column("document", is_text=True),
        Column("grade"),
        Column("from", is_text=True),
        Column("ideal rank"),
        Column("loss"),
    )
    rows = tuple(
        (
            str(each.rank),
            Id(each.doc_id),
            "–" if each.grade is None else write_number(each.grade, digits),
            SOURCES[each.source],
            "–" if each.ideal_rank is None else str(each.ideal_rank),
            "–" if each.regret is None else write_fixed(each.regret, digits),
        )
        for each in explained.documents
    )
    yield Grid("Ranking", columns, rows)


def _list_labels(explained: LoggedExplanation) -> Iterator[Block]:
    if not explained.labels:
        yield Sentence(("This ranking has no labels.",))
        return
    columns = tuple(Column(name, is_text=True) for name in ("time", "document", "label", "status"))
    rows: list[tuple[Inline, ...]] = []
    for each in explained.labels:
        label = each.label
        said = [*label.labels, *([] if label.value is None else [f"{label.value:g}"])]
        kind = "" if label.kind == "label" else f"{label.kind}: "
        rows.append(
            (
                describe_time(label.time),
                Id(label.doc_id),
                Id(f"{kind}{', '.join(said)}".rstrip(": ")),
                REASONS[each.status],
            )
        )
    yield Grid("Labels", columns, tuple(rows))
