"""The columns that measures need, each computed once however many measures share it."""

from __future__ import annotations

import math

from rankscope.errors import MeasureError, PolicyError
from rankscope.measures.kernel import log2
from rankscope.records import record

TYPE_CHECKING = False
if TYPE_CHECKING:
    from rankscope.measures import Measure
    from rankscope.settings.policy import Policy

MOST_RANKS = 10_000
"""The number of ranks whose discounts fit into a statement."""

ON_LISTS = "list_rank"
ON_IDEALS = "ideal_rank"


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


@record(frozen=True, slots=True)
class Discounts:
    """A column of the table of discounts.

    Args:
        name: Its name.
        numbers: The number for each rank.
    """

    name: str
    numbers: list[float]


class Columns:
    """Expressions with a name, each once."""

    def __init__(self, taken: set[str]) -> None:
        self.names: dict[str, str] = {}
        self._taken = taken

    def add(self, stem: str, expression: str) -> str:
        """Return the name of an expression, which is `stem` or `stem` with a number."""
        if expression not in self.names:
            self.names[expression] = take_name(stem, self._taken)
        return self.names[expression]

    def select(self) -> list[str]:
        """Return the columns as they stand in a `SELECT`."""
        return [f"{expression} AS {name}" for expression, name in self.names.items()]


class Lists:
    """What is computed from the ranked lists: all documents, or only the judged ones.

    Args:
        prefix: What the names of its tables begin with.
        taken: The names of columns that exist.
    """

    def __init__(self, prefix: str, taken: set[str]) -> None:
        self.prefix = prefix
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
    """Everything that some measures need.

    Args:
        policy: The policy.
        depth: How many documents a list without a cutoff can have.
    """

    def __init__(self, policy: Policy, depth: int) -> None:
        self.policy = policy
        self.depth = depth
        taken: set[str] = {"query_id", "doc_id", "grade", "score", "gain", ON_LISTS, ON_IDEALS}
        self.all = Lists("rs_list", taken)
        self.judged_only = Lists("rs_judged_list", taken)
        self.totals = Columns(taken)
        """Counts of the judged documents of a query."""
        self.ideals: dict[tuple[str, str], Columns] = {}
        """Sums over ideal lists, by the table of their documents and the gain of a grade."""
        self.discounts: dict[object, Discounts] = {}
        """Divisors or weights of ranks, by what they are."""
        self.overflows: list[str] = []
        """Sums of gains, which have to be finite."""
        self.depths: list[tuple[str, int]] = []
        """Columns with the rank of the last gain, and how far the discounts reach."""
        self.gain_tables: list[str] = []
        """Gains of a grade that are null where a table has no entry."""
        self._taken = taken

    def lists(self, measure: Measure) -> Lists:
        """Return the lists that a measure is computed from."""
        if self.policy.unjudged == "remove" or measure.judged_only:
            return self.judged_only
        return self.all

    def relevant(self, rel: float) -> str:
        """Return the column with the number of relevant documents."""
        return self.totals.add(
            f"relevant_{_plain(rel)}", f"COUNT(CASE WHEN grade >= {number(rel)} THEN 1 END)"
        )

    def gain(self, measure: Measure) -> str:
        """Return the gain of `grade`, which is 0 if it is null."""
        gain = measure.parameters["gain"]
        is_signed = self.policy.negative == "gain"
        counted = "grade IS NOT NULL" if is_signed else "grade > 0"
        if gain == "linear":
            return f"CASE WHEN {counted} THEN grade ELSE 0 END"
        if gain == "exp2":
            return f"CASE WHEN {counted} THEN POWER({as_double('2')}, grade) - 1 ELSE 0 END"
        if gain == "binary":
            return as_double("CASE WHEN grade > 0 THEN 1 ELSE 0 END")
        if not isinstance(gain, tuple):
            raise refuse_parameter(measure, "gain", "a Python function")
        pairs = [pair for pair in gain if isinstance(pair, tuple)]
        entries = " ".join(
            f"WHEN {as_double(number(grade))} THEN {as_double(number(worth))}"
            for grade, worth in pairs
        )
        outside = "grade IS NULL" if is_signed else "grade IS NULL OR grade < 0"
        expression = f"CASE WHEN {outside} THEN {as_double('0')} ELSE CASE grade {entries} END END"
        if expression not in self.gain_tables:
            self.gain_tables.append(expression)
        return expression

    def discount(self, measure: Measure, expression: str) -> str:
        """Return a gain discounted by its rank."""
        whole = measure.parameters.get("ideal") == "whole"
        reach = self.reach(None if whole else measure.k)
        shape = measure.kernel_spec(depth=reach)[1]["discount"]
        if callable(measure.parameters["discount"]):
            raise refuse_parameter(measure, "discount", "a Python function")
        match shape:
            case {"kind": "table", "weights": [*weights]}:
                column = self.tabulate("weight", measure.parameters["discount"], weights)
                return f"{expression} * {column}"
            case {"kind": str(kind)}:
                base, s = (read_setting(measure, name) for name in ("base", "s"))
                divisors = [divisor(rank, kind, base=base, s=s) for rank in range(1, reach + 1)]
                column = self.tabulate(f"divisor_{kind}", (kind, base, s), divisors)
                return f"{expression} / {column}"
        raise TypeError(shape)

    def reach(self, k: int | None) -> int:
        """Return how many ranks need a discount."""
        return self.depth if k is None or k > MOST_RANKS else k

    def tabulate(self, stem: str, what: object, numbers: list[float]) -> str:
        """Return the column with a number for each rank, which is as long as any measure needs."""
        known = self.discounts.get(what)
        name = known.name if known else take_name(stem, self._taken)
        if known is None or len(known.numbers) < len(numbers):
            self.discounts[what] = Discounts(name, numbers)
        return name

    def ideal(self, source: str, gain: str) -> Columns:
        """Return the sums over the ideal list of the documents of a table."""
        return self.ideals.setdefault((source, gain), Columns(self._taken))


def take_name(stem: str, taken: set[str]) -> str:
    """Return a name that isn't taken, which is `stem` or `stem` with a number, and take it."""
    name, count = stem, 1
    while name in taken:
        count += 1
        name = f"{stem}_{count}"
    taken.add(name)
    return name


def divisor(rank: int, kind: str, *, base: float, s: float) -> float:
    """Return what a discount divides the gain at a rank by."""
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


def within(k: int | None, rank: str = ON_LISTS) -> str:
    """Return the condition that a rank is within a cutoff."""
    return f"{rank} <= {k}" if k is not None and k < 2**53 else f"{rank} > 0"


def read_setting(measure: Measure, name: str) -> float:
    """Return a parameter of a measure that is a number."""
    value = measure.parameters[name]
    if not isinstance(value, float):
        raise TypeError(value)
    return value


def _plain(value: float) -> str:
    return f"{value:g}".replace(".", "p").replace("-", "m").replace("+", "")


CODE = "not_in_sql"


def refuse_measure(measure: Measure, why: str) -> MeasureError:
    """Return the error for a measure that SQL can't compute."""
    return MeasureError(
        f"SQL can't compute {measure}: {why}",
        hint="evaluate the tables with rankscope, or leave this measure out",
        code=CODE,
        value=measure.name,
    )


def refuse_parameter(measure: Measure, name: str, why: str) -> MeasureError:
    """Return the error for a parameter whose value SQL can't express."""
    return MeasureError(
        f"SQL can't compute {measure}: its {name} is {why}",
        hint=f"pass {name} as a table or by its name",
        code=CODE,
        value=measure.name,
    )


def refuse_policy(field: str, value: object, why: str, hint: str) -> PolicyError:
    """Return the error for a policy that SQL can't follow."""
    return PolicyError(f"SQL can't follow {field}={value}: {why}", hint=hint, code=CODE)
