"""Opens tables, in memory or in files, and reads judgments and runs from them into the core."""

from __future__ import annotations

from contextlib import contextmanager
from typing import TYPE_CHECKING

from rankscope._core import Judgments, Rankings, Run
from rankscope._inputs.column_names import explain_users, find_column
from rankscope._inputs.roles import Wanted
from rankscope._inputs.table_files import TableFile
from rankscope._inputs.tables import (
    FoundColumns,
    NamedColumns,
    find_lists,
    find_subtopics,
    open_table,
    read_judged,
    read_retrieved,
    read_second,
)
from rankscope.deferred import pa
from rankscope.errors import DuplicateError, InputError, RankscopeError
from rankscope.names import quote
from rankscope.records import replace

if TYPE_CHECKING:
    from collections.abc import Callable, Collection, Iterator, Mapping, Sequence
    from typing import TypeAlias

    from rankscope._inputs.qrels import JoinedColumns
    from rankscope._inputs.reading import Note, Tell
    from rankscope._inputs.recognition import Input
    from rankscope.output.ids import SourceIds
    from rankscope.settings.reading import Reading
    from rankscope.typing import Second

    Seen: TypeAlias = tuple[object, Mapping[str, str], Callable[[int], int], SourceIds | None]

JUDGED = (("query",), ("doc",))
JUDGED_BESIDE = ((*JUDGED, ("subtopic",)), (*JUDGED, ("stratum",)))
JOINED = (("query",), ("relevance",), ("score", "rank"))
LABELLED = (("query",), ("score", "rank"))
RETRIEVED = (("query",), ("doc",), ("score", "rank"))


def read_judgments(
    given: Input, reading: Reading, *, notes: list[Note], second: Second = "", tell: Tell = None
) -> tuple[Judgments, SourceIds]:
    """Read judgments in a table, and describe their IDs."""
    duplicates = reading.duplicates
    needed = (*JUDGED, (second,)) if second else JUDGED
    with see_table(given, needed, reading, notes=notes, tell=tell) as (table, found, line_of, ids):
        queries, docs, grades, are_implicit, source = read_judged(table, found, ids)
        if second:
            seconds = read_second(table, found, second)
            made = Judgments.from_subtopic_columns(
                queries, seconds, docs, grades, second, duplicates
            )
        else:
            with _explained(table, found):
                made = Judgments.from_columns(queries, docs, grades, duplicates)
                _refuse_repeated(made, table, found)
        if are_implicit:
            notes.append(("implicit_grades", len(grades), 0))
        notes += [(code, count, line_of(row) if row else 0) for code, count, row in made.notes()]
    return made, source


@contextmanager
def _explained(table: object, found: Mapping[str, str | None]) -> Iterator[None]:
    """Say of a document that is judged twice that a table has a column of subtopics."""
    try:
        yield
    except DuplicateError:
        if find_subtopics(table, found) is not None:
            raise _of_subtopics(table, found) from None
        raise


def _refuse_repeated(made: Judgments, table: object, found: Mapping[str, str | None]) -> None:
    is_repeated = any(code.startswith("duplicate") for code, *_ in made.notes())
    if is_repeated and find_subtopics(table, found) is not None:
        raise _of_subtopics(table, found)


def _of_subtopics(table: object, found: Mapping[str, str | None]) -> DuplicateError:
    return DuplicateError(
        "expected one row for each query and document, found several, with a column "
        f"{quote(find_subtopics(table, found))} as in judgments of subtopics",
        hint="",
        code="subtopics_found",
    )


def read_run(given: Input, reading: Reading) -> tuple[Run, SourceIds]:
    """Read a run in a table into memory, and describe its IDs."""
    with see_table(given, RETRIEVED, reading, notes=[]) as (table, found, _, ids):
        run = Run.from_columns(read_retrieved(table, found), reading.scores_as)
        return run, ids or FoundColumns(open_table(table), found).describe_ids()


def rank_run(
    judgments: Judgments,
    given: Input,
    ties: str,
    reading: Reading,
    *,
    notes: list[Note],
    tell: Tell = None,
) -> Rankings:
    """Read a run in a table, join it with its judgments, and rank it."""
    with see_table(given, RETRIEVED, reading, notes=notes, tell=tell) as (table, found, *_):
        return Rankings.from_pairs(
            judgments,
            *read_retrieved(table, found),
            ties,
            reading.duplicates,
            reading.scores_as,
            reading.threads,
        )


@contextmanager
def see_joined(
    given: Input,
    wanted: JoinedColumns,
    reading: Reading,
    *,
    notes: list[Note],
    tell: Tell = None,
    source: TableFile | None = None,
) -> Iterator[Seen]:
    """Open a table whose rows hold scores or ranks, and grades or labels, unless it is open."""
    attributed = wanted.attributed
    labels = () if attributed is None else (attributed.labels, attributed.predicted)
    given = spread_lists(given, wanted.names, labels)
    if not given.format:
        with _held(given, wanted.names) as seen:
            yield seen
        return
    others = [*wanted.attributes, *(name for name in labels if name is not None)]
    needed = JOINED if attributed is None else LABELLED
    if source is None:
        source = _open(given, needed, wanted.names, others, reading, tell=tell)
    with _seen(source, notes) as seen:
        yield seen


def open_joined(
    given: Input,
    names: Mapping[str, str | None],
    attributes: Sequence[str],
    reading: Reading,
    tell: Tell = None,
) -> TableFile:
    """Open the files of a table whose rows hold scores or ranks, and grades."""
    return _open(given, JOINED, names, attributes, reading, tell=tell)


def open_retrieved(given: Input, reading: Reading, tell: Tell = None) -> TableFile:
    """Open the files of a run in columns."""
    return _open(given, RETRIEVED, reading.columns, (), reading, tell=tell)


@contextmanager
def see_table(
    given: Input,
    needed: Sequence[Sequence[str]],
    reading: Reading,
    *,
    notes: list[Note],
    tell: Tell = None,
    source: TableFile | None = None,
) -> Iterator[Seen]:
    """Return a table, the names of its columns by role, the line of each row, and its ids.

    What is in files is read into memory first; what is found wrong with it in the block is placed.
    The ids describe the columns of files. For a table, they are `None`: it describes itself.
    """
    given = spread_lists(given, reading.columns)
    if not given.format:
        with _held(given, reading.columns) as seen:
            yield seen
        return
    if source is None:
        source = _open(given, needed, reading.columns, (), reading, tell=tell)
    with _seen(source, notes) as seen:
        yield seen


def spread_lists(
    given: Input, names: Mapping[str, str | None], besides: Collection[str | None] = ()
) -> Input:
    """Open a table in memory; as batches, if its rows hold whole rankings as lists."""
    if given.format:
        return given
    try:
        source = open_table(given.value)
        batches = find_lists(source, names, besides)
    except InputError as error:
        error.file = given.name
        raise
    if batches is None:
        return replace(given, value=source)
    return replace(given, value=batches, format="arrow")


@contextmanager
def _held(given: Input, names: Mapping[str, str | None]) -> Iterator[Seen]:
    named = {role: name for role, name in names.items() if name is not None}
    try:
        yield given.value, named, lambda row: row, None
    except InputError as error:
        error.file = given.name
        what = getattr(given.value, "what", "")
        if error.code == "columns" and what:
            error.message += f" in {what}"
        if isinstance(error, DuplicateError) and "query" not in named:
            columns = open_table(given.value).names
            explain_users(error, columns, find_column(columns, "query", None))
        raise


@contextmanager
def _seen(source: TableFile, notes: list[Note]) -> Iterator[Seen]:
    with source:
        rows = pa.Table.from_batches(list(source), source.schema)
        columns = dict(zip(rows.column_names, rows.columns, strict=True))
        table = NamedColumns(rows.column_names, columns, is_checked=True)
        notes += source.notes
        try:
            yield (
                table,
                source.columns,
                lambda row: source.find_line(row)[1],
                source.describe_ids(),
            )
        except RankscopeError as error:
            raise source.place(error) from None


def _open(
    given: Input,
    needed: Sequence[Sequence[str]],
    names: Mapping[str, str | None],
    others: Sequence[str],
    reading: Reading,
    *,
    tell: Tell = None,
) -> TableFile:
    named = {**names, **given.columns}
    is_judged = needed in (JUDGED, *JUDGED_BESIDE)
    roles = [*(role for of in needed for role in of), "doc", *(["relevance"] if is_judged else [])]
    wanted = {role: named.get(role) for role in dict.fromkeys(roles)}
    return TableFile(given, Wanted(wanted, others, needed, (), is_judged), reading, tell)
