"""The order of the documents of one query: by score, and equal scores by a named policy."""

from __future__ import annotations

from rankscope.records import record

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Iterable


@record(frozen=True, slots=True)
class Retrieved:
    """A retrieved document.

    Args:
        doc_id: Its identifier.
        score: What the ranker gave it; larger is better.
        grade: Its grade, or `None` where it is unjudged.
    """

    doc_id: str
    score: float
    grade: float | None = None


def rank(documents: Iterable[Retrieved], ties: str = "doc_id") -> list[Retrieved]:
    """Order documents by score, largest first.

    Args:
        documents: The documents, in the order of the input.
        ties: What decides between equal scores: `doc_id` the largest identifier by its bytes,
            `doc_id_asc` the smallest, `input` the order of the input, `best` and `worst` the
            largest and smallest grade, where unjudged counts as 0, and then the largest
            identifier.

    Examples:
        >>> tied = [Retrieved("a", 1.0, 2), Retrieved("b", 1.0), Retrieved("c", 3.0)]
        >>> [document.doc_id for document in rank(tied)]
        ['c', 'b', 'a']
        >>> [document.doc_id for document in rank(tied, "best")]
        ['c', 'a', 'b']
    """
    # Sorting keeps the order of what is equal, so the last sort decides first.
    ordered = list(documents)
    if ties != "input":
        ordered.sort(key=lambda document: document.doc_id.encode(), reverse=ties != "doc_id_asc")
    if ties in {"best", "worst"}:
        ordered.sort(key=lambda document: document.grade or 0, reverse=ties == "best")
    return sorted(ordered, key=lambda document: document.score, reverse=True)
