"""Tables of several judges: one column per judge, or one row per judgment."""

from __future__ import annotations

from itertools import pairwise

from rankscope._inputs.columns import read_numbers, read_values
from rankscope._inputs.open_column import open_column
from rankscope._inputs.recognition import recognise_table
from rankscope._inputs.seen import see_others
from rankscope._inputs.tables import FoundColumns, NamedColumns, open_table
from rankscope.deferred import np
from rankscope.errors import DuplicateError, EmptyError, FormatError, UsageError
from rankscope.records import record

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence
    from typing import Any

    from numpy.typing import NDArray

    from rankscope._inputs.columns import IdColumn
    from rankscope.settings.reading import Reading

MOST_JUDGES = 1000


@record(frozen=True, slots=True)
class JudgedItems:
    """The grades that several judges gave to the same items.

    Args:
        judges: The names of the judges.
        grades: float64 [items, judges], NaN where a judge gave no grade.
        queries: The query of each item; empty if the table has no column of queries.
        docs: The document of each item; empty if the table has no column of documents.
    """

    judges: tuple[str, ...]
    grades: NDArray[np.float64]
    queries: list[str]
    docs: list[str]


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
    columns = _check_judges(judges, judge)
    if judge is None and names.get("relevance") is not None:
        raise UsageError(
            "relevance is the column of grades of a table with one row per judgment, "
            "found it beside judges",
            hint="leave relevance out, or write judge='rater' in place of judges",
            code="bad_parameter",
        )
    given = recognise_table(table)
    needed = [["query"], ["doc"]] if needs_ids or judge is not None else []
    needed += [] if judge is None else [["relevance"]]
    others = columns if judge is None else [judge]
    with see_others(given, needed, names, others, reading) as (held, found):
        source = open_table(held)
        ids = FoundColumns(source, found)
        if judge is None:
            return _read_columns(source, ids, columns, needs_ids=needs_ids)
        return _read_rows(source, ids, judge)


def _check_judges(judges: Sequence[str] | None, judge: str | None) -> list[str]:
    if isinstance(judges, str) or (judges is None) == (judge is None):
        raise UsageError(
            "expected either judges, a list of columns, or judge, the column that names the judge",
            hint="write judges=['llm', 'human'] for one column per judge, or judge='rater' for "
            "one row per judgment",
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


def _read_columns(
    source: NamedColumns, ids: FoundColumns, columns: Sequence[str], *, needs_ids: bool
) -> JudgedItems:

    grades = np.column_stack([_read_grades(source.find(name, "judges"), name) for name in columns])
    if not len(grades):
        raise _no_rows()
    if not needs_ids:
        return JudgedItems(tuple(columns), grades, [], [])
    queries, docs = (_read_texts(ids.read_ids(role)) for role in ("query", "doc"))
    seen: set[tuple[str, str]] = set()
    for row, pair in enumerate(zip(queries, docs, strict=True), start=1):
        if pair in seen:
            raise _twice(*pair, row)
        seen.add(pair)
    return JudgedItems(tuple(columns), grades, queries, docs)


def _read_rows(source: NamedColumns, ids: FoundColumns, judge: str) -> JudgedItems:

    name = ids.require("relevance")
    grades = _read_grades(source.columns[name], name)
    queries, docs = (_read_texts(ids.read_ids(role)) for role in ("query", "doc"))
    raters = _read_texts(read_values(source.find(judge, "judge"), judge))
    if not len(grades):
        raise _no_rows()
    judges = {rater: at for at, rater in enumerate(sorted(set(raters)))}
    if len(judges) > MOST_JUDGES:
        raise UsageError(
            f"expected at most {MOST_JUDGES:,} judges, found {len(judges):,} in {judge}",
            hint="name the column that says who gave the grade: judge='rater'",
            code="bad_parameter",
        )
    pairs = list(zip(queries, docs, strict=True))
    items = {pair: at for at, pair in enumerate(dict.fromkeys(pairs))}
    table = np.full((len(items), len(judges)), np.nan)
    is_seen = np.zeros(table.shape, dtype=bool)
    for row, (pair, rater, grade) in enumerate(
        zip(pairs, raters, grades.tolist(), strict=True), start=1
    ):
        place = items[pair], judges[rater]
        if is_seen[place] and table[place] != grade:
            raise _twice(*pair, row, f" by judge {rater!r}")
        is_seen[place], table[place] = True, grade
    return JudgedItems(
        tuple(judges), table, [query for query, _ in items], [doc for _, doc in items]
    )


def _read_grades(column: Any, name: str) -> NDArray[np.float64]:  # noqa: ANN401 - of any library
    """Read a column of grades, NaN where there is none. Text files hold them as text."""
    opened = open_column(column, name, lambda found: _not_grades(name, found))
    if hasattr(opened, "type") and str(opened.type) in {"large_string", "string"}:
        grades = _parse_grades(opened, name)
    else:
        numbers = read_numbers(column, name, "relevance", allows_null=True)
        grades = np.asarray(numbers, dtype=np.float64)
    if np.isinf(grades).any():
        at = int(np.argmax(np.isinf(grades)))
        error = _not_grades(name, f"{grades[at]:g}")
        error.line = at + 1
        raise error
    return grades


def _parse_grades(texts: Any, name: str) -> NDArray[np.float64]:  # noqa: ANN401 - of PyArrow

    grades = np.full(len(texts), np.nan)
    for at, text in enumerate(texts.to_pylist()):
        if text is None or not text.strip():
            continue
        try:
            grades[at] = float(text)
        except ValueError:
            error = _not_grades(name, repr(text[:40]))
            error.line = at + 1
            raise error from None
    return grades


def _not_grades(name: str, found: str) -> FormatError:
    return FormatError(
        f"expected grades in {name}, found {found}",
        hint="write numbers, such as 1 for relevant; leave the cell empty if the judge gave none",
        code="rel_not_number",
    )


def _read_texts(ids: IdColumn) -> list[str]:
    if not isinstance(ids, tuple):
        return [str(number) for number in ids.tolist()]
    starts, texts = ids
    whole, ends = texts.tobytes(), starts.tolist()
    return [whole[first:last].decode("utf-8", "surrogateescape") for first, last in pairwise(ends)]


def _no_rows() -> EmptyError:
    return EmptyError(
        "expected judgments, found a table without rows",
        hint="is the file empty?",
        code="empty_input",
    )


def _twice(query: str, doc: str, row: int, by: str = "") -> DuplicateError:
    return DuplicateError(
        f"expected one judgment{by} of document {doc!r} for query {query!r}, found a second one",
        hint="keep one row for each query, document and judge",
        code="duplicate_doc",
        line=row,
    )
