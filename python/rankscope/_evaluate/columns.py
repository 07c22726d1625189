"""The columns of rankings as NumPy arrays and Python objects."""

from __future__ import annotations

from rankscope.deferred import np
from rankscope.errors import UsageError
from rankscope.records import record

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Sequence
    from typing import Any

    from numpy.typing import NDArray

    from rankscope._core import Judgments, Rankings
    from rankscope._evaluate.query_values import Groups
    from rankscope._inputs.qrels import Queries
    from rankscope._inputs.reading import Note
    from rankscope.output.ids import Ids, SourceIds
    from rankscope.settings.policy import Duplicates, ScoreType, Ties


@record(frozen=True, slots=True)
class Choices:
    """The choices with which rankings were made.

    Args:
        ties: What decides between equal scores.
        duplicates: What became of a document given twice.
        score_type: How scores are compared.
        has_ideal: Whether all judged grades were given beside the rows.
    """

    ties: Ties
    duplicates: Duplicates
    score_type: ScoreType
    has_ideal: bool = False


class Columns:
    """Ragged columns on a query axis, over the core's memory; immutable.

    Args:
        queries: The judged queries.
        core: The core's columns.
        name: What messages call the run.
        choices: How the rankings were made.
        notes: Code, count and first line of what was suspicious in the run.
        judgments: The judgments, where they were read apart from the run.
    """

    def __init__(
        self,
        queries: Queries,
        core: Rankings,
        name: str,
        choices: Choices,
        *,
        notes: Sequence[Note] = (),
        judgments: Judgments | None = None,
    ) -> None:
        self._queries = queries
        self._core = core
        self._name = name
        self._choices = choices
        self._notes = notes
        self._judgments = judgments

    @property
    def query_ids(self) -> Ids:
        """The identifiers of the judged queries, in first-seen order.

        They are integers if the input has integers, else text.
        """
        return self._queries.ids

    @property
    def query_texts(self) -> list[str]:
        """The identifiers of the judged queries as text, which is how messages show them."""
        return self._queries.read_ids()

    @property
    def source(self) -> SourceIds:
        """The columns of identifiers as they are in the input."""
        return self._queries.source

    @property
    def tie_policy(self) -> Ties:
        """How equal scores are ordered."""
        return self._choices.ties

    @property
    def score_type(self) -> ScoreType:
        """How scores are compared."""
        return self._choices.score_type

    @property
    def knows_unretrieved(self) -> bool:
        """Whether judged documents that weren't retrieved are known. Rows alone don't have them."""
        return self._judgments is not None or self._choices.has_ideal

    @property
    def has_doc_ids(self) -> bool:
        """Whether the documents have identifiers."""
        return len(self._column("doc_codes")) > 0

    @property
    def offsets(self) -> NDArray[np.int64]:
        """Where the rows of each query begin, and the last ones end. Shape (queries + 1,)."""
        return self._column("offsets")

    @property
    def relevance(self) -> NDArray[np.float64]:
        """The grade of each row, NaN where the document is unjudged."""
        return self._column("relevance")

    @property
    def scores(self) -> NDArray[np.float64]:
        """The score of each row."""
        return self._column("scores")

    @property
    def grades(self) -> list[float]:
        """The distinct grades of the judged documents, ascending."""
        return self._core.grades()

    @property
    def ideal_offsets(self) -> NDArray[np.int64]:
        """Where the judged grades of each query begin in `ideal`. Shape (queries + 1,)."""
        return self._column("ideal_offsets")

    @property
    def ideal(self) -> NDArray[np.float64]:
        """All judged grades of each query, largest first."""
        return self._column("ideal")

    def doc_ids(self, query: str | int) -> Ids:
        """Return the documents retrieved for a query, in rank order.

        Their identifiers are integers if the input has integers, else text.

        Raises:
            KeyError: The query is not judged.
        """
        return self.source.doc.restore(self.doc_texts(query))

    def doc_texts(self, query: str | int) -> list[str]:
        """Return the documents retrieved for a query as text, in rank order.

        Raises:
            KeyError: The query is not judged.
        """
        try:
            index = self._core.find(str(query))
        except UnicodeEncodeError:  # a lone surrogate, which is in no id
            index = None
        if index is None:
            raise KeyError(query)
        return self._core.doc_ids(index)

    @property
    def attributes(self) -> list[str]:
        """The names of the attributes of queries."""
        return self._core.attributes()

    def attribute(self, name: str) -> list[str]:
        """Return an attribute of each query, as text.

        Raises:
            UsageError: The rankings have no such attribute.
        """
        _, values, codes = self._read_attribute(name)
        return [values[code] for code in codes]

    def _read_attribute(self, name: str) -> Groups:
        found = self._core.attribute(name)
        if found is None:
            known = ", ".join(self._core.attributes()) or "none"
            raise UsageError(
                f"expected an attribute of the rankings, found {name!r}; there are {known}",
                hint=f"name the column where they are made: attributes=[{name!r}]",
                code="unknown_attribute",
            )
        return name, *found

    def __len__(self) -> int:
        return len(self.offsets) - 1

    def __repr__(self) -> str:
        rows = len(self.relevance)
        return f"Rankings({len(self)} queries, {rows} documents, ties={self._choices.ties!r})"

    def _column(self, name: str) -> NDArray[Any]:
        column = self._core.column(name)
        kind: np.dtype[Any] = np.dtype(column.typecode)
        return np.frombuffer(memoryview(column), dtype=kind)
