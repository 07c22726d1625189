"""Names of runs that fit beside a plot."""

from __future__ import annotations

from rankscope.drawing.axes import TEXT
from rankscope.output.text import show

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Sequence

LONGEST = (34, 48, 80)
"""Longer names are cut in the middle, since runs often differ at both ends."""
WIDTH = 0.6
"""The mean width of a character, as a share of the height of the text."""
POINTS = 72


def fit_names(names: Sequence[str]) -> list[str]:
    """Return names on one line, with an ellipsis in the middle of those that are too long.

    Different names stay different.

    Examples:
        >>> fit_names(["bm25", "dense_retriever_with_cross_encoder_reranker"])
        ['bm25', 'dense_retriever_w…encoder_reranker']
    """
    shown = [show(name) for name in names]
    for longest in LONGEST:
        fitted = [_cut(name, longest) for name in shown]
        if len(set(fitted)) == len(set(shown)):
            return fitted
    return shown


def _cut(text: str, longest: int) -> str:
    if len(text) <= longest:
        return text
    end = (longest - 1) // 2
    return f"{text[: longest - 1 - end]}…{text[-end:]}"


def measure_widest(texts: Sequence[str]) -> float:
    """Return about how wide the longest line of some texts is, in inches."""
    lines = [line for text in texts for line in text.split("\n")]
    return max(map(len, lines), default=0) * TEXT * WIDTH / POINTS
