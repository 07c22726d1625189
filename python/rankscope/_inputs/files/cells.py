"""Reads numbers from columns of text cells, strictly."""

from __future__ import annotations

import re

from rankscope._inputs.arrow import load_arrow
from rankscope._inputs.doubles import code_of
from rankscope.errors import FormatError
from rankscope.measures.spelling import NUMBER

TYPE_CHECKING = False
if TYPE_CHECKING:
    from typing import Any

NUMBER_ROLES = ("relevance", "score", "rank", "weight")
DECIMAL = re.compile(NUMBER, re.ASCII)
SHOWN = 120
SCIENTIFIC = r"^[0-9](\.[0-9]+)?E\+[0-9]+$"


def read_numbers(cells: Any, role: str) -> tuple[Any, None] | tuple[None, tuple[int, FormatError]]:  # noqa: ANN401 - PyArrow has no types
    """Read text cells as numbers. An empty cell is null."""
    arrow = load_arrow()
    compute = load_arrow("pyarrow.compute")
    try:
        numbers = compute.cast(cells, arrow.float64())
    except arrow.ArrowInvalid:
        numbers = None
    # What reads as NaN or infinity, or is beyond double precision, is no number here.
    if numbers is not None and compute.all(compute.is_finite(numbers)).as_py() is not False:
        return numbers, None
    mistakes = (
        (row, error)
        for row, text in enumerate(cells.to_pylist())
        if text is not None and (error := name_mistake(text, role)) is not None
    )
    return None, next(mistakes)


def name_mistake(text: str, role: str) -> FormatError | None:
    """Return why text is not a number, `None` if it is one."""
    is_number = DECIMAL.fullmatch(text) is not None
    word = text.lstrip("+-").lower()
    shown = text if text.isprintable() else ascii(text)[1:-1]
    if len(shown) > SHOWN:
        shown = f"{shown[:SHOWN]}…"
    wanted = {"relevance": "grade"}.get(role, role)
    if is_number and abs(float(text)) != float("inf"):
        return None
    if is_number or word in {"inf", "infinity"}:
        return _mistake(
            f"expected a finite {wanted}, found `{shown}`",
            NOT_FINITE["infinite"],
            code_of("infinite", role),
            shown,
        )
    if word.startswith("nan"):
        return _mistake(
            f"expected a finite {wanted}, found `{shown}`",
            NOT_FINITE["nan"],
            code_of("nan", role),
            shown,
        )
    if DECIMAL.fullmatch(text.replace(",", ".")):
        hint = "write the decimal point as `.`, not `,`"
    elif DECIMAL.fullmatch(text.strip()):
        hint = "there are blanks around it: take them out"
    elif DECIMAL.fullmatch(text.strip("%$€£ ").replace(",", "")):
        hint = "write it with digits and a point only"
    elif word in {"true", "false"} and role == "relevance":
        hint = "write grades as 1 and 0: a text file doesn't say what its words mean"
    else:
        hint = f"name the column that holds the {wanted}s, if this is another"
    return _mistake(f"expected a {wanted}, found `{shown}`", hint, code_of("text", role), shown)


NOT_FINITE = {
    "nan": "NaN has no place in an order: leave the row out or give it a number",
    "infinite": "only numbers that double precision can hold are accepted",
}
"""How to mend what is no finite number."""


def _mistake(message: str, hint: str, code: str, value: str) -> FormatError:
    return FormatError(message, hint=hint, code=code, value=value)


def count_scientific(cells: Any) -> tuple[int, int]:  # noqa: ANN401 - as above
    """Count ids that look like `1.23457E+12`, as spreadsheets write them, and find the first."""
    compute = load_arrow("pyarrow.compute")
    found = compute.match_substring_regex(cells, SCIENTIFIC)
    count = compute.sum(found).as_py() or 0
    return count, compute.index(found, True).as_py() if count else -1
