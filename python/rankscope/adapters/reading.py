"""Reads judgments and runs into the core, whatever they come as."""

from __future__ import annotations

from contextlib import contextmanager

from rankscope import _core
from rankscope.adapters.tables import read_judged, read_retrieved
from rankscope.errors import RankscopeError

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Callable, Iterator, Mapping, Sequence
    from typing import TypeAlias

    from rankscope.adapters.inputs import Input

    Progress: TypeAlias = Callable[[int], None] | None
    Note: TypeAlias = tuple[str, int, int]
    Seen: TypeAlias = tuple[object, Mapping[str, str], Callable[[int], int]]

JUDGED = (("query",), ("doc",), ("relevance",))
RETRIEVED = (("query",), ("doc",), ("score", "rank"))


def read_judgments(
    given: Input,
    *,
    duplicates: str,
    encoding: str,
    columns: Mapping[str, str],
    notes: list[Note],
    progress: Progress = None,
) -> _core.Judgments:
    """Read judgments.

    Args:
        given: What to read.
        duplicates: What becomes of a document judged twice with different grades.
        encoding: How text is encoded.
        columns: By role, the names of columns that are given.
        notes: Takes code, count and first line of what is suspicious but legal.
        progress: Called with the bytes read so far.

    Raises:
        InputError: They are not of the format.
        FileError: The file cannot be read.
    """
    if given.kind == "table":
        with see_table(
            given, JUDGED, columns, encoding=encoding, notes=notes, progress=progress
        ) as (table, found, line_of):
            made = _core.Judgments.from_columns(*read_judged(table, found), duplicates)
        notes += [(code, count, line_of(row) if row else 0) for code, count, row in made.notes()]
        return made
    if given.kind == "file":
        made = _core.Judgments.from_path(given.source, encoding, duplicates, progress)
    elif given.kind == "mapping":
        made = _core.Judgments.from_dict(given.value, duplicates)
    else:
        made = _core.Judgments.from_rows(given.value, duplicates)
    notes += made.notes()
    return made


def read_run(
    given: Input, *, duplicates: str, encoding: str, score_type: str, progress: Progress = None
) -> _core.Run:
    """Read a run that is no table into memory.

    Raises:
        InputError: It is not of the format.
        FileError: The file cannot be read.
    """
    if given.kind == "file":
        return _core.Run.from_path(given.source, encoding, score_type, duplicates, progress)
    if given.kind == "mapping":
        return _core.Run.from_dict(given.value, score_type)
    return _core.Run.from_rows(given.value, score_type)


def rank_run(
    judgments: _core.Judgments,
    given: Input,
    *,
    ties: str,
    duplicates: str,
    encoding: str,
    score_type: str,
    columns: Mapping[str, str],
    threads: int,
    notes: list[Note],
    progress: Progress = None,
) -> _core.Rankings:
    """Read a run into memory, join it with its judgments, and rank it; see `read_judgments`.

    Raises:
        InputError: It is not of the format.
        FileError: The file cannot be read.
    """
    if given.kind == "table":
        with see_table(
            given, RETRIEVED, columns, encoding=encoding, notes=notes, progress=progress
        ) as (table, found, _):
            return _core.Rankings.from_pairs(
                judgments, *read_retrieved(table, found), ties, duplicates, score_type, threads
            )
    run = read_run(
        given,
        duplicates=duplicates,
        encoding=encoding,
        score_type=score_type,
        progress=progress,
    )
    return _core.Rankings(judgments, run, ties, duplicates)


@contextmanager
def see_table(
    given: Input,
    needed: Sequence[Sequence[str]],
    columns: Mapping[str, str],
    *,
    encoding: str = "utf-8",
    optional: Sequence[str] = (),
    others: Sequence[str] = (),
    notes: list[Note],
    progress: Progress = None,
) -> Iterator[Seen]:
    """Give a table, the names of its columns by role, and the line of each row.

    What is in files is read into memory first.

    Args:
        given: The table.
        needed: Roles of which there must be a column; of several together, one.
        columns: By role, the names of columns that are given.
        encoding: How text is encoded.
        optional: Roles of which there may be a column.
        others: Further columns that matter.
        notes: As in `read_judgments`.
        progress: Called with the bytes read so far.

    Raises:
        InputError: It is not of the format; what is found wrong in the block is placed in the file.
        FileError: A file cannot be read.
    """
    if not given.format:
        yield given.value, columns, lambda row: row
        return
    from rankscope.adapters.arrow import load_arrow  # noqa: PLC0415 - only tables need it
    from rankscope.adapters.files.table import open_batches  # noqa: PLC0415 - as above

    named = {**columns, **given.columns}
    with open_batches(
        given.location,
        wanted={role: named.get(role) for roles in (*needed, optional) for role in roles},
        needed=needed,
        others=others,
        format=given.format,
        name=given.name,
        encoding=encoding,
        progress=progress,
    ) as source:
        table = load_arrow().Table.from_batches(list(source), source.schema)
        notes += source.notes
        try:
            yield table, source.columns, lambda row: source.find_line(row)[1]
        except RankscopeError as error:
            raise source.place(error) from None
