"""What a user wrote: how errors quote it, which known name was meant, whether it is a choice.

All take text of any length and do a bounded amount of work.
"""

from __future__ import annotations

from itertools import islice
from reprlib import Repr

from rankscope.errors import PolicyError

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Collection, Iterable

LONGEST_QUOTE = 120
LONGEST_NAME = 100
"""Longer text is no misspelled name. The time to compare two names grows with the product of their
lengths."""
MOST_NAMES = 1000
"""How many known names a misspelled one is compared with."""

_SHORTENED = Repr()
_SHORTENED.maxdict = _SHORTENED.maxlist = _SHORTENED.maxtuple = LONGEST_QUOTE
_SHORTENED.maxset = _SHORTENED.maxfrozenset = _SHORTENED.maxdeque = LONGEST_QUOTE
_SHORTENED.maxarray = _SHORTENED.maxlong = LONGEST_QUOTE
_SHORTENED.maxother = _SHORTENED.maxstring = 2 * LONGEST_QUOTE


def quote(value: object) -> str:
    """Write a value for an error message, shortened if it is long.

    Examples:
        >>> quote("nDGC"), quote([[1]])
        ("'nDGC'", '[[1]]')
        >>> len(quote("x" * 1_000_000))
        121
    """
    try:
        is_text = isinstance(value, str)
        text = repr(value[: LONGEST_QUOTE + 1]) if is_text else _SHORTENED.repr(value)  # type: ignore[index]  # a str
    except ValueError:  # Python refuses to print integers of thousands of digits
        text = f"a very large {type(value).__name__}"
    return text if len(text) <= LONGEST_QUOTE else f"{text[:LONGEST_QUOTE]}…"


def fold(name: str) -> str:
    """Return what the spellings of one name share: case, underscores, hyphens and blanks differ.

    Examples:
        >>> fold("Query-ID") == fold("query_id"), fold("-1") == fold("1")
        (True, False)
    """
    text = name.strip().casefold()
    return text[:1] + text[1:].replace("_", "").replace("-", "").replace(" ", "")


def find_closest(name: object, known: Iterable[str], *, likeness: float = 0.6) -> str | None:
    """Find the known name that a misspelled one was probably meant to be.

    Examples:
        >>> find_closest("lightgmb", ["catboost", "lightgbm"])
        'lightgbm'
        >>> find_closest("x" * 60_000, ["x"]) is None
        True
    """
    if not isinstance(name, str) or not 0 < len(name) <= LONGEST_NAME:
        return None
    from difflib import get_close_matches  # noqa: PLC0415 - slow to load; only errors need it

    short = [each for each in islice(known, MOST_NAMES) if len(each) <= LONGEST_NAME]
    return next(iter(get_close_matches(name, short, n=1, cutoff=likeness)), None)


def check_choice(
    name: str, value: object, choices: Collection[str], others: str = "", hint: str = ""
) -> None:
    """Raise an error unless a value is one of the choices.

    The hint names the first of them as the default, unless another hint is given.
    """
    if isinstance(value, str) and value in choices:
        return
    closest = find_closest(value, choices)
    wanted = ", ".join([*choices, *([others] if others else [])])
    raise PolicyError(
        f"expected {name} to be one of {wanted}; found {quote(value)}",
        hint=f"did you mean {closest}?"
        if closest
        else hint or f"{next(iter(choices))} is the default",
        code="bad_policy",
    )


def is_real(value: object) -> bool:
    """Whether a value is a number; `True` and `False` are none."""
    return isinstance(value, int | float) and not isinstance(value, bool)
