"""The values of a measure under all conventions, compared with a given number."""

from __future__ import annotations

import math

from rankscope.errors import UsageError
from rankscope.output.exports import Tabular
from rankscope.output.table import Table
from rankscope.output.text import format_value
from rankscope.records import as_dict, record

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Callable, Mapping, Sequence
    from typing import Any

    from rankscope.measures import Measure
    from rankscope.output.exports import ColumnValues
    from rankscope.output.table import Cell
    from rankscope.reconciliation.difference import Difference

WIDTH = 96
MOST_CAUSES = 10
CLOSE = 1e-9
"""The tolerance for equal values."""


@record(frozen=True, slots=True, kw_only=True)
class Reckoning:
    """The value of a measure under one convention.

    Args:
        name: The convention with its option, if any: `trec_eval missing=zero`.
        version: The version of the convention.
        tool: The library, as its authors write it.
        verified: `run` or `read from source`.
        option: The name of the option in the library, such as `-c`, or an empty string.
        measure: The measure that is computed.
        policy: The policy, as text.
        value: The mean; NaN if there is none.
        queries: The number of queries in the mean.
        refusal: Why there is no value, or an empty string.
        is_match: Whether it matches the given number.
    """

    name: str
    version: str
    tool: str
    verified: str
    option: str
    measure: str
    policy: str
    value: float
    queries: int
    refusal: str
    is_match: bool


@record(frozen=True, slots=True)
class Deviation:
    """A single changed setting with which conventions match the given number.

    Args:
        rule: The setting, such as `empty`.
        setting: Its changed value.
        value: The resulting mean.
        names: The conventions, closest first.
    """

    rule: str
    setting: str
    value: float
    names: tuple[str, ...]

    def __str__(self) -> str:
        names = ", ".join(self.names)
        return f"{self.rule}={self.setting} in {names}: {format_value(self.value)}"


@record(frozen=True, slots=True, kw_only=True)
class Cause:
    """A difference from the measure as you asked for it that gives the number.

    Args:
        changes: What differs, each as a clause: `the cutoff is 15 instead of 10`.
        value: The resulting mean.
        queries: The number of queries in it.
        measure: The measure that gives it.
        command: The command that computes it, or an empty string if there is none.
        tried: How many different values were tried that are as simple as this one, or simpler.
        by_chance: How many of them are expected to match by chance, from the digits of the number
            and from how many values lie near it.
    """

    changes: tuple[str, ...]
    value: float
    queries: int
    measure: str
    command: str
    tried: int
    by_chance: float

    def __str__(self) -> str:
        return f"{' and '.join(self.changes)}: {format_value(self.value)}"


@record(frozen=True, slots=True, kw_only=True)
class Reconciliation(Tabular):
    """The values of a measure under all conventions, grouped by value.

    Args:
        measure: The measure you asked for.
        got: The given number, with its digits.
        reckonings: The result under each convention; those without a value come last.
        deviations: If no convention matches, the single changed settings with which one does.
        causes: If no convention matches, all that would give the number, the simplest first. They
            are other relevance levels, cutoffs, numbers of queries and depths of the run, a single
            changed setting of a convention, and two of the former together.
        compare: What `differ` calls; `None` once pickled, because it holds the whole input.

    Examples:
        >>> import rankscope as rs
        >>> qrels = {"q1": {"a": 3, "b": 1}, "q2": {"c": 0}}
        >>> run = {"q1": {"b": 2.0, "a": 1.0}, "q2": {"c": 1.0}}
        >>> found = rs.reconcile(qrels, run, "nDCG@10", got="0.8549")
        >>> found.matches
        ('lightgbm', 'xgboost', 'catboost_exp')
    """

    measure: Measure
    got: str | None
    reckonings: tuple[Reckoning, ...]
    deviations: tuple[Deviation, ...]
    causes: tuple[Cause, ...]
    compare: Callable[[str, str, int], Difference] | None

    def __reduce__(self) -> tuple[object, ...]:
        return _restore, (as_dict(self) | {"compare": None},)

    def __copy__(self) -> Reconciliation:
        return self  # it can't be changed

    def __deepcopy__(self, memo: object) -> Reconciliation:
        return self

    @property
    def groups(self) -> tuple[tuple[Reckoning, ...], ...]:
        """The conventions grouped by value, highest value first."""
        valued = [each for each in self.reckonings if not each.refusal]
        ordered = sorted(valued, key=lambda each: (math.isnan(each.value), -each.value))
        groups: list[list[Reckoning]] = []
        for each in ordered:
            if groups and _is_close(groups[-1][0].value, each.value):
                groups[-1].append(each)
            else:
                groups.append([each])
        return tuple(map(tuple, groups))

    @property
    def matches(self) -> tuple[str, ...]:
        """The conventions whose value matches the given number to its digits."""
        return tuple(each.name for each in self.reckonings if each.is_match)

    def differ(self, one: str, other: str, *, limit: int = 10) -> Difference:
        """Return the difference between two conventions, by setting, query and document.

        Args:
            one: The name of a convention, such as `"trec_eval"`, `"lightgbm@4.7.0"` or
                `"trec_eval missing=zero"`. `"rankscope"` is the measure as you asked for it.
            other: The name of another convention.
            limit: The maximum number of queries that are explained, largest difference first.

        Raises:
            UsageError: One of them was not evaluated or has no value, or the reconciliation was
                pickled, which leaves the input behind.
        """
        if self.compare is None:
            raise UsageError(
                "expected a reconciliation with its input, found one that was pickled without it",
                hint="call reconcile again, or call differ before you pickle the result",
                code="input_left_behind",
            )
        return self.compare(one, other, limit)

    @property
    def table(self) -> Table:
        """A table with one row per convention."""
        fields = ("name", "version", "value", "queries", "measure", "policy", "verified", "refusal")
        return Table(
            {field: [getattr(each, field) for each in self.reckonings] for field in fields}
        )

    def to_dict(self) -> dict[str, dict[str, Cell]]:
        """Return the rows of `table` by convention, as nested dicts."""
        return self.table.to_dict()

    def _tabulate(self) -> Mapping[str, ColumnValues]:
        return self.table.columns

    def __getitem__(self, name: str) -> float:
        for each in self.reckonings:
            if name in {each.name, f"{each.name}@{each.version}"}:
                return each.value
        raise UsageError(
            f"the convention {name!r} was not evaluated",
            hint=f"the conventions are {', '.join(each.name for each in self.reckonings)}",
            code="not_evaluated",
        )

    def __len__(self) -> int:
        return len(self.reckonings)

    def __str__(self) -> str:
        lines = [*_answer(self), _title(self), *_values(self), *_refusals(self)]
        return "\n".join(lines)

    __repr__ = __str__

    def _repr_html_(self) -> str:
        from rankscope.output.html import write_lines, write_result  # noqa: PLC0415 - loads late

        columns: dict[str, list[Cell]] = {
            "value": [group[0].value for group in self.groups],
            "conventions": [
                ", ".join(map(_mark, _without_idle_options(group))) for group in self.groups
            ],
        }
        return write_result(
            write_lines([*_answer(self), _title(self)]),
            Table(columns).write_html(),
            write_lines([*_marks(self), *_refusals(self)], are_notes=True),
        )


def _restore(fields: Mapping[str, Any]) -> Reconciliation:
    return Reconciliation(**fields)


def _is_close(one: float, other: float) -> bool:
    if math.isnan(one) or math.isnan(other):
        return math.isnan(one) and math.isnan(other)
    return math.isclose(one, other, rel_tol=CLOSE, abs_tol=CLOSE)


def _title(found: Reconciliation) -> str:
    values = [each for each in found.reckonings if not each.refusal]
    return (
        f"{found.measure} has {len(found.groups)} values under {len(values)} conventions and their "
        "options"
    )


def _mark(each: Reckoning) -> str:
    text = f"{each.name} ({each.option})" if each.option else each.name
    return text if each.verified == "run" else f"{text}*"


def _without_idle_options(alike: Sequence[Reckoning]) -> list[Reckoning]:
    """Return the conventions without options that don't change the value."""
    plain = {each.name for each in alike if not each.option}
    return [each for each in alike if not each.option or each.name.split(" ")[0] not in plain]


def _values(found: Reconciliation) -> list[str]:
    lines = ["", "value   conventions"]
    for group in found.groups:
        value = format_value(group[0].value)
        names = ", ".join(map(_mark, _without_idle_options(group)))
        lines.append(_fill(f"{value:6}  {names}", indent=8))
    return [*lines, *_marks(found)]


def _marks(found: Reconciliation) -> list[str]:
    is_marked = any(each.verified != "run" for group in found.groups for each in group)
    return ["* read from source, not run"] if is_marked else []


def _refusals(found: Reconciliation) -> list[str]:
    by_reason: dict[str, list[str]] = {}
    for each in found.reckonings:
        if each.refusal:
            by_reason.setdefault(each.refusal, []).append(each.name)
    if not by_reason:
        return []
    return [
        "",
        "without a value:",
        *(
            _fill(f"  {', '.join(names)}: {reason}", indent=4)
            for reason, names in by_reason.items()
        ),
    ]


def _answer(found: Reconciliation) -> list[str]:
    if found.got is None:
        return []
    if found.matches:
        matching = _without_idle_options([each for each in found.reckonings if each.is_match])
        names = ", ".join(each.name for each in matching)
        return [_fill(f"{found.got} matches {names}", indent=4), ""]
    if not found.causes:
        nothing = (
            f"no convention matches {found.got}, even with one setting changed, or with another "
            "relevance level, cutoff, set of queries or depth, other grades or reversed scores"
        )
        return [_fill(nothing, indent=4), ""]
    left = len(found.causes) - MOST_CAUSES
    lines = [f"no convention matches {found.got}; it matches if, simplest first:"]
    for each in found.causes[:MOST_CAUSES]:
        lines.append(_fill(f"  {each}", indent=4))
        lines += [f"    {each.command}"] if each.command else []
    last = found.causes[min(len(found.causes), MOST_CAUSES) - 1]
    return [
        *lines,
        *([f"  and {left} more"] if left > 0 else []),
        _fill(_say_chance(found.causes[0], last), indent=4),
        "",
    ]


def _say_chance(first: Cause, last: Cause) -> str:
    said = f"tried {first.tried} different values for the first"
    said += f", of which {_say_number(first.by_chance)} would match by chance"
    if last.tried > first.tried:
        said += f"; {last.tried} and {_say_number(last.by_chance)} for all"
    return said


def _say_number(expected: float) -> str:
    if expected < 0.01:
        return "fewer than 0.01"
    return f"about {expected:.1g}" if expected < 1 else f"about {expected:,.0f}"


def _fill(text: str, *, indent: int) -> str:
    from textwrap import fill  # noqa: PLC0415 - only where it is printed

    return fill(
        text,
        WIDTH,
        subsequent_indent=" " * indent,
        break_long_words=False,
        break_on_hyphens=False,
    )
