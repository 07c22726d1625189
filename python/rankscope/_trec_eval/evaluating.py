"""Reads judgments and runs, which are ranked and cut as in trec_eval, and evaluates measures."""

from __future__ import annotations

import os
import re
import sys
from array import array
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from contextlib import contextmanager
from operator import truediv
from typing import TYPE_CHECKING, TypeVar

from rankscope._core import Evaluation, Plan
from rankscope._evaluate.evaluating import load_qrels
from rankscope._evaluate.runs import evaluate_text
from rankscope._file import COMPRESSIONS, File
from rankscope._inputs.files import open_binary, read_whole
from rankscope._inputs.reading import Qrels
from rankscope._inputs.recognition import recognise
from rankscope._settings import Policy, Reading
from rankscope._trec_eval.columns import (
    RETRIEVED,
    Column,
    Evaluated,
    Kernel,
    describe_differences,
    make_measures,
    plan_columns,
)
from rankscope._trec_eval.requests import Options, Requested, entries_of
from rankscope.errors import DuplicateError, FormatError, InputError
from rankscope.measures.parse import parse

Read = TypeVar("Read")

if TYPE_CHECKING:
    from rankscope._trec_eval.columns import Doubles


POSITIVE: Kernel = parse("NumRel").kernel_spec()
CLEARED = {"num_ret", "utility", "rbp_resid", "relstring"}
"""The names of version 10 that it sets to 0 for a query that isn't in the run, in this spelling."""
FEW_RANKS = 1000
"""The length of relstring up to which the documents of the run aren't counted first."""
STAND_IN = b"ceci_nest_pas_un_docno"
"""The document of a query that isn't in the run, by its name in version 10."""


def evaluate_requests(
    requests: Sequence[Requested], qrels: Qrels, source: Source, options: Options
) -> tuple[list[Evaluated], Sequence[int]]:
    """Return the values of measures on a run, and which judged queries it has."""
    if any(map(is_long, requests)):
        [lengths], _ = evaluate_kernels(qrels, source, [RETRIEVED], options)
        longest = max(lengths)
        requests = [
            request._replace(values=(min(request.values[0], longest),))
            if is_long(request)
            else request
            for request in requests
        ]
    grades = qrels.judgments.grades()
    columns = [column for request in requests for column in plan_columns(request, grades, options)]
    kernels = list_kernels(columns)
    if options.is_complete:
        kernels[repr(POSITIVE)] = POSITIVE
    values, present = evaluate_kernels(qrels, source, list(kernels.values()), options)
    by_kernel = dict(zip(kernels, values, strict=True))
    evaluated = [_finish(column, by_kernel, present, options) for column in columns]
    source.notes.extend(
        describe_differences(requests, evaluated, grades, by_kernel, present, options=options)
    )
    return evaluated, present


def list_kernels(columns: Iterable[Column]) -> dict[str, Kernel]:
    """Return the computations for columns, by their text."""
    return {repr(kernel): kernel for column in columns for kernel in column.kernels}


def is_long(request: Requested) -> bool:
    """Check whether a text may be longer than all lists, for which the run is read twice."""
    return request.entry.name == "relstring" and request.values[0] > FEW_RANKS


def _finish(
    column: Column, by_kernel: Mapping[str, Doubles], present: Sequence[int], options: Options
) -> Evaluated:
    entry, columns = column.request.entry, column.compute(by_kernel)
    if options.dialect == "10" and (column.name in CLEARED or entry.name == "unj"):
        columns = [
            array("d", (v if is_present else 0.0 for v, is_present in zip(c, present, strict=True)))
            for c in columns
        ]
    is_counted = options.is_complete and entry.name == "num_rel"
    complete = by_kernel[repr(POSITIVE)] if is_counted else None
    return Evaluated(entry, column.name, columns, complete)


def plan_kernels(kernels: Iterable[Kernel], options: Options) -> Plan:
    """Plan the evaluation of kernels on lists that are ranked and cut as in trec_eval."""
    policy = Policy(
        ties="doc_id",
        empty="zero",
        missing="zero",
        unjudged="remove" if options.judged_only else "nonrelevant",
    )
    rows: list[tuple[str, str, Mapping[str, object], bool, tuple[str, float | None]]] = [
        (name, name, params, False, ("mean", None)) for name, params in kernels
    ]
    settings = policy.to_dict()
    return Plan(rows, settings, "error", options.score_type, [None], None, options.depth)


def evaluate_kernels(
    qrels: Qrels,
    source: Source,
    kernels: Sequence[Kernel],
    options: Options,
    *,
    is_part: bool = False,
) -> tuple[list[Doubles], Sequence[int]]:
    """Return the values of kernels by judged query, and whether each query is in the run.

    For a part of the judgments, there may be none.
    """
    plan = plan_kernels(kernels, options)

    def evaluate(run: File) -> tuple[list[Doubles], Sequence[int]]:
        values = evaluate_text(qrels.judgments, plan, recognise(run, "run"), Reading(), None)
        return list_values(values, len(kernels)), values.is_present()

    ids = qrels.query_texts
    try:
        columns, present = source.read(evaluate)
    except FormatError as error:
        if error.code != "no_common_queries" or not (is_part or options.fills_missing):
            raise
        return evaluate(stand_in(ids))[0], bytes(len(ids))
    missing = [query for query, is_present in enumerate(present) if not is_present]
    if options.fills_missing and missing:
        others, _ = evaluate(stand_in(ids[query] for query in missing))
        columns = [array("d", column) for column in columns]
        for column, other in zip(columns, others, strict=True):
            for query in missing:
                column[query] = other[query]
    return columns, present


def stand_in(queries: Iterable[str]) -> File:
    """Return a run that has one unjudged document for each of these queries."""
    ids = (query.encode("utf-8", "surrogatepass") for query in queries)
    return File(b"\n".join(b"%b Q0 %b 1 1 -" % (query, STAND_IN) for query in ids), "trec")


def list_values(values: Evaluation, count: int) -> list[Doubles]:
    """Return the values of each kernel by judged query; one that isn't in the run has 0."""
    return [memoryview(values.values(number)).cast("d") for number in range(count)]


IN_MEMORY = "<bytes>"
"""What errors call a file whose text was read or changed first."""

FIELDS = 6
TAIL = 1 << 16
"""How much of the end of a run is read for the name of the run."""

COMMENT = re.compile(rb"^[ \t]*#.*", re.MULTILINE)
FIELD = rb"[^ \t\n]+[ \t]+"
GRADED = re.compile(rb"^([ \t]*%b)([+-]?\d+)?[^ \t\r\n]*(?=[ \t\r]*$)" % (3 * FIELD), re.MULTILINE)
"""A line of judgments, with what trec_eval reads of its grade."""


class Source:
    """A run as the command line names it, which is read again if its text needs changes."""

    def __init__(self, path: str, *, keeps_text: bool, has_comments: bool) -> None:
        self.notes: list[str] = []
        self._path, self._has_comments = path, has_comments
        self._text = sys.stdin.buffer.read() if path == "-" and keeps_text else None

    def read(self, evaluate: Callable[[File], Read]) -> Read:
        """Return what a function makes of the run, without what trec_eval ignores."""
        with _naming("<stdin>" if self._path == "-" else self._path):
            try:
                return evaluate(self._file())
            except InputError as error:
                if not self._clean(error):
                    raise
            return evaluate(self._file())

    def _file(self) -> File:
        return File(self._path if self._text is None else self._text, "trec")

    def _clean(self, error: InputError) -> bool:
        """Remove comments and fields after the sixth, and return whether there were any."""
        is_unread = self._path == "-" and self._text is None
        if is_unread or (error.code != "field_count" and not self._has_comments):
            return False
        text = read_whole(self._path, self._path) if self._text is None else self._text
        lines = _blank_comments(text, self._has_comments).split(b"\n")
        cut = [
            b" ".join(fields[:FIELDS]) if len(fields := line.split()) > FIELDS else line
            for line in lines
        ]
        if cut != lines:
            self.notes.append(f"{self._path}: fields after the sixth are ignored, as in trec_eval")
        self._text = b"\n".join(cut)
        return self._text != text

    def find_run_id(self) -> str:
        """Return the name of the run in its last line."""
        tail = self._text if self._text is not None else _read_tail(self._path)
        for line in reversed(tail.splitlines()):
            fields = line.split()
            if len(fields) >= FIELDS and not line.startswith(b"#"):
                return fields[FIELDS - 1].decode("utf-8", "backslashreplace")
        raise FormatError(
            "expected the name of the run in the last line, found none",
            hint="lines have the fields query, Q0, document, rank, score and name",
            code="field_count",
            file=self._path,
        )


def read_judgments(path: str, notes: list[str], *, has_comments: bool) -> Qrels:
    """Read judgments; grades that aren't whole numbers are cut, as trec_eval reads them."""
    is_read = path == "-" or has_comments
    source = _blank_comments(read_whole(path, path), has_comments) if is_read else path
    qrels = _load(source, path)
    notes_of_core = [note for note in qrels.queries.notes if isinstance(note, tuple)]
    if twice := [line for code, _, line in notes_of_core if code == "duplicate_identical"]:
        raise DuplicateError(
            "expected each document once per query, found one twice with the same grade",
            hint="remove the second line, or use rankscope eval, which counts it once",
            code="duplicate_judgment",
            file=path,
            line=twice[0] or None,
        )
    fractions = [grade for grade in qrels.judgments.grades() if grade != int(grade)]
    if not fractions:
        return qrels
    notes.append(
        f"{path}: grades are cut to whole numbers, as trec_eval reads them: {fractions[0]:g} is "
        f"{int(fractions[0])}"
    )
    text = source if isinstance(source, bytes) else read_whole(path, path)
    return _load(GRADED.sub(lambda line: line[1] + (line[2] or b"0"), text), path)


def _load(source: str | bytes, path: str) -> Qrels:
    with _naming(path):
        return load_qrels(File(source, "trec"), Reading())


def read_lines(
    path: str, names: Sequence[str], *, has_comments: bool
) -> Iterator[tuple[int, list[bytes]]]:
    """Yield the number and the fields of each line, without blank lines."""
    text = _blank_comments(read_whole(path, path), has_comments)
    for number, line in enumerate(text.split(b"\n"), start=1):
        fields = line.split()
        if fields and len(fields) != len(names):
            raise FormatError(
                f"expected {len(names)} fields ({', '.join(names)}), found {len(fields)}",
                hint="columns are separated by blanks or tabs",
                code="field_count",
                file=path,
                line=number,
            )
        if fields:
            yield number, fields


def _read_tail(path: str) -> bytes:
    with open_binary(path, path) as file:
        start = file.read(4)
        if any(start.startswith(magic) for _, magic, _ in COMPRESSIONS):
            return read_whole(path, path)
        size = file.seek(0, os.SEEK_END)
        file.seek(max(0, size - TAIL))
        return file.read()


@contextmanager
def _naming(path: str) -> Iterator[None]:
    """Name the file in errors about its text, which was read or changed first."""
    try:
        yield
    except InputError as error:
        if error.file == IN_MEMORY:
            error.file = path
        raise


def _blank_comments(text: bytes, has_comments: bool) -> bytes:
    """Empty the lines that are comments, so that others keep their numbers."""
    return COMMENT.sub(b"", text) if has_comments else text


JUDGES_FIELDS = ("query", "judge", "document", "grade")
SUFFIX = "_avgjg"


def read_judges(path: str, *, has_comments: bool) -> tuple[Qrels, list[Qrels]]:
    """Read judgments whose second field names the judge: of all judges, and of each.

    Judges are in the order of the bytes of their names.
    """
    lines: dict[bytes, list[bytes]] = {}
    first: dict[tuple[bytes, bytes], bytes] = {}
    for _, fields in read_lines(path, JUDGES_FIELDS, has_comments=has_comments):
        query, judge, document, _ = fields
        line = b" ".join(fields)
        lines.setdefault(judge, []).append(line)
        first.setdefault((query, document), line)
    judges = [_load(b"\n".join(lines[judge]), IN_MEMORY) for judge in sorted(lines)]
    return _load(b"\n".join(first.values()), IN_MEMORY), judges


def evaluate_judges(
    requests: Sequence[Requested],
    qrels: Qrels,
    judges: Sequence[Qrels],
    source: Source,
    options: Options,
) -> tuple[list[Evaluated], Sequence[int]]:
    """Evaluate measures for each judge, and average them over the judges of each query."""
    names, kernels = [], []
    for request in requests:
        if request.entry.format == "qrels_jg":
            entry = entries_of("9")[request.entry.name.removesuffix(SUFFIX)]
            measures = make_measures(request._replace(entry=entry), options)
            names += [(request.entry, name) for name in request.names]
            kernels += [measure.kernel_spec() for measure in measures]
    # Version 10 also evaluates if no query is in the run.
    _, present = evaluate_kernels(qrels, source, [parse("NumQ").kernel_spec()], options)
    numbers = {query: number for number, query in enumerate(qrels.query_texts)}
    sums = [array("d", bytes(8 * len(numbers))) for _ in kernels]
    counts = [0] * len(numbers)
    for judge in judges:
        places = [numbers[query] for query in judge.query_texts]
        for place in places:
            counts[place] += 1
        columns, _ = evaluate_kernels(judge, source, kernels, options, is_part=True)
        for column, total in zip(columns, sums, strict=True):
            for place, value in zip(places, column, strict=True):
                total[place] += value
    return [
        Evaluated(entry, name, [array("d", map(truediv, total, counts))])
        for (entry, name), total in zip(names, sums, strict=True)
    ], present
