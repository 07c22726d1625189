"""The values of a measure under all conventions, compared with a given number."""

from __future__ import annotations

import math
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from functools import partial
from typing import TYPE_CHECKING

from rankscope._names import as_dict
from rankscope._reconcile.workbench import Difference
from rankscope._show import Printed, Tabular
from rankscope._show.table import Cell, Table, format_value
from rankscope.errors import UsageError
from rankscope.measures import Measure

if TYPE_CHECKING:
    from rankscope._show.table import ColumnValues


WIDTH = 96
MOST_CAUSES = 10
CLOSE = 1e-9
"""The tolerance for equal values."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Reckoning:
    """The value of a measure under one convention.

    Args:
        name: The convention with its option, if any: `trec_eval missing=zero`.
        version: The version of the convention.
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
    verified: str
    option: str
    measure: str
    policy: str
    value: float
    queries: int
    refusal: str
    is_match: bool


@dataclass(frozen=True, slots=True)
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


@dataclass(frozen=True, slots=True)
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
    command: str = ""
    tried: int = 0
    by_chance: float = 0.0

    def __str__(self) -> str:
        return f"{' and '.join(self.changes)}: {format_value(self.value)}"


@dataclass(frozen=True, slots=True, kw_only=True)
class Reconciliation(Printed, Tabular):
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
        return partial(Reconciliation, **as_dict(self) | {"compare": None}), ()

    def __copy__(self, memo: object = None) -> Reconciliation:
        return self  # it can't be changed

    __deepcopy__ = __copy__

    @property
    def groups(self) -> tuple[tuple[Reckoning, ...], ...]:
        """The conventions grouped by value, highest value first."""
        valued = [each for each in self.reckonings if not each.refusal]
        ordered = sorted(valued, key=lambda each: (math.isnan(each.value), -each.value))
        groups: list[tuple[Reckoning, ...]] = []
        for each in ordered:
            if groups and _is_close(groups[-1][0].value, each.value):
                groups[-1] += (each,)
            else:
                groups.append((each,))
        return tuple(groups)

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
        names = ("name", "version", "value", "queries", "measure", "policy", "verified", "refusal")
        return Table({name: [getattr(each, name) for each in self.reckonings] for name in names})

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

    def _parts(self) -> list[str | Table]:
        count = sum(not each.refusal for each in self.reckonings)
        values = f"{len(self.groups)} values under {count} conventions"
        columns: dict[str, list[Cell]] = {
            "value": [format_value(group[0].value) for group in self.groups],
            "conventions": [_say_names(group) for group in self.groups],
        }
        table = Table(columns, numbers=["value"])
        title = f"{self.measure} has {values} and their options"
        return [*_answer(self), title, "", table, *_notes(self)]

    def __str__(self) -> str:
        return "\n".join(map(_wrap, Printed.__str__(self).split("\n")))

    __repr__ = __str__


def _is_close(one: float, other: float) -> bool:
    both_missing = math.isnan(one) and math.isnan(other)
    return both_missing or math.isclose(one, other, rel_tol=CLOSE, abs_tol=CLOSE)


def _say_names(alike: Sequence[Reckoning], *, are_marked: bool = True) -> str:
    """Return conventions without options that don't change the value."""
    plain = {each.name for each in alike if not each.option}
    kept = [each for each in alike if not each.option or each.name.split(" ")[0] not in plain]
    return ", ".join(_mark(each) if are_marked else each.name for each in kept)


def _mark(each: Reckoning) -> str:
    text = f"{each.name} ({each.option})" if each.option else each.name
    return text if each.verified == "run" else f"{text}*"


def _notes(result: Reconciliation) -> list[str]:
    """Return what the marks mean, and the conventions without a value."""
    lines = []
    if any(each.verified != "run" and not each.refusal for each in result.reckonings):
        lines.append("* read from source, not run")
    by_reason: dict[str, list[str]] = {}
    for each in result.reckonings:
        if each.refusal:
            by_reason.setdefault(each.refusal, []).append(each.name)
    if by_reason:
        lines += ["", "without a value:"]
    for reason, names in by_reason.items():
        lines.append(f"  {', '.join(names)}: {reason}")
    return lines


def _answer(result: Reconciliation) -> list[str]:
    if result.got is None:
        return []
    if result.matches:
        matching = [each for each in result.reckonings if each.is_match]
        names = _say_names(matching, are_marked=False)
        return [f"{result.got} matches {names}", ""]
    if not result.causes:
        nothing = (
            f"no convention matches {result.got}, even with one setting changed, or with another "
            "relevance level, cutoff, set of queries or depth, other grades or reversed scores"
        )
        return [nothing, ""]
    shown = result.causes[:MOST_CAUSES]
    lines = [f"no convention matches {result.got}; it matches if, simplest first:"]
    for each in shown:
        lines.append(f"  {each}")
        lines += [f"    {each.command}"] if each.command else []
    left = len(result.causes) - len(shown)
    lines += [f"  and {left} more"] if left else []
    first, last = shown[0], shown[-1]
    chance = f"tried {first.tried} different values for the first"
    chance += f", of which {_say_number(first.by_chance)} would match by chance"
    if last.tried > first.tried:
        chance += f"; {last.tried} and {_say_number(last.by_chance)} for all"
    return [*lines, chance, ""]


def _say_number(expected: float) -> str:
    if expected < 0.01:
        return "fewer than 0.01"
    return f"about {expected:.1g}" if expected < 1 else f"about {expected:,.0f}"


def _wrap(line: str) -> str:
    """Wrap a line, unless it is a command."""
    if line.startswith("    "):
        return line
    from textwrap import fill

    return fill(
        line, WIDTH, subsequent_indent=" " * 8, break_long_words=False, break_on_hyphens=False
    )
