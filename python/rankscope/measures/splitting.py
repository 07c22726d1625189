"""Split texts that name several measures."""

from __future__ import annotations

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Sequence


def split_measures(texts: Sequence[str]) -> list[str]:
    """Return the measures named in texts, separated by commas and spaces outside parentheses.

    Examples:
        >>> split_measures(["nDCG@10, AP", "RBP(p=0.9, rel=2)"])
        ['nDCG@10', 'AP', 'RBP(p=0.9, rel=2)']
    """
    names = []
    for text in texts:
        depth = 0
        name = ""
        for character in f"{text},":
            depth += (character in "([{") - (character in ")]}")
            if depth <= 0 and character in ", ":
                names.append(name)
                name = ""
            else:
                name += character
        names.append(name)
    return [name for name in names if name]
