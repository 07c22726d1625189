"""The grades of several judges: one column per judge, one row per judgment, or files of each."""

from __future__ import annotations

import os
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any, TypeGuard

import numpy as np
from numpy.typing import NDArray

from rankscope._evaluate.evaluating import load_qrels
from rankscope._evaluate.query_values import bad_parameter
from rankscope._file import File
from rankscope._inputs.columns import list_texts
from rankscope._inputs.reading import Qrels
from rankscope._inputs.recognition import is_single_column, is_table
from rankscope._inputs.rows import Columns, open_columns
from rankscope._settings import Reading
from rankscope.errors import DuplicateError, EmptyError, FormatError

MOST_JUDGES = 1000


@dataclass(frozen=True, slots=True)
class JudgedItems:
    """Grades [items, judges], NaN where there is none, with the query and document of each item."""

    judges: tuple[str, ...]
    grades: NDArray[np.float64]
    names: list[tuple[str, str]]

    def __post_init__(self) -> None:
        if not len(self.grades):
            raise EmptyError(
                "expected judgments, found a table without rows",
                hint="is the file empty?",
                code="empty_input",
            )


def read_judges(
    table: object,
    judges: Sequence[str] | None,
    judge: str | None,
    reading: Reading,
    *,
    needs_ids: bool,
) -> JudgedItems:
    """Read the grades of several judges."""
    if _are_judgments(table) and judges is judge is None:
        return _join_judgments(table, reading)
    columns = _choose_columns(judges, judge, reading)
    roles = ["query", "doc"] if needs_ids or judge is not None else []
    roles += [] if judge is None else ["relevance"]
    named = {role: reading.columns.get(role) for role in roles}
    with open_columns(table, reading, named, columns, required=roles) as opened:
        if judge is not None:
            return _read_rows(opened, judge)
        return _read_columns(opened, columns, needs_ids=needs_ids)


def _are_judgments(table: object) -> TypeGuard[Mapping[str, Any]]:
    """Check whether a mapping has the judgments of each judge, and not columns."""
    return (
        isinstance(table, Mapping)
        and len(table) > 1
        and all(
            isinstance(value, str | os.PathLike | File | Qrels | Mapping)
            or (is_table(value) and not is_single_column(value))
            for value in table.values()
        )
    )


def _join_judgments(judgments: Mapping[str, Any], reading: Reading) -> JudgedItems:
    grades: dict[tuple[str, str], list[float]] = {}
    for at, of_judge in enumerate(judgments.values()):
        qrels = load_qrels(of_judge, reading)
        for number, query in enumerate(qrels.query_texts):
            for doc, grade in qrels.judgments.documents(number):
                grades.setdefault((query, doc), [np.nan] * len(judgments))[at] = grade
    return JudgedItems(tuple(map(str, judgments)), np.array([*grades.values()]), [*grades])


def _choose_columns(judges: Sequence[str] | None, judge: str | None, reading: Reading) -> list[str]:
    if isinstance(judges, str) or (judges is None) == (judge is None):
        raise bad_parameter(
            "expected either judges, a list of columns, or judge, the column that names the judge",
            "write judges=['llm', 'human'] for one column per judge, or judge='rater' for one row "
            "per judgment; judgments in files of their own are {'llm': …, 'human': …}",
        )
    if judge is not None:
        return [judge]
    columns = [*map(str, judges or ())]
    if len(set(columns)) < max(2, len(columns)):
        raise bad_parameter(
            f"expected two or more different columns of judges, found {len(set(columns))}",
            "write judges=['llm', 'human']",
        )
    if reading.columns.get("relevance") is not None:
        raise bad_parameter(
            "relevance is the column of grades of a table with one row per judgment, "
            "found it beside judges",
            "leave relevance out, or write judge='rater' in place of judges",
        )
    return columns


def _read_columns(table: Columns, judges: Sequence[str], *, needs_ids: bool) -> JudgedItems:
    grades = np.column_stack([_read_grades(table, name) for name in judges])
    names = [*zip(table.texts("query"), table.texts("doc"), strict=True)] if needs_ids else []
    seen: set[tuple[str, str]] = set()
    for row, name in enumerate(names, start=1):
        if name in seen:
            raise _twice(*name, row)
        seen.add(name)
    return JudgedItems(tuple(judges), grades, names)


def _read_rows(table: Columns, judge: str) -> JudgedItems:
    column = _read_grades(table, "relevance").tolist()
    raters = list_texts(table.values(judge)[0])
    places = {rater: at for at, rater in enumerate(sorted(set(raters)))}
    if len(places) > MOST_JUDGES:
        raise bad_parameter(
            f"expected at most {MOST_JUDGES:,} judges, found {len(places):,} in {judge}",
            "name the column that says who gave the grade: judge='rater'",
        )
    names = zip(table.texts("query"), table.texts("doc"), strict=True)
    grades: dict[tuple[str, str], list[float]] = {}
    seen: set[tuple[tuple[str, str], str]] = set()
    for row, (name, rater, grade) in enumerate(zip(names, raters, column, strict=True), start=1):
        of_item, at = grades.setdefault(name, [np.nan] * len(places)), places[rater]
        if (name, rater) in seen and of_item[at] != grade:
            raise _twice(*name, row, f" by judge {rater!r}")
        seen.add((name, rater))
        of_item[at] = grade
    return JudgedItems(tuple(places), np.array([*grades.values()]), [*grades])


def _read_grades(table: Columns, name: str) -> NDArray[np.float64]:
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


def _twice(query: str, doc: str, row: int, by: str = "") -> DuplicateError:
    return DuplicateError(
        f"expected one judgment{by} of document {doc!r} for query {query!r}, found a second one",
        hint="keep one row for each query, document and judge",
        code="duplicate_doc",
        line=row,
    )
