"""Judgments in memory, to evaluate many runs, and what is read of a table that has them."""

from __future__ import annotations

from functools import partial

from rankscope.output.ids import TEXT, SourceIds
from rankscope.records import record

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Callable, Mapping, Sequence

    from rankscope._core import Judgments
    from rankscope._inputs.attribution import Positive, Settings
    from rankscope._inputs.reading import Note
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
    notes: tuple[Note, ...] = ()
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
        queries: The judged queries.
    """

    judgments: Judgments
    queries: Queries

    def __repr__(self) -> str:
        return f"Qrels({self.queries.name!r}, {len(self.query_texts)} queries)"

    @property
    def query_ids(self) -> Ids:
        """The IDs of the queries, in input order: integers if they were, else text."""
        return self.queries.ids

    @property
    def query_texts(self) -> list[str]:
        """The IDs of the queries as text, which is how messages show them."""
        return self.judgments.query_ids()


@record(frozen=True, slots=True)
class Attributed:
    """The columns of a table that hold labels in place of grades, and what they are worth.

    Args:
        labels: The column of labels.
        predicted: The column of predicted labels, if there is one.
        positive: The positive classes.
        settings: What `attribute` takes besides.
    """

    labels: str
    predicted: str | None
    positive: Positive | None
    settings: Settings


@record(frozen=True, slots=True)
class JoinedColumns:
    """The columns that are read of a table whose rows hold a score, or a rank, and a grade.

    Args:
        names: By role, the names of columns that are given.
        attributes: The columns of what belongs to the query.
        attributed: The labels in place of grades, if any.
    """

    names: Mapping[str, str | None]
    attributes: Sequence[str] = ()
    attributed: Attributed | None = None
