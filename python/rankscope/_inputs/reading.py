"""Reads judgments and runs of any kind into the core, and text that names no columns."""

from __future__ import annotations

import re
from collections.abc import Mapping

from rankscope._core import Judgments, Rankings, Run
from rankscope._inputs.documents import MEMBERS
from rankscope._inputs.files import read_first_line, read_whole, tell_text
from rankscope._inputs.numbers import is_integer
from rankscope.errors import FormatError, InputError
from rankscope.names import quote
from rankscope.output.ids import TEXT, UUIDS, IdColumn, SourceIds, are_uuids

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Callable, Iterator
    from typing import TypeAlias

    from rankscope._inputs.recognition import Input
    from rankscope.output.diagnostics import Diagnostic
    from rankscope.settings.reading import Reading
    from rankscope.typing import Second

    Tell: TypeAlias = Callable[[int], None] | None
    """What is called with the bytes of an input read so far."""
    Note: TypeAlias = Diagnostic | tuple[str, int, int]

WITHOUT_GRADE = {"missing_relevance", "rel_not_number"}
"""The codes of errors about a judgment that has no grade."""
TABS = r"'\t'"
MOVIELENS = {
    "'::', engine='python'": ".*::",
    "'|'": r"(.*\|){3}",
    TABS: r"([^\t]*\t){3}\d{9,}$",
}
"""By separator, the lines of files of MovieLens; nine digits are seconds since 1970."""


def read_judgments(
    given: Input, reading: Reading, *, notes: list[Note], second: Second = "", tell: Tell = None
) -> tuple[Judgments, SourceIds]:
    """Read judgments, and describe their ids."""
    try:
        if given.kind == "table":
            from rankscope._inputs import tabular  # noqa: PLC0415 - only tables need PyArrow

            return tabular.read_judgments(given, reading, notes=notes, second=second, tell=tell)
        judgments = _read_judgments(given, reading, second, tell)
    except InputError as error:
        if error.code == "subtopics_found":
            error.hint = (
                "add a measure of diversity such as alpha_nDCG, or say subtopics=True (on the "
                "command line, --subtopics): others then take the highest grade of each document"
            )
        if second == "stratum" and error.code in WITHOUT_GRADE:
            # Without its row, the document would be missing from the size of its stratum.
            error.hint = "write -1 as the grade of a document that wasn't judged, and keep its row"
        raise
    notes += judgments.notes()
    return judgments, describe_keys(given.value)


def _read_judgments(given: Input, reading: Reading, second: Second, tell: Tell) -> Judgments:
    duplicates, value = reading.duplicates, given.value
    if given.kind == "file":
        refuse_unnamed_columns(given, "qrels")
        with given.opened() as source:
            return Judgments.from_path(source, reading.encoding, duplicates, tell, second)
    if second:
        rows = _second_rows(value, second) if isinstance(value, Mapping) else value
        return Judgments.from_subtopic_rows(rows, second, duplicates)
    read = Judgments.from_dict if given.kind == "mapping" else Judgments.from_rows
    return read(value, duplicates)


def _second_rows(given: Mapping[object, object], second: str) -> Iterator[tuple[object, ...]]:
    """Yield the rows of a mapping of query to subtopic or stratum to its documents."""
    for query, topics in given.items():
        for topic, docs in topics.items() if isinstance(topics, Mapping) else [(None, topics)]:
            if topics is docs or not isinstance(docs, MEMBERS):
                found = f"{type(docs).__name__} below query {quote(query)}"
                message = f"expected a mapping of query to {second} to documents, found {found}"
                hint = f'write {{"q1": {{"{second}": {{"doc": 1}}}}}}'
                raise FormatError(message, hint=hint, code="not_a_mapping", file="qrels")
            for doc in docs:
                yield query, topic, doc, docs[doc] if isinstance(docs, Mapping) else 1


def describe_keys(given: object) -> SourceIds:
    """Return the types of the ids in a mapping of query to its documents; text for other inputs."""
    if not isinstance(given, Mapping):
        return TEXT
    kinds = set(map(type, given))
    query = "int64" if all(map(is_integer, kinds)) else UUIDS if are_uuids(kinds) else ""
    are_integers = bool(given) and all(
        isinstance(docs, MEMBERS) and all(map(is_integer, set(map(type, docs))))
        for docs in given.values()
    )
    doc = "int64" if are_integers else ""
    return SourceIds(IdColumn("query_id", query), IdColumn("doc_id", doc))


def read_run(given: Input, reading: Reading, tell: Tell = None) -> Run:
    """Read a run into memory, unless it is there, without describing its ids."""
    if given.kind == "table":
        return read_lists(given, reading, [])[0]
    if given.kind == "file":
        with given.opened() as source:
            run = Run.from_path(
                source, reading.encoding, reading.scores_as, reading.duplicates, tell
            )
    elif given.kind == "run":
        run = given.value
    else:
        read = Run.from_dict if given.kind == "mapping" else Run.from_rows
        run = read(given.value, reading.scores_as)
    return run.without_same() if reading.ignore_same else run


def read_lists(given: Input, reading: Reading, notes: list[Note]) -> tuple[Run, SourceIds]:
    """Read a run of any kind into memory without judgments, and describe its ids."""
    if given.kind == "table":
        from rankscope._inputs import tabular  # noqa: PLC0415 - only tables need PyArrow

        run, ids = tabular.read_run(given, reading, notes)
    else:
        run, ids = read_run(given, reading), describe_keys(given.value)
    notes += run.notes()
    return run, ids


def rank_run(
    judgments: Judgments, run: Input, ties: str, reading: Reading, *, notes: list[Note], tell: Tell
) -> Rankings:
    """Read a run into memory, join it with its judgments, and rank it; see `read_judgments`."""
    if run.kind == "table":
        from rankscope._inputs import tabular  # noqa: PLC0415 - only tables need PyArrow

        return tabular.rank_run(judgments, run, ties, reading, notes=notes, tell=tell)
    return Rankings(judgments, read_run(run, reading, tell), ties, reading.duplicates)


def read_lines(found: Input, encoding: str) -> list[str]:
    """Return the lines of a file of one ID a line, without blank ones."""
    try:
        lines = read_whole(found.value, found.name, encoding).decode("utf-8-sig").splitlines()
    except UnicodeDecodeError:
        hint = "say encoding='latin-1' or --encoding latin-1, or save it as UTF-8"
        raise FormatError(
            "expected text in UTF-8, found other bytes", hint=hint, code="not_utf8", file=found.name
        ) from None
    for number, line in enumerate(lines, 1):
        if len(line.split()) > 1:
            hint = "say what it is: --format csv, or File(path, 'csv')"
            raise _refuse(f"expected one ID in each line, found {quote(line)}", hint, found, number)
    return [line.strip() for line in lines if line.strip()]


def refuse_unnamed_columns(found: Input, role: str) -> None:
    """Raise an error for a file of MovieLens that doesn't name its columns."""
    if found.kind != "file" or not isinstance(found.value, str):
        return
    line = read_first_line(found.value)
    if tell_text(line.encode()) == "letor":
        message = f"expected lines of TREC, found SVMlight text, {quote(line)}"
        hint = "say what it is: --format letor, or File(path, 'letor')"
        raise FormatError(message, hint=hint, code="field_count", file=found.name, line=1)
    for separator, pattern in MOVIELENS.items():
        # Lines of TREC can hold :: and |, and the second column is 0 in most.
        is_trec = role == "qrels" and (separator != TABS or re.match(r"[^\t]*\t0\t", line))
        if not is_trec and re.match(pattern, line):
            hint = (
                f"pass {role}=pandas.read_csv(path, sep={separator}, header=None, "
                "encoding='latin-1'), and name its columns, such as item_id"
            )
            message = f"expected a first line that names the columns, found {quote(line)}"
            raise _refuse(message, hint, found, 1)


def _refuse(message: str, hint: str, found: Input, line: int) -> FormatError:
    return FormatError(message, hint=hint, code="columns", file=found.name, line=line)
