"""Opens tables of rankings and of judgments, and reads them into the core."""

from __future__ import annotations

from typing import TYPE_CHECKING

from rankscope._core import Judgments, Rankings, Run
from rankscope._inputs.arrow import join
from rankscope._inputs.column_names import find_column
from rankscope._inputs.roles import Wanted
from rankscope._inputs.rows import read_whole
from rankscope._inputs.table_files import TableFile
from rankscope.deferred import pa, pc
from rankscope.errors import DuplicateError
from rankscope.names import quote
from rankscope.records import replace

if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence
    from typing import Any, TypeAlias

    from rankscope._inputs.qrels import JoinedColumns
    from rankscope._inputs.reading import Note, Tell
    from rankscope._inputs.recognition import Input
    from rankscope.output.ids import SourceIds
    from rankscope.settings.reading import Reading
    from rankscope.typing import Second

    Foreign: TypeAlias = Any  # a table of PyArrow

JUDGED = (("query",), ("doc",))
JOINED = (("query",), ("relevance",), ("score", "rank"))
LABELLED = (("query",), ("score", "rank"))
RETRIEVED = (("query",), ("doc",), ("score", "rank"))


def read_judgments(
    given: Input, reading: Reading, *, notes: list[Note], second: Second = "", tell: Tell = None
) -> tuple[Judgments, SourceIds]:
    """Read judgments in a table, and describe their IDs."""
    needed = (*JUDGED, (second,)) if second else JUDGED
    file = _open(given, needed, reading.columns, reading, tell, is_judged=True)
    name = find_column(file.names, "subtopic", reading.columns.get("subtopic"))
    with read_whole(file, notes) as rows:
        queries, docs, grades = rows.judged()
        if second:
            made = Judgments.from_subtopic_columns(
                queries, rows.ids(second), docs, grades, second, reading.duplicates
            )
        else:
            try:
                made = Judgments.from_columns(queries, docs, grades, reading.duplicates)
            except DuplicateError:
                if name is None:
                    raise
                raise _of_subtopics(name) from None
            if name and any(code.startswith("duplicate") for code, *_ in made.notes()):
                raise _of_subtopics(name)
        if "relevance" not in rows.columns:
            notes.append(("implicit_grades", len(grades), 0))
        for code, count, row in made.notes():
            notes.append((code, count, file.find_line(row)[1] if row else 0))
        return made, rows.source


def _of_subtopics(column: str) -> DuplicateError:
    return DuplicateError(
        "expected one row for each query and document, found several, with a column "
        f"{quote(column)} as in judgments of subtopics",
        hint="",
        code="subtopics_found",
    )


def read_run(given: Input, reading: Reading, notes: list[Note]) -> tuple[Run, SourceIds]:
    """Read a run in a table into memory, and describe its IDs."""
    file = open_retrieved(given, reading)
    with read_whole(file, notes) as rows:
        run = Run.from_columns(rows.retrieved(), reading.scores_as, file.count_lines())
        return run, rows.source


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
    with read_whole(open_retrieved(given, reading, tell), notes) as rows:
        return Rankings.from_pairs(
            judgments,
            rows.retrieved(),
            ties,
            reading.duplicates,
            reading.scores_as,
            reading.threads,
        )


def open_joined(
    given: Input, wanted: JoinedColumns, reading: Reading, tell: Tell = None
) -> TableFile:
    """Open a table whose rows hold scores or ranks, and grades or labels."""
    attributed = wanted.attributed
    if attributed is None:
        return _open(given, JOINED, wanted.names, reading, tell, others=wanted.attributes)
    labels = [name for name in (attributed.labels, attributed.predicted) if name is not None]
    others = [*wanted.attributes, *labels]
    return _open(given, LABELLED, wanted.names, reading, tell, others=others, labels=labels)


def split_rows(
    given: Input, column: str, wanted: JoinedColumns, reading: Reading
) -> dict[str, Foreign]:
    """Return the rows of a table for each value of a column, as tables without it."""
    wanted = replace(wanted, attributes=(*wanted.attributes, column))
    with open_joined(given, wanted, reading) as file:
        rows = pa.Table.from_batches(list(file), file.schema)
    names = join(rows.column(column)).cast(pa.string())
    rows = rows.drop_columns([column])
    return {
        str(name): rows.filter(pc.equal(names, name)) for name in names.unique() if name.is_valid
    }


def open_retrieved(given: Input, reading: Reading, tell: Tell = None) -> TableFile:
    """Open a run in a table."""
    return _open(given, RETRIEVED, reading.columns, reading, tell)


def _open(
    given: Input,
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
    named = {**names, **given.columns}
    choice = want_columns(needed, named, others=others, labels=labels, is_judged=is_judged)
    return TableFile(given, choice, reading, tell)


def want_columns(
    needed: Sequence[Sequence[str]],
    named: Mapping[str, str | None],
    *,
    others: Sequence[str] = (),
    labels: Sequence[str] = (),
    is_judged: bool = False,
) -> Wanted:
    """Return the columns that are wanted from judgments, from a run or from both in one table."""
    roles = [*(role for of in needed for role in of), "doc", *(["relevance"] if is_judged else [])]
    wanted = {role: named.get(role) for role in dict.fromkeys(roles)}
    # Where one of two columns that order rows is named, the other doesn't.
    for own, other in (("score", "rank"), ("rank", "score")):
        if wanted.get(own) is not None and wanted.get(other) is None:
            wanted.pop(other, None)
    return Wanted(
        wanted, others, needed, labels=labels, is_judged=is_judged, is_ranked=not is_judged
    )
