"""What `diff` returns: the difference between two runs, and the documents of a query that moved."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping
from dataclasses import dataclass
from typing import TYPE_CHECKING

from rankscope._compare.notes import describe_pair
from rankscope._compare.pair import Compared
from rankscope._compare.ranges import Reach, describe_reach
from rankscope._drawing import ThemeName
from rankscope._explain.bounds import Bounds
from rankscope._explain.ledger import NOT_OBSERVABLE
from rankscope._settings import Policy
from rankscope._show import Documented, Printed, Tabular
from rankscope._show.diagnostics import Diagnostic, count_codes, shorten
from rankscope._show.html import write_lines, write_result
from rankscope._show.table import Table, format_value, name_rows, show
from rankscope.measures import Measure

if TYPE_CHECKING:
    from matplotlib.axes import Axes

    from rankscope._show.table import ColumnValues


SHOWN = 10
"""The number of queries and documents that are printed."""


@dataclass(frozen=True, slots=True, kw_only=True)
class DocumentMoves(Printed):
    """The documents of a query that moved from one run to the other.

    Args:
        query_id: The query.
        values: The value of the query in each run.
        table: One row per document that is at or above the cutoff in one of the runs: `doc_id`,
            `grade` (`None` if unjudged), `rank_a` and `rank_b` (`None` if it was not retrieved; the
            mean rank of the tie if ties are averaged), `move`, and for measures of discounted gain,
            `gained`: its contribution to the difference. The contributions add up.
    """

    query_id: str
    values: tuple[float, float]
    table: Table

    @property
    def difference(self) -> float:
        """The value of the second run minus the value of the first."""
        return self.values[1] - self.values[0]

    def to_dict(self) -> dict[str, object]:
        """Return the result as dicts and lists."""
        return {
            "query_id": self.query_id,
            "a": self.values[0],
            "b": self.values[1],
            "difference": self.difference,
            "documents": name_rows(self.table),
        }

    def _parts(self) -> list[str | Table]:
        head = (
            f"{show(self.query_id)}: {format_value(self.values[0])} and "
            f"{format_value(self.values[1])}, {_sign(self.difference)}"
        )
        grades = [None if grade is None else f"{grade:g}" for grade in self.table.column("grade")]
        columns = {name: self.table.column(name) for name in self.table.names}
        return [head, Table({**columns, "grade": grades}, numbers=("grade",))]

    __repr__ = Printed.__str__


@dataclass(frozen=True, slots=True, kw_only=True)
class RunDifference(Documented, Tabular):
    """The difference between two runs.

    The difference is the value of the second run minus that of the first, over the queries for
    which both have a value. The second run wins a query if its value is better, or higher if
    neither higher nor lower values are better. `plot` draws the difference of each query.

    Args:
        measure: The measure.
        policy: The policy.
        names: The names of the runs.
        values: The mean of each run.
        terms: The parts of the difference, which add up to it: how much less the second run lost
            through `retrieval`, `truncation`, `ordering` and `undefined` queries. For DCG with an
            ideal made of the retrieved documents, `ideal` is the difference of the ideals. Empty
            for measures whose losses don't add up.
        wins: The number of queries that the second run wins.
        ties: The number of queries in which the values are equal, except for rounding.
        losses: The number of queries that the first run wins.
        queries: One row per query, largest difference first: `query_id`, the values of both runs
            under their names, their `difference`, and its terms.
        observes_retrieval: Whether the judgments include documents that were not retrieved.
        notes: Notes about the runs.
        explain: A function that returns the documents of a query that moved.
        bound: A function that returns bounds of the difference over all grades of unjudged
            documents, on a scale of grades or on that of the judgments; see `Rankings.bounds`,
            where the second run is the first.
        unjudged: How far unjudged documents could change the difference; `None` for measures
            without such bounds. This is not a confidence interval.
        tied: How far the order of tied documents could change the difference; `None` if the policy
            or the measure doesn't average values. This is not a confidence interval, either.
        comparison: The confidence interval of the difference and its p-value, by a paired
            permutation test; `None` if the policy or the measure doesn't average values.
    """

    measure: Measure
    policy: Policy
    names: tuple[str, str]
    values: tuple[float, float]
    terms: Mapping[str, float]
    wins: int
    ties: int
    losses: int
    queries: Table
    observes_retrieval: bool
    notes: tuple[Diagnostic, ...]
    explain: Callable[[str], DocumentMoves]
    bound: Callable[[Iterable[float] | None], Bounds]
    unjudged: Reach | None = None
    tied: Reach | None = None
    comparison: Compared | None = None

    @property
    def difference(self) -> float:
        """The value of the second run minus the value of the first."""
        return self.values[1] - self.values[0]

    def says(self, name: str) -> bool:
        """Return whether to show a column, which must be observable and not always 0."""
        if name == "retrieval":
            return self.observes_retrieval
        return name != "undefined" or self.terms[name] != 0

    def to_dict(self) -> dict[str, object]:
        """Return the result without the documents, as dicts and lists.

        Whatever the runs are called, they are `a` and `b` here.
        """
        query, _, _, *rest = self.queries.names
        names = (query, "a", "b", *rest)
        return {
            "measure": str(self.measure),
            "a": {"name": self.names[0], "value": self.values[0]},
            "b": {"name": self.names[1], "value": self.values[1]},
            "difference": self.difference,
            "terms": dict(self.terms),
            "wins": self.wins,
            "ties": self.ties,
            "losses": self.losses,
            **_name_reach(self.unjudged, self.tied),
            "comparison": None if self.comparison is None else self.comparison.to_dict(),
            "policy": self.policy.to_dict(),
            "queries": [dict(zip(names, row, strict=True)) for row in self.queries.rows()],
        }

    def plot(self, *, ax: Axes | None = None, theme: ThemeName = "light") -> Axes:
        """Draw the difference of each query; see `rankscope.plots.draw_differences`."""
        from rankscope.plots import draw_differences

        return draw_differences(self, ax=ax, theme=theme)

    @property
    def small_print(self) -> tuple[str, ...]:
        """What unjudged documents and ties could change, the policy and the notes, as lines."""
        is_unknown = bool(self.terms) and not self.observes_retrieval
        return (
            *describe_reach(self.unjudged, self.tied),
            *([f"retrieval: {NOT_OBSERVABLE}"] if is_unknown else []),
            f"policy: {self.policy}",
            *(f"note: {show(str(note))}" for note in self.notes),
        )

    def _tabulate(self) -> Mapping[str, ColumnValues]:
        return self.queries.export()

    def __str__(self) -> str:
        means = _list_means(self)
        width = max(len(name) for name, _ in means)
        lines = [f"{name.ljust(width)}  {number.rjust(7)}" for name, number in means]
        lines = [f"  {line}" for line in [*lines, *_count_wins(self)]]
        moved = _most_moved(self)
        rows = ["", str(moved)] if len(moved) else []
        return "\n".join([str(self.measure), *lines, *rows, *_left_out(self), "", *_end(self)])

    __repr__ = __str__

    def _repr_html_(self) -> str:
        names, numbers = zip(*_list_means(self), strict=True)
        moved = _most_moved(self)
        return write_result(
            write_lines([str(self.measure)]),
            Table({"": names, "mean": numbers}, numbers=("mean",)).write_html(),
            write_lines(_count_wins(self)),
            moved.write_html() if len(moved) else "",
            write_lines([*_left_out(self), *_end(self)], are_notes=True),
        )


def _list_means(difference: RunDifference) -> list[tuple[str, str]]:
    """Return the means, their difference, and the parts of it."""
    terms = [(name, term) for name, term in difference.terms.items() if difference.says(name)]
    return [
        *zip(map(show, difference.names), map(format_value, difference.values), strict=True),
        *((name, _sign(term)) for name, term in [("difference", difference.difference), *terms]),
    ]


def _count_wins(difference: RunDifference) -> list[str]:
    """Return how many queries were won, and the interval and the p-value, if there are any."""
    pair = difference.comparison
    return [
        f"{difference.wins} wins, {difference.ties} ties, {difference.losses} losses",
        *(f"{name}: {value}" for name, value in (describe_pair(pair) if pair else [])),
    ]


def _left_out(difference: RunDifference) -> list[str]:
    left = difference.wins + difference.losses - len(_most_moved(difference))
    return [f"and {left} more queries"] if left > 0 else []


def _most_moved(difference: RunDifference) -> Table:
    names = [name for name in difference.queries.names if difference.says(name)]
    moved = range(min(SHOWN, difference.wins + difference.losses))
    return difference.queries.take(moved, names)


def _end(difference: RunDifference) -> tuple[str, ...]:
    return shorten(difference.small_print, count_codes(difference.notes))


def _name_reach(unjudged: Reach | None, tied: Reach | None) -> dict[str, object]:
    """Return what unjudged documents and ties could change, for JSON."""
    fields: dict[str, object] = {}
    for name, reach in (("unjudged", unjudged), ("ties", tied)):
        if reach is not None:
            fields |= {
                f"if_{name}_lowest": reach.lowest,
                f"if_{name}_highest": reach.highest,
                f"winner_certain_despite_{name}": reach.is_certain,
                f"{name.replace('ties', 'tied')}_documents": reach.documents,
            }
            if name == "unjudged":
                fields |= {"unjudged_scale": [*reach.scale], "unjudged_is_exact": reach.is_exact}
    return fields


def _sign(number: float) -> str:
    text = format_value(number)
    return text if number <= 0 or text == "nan" else f"+{text}"
