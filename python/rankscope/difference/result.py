"""The difference between two runs, by query and document."""

from __future__ import annotations

from rankscope._compare.notes import describe_pair
from rankscope._compare.ranges import describe_reach
from rankscope.losses.result import NOT_OBSERVABLE
from rankscope.output.diagnostics import count_codes
from rankscope.output.documents import Documented
from rankscope.output.exports import Tabular
from rankscope.output.layout.description import shorten
from rankscope.output.printed import Printed
from rankscope.output.table import Table, name_rows
from rankscope.output.text import format_value, show
from rankscope.records import record

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Callable, Iterable, Mapping

    from rankscope._compare.pair import Compared
    from rankscope._compare.ranges import Reach
    from rankscope.bounds.result import Bounds
    from rankscope.measures import Measure
    from rankscope.output.diagnostics import Diagnostic
    from rankscope.output.exports import ColumnValues
    from rankscope.settings.policy import Policy

SHOWN = 10
"""The number of queries and documents that are printed."""


@record(frozen=True, slots=True, kw_only=True)
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
            f"{format_value(self.values[1])}, {_signed(self.difference)}"
        )
        grades = [None if grade is None else f"{grade:g}" for grade in self.table.column("grade")]
        columns = {name: self.table.column(name) for name in self.table.names}
        return [head, Table({**columns, "grade": grades}, numbers=("grade",))]

    __repr__ = Printed.__str__


@record(frozen=True, slots=True, kw_only=True)
class RunDifference(Documented, Tabular):
    """The difference between two runs.

    The difference is the value of the second run minus that of the first, over the queries for
    which both have a value. The second run wins a query if its value is better, or higher if
    neither higher nor lower values are better.

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

    @property
    def small_print(self) -> tuple[str, ...]:
        """What unjudged documents and ties could change, the policy and the notes, as lines."""
        return tuple(_remarks(self))

    def _tabulate(self) -> Mapping[str, ColumnValues]:
        return self.queries.export()

    def __str__(self) -> str:
        lines = _heads(self)
        moved = _most_moved(self)
        if len(moved):
            lines += ["", str(moved)]
        return "\n".join([*lines, *_left_out(self), "", *_shorten(self)])

    def __repr__(self) -> str:
        return str(self)

    def _repr_html_(self) -> str:
        from rankscope.output.html import write_lines, write_result  # noqa: PLC0415 - loads late

        head, *_ = _heads(self)
        means = Table(
            {"": [name for name, _ in _means(self)], "mean": [n for _, n in _means(self)]},
            numbers=("mean",),
        )
        moved = _most_moved(self)
        return write_result(
            write_lines([head]),
            means.write_html(),
            write_lines([_count_wins(self), *_tested(self)]),
            moved.write_html() if len(moved) else "",
            write_lines([*_left_out(self), *_shorten(self)], are_notes=True),
        )


def _heads(difference: RunDifference) -> list[str]:
    width = max(map(len, [*difference.names, "difference", *difference.terms]))
    return [
        str(difference.measure),
        *(f"  {name.ljust(width)}  {number.rjust(7)}" for name, number in _means(difference)),
        f"  {_count_wins(difference)}",
        *(f"  {line}" for line in _tested(difference)),
    ]


def _tested(difference: RunDifference) -> list[str]:
    """Return the interval and the p-value of the difference, if there are any."""
    if difference.comparison is None:
        return []
    return [f"{name}: {value}" for name, value in describe_pair(difference.comparison)]


def _means(difference: RunDifference) -> list[tuple[str, str]]:
    """Return the means, their difference, and the parts of it."""
    return [
        *zip(map(show, difference.names), map(format_value, difference.values), strict=True),
        ("difference", _signed(difference.difference)),
        *(
            (name, _signed(term))
            for name, term in difference.terms.items()
            if difference.says(name)
        ),
    ]


def _count_wins(difference: RunDifference) -> str:
    return f"{difference.wins} wins, {difference.ties} ties, {difference.losses} losses"


def _left_out(difference: RunDifference) -> list[str]:
    left = difference.wins + difference.losses - len(_most_moved(difference))
    return [f"and {left} more queries"] if left > 0 else []


def _most_moved(difference: RunDifference) -> Table:
    queries = difference.queries
    shown = min(SHOWN, difference.wins + difference.losses)
    names = [name for name in queries.names if difference.says(name)]
    return queries.take(range(shown), names)


def _remarks(difference: RunDifference) -> list[str]:
    is_unknown = difference.terms and not difference.observes_retrieval
    return [
        *describe_reach(difference.unjudged, difference.tied),
        *([f"retrieval: {NOT_OBSERVABLE}"] if is_unknown else []),
        f"policy: {difference.policy}",
        *(f"note: {show(str(note))}" for note in difference.notes),
    ]


def _name_reach(unjudged: Reach | None, tied: Reach | None) -> dict[str, object]:
    """Return what unjudged documents and ties could change, for JSON."""
    fields: dict[str, object] = {}
    if unjudged is not None:
        fields |= {
            "if_unjudged_lowest": unjudged.lowest,
            "if_unjudged_highest": unjudged.highest,
            "winner_certain_despite_unjudged": unjudged.is_certain,
            "unjudged_documents": unjudged.documents,
            "unjudged_scale": list(unjudged.scale),
            "unjudged_is_exact": unjudged.is_exact,
        }
    if tied is not None:
        fields |= {
            "if_ties_lowest": tied.lowest,
            "if_ties_highest": tied.highest,
            "winner_certain_despite_ties": tied.is_certain,
            "tied_documents": tied.documents,
        }
    return fields


def _shorten(difference: RunDifference) -> tuple[str, ...]:
    return shorten(_remarks(difference), count_codes(difference.notes))


def _signed(number: float) -> str:
    text = format_value(number)
    return text if number <= 0 or text == "nan" else f"+{text}"
