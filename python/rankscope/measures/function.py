"""Measures that are written in Python: a row from a function of a ranked list."""

from __future__ import annotations

import inspect
import math
from collections.abc import Callable, Iterator, Sequence
from contextvars import ContextVar
from dataclasses import dataclass
from typing import Any, Literal, NamedTuple, TypeAlias

import numpy as np
from numpy.typing import ArrayLike, NDArray

from rankscope._core import Evaluation, Plan, Rankings
from rankscope._names import check_choice, quote
from rankscope.errors import MeasureError
from rankscope.measures import domains
from rankscope.measures.domains import Domain, bad_parameter
from rankscope.measures.parse import parse
from rankscope.measures.spec import (
    DIRECTIONS,
    FUNCTIONS,
    JUDGED_ONLY,
    ROWS,
    Example,
    K,
    Measure,
    Parameter,
    Row,
    default_measure,
)

OfList: TypeAlias = Callable[..., float | None]
OfLists: TypeAlias = Callable[..., ArrayLike]


OWN = ("k", "judged_only")
"""The parameters that every function has."""

OF_GRADES = ("grades", "ideal")
OF_ROWS = ("doc_ids", "scores", "query_id")
"""What a function can take of a list beside its grades; only lists in memory have it."""

ANY = (-math.inf, math.inf)
ROUNDING = 1e-9
"""How far a value may be outside its range, in parts of the limits."""


@dataclass(frozen=True, slots=True)
class RankedLists:
    """The ranked lists of several queries, which a vectorized measure takes.

    Args:
        grades: The grades of all lists, one list after another, each in rank order.
        offsets: The list of query `q` is `grades[offsets[q]:offsets[q + 1]]`.
        ideal: The grades of all judged documents of each query, the highest first.
        ideal_offsets: The ideal of query `q` is `ideal[ideal_offsets[q]:ideal_offsets[q + 1]]`.
    """

    grades: NDArray[np.float64]
    offsets: NDArray[np.int64]
    ideal: NDArray[np.float64]
    ideal_offsets: NDArray[np.int64]

    def __len__(self) -> int:
        return len(self.offsets) - 1

    def lists(self) -> list[tuple[NDArray[np.float64], NDArray[np.float64]]]:
        """Return the grades and the ideal of each query."""
        ends, ideal_ends = self.offsets.tolist(), self.ideal_offsets.tolist()
        return [
            (self.grades[ends[at] : ends[at + 1]], self.ideal[ideal_ends[at] : ideal_ends[at + 1]])
            for at in range(len(self))
        ]


def measure(
    name: str,
    function: OfList | OfLists,
    *,
    vectorized: bool = False,
    better: Literal["higher", "lower", "neither"] = "higher",
    value_range: tuple[float, float] = ANY,
    definition: str = "",
) -> Measure:
    """Define a measure by a Python function, to use it like any other measure.

    The measure works in `evaluate`, `Rankings.evaluate`, slices, intervals, `compare` and `gate`,
    and its name can be parsed. It always takes a cutoff, as in `name@10`, and `judged_only`. What
    needs the formula of a measure refuses it, such as `explain`, `bounds` and monitors.

    Args:
        name: The name, an identifier that no other measure has. Using the name of an earlier
            function again replaces it.
        function: Called for one list at a time, with what its parameters name: `grades`, those of
            the list in rank order, cut at the cutoff; `ideal`, the grades of all judged documents,
            the highest first; `doc_ids` and `scores` of the list; `query_id`; and `k`, the cutoff,
            or `None`. IDs are text, and numbers are NumPy arrays. It returns the value, or `None`
            or NaN if the value is undefined, which the policy `empty` then decides. Other
            parameters, with a default of a number, a text or a flag, are parameters of the measure.
            Grades of unjudged documents and grades below 0 are what the policy says, by default 0.
        vectorized: Whether the function takes the lists of many queries at once, as `RankedLists`,
            and returns an array with a value for each.
        better: Which values are better: `"higher"`, `"lower"`, or `"neither"`.
        value_range: The lowest and the highest value, which intervals rely on. The function must
            not return a value outside.
        definition: One sentence about the measure (default: the first line of the docstring).

    Returns:
        The measure, with the default of every parameter.

    Raises:
        MeasureError: The name isn't an identifier or belongs to another measure, or the function
            has a parameter that no measure can have.
        PolicyError: `better` isn't one of its choices.

    Examples:
        >>> import rankscope as rs
        >>> def share_of_top(grades, ideal, *, weight=1.0):
        ...     return weight * grades[0] / ideal[0] if len(grades) and ideal[0] > 0 else None
        >>> TopShare = rs.measure("TopShare", share_of_top)
        >>> qrels = {"q1": {"d1": 3, "d2": 1}, "q2": {"d3": 1}}
        >>> run = {"q1": {"d2": 0.9, "d1": 0.8}, "q2": {"d3": 0.7}}
        >>> rs.evaluate(qrels, run, [TopShare, "TopShare(weight=0.5)", "nDCG@10"])
        measure               value   queries
        TopShare              0.6667  2 of 2
        TopShare(weight=0.5)  0.3333  2 of 2
        nDCG@10               0.8984  2 of 2
        policy: ties=doc_id,empty=zero,missing=zero,unjudged=nonrelevant,negative=nonrelevant
    """
    _check_name(name)
    check_choice("better", better, DIRECTIONS)
    limits = _read_range(value_range)
    if not callable(function):
        raise bad_parameter(
            f"expected a function for {name}, found {quote(function)}",
            "write a function of grades and ideal",
        )
    document = inspect.getdoc(function) or ""
    arguments = _read_signature(function, vectorized=vectorized)
    caller = _Caller(function, vectorized, None if arguments is None else (*arguments,), limits)
    row = Row(
        name=name,
        kernel="function",
        parameters=(K, *_list_parameters(name, arguments or {}, vectorized), JUDGED_ONLY),
        formula=rf"\mathrm{{{name}}}",
        definition=definition or document.partition("\n")[0] or f"The Python function {name}.",
        undefined="Undefined where the function returns None or NaN.",
        value_range=limits,
        better=better,
        references=(),
        example=Example(name, (), "", math.nan),
        function=caller.bind,
        of_rows=caller.is_of_rows,
    )
    FUNCTIONS[name] = row
    return default_measure(row)


def _read_range(value_range: object) -> tuple[float, float]:
    try:
        low, high = map(float, value_range)  # type: ignore[call-overload]  # other objects raise
    except (TypeError, ValueError):
        low = high = math.nan
    if not low < high:
        raise bad_parameter(
            f"expected value_range as the lowest and the highest value, found {quote(value_range)}",
            "write value_range=(0, 1)",
        )
    return low, high


def _check_name(name: object) -> None:
    if not isinstance(name, str) or not name.isidentifier():
        raise bad_parameter(
            f"expected an identifier as the name of a measure, found {quote(name)}",
            "write letters, digits and underscores",
        )
    if name in FUNCTIONS:
        return
    try:
        other = parse(name).name
    except MeasureError as error:
        if name not in ROWS and error.code == "unknown_measure" and "can mean" not in str(error):
            return
        other = name
    raise MeasureError(
        f"expected a name that no measure has, found {quote(name)}, which is {other}",
        hint="choose another name",
        code="same_name",
    )


def _read_signature(
    function: Callable[..., object], *, vectorized: bool
) -> dict[str, inspect.Parameter] | None:
    """Return the arguments after that of all lists; `None` if not all have names."""
    try:
        arguments = [*inspect.signature(function).parameters.values()]
    except (TypeError, ValueError):  # some functions of C have no signature
        return None
    if any(value.kind in {value.VAR_POSITIONAL, value.POSITIONAL_ONLY} for value in arguments):
        return None
    return {
        value.name: value for value in arguments[vectorized:] if value.kind is not value.VAR_KEYWORD
    }


def _list_parameters(
    name: str, arguments: dict[str, inspect.Parameter], vectorized: bool
) -> list[Parameter]:
    inputs = ("k",) if vectorized else (*OF_GRADES, *OF_ROWS, "k")
    own = {key: value.default for key, value in arguments.items() if key not in inputs}
    odd = [key for key, default in own.items() if default is inspect.Parameter.empty]
    if odd:
        raise bad_parameter(
            f"{name}: expected parameters that are {', '.join(inputs)} or have a default, found "
            f"{', '.join(odd)}",
            f"it is called with all lists: write def {name}(lists)"
            if vectorized
            else f"it is called for one ranked list at a time: write def {name}(grades, ideal)",
        )
    parameters = []
    for key, default in own.items():
        domain = _find_domain(default)
        if key in OWN or domain is None:
            raise bad_parameter(
                f"{name}: expected a default of a number, a text, True or False for {key}, "
                f"found {default!r}",
                "judged_only is a parameter of every measure" if key in OWN else f"write {key}=1.0",
            )
        parameters.append(Parameter(key, domain, domain.read(default), f"The argument {key}."))
    return parameters


def _find_domain(default: object) -> Domain | None:
    if isinstance(default, bool):
        return domains.FLAG
    if isinstance(default, int | float):
        return domains.NUMBER
    return domains.TEXT if isinstance(default, str) else None


class _Rows:
    """The rows of rankings in memory, in the order in which a single thread evaluates them.

    Judged queries without a list come last.
    """

    def __init__(self, core: Rankings) -> None:
        self._core = core
        self._walks: dict[Measure, Iterator[int]] = {}
        self._offsets, self._scores = (
            np.asarray(memoryview(core.column(name)).cast(kind))  # type: ignore[call-overload]  # both are kinds
            for name, kind in (("offsets", "q"), ("scores", "d"))
        )
        self._query_ids = core.query_ids()
        self.present: bytes | None = None
        """Which queries have a list; `None` as long as this isn't known."""

    def add_to(self, lists: list[dict[str, Any]], measure: Measure, names: Sequence[str]) -> None:
        """Add what else is named of the next lists of a measure."""
        if measure not in self._walks:
            present = self.present or b""
            walk = iter(sorted(range(len(present)), key=lambda at: not present[at]))
            self._walks[measure] = walk
        walk = self._walks[measure]
        for inputs in lists:
            query, size = next(walk), len(inputs["grades"])
            start = self._offsets[query]
            inputs["query_id"] = self._query_ids[query]
            inputs["scores"] = self._scores[start : start + size]
            if "doc_ids" in names:
                inputs["doc_ids"] = self._core.doc_ids(query)[:size]
            for name in {"doc_ids", "scores"} & {*names}:
                if len(inputs[name]) < size:
                    raise ValueError(f"expected lists with {name}, found lists of grades")


_rows: ContextVar[_Rows | None] = ContextVar("rankscope_rows", default=None)


def evaluate_rows(core: Rankings, plan: Plan) -> Evaluation:
    """Evaluate rankings in memory by functions that take more than grades.

    The core hands over grades alone. Which queries have a list is known from a first evaluation.
    """
    rows = _Rows(core)
    token = _rows.set(rows)
    try:
        rows.present = core.evaluate(plan, 1).is_present()
        return core.evaluate(plan, 1)
    finally:
        _rows.reset(token)


class _Caller(NamedTuple):
    """Calls the function of a measure with the lists that the core hands over."""

    function: Callable[..., Any]
    vectorized: bool
    arguments: tuple[str, ...] | None
    limits: tuple[float, float]

    @property
    def is_of_rows(self) -> bool:
        """Whether it takes more than grades, which only lists in memory have."""
        return not self.vectorized and not {*OF_ROWS}.isdisjoint(self.arguments or ())

    def bind(self, measure: Measure) -> Callable[..., list[float]]:
        """Return the function that the core calls for a measure with its parameters."""
        settings = {key: value for key, value in measure.parameters.items() if key not in OWN}
        if "k" in (self.arguments or ()):
            settings["k"] = measure.k

        def call(*columns: Any) -> list[float]:  # noqa: ANN401 - memory of the core
            lists = _read_lists(*columns)
            rows = _rows.get() if self.is_of_rows else None
            if self.is_of_rows and rows is None:
                raise ValueError("expected judgments and a run, or rankings of both")
            if rows is not None and rows.present is None:
                return [0.0] * len(lists)
            if self.vectorized:
                values = _read_values(self.function(lists, **settings), len(lists))
            elif self.arguments is None:
                values = [_read_value(self.function(*pair, **settings)) for pair in lists.lists()]
            else:
                inputs = [dict(zip(OF_GRADES, pair, strict=True)) for pair in lists.lists()]
                names = [name for name in self.arguments if name in (*OF_GRADES, *OF_ROWS)]
                if rows is not None:
                    rows.add_to(inputs, measure, names)
                values = [
                    _read_value(self.function(**{name: of[name] for name in names}, **settings))
                    for of in inputs
                ]
            if self.limits != ANY:
                self.check_limits(values)
            return values

        return call

    def check_limits(self, values: list[float]) -> None:
        """Raise an error for a value outside the range."""
        low, high = self.limits
        room = ROUNDING * max(1.0, *(abs(limit) for limit in self.limits if math.isfinite(limit)))
        for value in values:
            if value < low - room or value > high + room:
                raise ValueError(f"expected a value from {low:g} to {high:g}, found {value:g}")


def _read_values(result: object, count: int) -> list[float]:
    values = np.asarray(result, dtype=np.float64)
    if values.shape != (count,):
        raise ValueError(f"expected an array of {count} values, found shape {values.shape}")
    if np.isinf(values).any():
        raise _no_number(float(values[np.isinf(values)][0]))
    numbers: list[float] = values.tolist()
    return numbers


def _read_value(result: object) -> float:
    try:
        value = math.nan if result is None else float(result)  # type: ignore[arg-type]  # it answers for any object
    except (TypeError, ValueError):
        raise _no_number(result) from None
    if math.isinf(value):
        raise _no_number(result)
    return value


def _no_number(result: object) -> ValueError:
    """Return an error that the core reports as one of the function, with a hint."""
    return ValueError(f"expected a finite number, NaN or None, found {quote(result)}")


def _read_lists(ends: Any, grades: Any, ideal_ends: Any, ideal: Any) -> RankedLists:  # noqa: ANN401 - see `call`

    def read(column: Any) -> NDArray[Any]:  # noqa: ANN401 - see `call`
        return np.asarray(memoryview(column).cast(column.typecode))

    def start(offsets: NDArray[np.int64]) -> NDArray[np.int64]:
        return np.concatenate([np.zeros(1, dtype=np.int64), offsets])

    return RankedLists(read(grades), start(read(ends)), read(ideal), start(read(ideal_ends)))
