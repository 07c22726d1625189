"""The computation in the core: the name of a kernel and its parameters."""

from __future__ import annotations

import math
from collections.abc import Callable, Collection, Iterable
from typing import TYPE_CHECKING, Any, TypeAlias

from rankscope import _core
from rankscope.errors import MeasureError
from rankscope.measures.domains import DIVISOR, LARGEST_DIVISOR, bad_parameter

Shape: TypeAlias = dict[str, str | float | list[float]]
Param: TypeAlias = (
    bool | float | str | list[list[float]] | list[float] | Shape | Callable[..., list[float]] | None
)

if TYPE_CHECKING:
    from rankscope.measures.spec import Measure, Parameter


LONGEST_LIST = 2**63 - 1
BESIDE = ("judged_only", "base", "s")
"""Parameters that kernels don't have: a flag beside the kernel, and parts of the discount."""
SHAPES = {"log": "base", "jk": "base", "zipf": "s"}


def kernel_spec(
    measure: Measure, grades: Collection[float] | None, depth: int | None
) -> tuple[str, dict[str, Param]]:
    """Return the computation of a measure in the core; see `Measure.kernel_spec`."""
    row, values = measure.row, measure.parameters
    if row.function is not None:
        k = None if measure.k is None else min(measure.k, LONGEST_LIST)
        return row.kernel, {"k": k, "function": row.function(measure)}
    params: dict[str, Param] = {}
    for parameter in row.parameters:
        name, value = parameter.name, values[parameter.name]
        if parameter.required and value is None:
            raise _missing(measure, parameter)
        if value in parameter.needs_k and not 1 <= (measure.k or 0) <= LARGEST_DIVISOR:
            setting = f"{name}={value!r}"
            raise bad_parameter(
                f"{measure}: expected a cutoff with {setting}, {DIVISOR}, found {measure.k}",
                f"write {row.name}({setting})@10",
            )
        if name == "gain":
            params[name] = _gain(measure, grades)
        elif name == "discount":
            params[name] = _discount(measure, depth)
        elif name not in BESIDE:
            params[name] = _plain(value)
    return row.kernel, params


def _plain(value: Any) -> bool | float | str | list[float] | None:  # noqa: ANN401 - a `Value`
    """Return the value of a parameter as the core reads it."""
    if isinstance(value, tuple):
        return [*value]
    if isinstance(value, int) and not isinstance(value, bool):
        return min(value, LONGEST_LIST)  # a cutoff beyond any list is none
    plain: bool | float | str | None = value
    return plain


def _gain(measure: Measure, grades: Collection[float] | None) -> str | list[list[float]]:
    gain: Any = measure.parameters["gain"]
    if isinstance(gain, str):
        return gain
    if isinstance(gain, tuple):
        return [[*pair] for pair in gain]
    if grades is None:
        raise bad_parameter(
            f"{measure}: a gain function needs the grades that are present",
            "pass grades=… to kernel_spec",
        )
    present = sorted({float(grade) for grade in grades})
    gains = _tabulate(measure, "gain", gain, present)
    return [list(pair) for pair in zip(present, gains, strict=True)]


def _discount(measure: Measure, depth: int | None) -> Shape:
    values = measure.parameters
    discount: Any = values["discount"]
    if isinstance(discount, str):
        value = values[SHAPES[discount]] if discount in SHAPES else None
        shape: Shape = {"kind": discount}
        return shape | {SHAPES[discount]: value} if isinstance(value, float) else shape
    count = _ranks_needed(measure, depth)
    if callable(discount):
        weights = _tabulate(measure, "discount", discount, range(1, count + 1))
    else:
        weights = [*discount[:count]]
    if len(weights) < count:
        raise bad_parameter(
            f"{measure}: expected a discount for each of {count} ranks, found {len(weights)}",
            f"write {measure.row.name}(discount=…) @ {len(weights)}, or pass more weights",
        )
    if weights and min(weights) < 0:
        raise bad_parameter(
            f"{measure}: expected discounts of 0 or more, found {min(weights)!r}",
            "a discount is the weight of a rank",
        )
    return {"kind": "table", "weights": weights}


def _ranks_needed(measure: Measure, depth: int | None) -> int:
    ideal = measure.parameters.get("ideal")
    reach = {"whole": (depth,), "slots": (measure.k,)}.get(str(ideal), (measure.k, depth))
    lengths = [length for length in reach if length is not None]
    if lengths:
        return min(lengths)
    if ideal == "whole":
        raise bad_parameter(
            f"{measure}: a discount table or function is limited, but ideal='whole' has no cutoff",
            "remove ideal, or use a named discount",
        )
    raise bad_parameter(
        f"{measure}: a discount table or function needs a cutoff",
        f"write {measure.row.name}(discount=…) @ 10",
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
            raise bad_parameter(
                f"{measure}: expected {name}({point!r}) to be a finite number, found {value!r}",
                f"fix the function passed as {name}",
            )
        table.append(number)
    return table


def _missing(measure: Measure, parameter: Parameter) -> MeasureError:
    row = measure.row
    if parameter.name != row.at:
        scaled = f"{row.name}({parameter.name}=4)"
        written = f"{scaled}@10" if row.at and row.parameter(row.at).required else scaled
        return bad_parameter(
            f"{measure} needs {parameter.name}", f"write {written} for grades up to 4"
        )
    hint = f"write {row.name}@{0.1 if parameter.name == 'recall' else 10}"
    hint += f", or {row.uncut} for the whole list" if row.uncut else ""
    what = "a cutoff" if parameter.name == "k" else parameter.name
    return bad_parameter(f"{measure} needs {what}", hint)


def log2(number: float) -> float:
    """Return the binary logarithm of a discount, correctly rounded for integers.

    Examples:
        >>> log2(8), log2(3)
        (3.0, 1.584962500721156)
    """
    return _core.log2(int(number)) if number == int(number) else math.log2(number)
