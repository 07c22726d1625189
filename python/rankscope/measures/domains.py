"""Values of parameters, and how they are written."""

from __future__ import annotations

import math
import operator
from collections.abc import Callable, Mapping
from functools import lru_cache
from typing import TYPE_CHECKING, NamedTuple, TypeAlias

from rankscope._names import quote
from rankscope.errors import MeasureError

GainTable: TypeAlias = tuple[tuple[float, float], ...]
Weights: TypeAlias = tuple[float, ...]
Curve: TypeAlias = Callable[[float], float] | Callable[[int], float]
Value: TypeAlias = bool | float | str | GainTable | Weights | Curve | None

if TYPE_CHECKING:
    from rankscope.measures.spec import Measure, Row


GAINS = ("linear", "exp2", "binary")
DISCOUNTS = ("log2", "log", "jk", "reciprocal", "linear", "zipf")
IDEALS = ("judged", "retrieved", "whole", "slots")

LARGEST_CUTOFF = 10**100
LARGEST_DIVISOR = 2**53
LARGEST_DEPTH = 10**6
LARGEST_EXPONENT = 1023
LARGEST_PERSISTENCE = 0.9999


class Domain(NamedTuple):
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


def bad_parameter(message: str, hint: str) -> MeasureError:
    """Return an error about the value of a parameter."""
    return MeasureError(message, hint=hint, code="bad_parameter")


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
        try:
            number = operator.index(value)  # type: ignore[arg-type]  # it answers for any object
        except TypeError:
            raise ValueError from None
        if _is_flag(value) or not 1 <= number <= limit:
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


def _refuse(_value: object) -> Value:
    raise ValueError


def _read_flag(value: object) -> bool:
    if not _is_flag(value):
        raise ValueError
    return bool(value)


def one_of(*words: str) -> Domain:
    """Return the domain of a few words."""
    quoted = [f'"{word}"' for word in words]
    expected = f"{', '.join(quoted[:-1])} or {quoted[-1]}"
    return Domain(expected, _or(_refuse, *words), words)


def _read_gain(value: object) -> GainTable | Curve:
    if isinstance(value, Mapping):
        pairs = sorted((_number(grade), _number(gain)) for grade, gain in value.items())
        if not pairs or len({grade for grade, _ in pairs}) < len(pairs):
            raise ValueError
        return tuple(pairs)
    if callable(value):
        return value
    return tuple((float(grade), gain) for grade, gain in enumerate(_numbers(value)))


def _read_discount(value: object) -> Weights | Curve:
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
    _or(_read_gain, *GAINS),
    GAINS,
)
DISCOUNT = Domain(
    '"log2", "log", "jk", "reciprocal", "linear", "zipf", a table (a list by rank of weights, '
    "0 or more) or a function of the rank",
    _or(_read_discount, *DISCOUNTS),
    DISCOUNTS,
)


# One way to match each text, so that the time to refuse one grows with its length only.
SPELLED_NUMBER = r"[-+]?(?:\d+(?:\.\d*)?|\.\d+)(?:[eE][-+]?\d+)?"

LONGEST_INTEGER = 2**53
LONGEST_PLAIN_NAME = 120
"""MLflow takes 250 characters; what a table adds to a name (`_lower`) has to fit in as well."""

LARGEST_COMPLETED = 100
"""The highest grade up to which a table of gains is completed."""

IR_GAINS = {"log2": "linear", "exp-log2": "exp2"}
IR_NAMES = {"cutoff": "k", "gains": "gain"}
IR_FLOATS = {"T", "alpha", "beta", "p", "recall"}
"""The parameters that ir_measures rejects as integers: `SetF(beta=2.0)`, `IPrec@1.0`."""


@lru_cache(maxsize=4096)  # an evaluation needs each name several times
def canonical_name(measure: Measure) -> str:
    """Return the canonical name, such as `nDCG(dcg='exp-log2')@10`, without default values."""
    settings = measure.settings
    if is_in_ir_measures(measure):
        settings = _to_ir_measures(settings)
    written = {
        name: repr(value) if name in IR_FLOATS else literal(value)
        for name, value in settings.items()
    }
    at = written.pop(measure.row.at, "")
    inner = ", ".join(f"{name}={value}" for name, value in written.items())
    call = f"{measure.row.name}({inner})" if inner else measure.row.name
    return f"{call}@{at}" if at else call


def plain_name(measure: Measure) -> str:
    """Return the name as an identifier, such as `ndcg_at_10_gain_exp2`.

    It has lowercase letters, digits and underscores, starts with a letter, and isn't longer than
    `LONGEST_PLAIN_NAME`. Different measures have different plain names, which never change: what
    would make a name too long or ambiguous becomes a checksum.
    """
    settings = measure.settings
    parts = [measure.row.name.lower()]
    if measure.row.at in settings:
        parts += ["at", _plain(settings.pop(measure.row.at))]
    for name, value in settings.items():
        parts += [name.lower()] if value is True else [name.lower(), _plain(value)]
    name = "_".join(parts)
    if len(name) <= LONGEST_PLAIN_NAME:
        return name
    checksum = _checksum(name)
    return f"{name[: LONGEST_PLAIN_NAME - len(checksum) - 1]}_{checksum}"


def literal(value: Value) -> str:
    """Return a value as the parser reads it, or the name of a function in angle brackets."""
    if callable(value):
        return f"<{function_name(value)}>"
    if isinstance(value, tuple):
        is_mapping = isinstance(value[0], tuple)
        entries = [
            ": ".join(map(literal, entry)) if isinstance(entry, tuple) else literal(entry)
            for entry in value
        ]
        return f"{{{', '.join(entries)}}}" if is_mapping else f"[{', '.join(entries)}]"
    if isinstance(value, float) and value.is_integer() and abs(value) < LONGEST_INTEGER:
        return str(int(value))
    return repr(value)


def function_name(function: object) -> str:
    """Return the name of a function, without the brackets that Python puts around `lambda`."""
    return str(getattr(function, "__name__", type(function).__name__)).strip("<>")


def from_ir_measures(row: Row, settings: Mapping[str, object]) -> dict[str, object]:
    """Return settings with the parameter names of ir_measures replaced by those of rankscope."""
    if not row.ir_measures:
        return dict(settings)
    ours: dict[str, object] = {}
    fixed = {key: value for name in row.ir_measures for key, value in name.fixed.items()}
    for name, value in settings.items():
        if name in fixed and value == fixed[name]:
            continue
        translated: dict[str, object] = {IR_NAMES.get(name, name): value}
        if name == "gains":
            translated = {"gain": _complete(value)}
        if name == "dcg" and any(parameter.name == "gain" for parameter in row.parameters):
            if not isinstance(value, str) or value not in IR_GAINS:
                expected = " or ".join(map(repr, IR_GAINS))
                raise bad_parameter(
                    f"{row.name}: expected dcg to be {expected}, found {quote(value)}",
                    "other gains and discounts are gain=… and discount=…",
                )
            translated = {"gain": IR_GAINS[value], "discount": "log2"}
        for twice in translated.keys() & ours.keys():
            raise bad_parameter(
                f"{row.name}: {twice} is set twice, found {', '.join(settings)}",
                f"set {twice} once",
            )
        ours |= translated
    return ours


def _complete(gains: object) -> object:
    """Return a table of gains with each grade that it leaves out below its highest one.

    In ir_measures and trec_eval, such a grade is its own gain. Grades above the highest one of the
    table are still refused where they occur.
    """
    if not isinstance(gains, Mapping):
        return gains
    grades = [grade for grade in gains if isinstance(grade, int | float)]
    if not grades or len(grades) < len(gains) or not 0 <= max(grades) <= LARGEST_COMPLETED:
        return gains
    return {float(grade): grade for grade in range(math.ceil(max(grades)))} | dict(gains)


def _is_complete(table: GainTable | Weights) -> bool:
    """Return whether a table of gains has every grade from 0 to its highest one."""
    grades = {entry[0] for entry in table if isinstance(entry, tuple)}
    top = max(grades)
    return top > LARGEST_COMPLETED or grades.issuperset(range(math.ceil(top)))


def is_in_ir_measures(measure: Measure) -> bool:
    """Return whether ir_measures has a name for a measure, apart from gain functions."""
    takes = {parameter for name in measure.row.ir_measures for parameter in name.takes}
    gain = measure.settings.get("gain")
    has_gain = not isinstance(gain, str) or gain in IR_GAINS.values()
    return has_gain and measure.settings.keys() <= takes


def _to_ir_measures(settings: dict[str, Value]) -> dict[str, Value]:
    gain = settings.get("gain")
    others = {name: value for name, value in settings.items() if name != "gain"}
    if isinstance(gain, str):
        return {"dcg": next(dcg for dcg, name in IR_GAINS.items() if name == gain)} | others
    if isinstance(gain, tuple) and _is_complete(gain):  # others they would complete
        return {"gains": gain} | others
    return settings


def _plain(value: Value) -> str:
    # `0.1` becomes `0p1` and `-1` becomes `m1`, so that no two names meet.
    if isinstance(value, tuple):
        return "_".join(map(_plain, value))
    if isinstance(value, str):
        return value
    if callable(value):
        return _plain_function(function_name(value))
    return literal(value).lower().replace(".", "p").replace("-", "m").replace("+", "")


def _plain_function(name: str) -> str:
    # `function`, since there are gains named `linear`. An underscore could be that of a setting.
    letters = "".join(letter for letter in name.lower() if letter.isascii() and letter.isalnum())
    return f"function_{letters}" if letters == name else f"function_{letters}_{_checksum(name)}"


def _checksum(text: str) -> str:
    from hashlib import blake2b

    return "x" + blake2b(text.encode("utf-8", "surrogatepass"), digest_size=8).hexdigest()
