"""What can be passed as judgments, runs, tables and arrays; the documentation lists it."""

from __future__ import annotations

import decimal
from dataclasses import dataclass
from importlib import import_module
from typing import TYPE_CHECKING, Any, Literal

import numpy as np

if TYPE_CHECKING:
    from collections.abc import Callable

IN_PLACE = "in place"
COPIED = "copied"
ONE_BY_ONE = "one by one"


@dataclass(frozen=True, slots=True)
class Kind:
    """A kind of input.

    Args:
        place: Where it is passed: `lists` are documents by query, `tables` have columns, `arrays`
            hold grades or scores.
        what: What it is, in Markdown.
        package: The library that it is of, as PyPI calls it; empty for Python's own.
        read: How it is read: in place, copied, or one by one.
        make: Makes one of plain values: of a list of ids, of columns by name, or of a list of
            numbers.
    """

    place: Literal["lists", "tables", "arrays"]
    what: str
    package: str
    read: str
    make: Callable[[Any], Any]


def of(module: str, call: Callable[[Any, Any], Any]) -> Callable[[Any], Any]:
    """Return a maker that imports its library when it is called."""
    return lambda given: call(import_module(module), given)


class OnlyDLPack:
    """An array that gives its memory through DLPack alone."""

    def __init__(self, numbers: list[float]) -> None:
        self._held = np.array(numbers, dtype=float)

    def __dlpack__(self, **settings: object) -> object:
        return self._held.__dlpack__(**settings)  # type: ignore[arg-type]  # passed on

    def __dlpack_device__(self) -> tuple[int, int]:
        return self._held.__dlpack_device__()


KINDS = (
    Kind(
        "lists",
        "`{query: {doc: score}}`",
        "",
        ONE_BY_ONE,
        lambda ids: {i: -float(n) for n, i in enumerate(ids)},
    ),
    Kind("lists", "`{query: [doc, …]}`, best first", "", ONE_BY_ONE, list),
    Kind("lists", "`{query: (doc, …)}`", "", ONE_BY_ONE, tuple),
    Kind(
        "lists",
        "`{query: [(doc, score), …]}`",
        "",
        ONE_BY_ONE,
        lambda ids: [(i, -n) for n, i in enumerate(ids)],
    ),
    Kind("lists", "`{query: array of ids}`", "numpy", ONE_BY_ONE, np.array),
    Kind(
        "lists",
        "`{query: Series of ids}`",
        "pandas",
        ONE_BY_ONE,
        of("pandas", lambda pd, ids: pd.Series(ids)),
    ),
    Kind(
        "lists",
        "`{query: Series of ids}`",
        "polars",
        ONE_BY_ONE,
        of("polars", lambda pl, ids: pl.Series(ids)),
    ),
    Kind(
        "lists",
        "`{query: array of ids}`",
        "pyarrow",
        ONE_BY_ONE,
        of("pyarrow", lambda pa, ids: pa.array(ids)),
    ),
    Kind(
        "tables",
        "mapping of column name to list or array",
        "numpy",
        IN_PLACE,
        lambda columns: {name: np.array(column) for name, column in columns.items()},
    ),
    Kind("tables", "`DataFrame`", "pandas", IN_PLACE, of("pandas", lambda pd, c: pd.DataFrame(c))),
    Kind(
        "tables",
        "`DataFrame` with types of Arrow",
        "pandas",
        IN_PLACE,
        of("pandas", lambda pd, c: pd.DataFrame(c).convert_dtypes(dtype_backend="pyarrow")),
    ),
    Kind("tables", "`DataFrame`", "polars", IN_PLACE, of("polars", lambda pl, c: pl.DataFrame(c))),
    Kind(
        "tables",
        "`LazyFrame`",
        "polars",
        "collected",
        of("polars", lambda pl, c: pl.LazyFrame(c)),
    ),
    Kind(
        "tables",
        "`Table`, `RecordBatch`",
        "pyarrow",
        IN_PLACE,
        of("pyarrow", lambda pa, c: pa.table(c)),
    ),
    Kind(
        "tables",
        "`DataFrame`, `LazyFrame`",
        "narwhals",
        IN_PLACE,
        of("narwhals", lambda nw, c: nw.from_native(import_module("polars").DataFrame(c))),
    ),
    Kind(
        "tables",
        "relation",
        "duckdb",
        "copied by DuckDB",
        of("duckdb", lambda db, c: db.from_arrow(import_module("pyarrow").table(c))),
    ),
    Kind(
        "tables",
        "`Dataset`",
        "datasets",
        "as Arrow",
        of("datasets", lambda hf, c: hf.Dataset.from_dict(c)),
    ),
    Kind("arrays", "list, tuple, nested lists", "", COPIED, list),
    Kind(
        "arrays",
        "list of `Decimal`",
        "",
        COPIED,
        lambda numbers: list(map(decimal.Decimal, numbers)),
    ),
    Kind(
        "arrays",
        "`float64`, contiguous",
        "numpy",
        IN_PLACE,
        lambda numbers: np.array(numbers, dtype=float),
    ),
    Kind(
        "arrays",
        "other types, strides and byte orders",
        "numpy",
        COPIED,
        lambda numbers: np.array(numbers, dtype=">f4"),
    ),
    Kind(
        "arrays",
        "`Series`",
        "pandas",
        IN_PLACE,
        of("pandas", lambda pd, n: pd.Series(n, dtype=float)),
    ),
    Kind(
        "arrays",
        "`Series`",
        "polars",
        IN_PLACE,
        of("polars", lambda pl, n: pl.Series(n, dtype=pl.Float64)),
    ),
    Kind(
        "arrays",
        "`Array`",
        "pyarrow",
        IN_PLACE,
        of("pyarrow", lambda pa, n: pa.array(n, pa.float64())),
    ),
    Kind(
        "arrays",
        "tensor on the CPU, `float64`; gradients are left out",
        "torch",
        IN_PLACE,
        of("torch", lambda torch, n: torch.tensor(n, dtype=torch.float64, requires_grad=True)),
    ),
    Kind(
        "arrays",
        "tensor on the CPU, `bfloat16`, `float16`, `float8`, integers, `bool`",
        "torch",
        COPIED,
        of("torch", lambda torch, n: torch.tensor(n, dtype=torch.bfloat16)),
    ),
    Kind(
        "arrays",
        "array on the CPU, `bfloat16` and `float16` included",
        "jax",
        COPIED,
        of("jax.numpy", lambda jnp, n: jnp.array(n, dtype=jnp.bfloat16)),
    ),
    Kind(
        "arrays",
        "array on the CPU",
        "array-api-strict",
        IN_PLACE,
        of("array_api_strict", lambda xp, n: xp.asarray(n, dtype=xp.float64)),
    ),
    Kind(
        "arrays",
        "whatever gives `__dlpack__`, `__array__` or a buffer, on the CPU",
        "",
        IN_PLACE,
        OnlyDLPack,
    ),
)
"""In the order in which the documentation lists them."""
