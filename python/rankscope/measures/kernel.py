"""The computation in the core: the name of a kernel and its parameters."""

from __future__ import annotations

import math

from rankscope import _core
from rankscope.errors import MeasureError
from rankscope.measures.domains import DIVISOR, LARGEST_DIVISOR

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Callable, Collection, Iterable
    from typing import TypeAlias

    from rankscope.measures.spec import Measure, Parameter

    Shape: TypeAlias = dict[str, str | float | list[float]]
    Param: TypeAlias = (
        bool
        | float
        | str
        | list[list[float]]
        | list[float]
        | Shape
        | Callable[..., list[float]]
        | None
    )

LONGEST_LIST = 2**63 - 1
BESIDE = ("judged_only", "base", "s")
"""Parameters that kernels don't have: a flag beside the kernel, and parts of the discount."""
SHAPES = {"log": "base", "jk": "base", "zipf": "s"}


def kernel_spec(
    measure: Measure, grades: Collection[float] | None, depth: int | None
) -> tuple[str, dict[str, Param]]:
    """Return the computation of a measure in the core; see `Measure.kernel_spec`."""
    if measure.row.function is not None:
        return measure.row.kernel, {
            "k": None if measure.k is None else min(measure.k, LONGEST_LIST),
            "function": measure.row.function.bind(measure),
        }
    values = measure.parameters
    params: dict[str, Param] = {}
    for parameter in measure.row.parameters:
        name, value = parameter.name, values[parameter.name]
        if parameter.required and value is None:
            raise _missing(measure, parameter)
        if value in parameter.needs_k and not 1 <= (measure.k or 0) <= LARGEST_DIVISOR:
            raise _no_cutoff(measure, f"{name}={value!r}")
        if name == "gain":
            params[name] = _gain(measure, grades)
        elif name == "discount":
            params[name] = _discount(measure, depth)
        elif name not in BESIDE:
            params[name] = _plain(value)
    return measure.row.kernel, params


def _plain(value: object) -> bool | float | str | list[float] | None:
    """Return the value of a parameter as the core reads it."""
    if isinstance(value, tuple):
        return [number for number in value if isinstance(number, float)]
    if isinstance(value, int) and not isinstance(value, bool):
        return min(value, LONGEST_LIST)  # a cutoff beyond any list is none
    if value is None or isinstance(value, bool | float | str):
        return value
    raise TypeError(value)


def _gain(measure: Measure, grades: Collection[float] | None) -> str | list[list[float]]:
    gain = measure.parameters["gain"]
    if isinstance(gain, str):
        return gain
    if isinstance(gain, tuple):
        return [list(pair) for pair in gain if isinstance(pair, tuple)]
    if not callable(gain):
        raise TypeError(gain)
    if grades is None:
        raise MeasureError(
            f"{measure}: a gain function needs the grades that are present",
            hint="pass grades=… to kernel_spec",
            code="bad_parameter",
        )
    present = sorted({float(grade) for grade in grades})
    gains = _tabulate(measure, "gain", gain, present)
    return [list(pair) for pair in zip(present, gains, strict=True)]


def _discount(measure: Measure, depth: int | None) -> Shape:
    values = measure.parameters
    discount = values["discount"]
    if isinstance(discount, str):
        shape: Shape = {"kind": discount}
        value = values[SHAPES[discount]] if discount in SHAPES else None
        return shape | {SHAPES[discount]: value} if isinstance(value, float) else shape
    ranks = range(1, _ranks_needed(measure, depth) + 1)
    if callable(discount):
        weights = _tabulate(measure, "discount", discount, ranks)
    else:
        given = discount if isinstance(discount, tuple) else ()
        weights = [weight for weight in given if isinstance(weight, float)][: len(ranks)]
    if len(weights) < len(ranks):
        raise MeasureError(
            f"{measure}: expected a discount for each of {len(ranks)} ranks, found {len(weights)}",
            hint=f"write {measure.row.name}(discount=…) @ {len(weights)}, or pass more weights",
            code="bad_parameter",
        )
    if weights and min(weights) < 0:
        raise MeasureError(
            f"{measure}: expected discounts of 0 or more, found {min(weights)!r}",
            hint="a discount is the weight of a rank",
            code="bad_parameter",
        )
    return {"kind": "table", "weights": weights}


def _ranks_needed(measure: Measure, depth: int | None) -> int:
    ideal = measure.parameters.get("ideal")
    reach = {"whole": (depth,), "slots": (measure.k,)}.get(str(ideal), (measure.k, depth))
    lengths = [length for length in reach if length is not None]
    if lengths:
        return min(lengths)
    if ideal == "whole":
        raise MeasureError(
            f"{measure}: a discount table or function is limited, but ideal='whole' has no cutoff",
            hint="remove ideal, or use a named discount",
            code="bad_parameter",
        )
    raise MeasureError(
        f"{measure}: a discount table or function needs a cutoff",
        hint=f"write {measure.row.name}(discount=…) @ 10",
        code="bad_parameter",
    )


def _tabulate(
    measure: Measure, name: str, function: Callable[..., float], points: Iterable[float]
) -> list[float]:
    table = []
    for point in points:
        value = function(point)
        try:
            number = float(value)
        except (TypeError, ValueError, OverflowError):
            number = math.nan
        if not math.isfinite(number):
            raise MeasureError(
                f"{measure}: expected {name}({point!r}) to be a finite number, found {value!r}",
                hint=f"fix the function passed as {name}",
                code="bad_parameter",
            )
        table.append(number)
    return table


def _no_cutoff(measure: Measure, setting: str) -> MeasureError:
    return MeasureError(
        f"{measure}: expected a cutoff with {setting}, {DIVISOR}, found {measure.k}",
        hint=f"write {measure.row.name}({setting})@10",
        code="bad_parameter",
    )


def _missing(measure: Measure, parameter: Parameter) -> MeasureError:
    row = measure.row
    if parameter.name != row.at:
        scaled = f"{row.name}({parameter.name}=4)"
        written = f"{scaled}@10" if row.at and row.parameter(row.at).required else scaled
        hint = f"write {written} for grades up to 4"
        return MeasureError(f"{measure} needs {parameter.name}", hint=hint, code="bad_parameter")
    example = 0.1 if parameter.name == "recall" else 10
    hint = f"write {row.name}@{example}"
    if row.uncut:
        hint += f", or {row.uncut} for the whole list"
    what = "a cutoff" if parameter.name == "k" else parameter.name
    return MeasureError(f"{measure} needs {what}", hint=hint, code="bad_parameter")


def log2(number: float) -> float:
    """Return the binary logarithm of a discount, correctly rounded for integers.

    Examples:
        >>> log2(8), log2(3)
        (3.0, 1.584962500721156)
    """
    return _core.log2(int(number)) if number == int(number) else math.log2(number)
