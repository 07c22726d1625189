"""Reads judgments and runs of any kind into the core, and text that names no columns."""

from __future__ import annotations

import re
import sys
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from functools import partial
from typing import TYPE_CHECKING, Any, NamedTuple, TypeAlias, TypedDict, TypeGuard

from rankscope._core import Judgments, Rankings, Run
from rankscope._inputs.files import read_first_line, read_whole, tell_text
from rankscope._inputs.numbers import is_integer
from rankscope._inputs.recognition import MEMBERS, Input
from rankscope._names import quote
from rankscope._settings import Reading
from rankscope._show.table import UUIDS, IdColumn, SourceIds, are_uuids
from rankscope.errors import FormatError, InputError, MeasureError, UsageError
from rankscope.measures import Measure
from rankscope.measures.parse import Measures, read_measures
from rankscope.measures.spec import Need

# What is called with the bytes of an input read so far.
Tell: TypeAlias = Callable[[int], None] | None

if TYPE_CHECKING:
    from rankscope._inputs.attribution import Combine, Positive, Repeats, Unknown
    from rankscope._inputs.items import Items
    from rankscope._show.diagnostics import Diagnostic
    from rankscope._show.table import Ids
    from rankscope.typing import HistoryLike, Second

    Note: TypeAlias = Diagnostic | tuple[str, int, int]


class Settings(TypedDict, total=False):
    """The keyword arguments of `attribute` other than the positive classes and predictions."""

    combine: Combine
    repeats: Repeats
    unlabelled: float | None
    unknown: Unknown
    separator: str | None


class LabelOptions(Settings, total=False):
    """The labels of a table that has them in place of grades, as keyword arguments."""

    labels: str | None
    predicted: str | None
    positive: Positive | None


SETTINGS = tuple(Settings.__annotations__)
LABELS = ("labels", "predicted", "positive", *SETTINGS)


# The codes of errors about a judgment that has no grade.
WITHOUT_GRADE = {"missing_relevance", "rel_not_number"}
TABS = r"'\t'"
# By separator, the lines of files of MovieLens; nine digits are seconds since 1970.
MOVIELENS = {
    "'::', engine='python'": ".*::",
    "'|'": r"(.*\|){3}",
    TABS: r"([^\t]*\t){3}\d{9,}$",
}


def read_judgments(
    source: Input, reading: Reading, *, notes: list[Note], second: Second = "", tell: Tell = None
) -> tuple[Judgments, SourceIds]:
    """Read judgments, and describe their ids."""
    duplicates, value = reading.duplicates, source.value
    try:
        if source.kind == "table":
            from rankscope._inputs import tabular

            return tabular.read_judgments(source, reading, notes=notes, second=second, tell=tell)
        if source.kind == "file":
            refuse_unnamed_columns(source, "qrels")
            with source.opened() as text:
                judgments = Judgments.from_path(text, reading.encoding, duplicates, tell, second)
        elif second:
            rows = _second_rows(value, second) if isinstance(value, Mapping) else value
            judgments = Judgments.from_subtopic_rows(rows, second, duplicates)
        else:
            read = Judgments.from_dict if source.kind == "mapping" else Judgments.from_rows
            judgments = read(value, duplicates)
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
    return judgments, describe_ids(source)


def _second_rows(lists: Mapping[object, object], second: str) -> Iterator[tuple[object, ...]]:
    """Yield the rows of a mapping of query to subtopic or stratum to its documents."""
    for query, topics in lists.items():
        for topic, docs in topics.items() if isinstance(topics, Mapping) else [(None, topics)]:
            if topics is docs or not isinstance(docs, MEMBERS):
                message = (
                    f"expected a mapping of query to {second} to documents, found "
                    f"{type(docs).__name__} below query {quote(query)}"
                )
                hint = f'write {{"q1": {{"{second}": {{"doc": 1}}}}}}'
                raise FormatError(message, hint=hint, code="not_a_mapping", file="qrels")
            for doc in docs:
                yield query, topic, doc, docs[doc] if isinstance(docs, Mapping) else 1


def describe_ids(source: Input) -> SourceIds:
    """Return the types of the ids in a mapping of query to its documents; text for other inputs."""
    lists = source.value
    if not isinstance(lists, Mapping):
        return source.ids
    kinds = set(map(type, lists))
    query = "int64" if all(map(is_integer, kinds)) else UUIDS if are_uuids(kinds) else ""
    are_integers = bool(lists) and all(
        isinstance(docs, MEMBERS) and all(map(is_integer, set(map(type, docs))))
        for docs in lists.values()
    )
    doc = "int64" if are_integers else ""
    return SourceIds(IdColumn("query_id", query), IdColumn("doc_id", doc))


def read_core(source: Input, reading: Reading, tell: Tell = None) -> Run:
    """Read a run into memory, unless it is there, without describing its ids."""
    value, scores_as = source.value, reading.scores_as
    if source.kind == "table":
        return read_lists(source, reading, [])[0]
    if source.kind == "file":
        with source.opened() as text:
            run = Run.from_path(text, reading.encoding, scores_as, reading.duplicates, tell)
    elif source.kind == "mapping":
        run = Run.from_dict(value, scores_as)
    elif source.kind == "run" and scores_as == "float64":
        run = value
    else:
        if source.kind == "run":
            from rankscope._inputs.run import list_columns

            value = zip(*list_columns(value), strict=True)
        run = Run.from_rows(value, scores_as)
    return run.without_same() if reading.ignore_same else run


def read_lists(
    source: Input, reading: Reading, notes: list[Note], tell: Tell = None
) -> tuple[Run, SourceIds]:
    """Read a run of any kind into memory without judgments, and describe its ids."""
    if source.kind == "table":
        from rankscope._inputs import tabular

        run, ids = tabular.read_run(source, reading, notes, tell)
    else:
        run, ids = read_core(source, reading, tell), describe_ids(source)
    notes += run.notes()
    return run, ids


def rank_run(
    judgments: Judgments, run: Input, ties: str, reading: Reading, *, notes: list[Note], tell: Tell
) -> Rankings:
    """Read a run into memory, join it with its judgments, and rank it; see `read_judgments`."""
    if run.kind == "table":
        from rankscope._inputs import tabular

        return tabular.rank_run(judgments, run, ties, reading, notes=notes, tell=tell)
    return Rankings(judgments, read_core(run, reading, tell), ties, reading.duplicates)


def read_lines(source: Input, encoding: str) -> list[str]:
    """Return the lines of a file of one ID a line, without blank ones."""
    try:
        text = read_whole(source.value, source.name, encoding).decode("utf-8-sig")
    except UnicodeDecodeError:
        message = "expected text in UTF-8, found other bytes"
        hint = "say encoding='latin-1' or --encoding latin-1, or save it as UTF-8"
        raise FormatError(message, hint=hint, code="not_utf8", file=source.name) from None
    lines = text.splitlines()
    for number, line in enumerate(lines, 1):
        if len(line.split()) > 1:
            message = f"expected one ID in each line, found {quote(line)}"
            hint = "say what it is: --format csv, or File(path, 'csv')"
            raise FormatError(message, hint=hint, code="columns", file=source.name, line=number)
    return [line.strip() for line in lines if line.strip()]


def refuse_unnamed_columns(source: Input, role: str) -> None:
    """Raise an error for a file of MovieLens that doesn't name its columns."""
    if source.kind != "file" or not isinstance(source.value, str):
        return
    line = read_first_line(source.value)
    if tell_text(line.encode()) == "letor":
        message = f"expected lines of TREC, found SVMlight text, {quote(line)}"
        hint = "say what it is: --format letor, or File(path, 'letor')"
        raise FormatError(message, hint=hint, code="field_count", file=source.name, line=1)
    for separator, pattern in MOVIELENS.items():
        # Lines of TREC can hold :: and |, and the second column is 0 in most.
        is_trec = role == "qrels" and (separator != TABS or re.match(r"[^\t]*\t0\t", line))
        if not is_trec and re.match(pattern, line):
            message = f"expected a first line that names the columns, found {quote(line)}"
            hint = (
                f"pass {role}=pandas.read_csv(path, sep={separator}, header=None, "
                "encoding='latin-1'), and name its columns, such as item_id"
            )
            raise FormatError(message, hint=hint, code="columns", file=source.name, line=1)


class Queries(NamedTuple):
    """The judged queries of an evaluation.

    `duplicates` says how documents that are judged twice were handled, `read_ids` returns the IDs
    as text in input order, and `subtopics` is the number of judgments by subtopic.
    """

    name: str
    duplicates: str
    read_ids: Callable[[], list[str]]
    notes: tuple[Note, ...] = ()
    source: SourceIds = SourceIds()
    subtopics: int = 0

    @property
    def ids(self) -> Ids:
        """The IDs as the caller has them."""
        return self.source.query.restore(self.read_ids())

    def __reduce__(self) -> tuple[object, ...]:
        # With the IDs alone: a result that travels leaves the documents at home.
        read_ids: Callable[[], list[str]] = partial(list, tuple(self.read_ids()))
        return Queries, tuple(self._replace(read_ids=read_ids))


@dataclass(frozen=True, slots=True)
class Qrels:
    """The judgments of many queries, from `read_qrels`, to pass to `evaluate`.

    Args:
        judgments: The judgments in the core.
        queries: The judged queries.
    """

    judgments: Judgments
    queries: Queries

    def __repr__(self) -> str:
        return f"Qrels({self.queries.name!r}, {len(self.query_texts)} queries)"

    @property
    def query_ids(self) -> Ids:
        """The IDs of the queries, in input order: integers if they were, else text."""
        return self.queries.ids

    @property
    def query_texts(self) -> list[str]:
        """The IDs of the queries as text, which is how messages show them."""
        return self.judgments.query_ids()


class Attributed(NamedTuple):
    """The columns of a table that hold labels in place of grades, and what they are worth."""

    labels: str
    predicted: str | None
    positive: Positive | None
    settings: Settings


@dataclass(frozen=True, slots=True)
class JoinedColumns:
    """The columns that are read of a table whose rows hold a score, or a rank, and a grade.

    `names` has, by role, the columns that the caller names; `attributes` are those of the query.
    """

    names: Mapping[str, str | None]
    attributes: Sequence[str] = ()
    attributed: Attributed | None = None


# What each argument is, for messages.
MEANINGS: dict[Need, str] = {
    "history": "the interactions of users with items before the recommendations",
    "items": "the attributes of items",
    "catalogue": "the items that can be recommended",
}


def are_items(value: object) -> TypeGuard[Items]:
    """Check whether a value is the result of `read_items`."""
    module = sys.modules.get("rankscope._inputs.items")
    return module is not None and isinstance(value, module.Items)


def load_items(
    *, history: HistoryLike | None, items: object, catalogue: object, reading: Reading
) -> Items:
    """Read what is known of items; `rankscope.read_items` documents the arguments."""
    from rankscope._inputs.items import describe_items, make_items, read_catalogue, read_history

    described, notes = (None, ()) if items is None else describe_items(items, reading)
    parts = (
        None if catalogue is None else read_catalogue(catalogue, reading),
        None if history is None else read_history(history, reading),
        described,
    )
    pairs = zip(("catalogue", "history", "items"), parts, strict=True)
    arguments = frozenset(name for name, part in pairs if part is not None)
    loaded = make_items(parts, arguments, notes)
    if arguments and loaded.core.offered() == 0:
        message = "expected at least one item that can be recommended, found none"
        file = "catalogue" if catalogue is not None else None
        raise FormatError(message, hint="is the catalogue empty?", code="empty_input", file=file)
    return loaded


def read_items_for(
    measures: Measures,
    *,
    history: HistoryLike | None,
    items: object,
    catalogue: object,
    reading: Reading | None = None,
) -> Items | None:
    """Read what measures need to know of items; `None` if none of them needs to know anything."""
    requested = read_measures(measures)[0]
    if are_items(items):
        if history is not None or catalogue is not None:
            message = (
                "expected the result of read_items alone, found history or catalogue beside it"
            )
            raise UsageError(message, hint="pass them to read_items", code="bad_parameter")
        return check_items(requested, items)
    needing = [measure for measure in requested if measure.row.of_items]
    if not needing:
        return None
    sources: dict[str, Any] = {"history": history, "items": items, "catalogue": catalogue}
    _check_needs(needing, {name for name, source in sources.items() if source is not None})
    return check_items(needing, load_items(**sources, reading=reading or Reading()))


def check_items(measures: list[Measure], items: Items | None) -> Items | None:
    """Return what is known of items, nothing if no measure needs to know it."""
    if items is not None and not are_items(items):
        raise UsageError(
            f"expected items as read_items returns them, found {type(items).__name__}",
            hint="write items=read_items(history=…, items=…)",
            code="bad_parameter",
        )
    needing = [measure for measure in measures if measure.row.of_items]
    if not needing:
        return None
    from rankscope._inputs.items import make_items

    items = items or make_items((None, None, None), frozenset())
    _check_needs(needing, items.arguments)
    are_vectors, described = items.attributes == "vectors", items.parts[-1]
    for measure in needing:
        # Hamming and Euclidean distances see the size of numbers, and not just their proportions.
        is_by_size = measure.parameters.get("distance") in {"hamming", "euclidean"}
        problem = hint = ""
        if measure.row.categories and are_vectors:
            problem = "needs the categories of items, found vectors of numbers"
            hint = "pass items with categories, such as the genres of each"
        elif are_vectors and "items" in measure.row.needs and not is_by_size and described[1] == 1:  # type: ignore[index]  # there are vectors
            problem = "doesn't depend on the list if each item has a single number"
            hint = "if the numbers are codes of categories, write them as text, such as c7"
        if problem:
            raise MeasureError(f"{measure} {problem}", hint=hint, code="items_unavailable")
    return items


def _check_needs(measures: list[Measure], arguments: frozenset[str] | set[str]) -> None:
    for measure in measures:
        for need in measure.row.needs:
            # Without a catalogue, it is the items that are described, or those of the history.
            if need in arguments or (need == "catalogue" and arguments):
                continue
            hint = f"pass {need}=…, or --{need} FILE on the command line"
            message = f"{measure} needs {need}: {MEANINGS[need]}"
            raise MeasureError(message, hint=hint, code="items_unavailable")
