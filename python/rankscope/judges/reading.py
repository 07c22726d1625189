"""Tables of several judges: one column per judge, or one row per judgment."""

from __future__ import annotations

import os
from collections.abc import Mapping
from typing import TYPE_CHECKING

import numpy as np

from rankscope._evaluate.judgments import load_qrels
from rankscope._inputs.columns import list_texts
from rankscope._inputs.qrels import Qrels
from rankscope._inputs.recognition import is_single_column, is_table
from rankscope._inputs.rows import open_columns
from rankscope.errors import DuplicateError, EmptyError, FormatError, UsageError
from rankscope.file import File
from rankscope.records import record, replace

if TYPE_CHECKING:
    from collections.abc import Iterable, Sequence
    from typing import Any, TypeGuard

    from numpy.typing import NDArray

    from rankscope._inputs.rows import Columns
    from rankscope.settings.reading import Reading

MOST_JUDGES = 1000


@record(frozen=True, slots=True)
class JudgedItems:
    """The grades that several judges gave to the same items.

    Args:
        judges: The names of the judges.
        grades: float64 [items, judges], NaN where a judge gave no grade.
        names: The query and the document of each item; empty if the table has no such columns.
    """

    judges: tuple[str, ...]
    grades: NDArray[np.float64]
    names: list[tuple[str, str]]

    def drop_ungraded(self) -> JudgedItems:
        """Return the items that at least one judge graded."""
        kept = np.flatnonzero((~np.isnan(self.grades)).any(axis=1))
        names = [self.names[at] for at in kept.tolist()]
        return replace(self, grades=self.grades[kept], names=names)


def read_judges(
    table: object,
    judges: Sequence[str] | None,
    judge: str | None,
    names: Mapping[str, str | None],
    reading: Reading,
    *,
    needs_ids: bool,
) -> JudgedItems:
    """Read the grades of several judges."""
    if _are_judgments(table) and judges is judge is None:
        return _join_judgments(table, reading)
    columns = _check_judges(judges, judge)
    if judge is None and names.get("relevance") is not None:
        raise UsageError(
            "relevance is the column of grades of a table with one row per judgment, "
            "found it beside judges",
            hint="leave relevance out, or write judge='rater' in place of judges",
            code="bad_parameter",
        )
    roles = ["query", "doc"] if needs_ids or judge is not None else []
    roles += [] if judge is None else ["relevance"]
    named = {role: names.get(role) for role in roles}
    others = columns if judge is None else [judge]
    with open_columns(table, reading, named, others, required=roles) as opened:
        if judge is None:
            return _read_columns(opened, columns, needs_ids=needs_ids)
        return _read_rows(opened, judge)


def _are_judgments(table: object) -> TypeGuard[Mapping[str, Any]]:
    """Check whether a mapping has the judgments of each judge, and not columns."""
    return (
        isinstance(table, Mapping)
        and len(table) > 1
        and all(
            isinstance(each, str | os.PathLike | File | Qrels | Mapping)
            or (is_table(each) and not is_single_column(each))
            for each in table.values()
        )
    )


def _join_judgments(judgments: Mapping[str, Any], reading: Reading) -> JudgedItems:
    """Read the judgments of each judge, and return the documents that any of them judged."""
    grades: dict[tuple[str, str], list[float]] = {}
    for at, of_judge in enumerate(judgments.values()):
        qrels = load_qrels(of_judge, reading)
        for number, query in enumerate(qrels.query_texts):
            for doc, grade in qrels.judgments.documents(number):
                grades.setdefault((query, doc), [np.nan] * len(judgments))[at] = grade
    return _gather(judgments, grades)


def _gather(
    judges: Iterable[object], grades: Mapping[tuple[str, str], Sequence[float]]
) -> JudgedItems:
    return JudgedItems(
        tuple(map(str, judges)), _check_rows(np.array([*grades.values()])), [*grades]
    )


def _check_judges(judges: Sequence[str] | None, judge: str | None) -> list[str]:
    if isinstance(judges, str) or (judges is None) == (judge is None):
        raise UsageError(
            "expected either judges, a list of columns, or judge, the column that names the judge",
            hint="write judges=['llm', 'human'] for one column per judge, or judge='rater' for "
            "one row per judgment; judgments in files of their own are {'llm': …, 'human': …}",
            code="bad_parameter",
        )
    columns = [str(name) for name in judges or ()]
    if judge is None and (len(columns) < 2 or len(set(columns)) < len(columns)):
        raise UsageError(
            f"expected two or more different columns of judges, found {len(set(columns))}",
            hint="write judges=['llm', 'human']",
            code="bad_parameter",
        )
    return columns


def _read_columns(table: Columns, judges: Sequence[str], *, needs_ids: bool) -> JudgedItems:
    grades = _check_rows(np.column_stack([_read_grades(table, name) for name in judges]))
    if not needs_ids:
        return JudgedItems(tuple(judges), grades, [])
    names = [*zip(table.texts("query"), table.texts("doc"), strict=True)]
    seen: set[tuple[str, str]] = set()
    for row, name in enumerate(names, start=1):
        if name in seen:
            raise _twice(*name, row)
        seen.add(name)
    return JudgedItems(tuple(judges), grades, names)


def _read_rows(table: Columns, judge: str) -> JudgedItems:
    column = _check_rows(_read_grades(table, "relevance"))
    raters = list_texts(table.values(judge)[0])
    judges = {rater: at for at, rater in enumerate(sorted(set(raters)))}
    if len(judges) > MOST_JUDGES:
        raise UsageError(
            f"expected at most {MOST_JUDGES:,} judges, found {len(judges):,} in {judge}",
            hint="name the column that says who gave the grade: judge='rater'",
            code="bad_parameter",
        )
    names = zip(table.texts("query"), table.texts("doc"), strict=True)
    grades: dict[tuple[str, str], list[float]] = {}
    seen: set[tuple[tuple[str, str], str]] = set()
    rows = zip(names, raters, column.tolist(), strict=True)
    for row, (name, rater, grade) in enumerate(rows, start=1):
        own, at = grades.setdefault(name, [np.nan] * len(judges)), judges[rater]
        if (name, rater) in seen and own[at] != grade:
            raise _twice(*name, row, f" by judge {rater!r}")
        seen.add((name, rater))
        own[at] = grade
    return _gather(judges, grades)


def _read_grades(table: Columns, name: str) -> NDArray[np.float64]:
    """Read a column of grades, NaN where there is none."""
    numbers = table.numbers(name, kind="relevance", allows_null=True)
    grades = np.asarray(numbers, dtype=np.float64)
    for at in np.flatnonzero(np.isinf(grades))[:1].tolist():
        raise FormatError(
            f"expected grades in {name}, found {grades[at]:g}",
            hint="write numbers, such as 1 for relevant; leave the cell empty if the judge gave "
            "none",
            code="rel_not_number",
            line=at + 1,
        )
    return grades


def _check_rows(grades: NDArray[np.float64]) -> NDArray[np.float64]:
    """Return grades, of which there are some."""
    if not len(grades):
        raise EmptyError(
            "expected judgments, found a table without rows",
            hint="is the file empty?",
            code="empty_input",
        )
    return grades


def _twice(query: str, doc: str, row: int, by: str = "") -> DuplicateError:
    return DuplicateError(
        f"expected one judgment{by} of document {doc!r} for query {query!r}, found a second one",
        hint="keep one row for each query, document and judge",
        code="duplicate_doc",
        line=row,
    )
