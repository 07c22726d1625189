"""The difference between two runs: how much, in which queries, through which documents."""

from __future__ import annotations

from rankscope.records import record
from rankscope.results.losses import NOT_OBSERVABLE
from rankscope.results.table import Table
from rankscope.results.tables import Tabular
from rankscope.results.text import format_value, show

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Callable, Iterable, Mapping

    from rankscope.data.diagnostics import Diagnostic
    from rankscope.data.policy import Policy
    from rankscope.measures import Measure
    from rankscope.results.bounds import Bounds
    from rankscope.results.tables import Held

SHOWN = 10
"""How many queries and documents a difference prints."""


@record(frozen=True, slots=True, kw_only=True)
class DocumentMoves:
    """What became of the documents of a query from one run to another.

    Args:
        query_id: The query.
        values: Its value under each run.
        table: One row a document that is at or above the cutoff in one of the runs: `doc_id`,
            `grade` (`None` where unjudged), `rank_a` and `rank_b` (`None` where it was not
            retrieved; the mean of the ranks of a tie that is averaged), `move`, and, for measures
            of discounted gain, `gained`: what it adds to the difference. They add up to it.
    """

    query_id: str
    values: tuple[float, float]
    table: Table

    @property
    def difference(self) -> float:
        """The value under the second run, less that under the first."""
        return self.values[1] - self.values[0]

    def to_dict(self) -> dict[str, object]:
        """Give all of it as dicts and lists."""
        names = self.table.names
        return {
            "query_id": self.query_id,
            "a": self.values[0],
            "b": self.values[1],
            "difference": self.difference,
            "documents": [dict(zip(names, row, strict=True)) for row in self.table.rows()],
        }

    def __str__(self) -> str:
        head = (
            f"{show(self.query_id)}: {format_value(self.values[0])} and "
            f"{format_value(self.values[1])}, {_signed(self.difference)}"
        )
        grades = [None if grade is None else f"{grade:g}" for grade in self.table.column("grade")]
        columns = {name: self.table.column(name) for name in self.table.names}
        return f"{head}\n{Table({**columns, 'grade': grades})}"

    __repr__ = __str__


@record(frozen=True, slots=True, kw_only=True)
class RunDifference(Tabular):
    """Two runs, and where the difference between their values comes from.

    The difference is the second run's value less the first's, over the queries for which both have
    one. It wins a query where its value is larger.

    Args:
        measure: The measure.
        policy: The policy.
        names: What the runs are called.
        values: The mean under each of them.
        terms: Through what the difference came: what the second run lost less than the first by
            `retrieval`, `truncation` and `ordering`, and less queries `undefined`; they add up to
            it. For DCG whose ideal is made of what was shown, `ideal` is what one ideal has over
            the other. Empty for measures whose losses do not add up.
        wins: In how many queries the second run has a larger value.
        ties: In how many both have the same, but for rounding.
        losses_: In how many the first run has a larger value.
        queries: One row a query, those that moved most first: `query_id`, the values `a` and `b`,
            their `difference`, and its terms.
        observes_retrieval: Whether documents are known that were not retrieved.
        notes: What was suspicious but legal in either run.
        explain: Says what became of the documents of a query.
        bound: Bounds the difference, whatever the unjudged documents are, on a scale of grades or
            on that of the judgments; see `Rankings.bounds`, where the second run is the first.
    """

    measure: Measure
    policy: Policy
    names: tuple[str, str]
    values: tuple[float, float]
    terms: Mapping[str, float]
    wins: int
    ties: int
    losses_: int
    queries: Table
    observes_retrieval: bool
    notes: tuple[Diagnostic, ...]
    explain: Callable[[str], DocumentMoves]
    bound: Callable[[Iterable[float] | None], Bounds]

    @property
    def difference(self) -> float:
        """The value under the second run, less that under the first."""
        return self.values[1] - self.values[0]

    def says(self, name: str) -> bool:
        """Whether a column says anything: not what cannot be observed, or is 0 by nature."""
        if name == "retrieval":
            return self.observes_retrieval
        return name != "undefined" or self.terms[name] != 0

    def to_dict(self) -> dict[str, object]:
        """Give all of it but the documents as dicts and lists."""
        names = self.queries.names
        return {
            "measure": str(self.measure),
            "a": {"name": self.names[0], "value": self.values[0]},
            "b": {"name": self.names[1], "value": self.values[1]},
            "difference": self.difference,
            "terms": dict(self.terms),
            "wins": self.wins,
            "ties": self.ties,
            "losses": self.losses_,
            "policy": self.policy.to_dict(),
            "queries": [dict(zip(names, row, strict=True)) for row in self.queries.rows()],
        }

    def _tabulate(self) -> Mapping[str, Held]:
        return self.queries.columns

    def __str__(self) -> str:
        lines = _heads(self)
        moved = _most_moved(self)
        if len(moved):
            lines += ["", str(moved)]
        left = self.wins + self.losses_ - len(moved)
        if left > 0:
            lines.append(f"and {left} more queries")
        return "\n".join([*lines, "", *_remarks(self)])

    def __repr__(self) -> str:
        return str(self)

    def _repr_html_(self) -> str:
        from html import escape  # noqa: PLC0415 - only notebooks ask for it

        heads, remarks = (
            "".join(f"<div>{escape(line)}</div>" for line in lines)
            for lines in (_heads(self), _remarks(self))
        )
        table = _most_moved(self)._repr_html_()
        return f"{heads}{table}<div style='font-size:smaller'>{remarks}</div>"


def _heads(difference: RunDifference) -> list[str]:
    names = [show(name) for name in difference.names]
    width = max(map(len, [*names, "difference", *difference.terms]))
    rows = [
        *zip(names, map(format_value, difference.values), strict=True),
        ("difference", _signed(difference.difference)),
        *(
            (name, _signed(term))
            for name, term in difference.terms.items()
            if difference.says(name)
        ),
    ]
    return [
        str(difference.measure),
        *(f"  {name.ljust(width)}  {number.rjust(7)}" for name, number in rows),
        f"  {difference.wins} wins, {difference.ties} ties, {difference.losses_} losses",
    ]


def _most_moved(difference: RunDifference) -> Table:
    queries = difference.queries
    shown = min(SHOWN, difference.wins + difference.losses_)
    names = [name for name in queries.names if difference.says(name)]
    return Table({name: queries.column(name)[:shown] for name in names})


def _remarks(difference: RunDifference) -> list[str]:
    is_unknown = difference.terms and not difference.observes_retrieval
    return [
        *([f"retrieval: {NOT_OBSERVABLE}"] if is_unknown else []),
        f"policy: {difference.policy}",
        *(f"note: {show(str(note))}" for note in difference.notes),
    ]


def _signed(number: float) -> str:
    text = format_value(number)
    return text if number <= 0 or text == "nan" else f"+{text}"
