"""The difference between two conventions, by rule, query and document."""

from __future__ import annotations

import math

from rankscope.output.exports import Tabular
from rankscope.output.printed import Printed
from rankscope.output.table import Table
from rankscope.output.text import format_value
from rankscope.records import as_dict, record

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Mapping

    from rankscope.output.exports import ColumnValues
    from rankscope.output.table import Cell


@record(frozen=True, slots=True)
class RuleDifference:
    """A setting in which two conventions differ.

    Args:
        rule: The setting, such as `ties`.
        one: Its value in the first convention.
        other: Its value in the second convention.
        queries: The number of queries whose value under the first convention changes with the
            setting of the second.
        value: The mean of the first convention with this setting of the second; NaN if it can't be
            changed alone.
    """

    rule: str
    one: str
    other: str
    queries: int
    value: float


@record(frozen=True, slots=True)
class DocumentDifference:
    """A document that two conventions treat differently because of a setting.

    Args:
        rule: The setting.
        doc_id: The document.
        grade: Its grade; NaN if it is unjudged.
        one: How the first convention treats it.
        other: How the second convention treats it.
    """

    rule: str
    doc_id: str
    grade: float
    one: str
    other: str


@record(frozen=True, slots=True)
class QueryDifference:
    """A query whose value differs between two conventions.

    Args:
        query_id: The query.
        one: Its value under the first convention; NaN if it is left out.
        other: Its value under the second convention.
        rules: The settings that cause the difference: changing one of them alone changes a value.
        documents: The documents that these settings affect.
        remarks: Other effects, as sentences.
    """

    query_id: str
    one: float
    other: float
    rules: tuple[str, ...]
    documents: tuple[DocumentDifference, ...] = ()
    remarks: tuple[str, ...] = ()


@record(frozen=True, slots=True, kw_only=True)
class Difference(Printed, Tabular):
    """The difference between two conventions.

    Args:
        one: The first convention.
        other: The second convention.
        measures: The measure under each convention.
        values: The mean under each convention.
        rules: The settings in which they differ.
        queries: The queries whose values differ, largest difference first. The first ones have
            documents and remarks.
        explained: The number of queries with documents and remarks.
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
        """A table with one row per query whose values differ."""
        columns: dict[str, list[Cell]] = {
            "query_id": [each.query_id for each in self.queries],
            self.one: [each.one for each in self.queries],
            self.other: [each.other for each in self.queries],
            "rules": [", ".join(each.rules) for each in self.queries],
        }
        return Table(columns)

    def to_dict(self) -> dict[str, object]:
        """Return the result as dicts and lists."""
        return {
            "one": {"name": self.one, "measure": self.measures[0], "value": self.values[0]},
            "other": {"name": self.other, "measure": self.measures[1], "value": self.values[1]},
            "rules": [as_dict(rule) for rule in self.rules],
            "queries": [
                as_dict(query) | {"documents": [as_dict(each) for each in query.documents]}
                for query in self.queries
            ],
        }

    def _tabulate(self) -> Mapping[str, ColumnValues]:
        return self.table.columns

    def _parts(self) -> list[str | Table]:
        names = (self.one, self.other)
        pairs = zip(names, self.values, self.measures, strict=True)
        parts: list[str | Table] = [
            f"{name}: {measure} = {format_value(value)}" for name, value, measure in pairs
        ]
        if self.rules:
            titles = ("rule", self.one, self.other, "queries changed", "value with it")
            rows = (as_dict(rule).values() for rule in self.rules)
            parts += ["", Table(dict(zip(titles, zip(*rows, strict=True), strict=True)))]
        for query in self.queries[: self.explained]:
            parts += ["", *_explain(query)]
        left = len(self.queries) - self.explained
        return [*parts, *(["", f"and {left} more queries"] if left > 0 else [])]

    __repr__ = Printed.__str__


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
