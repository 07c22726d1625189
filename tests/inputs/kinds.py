"""What can be passed as judgments, runs, tables and arrays; the documentation lists it."""

from __future__ import annotations

import decimal
from collections.abc import Callable
from dataclasses import dataclass
from importlib import import_module
from typing import Any, Literal

import numpy as np

IN_PLACE = "in place"
COPIED = "copied"
ONE_BY_ONE = "one by one"


@dataclass(frozen=True, slots=True)
class Kind:
    """A kind of input: what it is, in Markdown, its package, how it is read, and how it is made."""

    place: Literal["lists", "tables", "arrays"]
    what: str
    package: str
    read: str
    write: Callable[[Any, Any], Any]

    def make(self, given):
        """Make one of plain values. The library is imported only now."""
        name = {"jax": "jax.numpy"}.get(self.package, self.package.replace("-", "_"))
        return self.write(import_module(name) if name else None, given)


class OnlyDLPack:
    """An array that gives its memory through DLPack alone."""

    def __init__(self, numbers):
        self._held = np.array(numbers, dtype=float)

    def __dlpack__(self, **settings):
        return self._held.__dlpack__(**settings)

    def __dlpack_device__(self):
        return self._held.__dlpack_device__()


LISTS = (
    ("`{query: {doc: score}}`", "", ONE_BY_ONE, lambda _, i: {d: -float(i.index(d)) for d in i}),
    ("`{query: [doc, …]}`, best first", "", ONE_BY_ONE, lambda _, ids: ids),
    ("`{query: (doc, …)}`", "", ONE_BY_ONE, lambda _, ids: tuple(ids)),
    ("`{query: [(doc, score), …]}`", "", ONE_BY_ONE, lambda _, i: [(d, -i.index(d)) for d in i]),
    ("`{query: array of ids}`", "numpy", ONE_BY_ONE, lambda np, ids: np.array(ids)),
    ("`{query: Series of ids}`", "pandas", ONE_BY_ONE, lambda pd, ids: pd.Series(ids)),
    ("`{query: Series of ids}`", "polars", ONE_BY_ONE, lambda pl, ids: pl.Series(ids)),
    ("`{query: array of ids}`", "pyarrow", ONE_BY_ONE, lambda pa, ids: pa.array(ids)),
)
TABLES = (
    (
        "mapping of column name to list or array",
        "numpy",
        IN_PLACE,
        lambda np, columns: {name: np.array(column) for name, column in columns.items()},
    ),
    ("`DataFrame`", "pandas", IN_PLACE, lambda pd, columns: pd.DataFrame(columns)),
    (
        "`DataFrame` with types of Arrow",
        "pandas",
        IN_PLACE,
        lambda pd, columns: pd.DataFrame(columns).convert_dtypes(dtype_backend="pyarrow"),
    ),
    ("`DataFrame`", "polars", IN_PLACE, lambda pl, columns: pl.DataFrame(columns)),
    ("`LazyFrame`", "polars", "streamed, or collected", lambda pl, columns: pl.LazyFrame(columns)),
    ("`Table`, `RecordBatch`", "pyarrow", IN_PLACE, lambda pa, columns: pa.table(columns)),
    (
        "`DataFrame`, `LazyFrame`",
        "narwhals",
        IN_PLACE,
        lambda nw, columns: nw.from_native(import_module("polars").DataFrame(columns)),
    ),
    (
        "relation",
        "duckdb",
        "copied by DuckDB",
        lambda db, columns: db.from_arrow(import_module("pyarrow").table(columns)),
    ),
    ("`Dataset`", "datasets", "as Arrow", lambda hf, columns: hf.Dataset.from_dict(columns)),
)
SHORT = "tensor on the CPU, `bfloat16`, `float16`, `float8`, integers, `bool`"
ARRAYS = (
    ("list, tuple, nested lists", "", COPIED, lambda _, numbers: numbers),
    ("list of `Decimal`", "", COPIED, lambda _, numbers: [*map(decimal.Decimal, numbers)]),
    ("`float64`, contiguous", "numpy", IN_PLACE, lambda np, numbers: np.array(numbers, float)),
    ("other types, strides and byte orders", "numpy", COPIED, lambda np, n: np.array(n, ">f4")),
    ("`Series`", "pandas", IN_PLACE, lambda pd, numbers: pd.Series(numbers, dtype=float)),
    ("`Series`", "polars", IN_PLACE, lambda pl, numbers: pl.Series(numbers, dtype=pl.Float64)),
    ("`Array`", "pyarrow", IN_PLACE, lambda pa, numbers: pa.array(numbers, pa.float64())),
    (
        "tensor on the CPU, `float64`; gradients are left out",
        "torch",
        IN_PLACE,
        lambda torch, n: torch.tensor(n, dtype=torch.float64, requires_grad=True),
    ),
    (SHORT, "torch", COPIED, lambda torch, n: torch.tensor(n, dtype=torch.bfloat16)),
    (
        "array on the CPU, `bfloat16` and `float16` included",
        "jax",
        COPIED,
        lambda jnp, numbers: jnp.array(numbers, dtype=jnp.bfloat16),
    ),
    (
        "array on the CPU",
        "array-api-strict",
        IN_PLACE,
        lambda xp, n: xp.asarray(n, dtype=xp.float64),
    ),
    (
        "whatever gives `__dlpack__`, `__array__` or a buffer, on the CPU",
        "",
        IN_PLACE,
        lambda _, numbers: OnlyDLPack(numbers),
    ),
)
KINDS = (
    *(Kind("lists", *row) for row in LISTS),
    *(Kind("tables", *row) for row in TABLES),
    *(Kind("arrays", *row) for row in ARRAYS),
)
"""In the order in which the documentation lists them."""
