"""What makes the difference between two conventions, by rule, query and document."""

from __future__ import annotations

import math

from rankscope.records import record
from rankscope.results.table import Table
from rankscope.results.tables import Tabular
from rankscope.results.text import format_value

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Mapping

    from rankscope.results.table import Cell
    from rankscope.results.tables import Held


@record(frozen=True, slots=True)
class RuleDifference:
    """A rule in which two conventions differ.

    Args:
        rule: The rule, such as `ties`.
        one: What it is in the first convention.
        other: What it is in the second.
        queries: How many queries have another value under the first, if it alone is exchanged.
        value: What the mean of the first becomes then; NaN where it cannot be exchanged alone.
    """

    rule: str
    one: str
    other: str
    queries: int
    value: float


@record(frozen=True, slots=True)
class DocumentDifference:
    """A document that a rule treats in two ways.

    Args:
        rule: The rule.
        doc_id: The document.
        grade: Its grade; NaN where it is unjudged.
        one: What becomes of it under the first convention.
        other: And under the second.
    """

    rule: str
    doc_id: str
    grade: float
    one: str
    other: str


@record(frozen=True, slots=True)
class QueryDifference:
    """A query that two conventions give two values.

    Args:
        query_id: The query.
        one: Its value under the first; NaN where it is left out.
        other: Its value under the second.
        rules: The rules that make the difference: exchanging one of them alone changes a value.
        documents: What these rules do to which documents.
        remarks: What else they do, in sentences.
    """

    query_id: str
    one: float
    other: float
    rules: tuple[str, ...]
    documents: tuple[DocumentDifference, ...] = ()
    remarks: tuple[str, ...] = ()


@record(frozen=True, slots=True, kw_only=True)
class Difference(Tabular):
    """Two conventions, and all that makes their numbers differ.

    Args:
        one: The first convention.
        other: The second.
        measures: The measure as each of them has it.
        values: The mean under each of them.
        rules: The rules in which they differ.
        queries: The queries with two values, those with the largest difference first; the first
            ones have documents and remarks.
        explained: How many queries have these.
    """

    one: str
    other: str
    measures: tuple[str, str]
    values: tuple[float, float]
    rules: tuple[RuleDifference, ...]
    queries: tuple[QueryDifference, ...]
    explained: int

    @property
    def table(self) -> Table:
        """One row a query with two values."""
        columns: dict[str, list[Cell]] = {
            "query_id": [each.query_id for each in self.queries],
            self.one: [each.one for each in self.queries],
            self.other: [each.other for each in self.queries],
            "rules": [", ".join(each.rules) for each in self.queries],
        }
        return Table(columns)

    def to_dict(self) -> dict[str, object]:
        """Give all of it as dicts and lists."""
        return {
            "one": {"name": self.one, "measure": self.measures[0], "value": self.values[0]},
            "other": {"name": self.other, "measure": self.measures[1], "value": self.values[1]},
            "rules": [_fields(rule) for rule in self.rules],
            "queries": [
                _fields(query) | {"documents": [_fields(each) for each in query.documents]}
                for query in self.queries
            ],
        }

    def _tabulate(self) -> Mapping[str, Held]:
        return self.table.columns

    def __str__(self) -> str:
        lines = _heads(self)
        if self.rules:
            lines += ["", str(self._rule_table())]
        for query in self.queries[: self.explained]:
            lines += ["", *_explain(query)]
        left = len(self.queries) - self.explained
        if left > 0:
            lines += ["", f"and {left} more queries"]
        return "\n".join(lines)

    def __repr__(self) -> str:
        return str(self)

    def _repr_html_(self) -> str:
        from html import escape  # noqa: PLC0415 - only notebooks ask for it

        heads = "".join(f"<div>{escape(line)}</div>" for line in _heads(self))
        queries = "".join(
            "<div>" + "<br>".join(escape(line) for line in _explain(query)) + "</div>"
            for query in self.queries[: self.explained]
        )
        return heads + self._rule_table()._repr_html_() + queries

    def _rule_table(self) -> Table:
        return Table(
            {
                "rule": [each.rule for each in self.rules],
                self.one: [each.one for each in self.rules],
                self.other: [each.other for each in self.rules],
                "queries changed": [each.queries for each in self.rules],
                "value with it": [each.value for each in self.rules],
            }
        )


def _fields(made: object) -> dict[str, object]:
    names: tuple[str, ...] = type(made).__match_args__  # type: ignore[attr-defined]  # of records
    return {name: getattr(made, name) for name in names}


def _heads(difference: Difference) -> list[str]:
    names = (difference.one, difference.other)
    pairs = zip(names, difference.values, difference.measures, strict=True)
    return [f"{name}: {measure} = {format_value(value)}" for name, value, measure in pairs]


def _explain(query: QueryDifference) -> list[str]:
    by = f" by {', '.join(query.rules)}" if query.rules else ""
    return [
        f"{query.query_id}: {format_value(query.one)} and {format_value(query.other)}{by}",
        *(f"  {remark}" for remark in query.remarks),
        *(f"  {_say(document)}" for document in query.documents),
    ]


def _say(document: DocumentDifference) -> str:
    grade = "unjudged" if math.isnan(document.grade) else f"grade {document.grade:g}"
    return f"{document.rule}: {document.doc_id} ({grade}): {document.one} / {document.other}"
