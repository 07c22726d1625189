"""What may stand where three numbers are wanted, and what must come of it."""

from __future__ import annotations

import array
import decimal
import enum
import fractions
from collections.abc import Callable
from itertools import starmap
from typing import NamedTuple

import numpy as np
import pandas as pd
import polars as pl
import pyarrow as pa

PLAIN = [3, 0, 2]


class Tensor:
    """A tensor of PyTorch: on an accelerator it gives no array, and its elements are tensors."""

    def __init__(self, values, refusal=None):
        self._values = values
        self._refusal = refusal

    def __len__(self):
        return len(self._values)

    def __getitem__(self, at):
        return Tensor([self._values[at]], self._refusal)

    def __iter__(self):
        return (self[at] for at in range(len(self)))

    def __array__(self, dtype=None, *, copy=None):
        if self._refusal is not None:
            raise self._refusal
        return np.array(self._values, dtype=dtype)


class OfAnotherLibrary(Tensor):
    """An array whose `__array__` gives no array of NumPy."""

    def __array__(self, dtype=None, *, copy=None):
        return self._values


class OnlyDLPack:
    """An array on an accelerator that speaks DLPack alone."""

    def __dlpack__(self):
        raise BufferError

    def __dlpack_device__(self):
        return 2, 0


class OnlyCuda:
    """An array on an accelerator that describes itself."""

    __cuda_array_interface__ = {"shape": (3,), "typestr": "<f8", "data": (0, False), "version": 3}  # noqa: RUF012


class Grade(enum.IntEnum):
    """Grades with names."""

    BAD = 0
    GOOD = 2
    PERFECT = 3


def unaligned(numbers):
    """Return an array that begins in the middle of a word."""
    memory = np.zeros(8 * len(numbers) + 1, dtype="u1")
    made = memory[1:].view("f8")
    made[:] = numbers
    assert not made.flags.aligned
    return made


def read_only(numbers):
    """Return an array that nobody may write to."""
    made = np.array(numbers, dtype=float)
    made.flags.writeable = False
    return made


KINDS = ("i1", "i2", "i4", "i8", "u1", "u2", "u4", "u8", "f2", "f4", "f8", "g")
OK = {
    **{f"N7 {np.dtype(kind)}": lambda n, kind=kind: np.array(n, dtype=kind) for kind in KINDS},
    **{
        f"N8 {kind} of the other byte order": lambda n, kind=kind: np.array(n).astype(kind)
        for kind in (">i2", ">i8", ">u8", ">f4", ">f8")
    },
    "N8 negative stride": lambda n: np.array(n[::-1], dtype=float)[::-1],
    "N8 negative stride of bytes": lambda n: np.array(n[::-1], dtype="u1")[::-1],
    "N8 every third": lambda n: np.repeat(np.array(n, dtype=float), 3)[::3],
    "N8 column of a matrix": lambda n: np.array([n, n], dtype=float).T[:, 1],
    "N8 field of a record": lambda n: np.array([(x, "x") for x in n], "f4, U3")["f0"],
    "N8 unaligned": unaligned,
    "N8 read-only": read_only,
    "N5 masked nowhere": np.ma.array,
    "N6 objects that are numbers": lambda n: np.array([n[0], float(n[1]), n[2]], dtype=object),
    "buffer": lambda n: memoryview(np.array(n, dtype=float)),
    "buffer with strides": lambda n: memoryview(np.array(n[::-1], dtype="i2"))[::-1],
    "array of Python": lambda n: array.array("d", n),
    "tuple": tuple,
    "floats": lambda n: list(map(float, n)),
    "numbers of NumPy": lambda n: [np.int64(n[0]), np.float32(n[1]), np.uint8(n[2])],
    "arrays of no dimension": lambda n: list(map(np.array, n)),
    "named integers": lambda n: list(map(Grade, n)) if set(n) == set(PLAIN) else n,
    "pandas": pd.Series,
    "pandas, of another index": lambda n: pd.Series(n, index=[7, 7, 1]),
    "pandas, nullable": lambda n: pd.Series(n, dtype="Int64"),
    "pandas, of Arrow": lambda n: pd.Series(n, dtype="int64[pyarrow]"),
    "pandas, objects": lambda n: pd.Series(n, dtype=object),
    "pandas, index": pd.Index,
    "polars": pl.Series,
    "arrow": pa.array,
    "arrow, chunked": lambda n: pa.chunked_array([n[:1], n[1:]]),
    "tensor in main memory": Tensor,
}
"""Ways to hold three numbers, which give the values of a plain list."""


class Refused(NamedTuple):
    """What is refused, and the place of the first number that is none."""

    id: str
    make: Callable[[], object]
    code: str
    at: int | None = None


THIRD = np.longdouble(1) / 3
CUDA = TypeError("can't convert cuda:0 device type tensor to numpy. Use Tensor.cpu() first.")
CUPY = TypeError("Implicit conversion to a NumPy array is not allowed. Please use `.get()`.")
GRADIENT = RuntimeError("Can't call numpy() on Tensor that requires grad.")
HUGE = np.longdouble("1e4000")
ROWS = (
    ("N6 text among objects", lambda: np.array([1, "a", 2], dtype=object), "not_numeric", 2),
    ("N6 nothing among objects", lambda: np.array([1, 2, None], object), "not_numeric", 3),
    ("N6 text in a list", lambda: [1, 2, "3"], "not_numeric", 3),
    ("N6 bytes in a list", lambda: [1, b"2", 3], "not_numeric", 2),
    ("N6 nothing in a list", lambda: [None, 1, 2], "not_numeric", 1),
    ("N6 a fraction", lambda: [1, fractions.Fraction(1, 2), 2], "not_numeric", 2),
    ("N7 a decimal in a list", lambda: [1, decimal.Decimal(2**53 + 1), 2], "inexact_number", 2),
    ("N6 a complex number in a list", lambda: [1, 2, 3j], "not_numeric", 3),
    ("N6 a time in a list", lambda: [1, np.datetime64("2026"), 2], "not_numeric", 2),
    ("N6 a span in a list", lambda: [1, np.timedelta64(1, "s"), 2], "not_numeric", 2),
    ("N6 pandas, NA in a list", lambda: [1, pd.NA, 2], "not_numeric", 2),
    ("N7 beyond 2^53", lambda: np.array([1, 2**53 + 1, 2]), "inexact_number", 2),
    ("N7 below -2^53", lambda: np.array([1, -(2**53) - 1, 2]), "inexact_number", 2),
    ("N7 the largest", lambda: np.array([1, 2**63 - 1, 2]), "inexact_number", 2),
    ("N7 the largest, unsigned", lambda: np.array([2**64 - 1, 1, 2], "u8"), "inexact_number", 1),
    ("N7 beyond 2^53 in a list", lambda: [1, 2, 2**53 + 1], "inexact_number", 3),
    ("N7 the same among decimals", lambda: [1.5, 2**53 + 1, 2], "inexact_number", 2),
    ("N7 the same of NumPy", lambda: [1.5, np.int64(2**53 + 1), 2], "inexact_number", 2),
    ("N7 a long double", lambda: np.array([1, THIRD, 2], "g"), "inexact_number", 2),
    ("N7 a long double in a list", lambda: [1, 2.5, THIRD], "inexact_number", 3),
    ("N15 fields", lambda: np.zeros(3, dtype=[("a", "f8"), ("b", "i8")]), "not_numeric"),
    ("N15 times", lambda: np.array(["2026", "2027", "2028"], "M8[D]"), "not_numeric"),
    ("N15 spans", lambda: np.array([1, 2, 3], "m8[s]"), "not_numeric"),
    ("N15 complex numbers", lambda: np.array([1, 2, 3j]), "not_numeric"),
    ("N15 texts", lambda: np.array(["1", "2", "3"]), "not_numeric"),
    ("N15 texts of any length", lambda: np.array(["1", "2", "3"], "T"), "not_numeric"),
    ("N15 bytes", lambda: np.array([b"1", b"2", b"3"]), "not_numeric"),
    ("N15 no type", lambda: np.zeros(3, "V8"), "not_numeric"),
    ("N15 times of pandas", lambda: pd.Series(pd.to_datetime(["2026"] * 3)), "not_numeric"),
    ("N15 categories", lambda: pd.Series(["a", "b", "a"], dtype="category"), "not_numeric", 1),
    ("N16 an __array__ that is none", lambda: OfAnotherLibrary([1, 2, 3]), "not_numeric"),
    ("N17 torch", lambda: Tensor([1, 2, 3], CUDA), "device_array"),
    ("N17 torch, with a gradient", lambda: Tensor([1, 2, 3], GRADIENT), "device_array"),
    ("N17 cupy", lambda: Tensor([1, 2, 3], CUPY), "device_array"),
    ("D11 a set", lambda: {1, 2, 3}, "not_numeric"),
    ("D11 a generator", lambda: iter([1, 2, 3]), "not_numeric"),
    ("D11 a mapping", lambda: {0: 1, 1: 2, 2: 3}, "not_numeric"),
    ("text", lambda: "123", "not_numeric"),
    ("bytes", lambda: b"123", "not_numeric"),
    ("bytes that change", lambda: bytearray(b"123"), "not_numeric"),
)
REFUSED = [*starmap(Refused, ROWS)]
"""What stands where three numbers are wanted, and is none of that."""

TRUTHS = {
    "N6 truth among objects": (lambda: np.array([1, True, 0], dtype=object), 2),
    "N7 truth values": (lambda: np.array([True, True, False]), None),
    "N7 truth values of another library": (lambda: pl.Series([True, True, False]), None),
    "N7 truth values of pandas": (lambda: pd.Series([True, True, False]), None),
    "N7 truth values in a list": (lambda: [True, True, False], 1),
    "N7 a truth value in a list": (lambda: [1, 1, False], 3),
    "N7 a truth value of NumPy in a list": (lambda: [1, np.True_, 0], 2),
}
"""Truth values that are the grades 1, 1 and 0, and no scores: the place of the first of them."""

HUGE_FORMS = {
    "an integer": lambda: [1, 10**400, 2],
    "an integer below": lambda: [1, -(10**400), 2],
    "an integer that Python cannot print": lambda: [1, 10**10_000, 2],
    "a long double": lambda: np.array([1, HUGE, 2]),
    "a long double in a list": lambda: [1, HUGE, 2],
    "infinity": lambda: [1, float("inf"), 2],
    **{
        f"{number} of {kind}": lambda number=number, kind=kind: np.array([1, number, 2], dtype=kind)
        for number in (float("inf"), -float("inf"))
        for kind in ("f2", "f4", "f8", "g")
    },
}
"""Numbers of which the second is beyond all doubles."""
