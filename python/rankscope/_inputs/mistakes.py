"""Errors for invalid arrays and columns, with the place of the mistake."""

from __future__ import annotations

from rankscope.errors import FormatError, UsageError

CODES = {
    ("text", "relevance"): "rel_not_number",
    ("nan", "relevance"): "rel_not_number",
    ("infinite", "relevance"): "rel_out_of_range",
    ("missing", "relevance"): "missing_relevance",
    ("rounded", "relevance"): "integer_range",
    ("text", "score"): "score_not_number",
    ("nan", "score"): "score_nan",
    ("infinite", "score"): "score_overflow",
    ("missing", "score"): "missing_score",
    ("missing", "rank"): "missing_score",
    ("rounded", "score"): "integer_range",
}


def code_of(mistake: str, role: str) -> str:
    """Return the code of a mistake in a column, the same as for TREC text."""
    return CODES.get((mistake, role), "not_numeric")


def not_numbers(
    name: str, found: str, at: tuple[int, ...] = (), *, wanted: str = "numbers"
) -> FormatError:
    """Return the error for a value that isn't a number. `at` counts from 0."""
    hint = "convert it first"
    if found.startswith("bool"):
        hint = "truth values can be grades; .astype(int) makes them numbers"
    elif any(kind in found for kind in ("str", "text", "utf8")):
        hint = "convert it first: 1 for yes, 0 for no, 5 instead of '5'"
    error = FormatError(
        f"expected {name} as {wanted}, found {found}", hint=hint, code="not_numeric", file=name
    )
    return located(error, at)


def inexact(name: str, found: str, at: tuple[int, ...]) -> FormatError:
    """Return the error for a number that double precision would round."""
    error = FormatError(
        f"expected numbers in {name} that double precision holds, found {found}",
        hint="round them first",
        code="inexact_number",
        file=name,
    )
    return located(error, at)


def bad_shape(name: str, dimensions: tuple[int, ...], shape: tuple[int, ...]) -> FormatError:
    """Return the error for an array with the wrong dimensions."""
    wanted = f"{' or '.join(map(str, dimensions))} dimension{'s' * (dimensions != (1,))}"
    return FormatError(
        f"expected {name} with {wanted}, found shape {shape}",
        hint="rows are queries, columns are documents; ravel() makes one dimension",
        code="array_shape",
        file=name,
    )


def groups_needed(function: str, more: str = "") -> UsageError:
    """Return the error for rows of grades and scores that don't say their query."""
    return UsageError(
        "expected groups beside one-dimensional y_true and y_score, which may hold the rows of "
        "many queries, found none",
        hint=f"write {function}(y_true, y_score, groups=df['query']), or groups='one' if all rows "
        f"are one query{more}",
        code="groups_needed",
    )


def too_deep(name: str) -> FormatError:
    """Return the error for nested lists where numbers are expected."""
    return FormatError(
        f"expected {name} as lists of numbers, found lists in them",
        hint="rows are queries, columns are documents",
        code="array_shape",
        file=name,
    )


def elsewhere(name: str, values: object, said: str) -> FormatError:
    """Return the error for an array that isn't in main memory, with the library's own message."""
    library = type(values).__module__.partition(".")[0]
    bring = BRING_HERE.get(library, "call .detach().cpu() first")
    return FormatError(
        f"expected {name} in main memory, found {type(values).__name__} elsewhere: "
        f"{said.partition(chr(10))[0][:120]}",
        hint=f"{bring}; rankscope.array computes where the arrays are",
        code="device_array",
        file=name,
    )


BRING_HERE = {
    "cupy": "call .get() first",
    "jax": "call this outside of jax.jit, or jax.device_get(…) first",
    "jaxlib": "call jax.device_get(…) first",
    "tensorflow": "call .numpy() first",
}
"""What brings an array to main memory, by the module of its type."""


def located(error: FormatError, at: tuple[int, ...]) -> FormatError:
    """Describe the row, or the row and column, of a mistake. `at` counts from 0."""
    error.line, error.column = ([place + 1 for place in at] + [None, None])[:2]
    return error


def placed(error: FormatError, row: int) -> FormatError:
    """Add the row to a mistake that already has its place in the row."""
    error.line, error.column = row + 1, error.line
    return error
