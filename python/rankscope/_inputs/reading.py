"""Reads judgments and runs of any kind into the core."""

from __future__ import annotations

from collections.abc import Mapping

from rankscope._core import Judgments, Rankings, Run
from rankscope._inputs.id_texts import spell_key_ids, spell_row_ids
from rankscope._inputs.numbers import is_integer
from rankscope._inputs.recognition import name_rows
from rankscope.errors import FormatError, InputError
from rankscope.names import quote
from rankscope.output.ids import TEXT, UUIDS, IdColumn, SourceIds, are_uuids

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Callable, Iterable, Iterator
    from typing import TypeAlias

    from rankscope._inputs.recognition import Input
    from rankscope.settings.reading import Reading
    from rankscope.typing import Second

    Tell: TypeAlias = Callable[[int], None] | None
    """What is called with the bytes of an input read so far."""
    Note: TypeAlias = tuple[str, int, int]
    Seen: TypeAlias = tuple[object, Mapping[str, str], Callable[[int], int], SourceIds | None]

WITHOUT_GRADE = {"missing_relevance", "rel_not_number"}
"""The codes of errors about a judgment that has no grade."""


def read_judgments(
    given: Input, reading: Reading, *, notes: list[Note], second: Second = "", tell: Tell = None
) -> tuple[Judgments, SourceIds]:
    """Read judgments, and describe their ids."""
    given = name_rows(given, reading.columns)
    try:
        return _read_judgments(given, reading, notes, second, tell)
    except InputError as error:
        if error.code == "subtopics_found":
            error.hint = (
                "add a measure of diversity such as alpha_nDCG, say subtopics=True in evaluate or "
                "read_qrels, or --subtopics in rankscope eval; measures that know no subtopics "
                "then take the highest grade of each document"
            )
        if second == "stratum" and error.code in WITHOUT_GRADE:
            # Without its row, the document would be missing from the size of its stratum.
            error.hint = "write -1 as the grade of a document that wasn't judged, and keep its row"
        raise


def _read_judgments(
    given: Input, reading: Reading, notes: list[Note], second: Second, tell: Tell
) -> tuple[Judgments, SourceIds]:
    duplicates = reading.duplicates
    if given.kind == "table":
        from rankscope._inputs import seen  # noqa: PLC0415 - only tables need PyArrow

        return seen.read_judgments(given, reading, notes=notes, second=second, tell=tell)
    if given.kind == "file":
        from rankscope._inputs.text_lines import refuse_unnamed_columns  # noqa: PLC0415 - loads late

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
    if given.kind == "table":
        from rankscope._inputs import seen  # noqa: PLC0415 - only tables need PyArrow

        return seen.read_run(given, reading)
    run = read_run(given, reading)
    return run, describe_keys(given.value) if isinstance(given.value, Mapping) else TEXT


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
        from rankscope._inputs import seen  # noqa: PLC0415 - only tables need PyArrow

        return seen.rank_run(judgments, given, ties, reading, notes=notes, tell=tell)
    return Rankings(judgments, read_run(given, reading, tell), ties, reading.duplicates)
