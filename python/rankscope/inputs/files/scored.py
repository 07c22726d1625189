"""SVMlight text together with a ranker's scores for its rows."""

from __future__ import annotations

from rankscope.errors import FormatError
from rankscope.inputs.arrow import load_arrow
from rankscope.inputs.files.numbers import read_numbers_of
from rankscope.inputs.files.table import open_batches

TYPE_CHECKING = False
if TYPE_CHECKING:
    from typing import Any

    from rankscope.inputs.files.opening import Progress

SCORE = "score"


def read_scored(
    labels: str | bytes, scores: str | bytes, *, encoding: str, progress: Progress = None
) -> Any:  # noqa: ANN401 - PyArrow has no types
    """Read the rows of SVMlight text, and one score per row."""
    wanted = dict.fromkeys(("query", "doc", "relevance"))
    with open_batches(
        labels, wanted=wanted, format="letor", encoding=encoding, progress=progress
    ) as source:
        rows = load_arrow().Table.from_batches(list(source), source.schema)
    called = "<stdin>" if scores == "-" else scores if isinstance(scores, str) else "<bytes>"
    numbers = read_numbers_of(scores, called, SCORE)
    if len(numbers) != rows.num_rows:
        raise FormatError(
            f"expected as many scores as {source.name} has rows, {rows.num_rows}; "
            f"found {len(numbers)}",
            hint="are these the scores of another file?",
            code="length_mismatch",
            file=called,
        )
    return rows.append_column(SCORE, load_arrow().array(numbers))
