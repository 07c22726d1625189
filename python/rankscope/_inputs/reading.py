"""Reads judgments and runs of any kind into the core."""

from __future__ import annotations

from collections.abc import Mapping
from contextlib import contextmanager

from rankscope._core import Judgments, Rankings, Run
from rankscope._inputs.column_names import explain_users, find_column
from rankscope._inputs.id_texts import spell_key_ids, spell_row_ids
from rankscope._inputs.numbers import is_integer
from rankscope._inputs.recognition import name_rows
from rankscope._inputs.tables import (
    FoundColumns,
    find_subtopics,
    open_table,
    read_judged,
    read_retrieved,
    read_second,
)
from rankscope.errors import DuplicateError, FormatError, InputError, RankscopeError
from rankscope.names import quote
from rankscope.output.ids import TEXT, UUIDS, IdColumn, SourceIds, are_uuids
from rankscope.records import replace

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Callable, Collection, Iterable, Iterator, Sequence
    from typing import TypeAlias

    from rankscope._inputs.files.table import TableFile
    from rankscope._inputs.recognition import Input
    from rankscope._inputs.tables import JoinedColumns
    from rankscope.settings.reading import Reading
    from rankscope.typing import Second

    Tell: TypeAlias = Callable[[int], None] | None
    """What is called with the bytes of an input read so far."""
    Note: TypeAlias = tuple[str, int, int]
    Seen: TypeAlias = tuple[object, Mapping[str, str], Callable[[int], int], SourceIds | None]

JUDGED = (("query",), ("doc",))
JUDGED_BESIDE = ((*JUDGED, ("subtopic",)), (*JUDGED, ("stratum",)))
JOINED = (("query",), ("relevance",), ("score", "rank"))
LABELLED = (("query",), ("score", "rank"))
RETRIEVED = (("query",), ("doc",), ("score", "rank"))

WITHOUT_GRADE = {"missing_relevance", "rel_not_number"}
"""The codes of errors about a judgment that has no grade."""

SUBTOPICS_HINT = (
    "add a measure of diversity such as alpha_nDCG, say subtopics=True in evaluate or read_qrels, "
    "or --subtopics in rankscope eval; measures that know no subtopics then take the highest grade "
    "of each document"
)


def read_judgments(
    given: Input, reading: Reading, *, notes: list[Note], second: Second = "", tell: Tell = None
) -> tuple[Judgments, SourceIds]:
    """Read judgments, and describe their ids."""
    given = name_rows(given, reading.columns)
    try:
        return _read_judgments(given, reading, notes, second, tell)
    except InputError as error:
        if error.code == "subtopics_found":
            error.hint = SUBTOPICS_HINT
        if second == "stratum" and error.code in WITHOUT_GRADE:
            # Without its row, the document would be missing from the size of its stratum.
            error.hint = "write -1 as the grade of a document that wasn't judged, and keep its row"
        raise


def _read_judgments(
    given: Input, reading: Reading, notes: list[Note], second: Second, tell: Tell
) -> tuple[Judgments, SourceIds]:
    duplicates = reading.duplicates
    if given.kind == "table":
        needed = (*JUDGED, (second,)) if second else JUDGED
        with see_table(given, needed, reading, notes=notes, tell=tell) as (
            table,
            found,
            line_of,
            ids,
        ):
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
    if given.kind == "file":
        from rankscope._inputs.files.text_lines import refuse_unnamed_columns  # noqa: PLC0415 - loads late

        refuse_unnamed_columns(given, "qrels")
        with given.placed():
            made = Judgments.from_path(given.source, reading.encoding, duplicates, tell, second)
    elif second:
        rows: object = given.value
        if isinstance(given.value, Mapping):
            rows = _second_rows(given.value, second)
        made = Judgments.from_subtopic_rows(spell_row_ids(rows), second, duplicates)
    elif given.kind == "mapping":
        made = Judgments.from_dict(spell_key_ids(given.value), duplicates)
    else:
        made = Judgments.from_rows(spell_row_ids(given.value), duplicates)
    notes += made.notes()
    return made, describe_keys(given.value) if isinstance(given.value, Mapping) else TEXT


def _second_rows(given: Mapping[object, object], second: str) -> Iterator[tuple[object, ...]]:
    """Yield the rows of a mapping of query to subtopic or stratum to its documents."""
    for query, topics in given.items():
        for topic, docs in topics.items() if isinstance(topics, Mapping) else [(None, None)]:
            if isinstance(docs, Mapping):
                yield from ((query, topic, doc, grade) for doc, grade in docs.items())
            elif isinstance(docs, list | tuple | set | frozenset):
                yield from ((query, topic, doc, 1) for doc in docs)
            else:
                raise FormatError(
                    f"expected a mapping of query to {second} to document to grade, found "
                    f"{type(topics if topic is None else docs).__name__} below query "
                    f"{quote(query)}",
                    hint=f'write {{"q1": {{"{second}": {{"doc": 1}}}}}}',
                    code="not_a_mapping",
                    file="qrels",
                )


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
        hint=SUBTOPICS_HINT,
        code="subtopics_found",
    )


def describe_keys(given: Mapping[object, object]) -> SourceIds:
    """Return the types of the ids in a mapping of query to its documents."""
    is_number = are_integers(given)
    forms = (Mapping, list, tuple, set, frozenset)
    has_numbers = bool(given) and all(
        isinstance(docs, forms) and are_integers(docs) for docs in given.values()
    )
    uuid = UUIDS if are_uuids(set(map(type, given))) else ""
    return SourceIds(
        IdColumn("query_id", "int64" if is_number else uuid),
        IdColumn("doc_id", "int64" if has_numbers else ""),
    )


def are_integers(ids: Iterable[object]) -> bool:
    """Return whether all ids are integers, of Python or of NumPy."""
    return all(map(is_integer, set(map(type, ids))))


def read_run(given: Input, reading: Reading, tell: Tell = None) -> Run:
    """Read a run into memory, unless it is there, without describing its ids."""
    given = name_rows(given, reading.columns)
    if given.kind == "table":
        return read_lists(given, reading)[0]
    if isinstance(given.value, Run):
        return given.value
    if given.kind == "file":
        with given.placed():
            return Run.from_path(
                given.source, reading.encoding, reading.scores_as, reading.duplicates, tell
            )
    if given.kind == "mapping":
        return Run.from_dict(spell_key_ids(given.value), reading.scores_as)
    return Run.from_rows(spell_row_ids(given.value), reading.scores_as)


def read_lists(given: Input, reading: Reading) -> tuple[Run, SourceIds]:
    """Read a run of any kind into memory without judgments, and describe its ids."""
    given = name_rows(given, reading.columns)
    if given.kind != "table":
        run = read_run(given, reading)
        return run, describe_keys(given.value) if isinstance(given.value, Mapping) else TEXT
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
    """Read a run into memory, join it with its judgments, and rank it; see `read_judgments`."""
    if given.kind == "table":
        seen = see_table(given, RETRIEVED, reading, notes=notes, tell=tell)
        with seen as (table, found, *_):
            return Rankings.from_pairs(
                judgments,
                *read_retrieved(table, found),
                ties,
                reading.duplicates,
                reading.scores_as,
                reading.threads,
            )
    return Rankings(judgments, read_run(given, reading, tell), ties, reading.duplicates)


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
    besides: Sequence[str] = (),
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
        source = _open(given, needed, reading.columns, (), reading, tell=tell, besides=besides)
    with _seen(source, notes) as seen:
        yield seen


def spread_lists(
    given: Input, names: Mapping[str, str | None], besides: Collection[str | None] = ()
) -> Input:
    """Open a table in memory; as batches, if its rows hold whole rankings as lists."""
    if given.format:
        return given
    from rankscope._inputs.list_columns import find_lists  # noqa: PLC0415 - files load it, too

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
def see_others(
    given: Input,
    needed: Sequence[Sequence[str]],
    names: Mapping[str, str | None],
    others: Sequence[str],
    reading: Reading,
) -> Iterator[tuple[object, Mapping[str, str]]]:
    """Open a table with columns that no role describes, as `see_table` does."""
    if given.format:
        source = _open(given, needed, names, others, reading)
        seen = _seen(source, [])
    else:
        seen = _held(given, names)
    with seen as (table, found, *_):
        yield table, found


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
    from rankscope._inputs.arrow import load_arrow  # noqa: PLC0415 - only tables need it

    with source:
        table = load_arrow().Table.from_batches(list(source), source.schema)
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
    besides: Sequence[str] = (),
) -> TableFile:
    from rankscope._inputs.files.roles import Wanted  # noqa: PLC0415 - only tables need it
    from rankscope._inputs.files.table import TableFile  # noqa: PLC0415 - as above

    named = {**names, **given.columns}
    is_judged = needed in (JUDGED, *JUDGED_BESIDE)
    roles = [*(role for of in needed for role in of), "doc", *(["relevance"] if is_judged else [])]
    wanted = {role: named.get(role) for role in dict.fromkeys(roles)}
    return TableFile(given, Wanted(wanted, others, needed, besides, is_judged), reading, tell)
