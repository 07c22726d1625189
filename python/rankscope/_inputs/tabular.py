"""Opens tables of rankings and of judgments, and reads them into the core."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from typing import TYPE_CHECKING, Any, TypeAlias

from rankscope._core import Judgments, Rankings, Run
from rankscope._inputs.column_names import VISITS, Selection, find_column
from rankscope._inputs.columns import join, list_texts, to_array, to_arrow
from rankscope._inputs.recognition import Input
from rankscope._inputs.rows import open_columns, read_whole
from rankscope._inputs.table_files import TableFile
from rankscope._names import quote
from rankscope._settings import Reading
from rankscope._show.table import SourceIds
from rankscope.errors import DuplicateError, FormatError

Foreign: TypeAlias = Any  # a table of PyArrow

if TYPE_CHECKING:
    import numpy as np
    from numpy.typing import NDArray

    from rankscope._inputs.reading import JoinedColumns, Note, Tell
    from rankscope.typing import Second


JUDGED = (("query",), ("doc",))
JOINED = (("query",), ("relevance",), ("score", "rank"))
LABELLED = (("query",), ("score", "rank"))
RETRIEVED = (("query",), ("doc",), ("score", "rank"))


def read_judgments(
    source: Input, reading: Reading, *, notes: list[Note], second: Second = "", tell: Tell = None
) -> tuple[Judgments, SourceIds]:
    """Read judgments in a table, and describe their IDs."""
    needed = (*JUDGED, (second,)) if second else JUDGED
    file = _open(source, needed, reading.columns, reading, tell, is_judged=True)
    name = find_column(file.names, "subtopic", reading.columns.get("subtopic"))
    with read_whole(file, notes) as rows:
        queries, docs, grades = rows.judged()
        if second:
            judgments = Judgments.from_subtopic_columns(
                queries, rows.ids(second), docs, grades, second, reading.duplicates
            )
        else:
            try:
                judgments = Judgments.from_columns(queries, docs, grades, reading.duplicates)
            except DuplicateError:
                if name is None:
                    raise
                raise _of_subtopics(name) from None
            if name and any(code.startswith("duplicate") for code, *_ in judgments.notes()):
                raise _of_subtopics(name)
        if "relevance" not in rows.columns:
            notes.append(("implicit_grades", len(grades), 0))
        for code, count, row in judgments.notes():
            notes.append((code, count, file.find_line(row)[1] if row else 0))
        return judgments, rows.source


def _of_subtopics(column: str) -> DuplicateError:
    return DuplicateError(
        "expected one row for each query and document, found several, with a column "
        f"{quote(column)} as in judgments of subtopics",
        hint="",
        code="subtopics_found",
    )


def read_run(
    source: Input, reading: Reading, notes: list[Note], tell: Tell = None
) -> tuple[Run, SourceIds]:
    """Read a run in a table into memory, and describe its IDs."""
    file = open_retrieved(source, reading, tell)
    with read_whole(file, notes) as rows:
        run = Run.from_columns(rows.retrieved(), reading.scores_as, file.count_lines())
        return run, rows.source


def rank_run(
    judgments: Judgments,
    source: Input,
    ties: str,
    reading: Reading,
    *,
    notes: list[Note],
    tell: Tell = None,
) -> Rankings:
    """Read a run in a table, join it with its judgments, and rank it."""
    settings = ties, reading.duplicates, reading.scores_as, reading.threads
    with read_whole(open_retrieved(source, reading, tell), notes) as rows:
        return Rankings.from_pairs(judgments, rows.retrieved(), *settings)


def open_joined(
    source: Input, columns: JoinedColumns, reading: Reading, tell: Tell = None
) -> TableFile:
    """Open a table whose rows hold scores or ranks, and grades or labels."""
    attributed = columns.attributed
    if attributed is None:
        return _open(source, JOINED, columns.names, reading, tell, others=columns.attributes)
    labels = [name for name in (attributed.labels, attributed.predicted) if name is not None]
    others = [*columns.attributes, *labels]
    return _open(source, LABELLED, columns.names, reading, tell, others=others, labels=labels)


def split_rows(
    source: Input, column: str, columns: JoinedColumns, reading: Reading
) -> dict[str, Foreign]:
    """Return the rows of a table for each value of a column, as tables without it."""
    import pyarrow as pa
    import pyarrow.compute as pc

    columns = replace(columns, attributes=(*columns.attributes, column))
    with open_joined(source, columns, reading) as file:
        rows = pa.Table.from_batches(list(file), file.schema)
    names = join(rows.column(column)).cast(pa.string())
    rows = rows.drop_columns([column])
    return {
        str(name): rows.filter(pc.equal(names, name)) for name in names.unique() if name.is_valid
    }


def open_retrieved(source: Input, reading: Reading, tell: Tell = None) -> TableFile:
    """Open a run in a table."""
    return _open(source, RETRIEVED, reading.columns, reading, tell)


def _open(
    source: Input,
    needed: Sequence[Sequence[str]],
    names: Mapping[str, str | None],
    reading: Reading,
    tell: Tell,
    *,
    others: Sequence[str] = (),
    labels: Sequence[str] = (),
    is_judged: bool = False,
) -> TableFile:
    if reading.ignore_same:
        needed = (*needed, ("doc",))
    named = {**names, **source.columns}
    choice = make_selection(needed, named, others=others, labels=labels, is_judged=is_judged)
    return TableFile(source, choice, reading, tell)


def make_selection(
    needed: Sequence[Sequence[str]],
    named: Mapping[str, str | None],
    *,
    others: Sequence[str] = (),
    labels: Sequence[str] = (),
    is_judged: bool = False,
) -> Selection:
    """Return the columns to read from judgments, from a run or from both in one table."""
    roles = [*(role for of in needed for role in of), "doc", *(["relevance"] if is_judged else [])]
    selected = {role: named.get(role) for role in dict.fromkeys(roles)}
    # Where one of two columns that order rows is named, the other doesn't.
    for own, other in (("score", "rank"), ("rank", "score")):
        if selected.get(own) is not None and selected.get(other) is None:
            selected.pop(other, None)
    return Selection(
        selected, others, needed, labels=labels, is_judged=is_judged, is_ranked=not is_judged
    )


# Columns that can be those of queries, but are attributes in a table that has another one.
BESIDES = ("query", "topic", "topic_id", "user_id", *VISITS)


@dataclass(frozen=True, slots=True)
class QueryTable:
    """A table with one row per query.

    Args:
        query_ids: The query of each row, as text.
        texts: Columns of text, by name.
        types: By name, the types of these columns, as in `AttributeColumn`.
        numbers: Columns of numbers, by name; NaN where there is none.
    """

    query_ids: list[str]
    texts: Mapping[str, list[str]]
    types: Mapping[str, str]
    numbers: Mapping[str, NDArray[np.float64]]


def read_query_table(
    table: object,
    reading: Reading,
    *,
    query: str | None = None,
    texts: Sequence[str] = (),
    numbers: Sequence[str] | None = (),
) -> QueryTable:
    """Read a table with one row per query, with all columns that are numbers if they are `None`."""
    import numpy as np

    others = None if numbers is None else list(dict.fromkeys([*texts, *numbers]))
    needed = [] if numbers is None and not texts else ["query"]
    besides = [*BESIDES, *texts]
    roles = {"query": query}
    with open_columns(table, reading, roles, others, required=needed, besides=besides) as columns:
        if numbers is None:
            used = {columns.columns.get("query"), *besides}
            numbers = [name for name in columns.names if name not in used]
        values = {name: columns.values(name) for name in texts}
        arrays = {name: to_arrow(column) for name, (column, _) in values.items()}
        if "query" in columns.columns:
            ids = columns.ids("query")
        else:  # columns of values alone: each row is a query
            ids = np.arange(len(columns.column(columns.names[0])) if columns.names else 0)
        first = _find_first(to_arrow(ids), arrays, are_unique=bool(numbers))
        query_ids = list_texts(ids)
        try:
            return QueryTable(
                [query_ids[row] for row in first.tolist()],
                {name: of.take(first).cast("string").to_pylist() for name, of in arrays.items()},
                {name: kind for name, (_, kind) in values.items()},
                {name: columns.numbers(name, kind="score", allows_null=True) for name in numbers},
            )
        except FormatError as error:
            error.hint = "name the columns of values: runs=['old', 'new'], query='query_id'"
            raise


def _find_first(ids: Any, columns: Mapping[str, Any], *, are_unique: bool) -> NDArray[np.int64]:  # noqa: ANN401 - PyArrow has no types
    """Return the first row of each query, of which all rows must be alike."""
    import numpy as np

    codes = to_array(ids.dictionary_encode().indices)
    first = np.unique(codes, return_index=True)[1]
    firsts = first[codes]
    again = np.flatnonzero(firsts < np.arange(len(codes)))
    for at in again[:are_unique].tolist():
        message = f"expected one row per query, found two of query {quote(str(ids[at]))}"
        hint = "keep one row per query in this table; values of several runs are columns"
        raise FormatError(message, hint=hint, code="duplicate_query")
    for name, values in columns.items():
        value = to_array(values.dictionary_encode().indices)
        for at in np.flatnonzero(value != value[firsts])[:1].tolist():
            both = " and ".join(quote(str(values[row])) for row in (int(firsts[at]), at))
            query = quote(str(ids[at]))
            message = f"expected one {name} in all rows of query {query}, found {both}"
            hint = "an attribute belongs to the query; for names of runs, write runs=…"
            raise FormatError(message, hint=hint, code="attribute_conflict")
    return first
