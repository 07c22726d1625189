"""The values that parameters of measures accept, and how they are stored."""

from __future__ import annotations

import math
import operator
from collections.abc import Mapping

from rankscope.records import record

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Callable
    from typing import TypeAlias

    GainTable: TypeAlias = tuple[tuple[float, float], ...]
    Weights: TypeAlias = tuple[float, ...]
    Curve: TypeAlias = Callable[[float], float] | Callable[[int], float]
    Value: TypeAlias = bool | float | str | GainTable | Weights | Curve | None

GAINS = ("linear", "exp2", "binary")
DISCOUNTS = ("log2", "log", "jk", "reciprocal", "linear", "zipf")
IDEALS = ("judged", "retrieved", "whole", "slots")

LARGEST_CUTOFF = 10**100
LARGEST_DIVISOR = 2**53
LARGEST_DEPTH = 10**6
LARGEST_EXPONENT = 1023
LARGEST_PERSISTENCE = 0.9999


@record(frozen=True, slots=True)
class Domain:
    """The values that a parameter accepts.

    Args:
        expected: A description of the values, for error messages and the documentation.
        read: A function that returns a value as it is stored, or raises `ValueError`.
        choices: The words among the values, for suggestions.
    """

    expected: str
    read: Callable[[object], Value]
    choices: tuple[str, ...] = ()

    def __str__(self) -> str:
        return self.expected


def _is_flag(value: object) -> bool:
    # By name, so that numpy's bool is known without importing numpy.
    return type(value).__name__ in {"bool", "bool_"}


def _number(value: object) -> float:
    if _is_flag(value) or isinstance(value, str | bytes) or not hasattr(value, "__float__"):
        raise ValueError
    try:
        number = float(value)
    except (TypeError, OverflowError):
        raise ValueError from None
    if not math.isfinite(number):
        raise ValueError
    return number + 0.0  # -0.0 and 0.0 are one value, with one name


def _between(
    low: float, high: float, *, without: tuple[float, ...] = (), is_whole: bool = False
) -> Callable[[object], float]:
    def read(value: object) -> float:
        number = _number(value)
        is_in = low <= number <= high and number not in without
        if not is_in or (is_whole and not number.is_integer()):
            raise ValueError
        return number

    return read


def _integer_up_to(limit: int) -> Callable[[object], Value]:
    def read(value: object) -> int:
        if _is_flag(value):
            raise ValueError
        try:
            number = operator.index(value)  # type: ignore[arg-type]  # it answers for any object
        except TypeError:
            raise ValueError from None
        if not 1 <= number <= limit:
            raise ValueError
        return number

    return read


def _or(read: Callable[[object], Value], *words: str | None) -> Callable[[object], Value]:
    def read_either(value: object) -> Value:
        for word in words:
            if value is word or (isinstance(value, str) and value == word):
                return word
        return read(value)

    return read_either


def _read_flag(value: object) -> bool:
    if not _is_flag(value):
        raise ValueError
    return bool(value)


def one_of(*words: str) -> Domain:
    """Return the domain of a few words."""

    def read(value: object) -> str:
        if not isinstance(value, str) or value not in words:
            raise ValueError
        return str(value)

    quoted = [f'"{word}"' for word in words]
    return Domain(f"{', '.join(quoted[:-1])} or {quoted[-1]}", read, words)


def _read_gain(value: object) -> str | GainTable | Curve:
    if isinstance(value, str):
        if value not in GAINS:
            raise ValueError
        return str(value)
    if isinstance(value, Mapping):
        pairs = sorted((_number(grade), _number(gain)) for grade, gain in value.items())
        if not pairs or len({grade for grade, _ in pairs}) < len(pairs):
            raise ValueError
        return tuple(pairs)
    if callable(value):
        return value
    return tuple((float(grade), gain) for grade, gain in enumerate(_numbers(value)))


def _read_discount(value: object) -> str | Weights | Curve:
    if isinstance(value, str):
        if value not in DISCOUNTS:
            raise ValueError
        return str(value)
    if callable(value):
        return value
    weights = _numbers(value)
    if min(weights) < 0:
        raise ValueError
    return weights


def _numbers(value: object) -> tuple[float, ...]:
    # A set has no order and bytes are text: neither can be meant as a table.
    ordered = hasattr(value, "__iter__") and hasattr(value, "__getitem__")
    if not ordered or isinstance(value, bytes | Mapping):
        raise ValueError
    numbers = tuple(_number(item) for item in value)  # type: ignore[attr-defined]  # see ordered
    if not numbers:
        raise ValueError
    return numbers


def _read_levels(value: object) -> Weights:
    levels = tuple(sorted(_numbers(value)))
    if levels[0] < 0 or levels[-1] > 1 or len(set(levels)) < len(levels):
        raise ValueError
    return levels


def _read_text(value: object) -> str:
    if not isinstance(value, str):
        raise ValueError  # noqa: TRY004 - as all domains do
    return str(value)


NUMBER = Domain("a number", _number)
TEXT = Domain("text", _read_text)
CUTOFF = Domain("a positive integer", _or(_integer_up_to(LARGEST_CUTOFF), None))
DIVISOR = Domain("a positive integer up to 2**53", _or(_integer_up_to(LARGEST_DIVISOR), None))
DEPTH = Domain("a positive integer up to 1,000,000", _integer_up_to(LARGEST_DEPTH))
LEVEL = Domain("a number, 0 or more", _between(0, math.inf))
OPTIONAL_LEVEL = Domain("a number, 0 or more, or None", _or(LEVEL.read, None))
FLAG = Domain("True or False", _read_flag)
PROBABILITY = Domain("a number between 0 and 1, both excluded", _between(0, 1, without=(0, 1)))
FRACTION = Domain("a number from 0 to 1", _between(0, 1))
POSITIVE = Domain("a positive number", _between(0, math.inf, without=(0,)))
PERSISTENCE = Domain(
    f"a number above 0 and up to {LARGEST_PERSISTENCE}",
    _between(0, LARGEST_PERSISTENCE, without=(0,)),
)
BASE = Domain("a number above 1", _between(1, math.inf, without=(1,)))
TOP_GRADE = Domain(
    f"a positive number up to {LARGEST_EXPONENT}", _between(0, LARGEST_EXPONENT, without=(0,))
)
SCALE = Domain(
    f'a positive number up to {LARGEST_EXPONENT}, "query", or None',
    _or(TOP_GRADE.read, "query", None),
    ("query",),
)
LEVELS = Domain("a list of different numbers from 0 to 1", _read_levels)
COUNT = Domain("a whole number, 0 or more", _between(0, LARGEST_DIVISOR, is_whole=True))
IDEAL = one_of(*IDEALS)
GAIN = Domain(
    '"linear", "exp2", "binary", a table (a list by grade or a mapping from grade to gain) or a '
    "function of the grade",
    _read_gain,
    GAINS,
)
DISCOUNT = Domain(
    '"log2", "log", "jk", "reciprocal", "linear", "zipf", a table (a list by rank of weights, '
    "0 or more) or a function of the rank",
    _read_discount,
    DISCOUNTS,
)
