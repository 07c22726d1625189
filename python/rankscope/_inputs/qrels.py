"""Judgments in memory, to evaluate many runs."""

from __future__ import annotations

from functools import partial

from rankscope.output.ids import TEXT, SourceIds
from rankscope.records import record

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Callable

    from rankscope._core import Judgments
    from rankscope.output.ids import Ids


@record(frozen=True, slots=True)
class Queries:
    """The judged queries of an evaluation.

    Args:
        name: The name of the judgments in messages.
        duplicates: How documents that are judged twice were handled.
        read_ids: Returns the IDs of the queries as text, in input order.
        notes: The code, count and first line of each diagnostic.
        source: The columns of IDs as the caller has them.
        subtopics: The number of judgments by subtopic, 0 if the judgments have no subtopics.
    """

    name: str
    duplicates: str
    read_ids: Callable[[], list[str]]
    notes: tuple[tuple[str, int, int], ...] = ()
    source: SourceIds = TEXT
    subtopics: int = 0

    @property
    def ids(self) -> Ids:
        """The IDs as the caller has them."""
        return self.source.query.restore(self.read_ids())

    def __reduce__(self) -> tuple[object, ...]:
        # With the IDs alone: a result that travels leaves the documents at home.
        read_ids: Callable[[], list[str]] = partial(list, tuple(self.read_ids()))
        fields = (self.name, self.duplicates, read_ids, self.notes, self.source, self.subtopics)
        return Queries, fields


@record(frozen=True, slots=True)
class Qrels:
    """The judgments of many queries, from `read_qrels`, to pass to `evaluate`.

    Args:
        judgments: The judgments in the core.
        name: The name of the judgments in messages.
        duplicates: How documents that are judged twice were handled.
        notes: The code, count and first line of each diagnostic.
        source: The columns of IDs as the caller has them.
    """

    judgments: Judgments
    name: str
    duplicates: str = "error"
    notes: tuple[tuple[str, int, int], ...] = ()
    source: SourceIds = TEXT

    def __repr__(self) -> str:
        return f"Qrels({self.name!r}, {len(self.judgments.query_ids())} queries)"

    @property
    def query_ids(self) -> Ids:
        """The IDs of the queries, in input order: integers if they were, else text."""
        return self.queries.ids

    @property
    def query_texts(self) -> list[str]:
        """The IDs of the queries as text, which is how messages show them."""
        return self.judgments.query_ids()

    @property
    def queries(self) -> Queries:
        """The judged queries."""
        return Queries(
            self.name,
            self.duplicates,
            self.judgments.query_ids,
            self.notes,
            self.source,
            self.judgments.subtopics() or 0,
        )
