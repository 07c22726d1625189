"""The columns that measures need, each computed once however many measures share it."""

from __future__ import annotations

import math
from collections.abc import Hashable
from typing import Any

from rankscope._settings import Policy
from rankscope.errors import MeasureError, PolicyError
from rankscope.measures import Measure
from rankscope.measures.kernel import log2

MOST_RANKS = 10_000
"""The number of ranks whose discounts fit into a statement."""
CODE = "not_in_sql"


def number(value: float) -> str:
    """Write a number so that every dialect reads exactly this double.

    Examples:
        >>> number(2.0), number(0.5)
        ('2', "CAST('0.5' AS DOUBLE PRECISION)")
    """
    is_short = float(value).is_integer() and abs(value) < 2**53
    return str(int(value)) if is_short else f"CAST('{value!r}' AS DOUBLE PRECISION)"


def as_double(expression: str) -> str:
    """Return an expression whose division is not that of integers."""
    return f"CAST({expression} AS DOUBLE PRECISION)"


class Columns:
    """Expressions with a name, each once."""

    def __init__(self, taken: set[str]) -> None:
        self.names: dict[Hashable, str] = {}
        self._taken = taken

    def add(self, stem: str, expression: Hashable) -> str:
        """Return the name of an expression, which is `stem` or `stem` with a number."""
        if expression not in self.names:
            name, count = stem, 1
            while name in self._taken:
                count += 1
                name = f"{stem}_{count}"
            self._taken.add(name)
            self.names[expression] = name
        return self.names[expression]

    def select(self) -> str:
        """Return the columns as they stand in a `SELECT`."""
        return ", ".join(f"{expression} AS {name}" for expression, name in self.names.items())


class Lists:
    """What is computed from the ranked lists: all documents, or only the judged ones."""

    def __init__(self, table: str, taken: set[str]) -> None:
        self.table = table
        self.running = Columns(taken)
        """Counts of the documents down to each rank."""
        self.sums = Columns(taken)
        """Sums over each list."""
        self.needs_totals = False
        self.needs_discounts = False

    def count_down_to(self, stem: str, condition: str) -> str:
        """Return the column with how many documents down to a rank meet a condition."""
        window = "PARTITION BY query_id ORDER BY list_rank ROWS UNBOUNDED PRECEDING"
        case = f"CASE WHEN {condition} THEN 1 ELSE 0 END"
        return self.running.add(stem, f"SUM({case}) OVER ({window})")

    def count(self, stem: str, condition: str) -> str:
        """Return the column with how many documents of a list meet a condition."""
        return self.sums.add(stem, f"COUNT(CASE WHEN {condition} THEN 1 END)")

    def add_up(self, stem: str, condition: str, expression: str) -> str:
        """Return the column with the sum of an expression, from the top of the list down."""
        case = f"CASE WHEN {condition} THEN {expression} END"
        return self.sums.add(stem, f"SUM({case} ORDER BY list_rank)")


class Plan:
    """Everything that some measures need; lists without a cutoff have `depth` discounts."""

    def __init__(self, policy: Policy, depth: int) -> None:
        self.policy = policy
        self.depth = depth
        self._taken = {"query_id", "doc_id", "grade", "score", "gain", "list_rank", "ideal_rank"}
        self.all = Lists("rs_list", self._taken)
        self.judged_only = Lists("rs_judged_list", self._taken)
        self.totals = Columns(self._taken)
        """Counts of the judged documents of a query."""
        self.ideals: dict[tuple[str, str], Columns] = {}
        """Sums over ideal lists, by the table of their documents and the gain of a grade."""
        self.discounts: dict[str, list[float]] = {}
        """Columns with a divisor or a weight for each rank."""
        self._discount_names = Columns(self._taken)
        self.overflows: list[str] = []
        """Sums of gains, which have to be finite."""
        self.depths: list[tuple[str, int]] = []
        """Columns with the rank of the last gain, and how far the discounts reach."""
        self.gain_tables: list[str] = []
        """Gains of a grade that are null where a table has no entry."""

    def lists(self, measure: Measure) -> Lists:
        """Return the lists that a measure is computed from."""
        is_judged_only = self.policy.unjudged == "remove" or measure.judged_only
        return self.judged_only if is_judged_only else self.all

    def ideal(self, table: str, gain: str) -> Columns:
        """Return the sums over the ideal list of the documents of a table."""
        return self.ideals.setdefault((table, gain), Columns(self._taken))

    def relevant(self, measure: Measure) -> str:
        """Return the column with the number of relevant documents."""
        rel = setting(measure, "rel")
        plain = f"{rel:g}".replace(".", "p").replace("-", "m").replace("+", "")
        condition = f"CASE WHEN grade >= {number(rel)} THEN 1 END"
        return self.totals.add(f"relevant_{plain}", f"COUNT({condition})")

    def gain(self, measure: Measure) -> str:
        """Return the gain of `grade`, which is 0 if it is null."""
        gain: Any = measure.parameters["gain"]
        is_signed = self.policy.negative == "gain"
        has_gain = "grade IS NOT NULL" if is_signed else "grade > 0"
        if gain == "linear":
            return f"CASE WHEN {has_gain} THEN grade ELSE 0 END"
        if gain == "exp2":
            return f"CASE WHEN {has_gain} THEN POWER({as_double('2')}, grade) - 1 ELSE 0 END"
        if gain == "binary":
            return as_double("CASE WHEN grade > 0 THEN 1 ELSE 0 END")
        if not isinstance(gain, tuple):
            raise refuse_parameter(measure, "gain", "a Python function")
        entries = " ".join(
            f"WHEN {as_double(number(grade))} THEN {as_double(number(worth))}"
            for grade, worth in gain
        )
        outside = "grade IS NULL" if is_signed else "grade IS NULL OR grade < 0"
        expression = f"CASE WHEN {outside} THEN {as_double('0')} ELSE CASE grade {entries} END END"
        self.gain_tables.append(expression)
        return expression

    def discount(self, measure: Measure, expression: str) -> str:
        """Return a gain discounted by its rank."""
        reach = self.reach(None if measure.parameters.get("ideal") == "whole" else measure.k)
        shape: Any = measure.kernel_spec(depth=reach)[1]["discount"]
        if callable(measure.parameters["discount"]):
            raise refuse_parameter(measure, "discount", "a Python function")
        kind = shape["kind"]
        if kind == "table":
            weights = measure.parameters["discount"]
            return f"{expression} * {self.tabulate('weight', weights, shape['weights'])}"
        base, s = setting(measure, "base"), setting(measure, "s")
        divisors = [_divisor(rank, kind, base, s) for rank in range(1, reach + 1)]
        return f"{expression} / {self.tabulate(f'divisor_{kind}', (kind, base, s), divisors)}"

    def reach(self, k: int | None) -> int:
        """Return how many ranks need a discount."""
        return self.depth if k is None or k > MOST_RANKS else k

    def tabulate(self, stem: str, discount: Hashable, numbers: list[float]) -> str:
        """Return the column with a number for each rank, which is as long as any measure needs."""
        name = self._discount_names.add(stem, discount)
        self.discounts[name] = max(self.discounts.get(name, []), numbers, key=len)
        return name

    def limit_depth(self, columns: Columns, stem: str, gained_rank: str, k: int | None) -> None:
        """Note how deep a list has gains, if a discount may be missing there."""
        if k is None or self.reach(k) < k:
            deepest = columns.add(stem, f"MAX({gained_rank})")
            self.depths.append((deepest, self.reach(k)))

    def finite(self, column: str) -> str:
        """Return a column, and note that its sums of gains have to be finite."""
        self.overflows.append(column)
        return column


def _divisor(rank: int, kind: str, base: float, s: float) -> float:
    match kind:
        case "log2":
            return log2(rank + 1)
        case "log":
            return log2(rank + 1) / log2(base)
        case "jk":
            return max(1.0, log2(rank) / log2(base))
        case "reciprocal":
            return float(rank)
        case "linear":
            return float(rank + 1)
        case "zipf":
            return math.pow(rank, s)
    raise ValueError(kind)


def within(k: int | None, rank: str = "list_rank") -> str:
    """Return the condition that a rank is within a cutoff."""
    return f"{rank} <= {k}" if k is not None and k < 2**53 else f"{rank} > 0"


def setting(measure: Measure, name: str) -> float:
    """Return a parameter of a measure that is a number."""
    value: Any = measure.parameters[name]
    return float(value)


def refuse_measure(
    measure: Measure,
    why: str,
    hint: str = "evaluate the tables with rankscope, or leave this measure out",
) -> MeasureError:
    """Return the error for a measure that SQL can't compute."""
    message = f"SQL can't compute {measure}: {why}"
    return MeasureError(message, hint=hint, code=CODE, value=measure.name)


def refuse_parameter(measure: Measure, name: str, why: str) -> MeasureError:
    """Return the error for a parameter whose value SQL can't express."""
    hint = f"pass {name} as a table or by its name"
    return refuse_measure(measure, f"its {name} is {why}", hint)


def refuse_policy(field: str, value: object, why: str, hint: str) -> PolicyError:
    """Return the error for a policy that SQL can't follow."""
    return PolicyError(f"SQL can't follow {field}={value}: {why}", hint=hint, code=CODE)
