"""`rankscope trec_eval`: prints what trec_eval prints, to the byte."""

from __future__ import annotations

import math
import sys
from argparse import Namespace
from array import array
from collections.abc import Callable, Mapping, Sequence
from functools import partial
from typing import TYPE_CHECKING, TypeAlias

from rankscope import __version__
from rankscope._cli.options import refuse_stdin_twice
from rankscope._cli.parser import Parser, print_error, print_notes
from rankscope._core import Lines
from rankscope._inputs.files import open_binary
from rankscope._inputs.reading import Qrels
from rankscope._names import quote
from rankscope._settings import count_threads
from rankscope._trec_eval.columns import Evaluated
from rankscope._trec_eval.evaluating import (
    Source,
    evaluate_judges,
    evaluate_requests,
    is_long,
    read_judges,
    read_judgments,
)
from rankscope._trec_eval.requests import (
    NICKNAMES,
    UNQUERIED,
    Entry,
    Form,
    Options,
    Requested,
    entries_of,
    read_requests,
    refuse,
)
from rankscope.errors import (
    DuplicateError,
    EmptyError,
    FileError,
    FormatError,
    InputError,
    RankscopeError,
    UsageError,
)

Moments: TypeAlias = Mapping[tuple[str, str], tuple[float, float]]

if TYPE_CHECKING:
    from rankscope._trec_eval.columns import Doubles

    Evaluate: TypeAlias = Callable[[Source, Options], tuple[list[Evaluated], Sequence[int]]]


AT_ONCE = 1024
"""The queries that are printed at once."""

LEAST = 0.000_01
"""The smallest value in a geometric mean."""

FIELDS = 4
WITHOUT_MEAN = -1_000_000.0
"""What trec_eval prints if the file has no mean, or a deviation of 0 and another mean."""


class Report:
    """The text of a run: its queries in the order in which they are printed, and those averaged."""

    def __init__(
        self, evaluated: Sequence[Evaluated], order: list[int], averaged: list[int]
    ) -> None:
        self._evaluated, self._order, self._averaged = evaluated, order, averaged
        self._is_standardized = False

    def standardize(self, queries: Sequence[str], moments: Moments) -> None:
        """Replace values by deviations from their means, in standard deviations."""
        self._is_standardized = True
        self._evaluated = [standardize(measure, queries, moments) for measure in self._evaluated]

    def _name(self, name: str) -> str:
        """Return a name as a column, with a letter before it where values are deviations."""
        return f"{'Z' if self._is_standardized else ''}{name:<22}"

    def _lines(self, evaluated: Sequence[Evaluated]) -> Lines:
        """Return the lines of queries, and their sums."""
        columns: list[tuple[str, str, list[Doubles]]] = []
        for measure in evaluated:
            form, name = measure.entry.form, measure.name
            if form != "text":
                form, name = "value" if self._is_standardized else form, self._name(name)
            columns.append((name, form, list(measure.columns)))
        return Lines(columns, self._order)

    def _summarize(self, measure: Evaluated, total: float, logarithms: float) -> float:
        """Return the value of all queries, from sums that are added in the order of trec_eval."""
        count = len(self._averaged)
        if measure.complete is not None:
            total = sum(measure.complete[query] for query in self._averaged)
        if measure.entry.form == "count":
            return total
        if not measure.entry.is_geometric:
            return total / count
        lacking = count - len(self._order)  # they aren't in the run
        added = total if self._is_standardized else logarithms
        return math.exp((added + lacking * math.log(LEAST)) / count)

    def _write(self, name: str, value: float, form: Form) -> str:
        """Return the line of all queries."""
        if form == "count" and not self._is_standardized:
            text = f"{value:.0f}"
        elif math.isnan(value):  # C prints its sign
            text = f"{'-nan' if math.copysign(1, value) < 0 else 'nan':>6}"
        else:
            text = f"{value:6.4f}"
        return f"{self._name(name)}\tall\t{text}\n"

    def print_queries(self, qrels: Qrels) -> None:
        """Print the values of each query."""
        lines = self._lines([shown for shown in self._evaluated if not shown.entry.is_geometric])
        threads = count_threads(None)
        for start in range(0, len(self._order), AT_ONCE):
            written = lines.write(qrels.judgments, start, start + AT_ONCE, threads)
            sys.stdout.write(written.decode())

    def print_summary(self, requests: Sequence[Requested], run_id: str) -> None:
        """Print the values of all queries."""
        summed = [measure for measure in self._evaluated if measure.entry.form != "text"]
        texts = {
            "runid": [f"{'runid':<22}\tall\t{run_id}\n"],
            "num_q": [self._write("num_q", len(self._averaged), "count")],
        }
        for measure, sums in zip(summed, self._lines(summed).sums(), strict=True):
            line = self._write(measure.name, self._summarize(measure, *sums), measure.entry.form)
            texts.setdefault(measure.entry.name, []).append(line)
        for request in requests:
            sys.stdout.writelines(texts.get(request.entry.name, ()))


def read_moments(path: str) -> Moments:
    """Return the mean and the standard deviation by query and measure."""
    moments = {}
    with open_binary(path, path) as file:
        text = file.read().decode("utf-8", "replace")
    for number, line in enumerate(text.split("\n"), start=1):
        fields = line.split()
        if not fields:
            continue
        try:
            query, measure, mean, deviation = fields
            moments[query, measure] = float(mean), float(deviation)
        except ValueError:
            raise FormatError(
                f"expected a query, a measure, a mean and a deviation, found {quote(line)}",
                hint="each line has four fields",
                code="field_count" if len(fields) != FIELDS else "not_a_number",
                file=path,
                line=number,
            ) from None
    return moments


def standardize(measure: Evaluated, queries: Sequence[str], moments: Moments) -> Evaluated:
    """Return values as deviations from their means, in standard deviations."""
    if measure.entry.form == "text":
        return measure
    values = array("d")
    for query, value in zip(queries, measure.columns[0], strict=True):
        mean, deviation = moments.get((query, measure.name), (math.nan, 0.0))
        number = math.log(max(value, LEAST)) if measure.entry.is_geometric else value
        if deviation != 0:
            values.append((number - mean) / deviation)
        else:
            values.append(0.0 if number == mean else WITHOUT_MEAN)
    return measure._replace(columns=[values])


MOST_DIGITS = 18
"""Of a count: more may not fit into 64 bits."""
WRONG_USAGE = 1
UNREADABLE = 2
UNUSABLE = 4
NOTHING_COMMON = 7
HINTS = {
    "duplicate_doc": "remove one of them, or use rankscope eval --duplicates first",
    "duplicate_conflict": "remove one of them, or use rankscope eval --duplicates first",
    "encoding": "convert the file, such as with iconv -f latin1 -t utf-8",
}
"""Hints for mistakes that other commands have an option for."""
VERSIONS = {"9": "9.0.8", "10": "10.0"}
FORMATS = {"-R": ("qrels", "qrels_jg", "prefs", "qrels_prefs"), "-T": ("trec_results",)}


def add_arguments(parser: Parser) -> None:
    """Add the arguments of the command."""
    parser.usage_status = WRONG_USAGE
    parser.allow_abbrev = True  # as getopt_long does
    add = parser.add_argument
    flag = partial(add, action="store_true")
    add("qrels", nargs="?", metavar="QRELS", help="judgments, as TREC text")
    text = "one or more runs, as TREC text, printed one after the other; '-' for standard input"
    add("runs", nargs="*", metavar="RUN", help=text)
    flag("-q", "--query_eval_wanted", help="print the values of each query")
    flag("-n", "--nosummary", help="don't print the values of all queries")
    text = "average over all judged queries; those that aren't in the run count as 0"
    flag("-c", "--complete_rel_info_wanted", help=text)
    text = (
        "measure, such as map, P.5,10 or ndcg.1=3,2=9, or a nickname, such as all_trec "
        "(default: official)"
    )
    add("-m", "--measure", action="append", default=[], metavar="MEASURE", help=text)
    text = "lowest grade that counts as relevant"
    add("-l", "--level_for_rel", metavar="LEVEL", default="1", help=text)
    text = "number of documents per query that count (default: all)"
    add("-M", "--Max_retrieved_per_topic", metavar="NUMBER", help=text)
    text = "number of documents in the collection, for utility"
    add("-N", "--Number_docs_in_coll", metavar="NUMBER", default="0", help=text)
    flag("-J", "--Judged_docs_only", help="remove unjudged documents from the list first")
    text = (
        "format of the judgments: qrels; qrels_jg, where the second field names the judge; or "
        "prefs or qrels_prefs, which are preferences"
    )
    add("-R", "--Rel_info_format", metavar="FORMAT", default="qrels", help=text)
    text = "format of the run"
    add("-T", "--Results_format", metavar="FORMAT", default="trec_results", help=text)
    text = "print deviations from the means in this file, in standard deviations"
    add("-Z", "--Zscore", metavar="FILE", help=text)
    text = "evaluate this query only; nothing else is printed for debugging"
    add("-D", "--Debug_level", metavar="LEVEL[.QUERY]", help=text)
    flag("-o", "--Output_old_results_format", help="has no effect")
    flag("-v", "--version", help="print the version to standard error, and exit")
    text = "version of trec_eval whose rules and measures count"
    add("--dialect", choices=tuple(VERSIONS), default="9", help=text)
    parser.add_examples(
        "rankscope trec_eval qrels.txt bm25.run",
        "rankscope trec_eval -q -m all_trec qrels.txt bm25.run",
        "rankscope trec_eval -c -l2 -m P.5,10 -m ndcg_cut.10 qrels.txt bm25.run",
        "rankscope trec_eval -m runid -m map qrels.txt runs/*.run",
    )
    entries, all_entries = entries_of("9"), entries_of("10")
    for title, names in (
        ("measures", [name for name in entries if entries[name].format == "qrels"]),
        ("measures of version 10 (--dialect 10)", all_entries.keys() - entries),
        ("measures of judges (-R qrels_jg)", NICKNAMES["qrels_jg"] - UNQUERIED),
        ("measures of preferences (-R prefs)", NICKNAMES["all_prefs"] - UNQUERIED),
        ("nicknames", NICKNAMES),
    ):
        shown = [name for name in all_entries if name in names] or names
        parser.add_argument_group(title, ", ".join(shown))
    parser.set_defaults(run=run)


def run(options: Namespace) -> int:
    """Evaluate the run, print the values, and return the exit status of trec_eval."""
    if options.version:
        version = VERSIONS[options.dialect]
        print(f"rankscope {__version__}, as trec_eval version {version}", file=sys.stderr)
        return 0
    try:
        _evaluate(options, _read_options(options))
    except RankscopeError as error:
        error.hint = HINTS.get(error.code, error.hint)
        print_error(error, as_json=False)
        return _find_status(error)
    return 0


def _read_options(options: Namespace) -> Options:
    """Check the arguments, and return the choices that values depend on."""
    if not options.runs:
        raise UsageError(
            "expected judgments and a run",
            hint="write rankscope trec_eval QRELS RUN",
            code="usage",
        )
    refuse_stdin_twice([options.qrels, *options.runs])
    for option, name in (("-R", options.Rel_info_format), ("-T", options.Results_format)):
        if name not in FORMATS[option]:
            raise FormatError(
                f"unknown format {quote(name)} for {option}",
                hint=f"use {' or '.join(FORMATS[option])}",
                code="unsupported_format",
            )
    most = options.Max_retrieved_per_topic
    return Options(
        level=_read_count(options.level_for_rel, "-l"),
        documents=_read_count(options.Number_docs_in_coll, "-N"),
        depth=None if most is None else _read_count(most, "-M"),
        judged_only=options.Judged_docs_only,
        is_complete=options.complete_rel_info_wanted,
        dialect=options.dialect,
    )


def _evaluate(arguments: Namespace, options: Options) -> None:
    """Read the judgments, and print the values of each run."""
    form, has_summary = arguments.Rel_info_format, not arguments.nosummary
    notes: list[str] = []
    requests = read_requests(arguments.measure, options.dialect)
    for request in requests:
        _check_format(request.entry, form)
        if request.entry.takes == "cutoffs" and "." in request.text:
            name = f"{request.entry.name}.{request.text}"
            notes.append(f"{name}: trec_eval leaves out decimals of cutoffs")
    moments = read_moments(arguments.Zscore) if arguments.Zscore else None
    # Version 10 skips comments in all files.
    has_comments = options.dialect == "10"
    if form == "qrels_jg":
        qrels, judges = read_judges(arguments.qrels, has_comments=has_comments)
        evaluate: Evaluate = partial(evaluate_judges, requests, qrels, judges)
    elif form == "qrels":
        qrels = read_judgments(arguments.qrels, notes, has_comments=has_comments)
        evaluate = partial(evaluate_requests, requests, qrels)
    else:
        from rankscope._trec_eval.preferences import evaluate_preferences, read_preferences

        preferences = read_preferences(arguments.qrels, form, has_comments=has_comments)
        qrels = preferences.qrels
        evaluate = partial(evaluate_preferences, requests, preferences)
    print_notes(notes)
    ids = qrels.query_texts
    judged = sorted(range(len(ids)), key=lambda query: ids[query].encode("utf-8", "surrogatepass"))
    only = (arguments.Debug_level or "").partition(".")[2]
    needs_id = "runid" in {request.entry.name for request in requests} and has_summary
    # These may read the run more than once.
    keeps_text = needs_id or form != "qrels" or any(map(is_long, requests))
    for path in arguments.runs:
        source = Source(path, keeps_text=keeps_text, has_comments=has_comments)
        evaluated, present = evaluate(source, options)
        order = [query for query in judged if present[query] or options.fills_missing]
        order = [query for query in order if ids[query] == only] if only else order
        if not order:
            raise EmptyError(
                f"expected the query {quote(only)} in the judgments and the run",
                hint="leave -D out",
                code="no_common_queries",
            )
        report = Report(evaluated, order, judged if options.is_complete else order)
        run_id = source.find_run_id() if needs_id else ""
        are_several = len(arguments.runs) > 1
        print_notes(
            f"{path}: {note}" if are_several and not note.startswith(path) else note
            for note in source.notes
        )
        if moments is not None:
            report.standardize(ids, moments)
        if arguments.query_eval_wanted:
            report.print_queries(qrels)
        if has_summary:
            report.print_summary(requests, run_id)


def _check_format(entry: Entry, form: str) -> None:
    """Refuse a measure that needs another format of judgments."""
    if entry.format != form.replace("qrels_prefs", "prefs") and entry.name not in UNQUERIED:
        raise refuse(
            f"{entry.name} needs judgments of the format {entry.format}, found {form}",
            f"add -R {entry.format}",
            status=UNUSABLE,
            code="unsupported_format",
        )


def _read_count(text: str, option: str) -> int:
    digits = text.strip().removeprefix("+").lstrip("0") or "0"
    if not (digits.isascii() and digits.isdigit() and len(digits) <= MOST_DIGITS):
        raise UsageError(
            f"expected a whole number of 0 or more, of at most {MOST_DIGITS} digits, for {option}, "
            f"found {quote(text)}",
            hint=f"write {option} 1",
            code="usage",
        )
    return int(digits)


def _find_status(error: RankscopeError) -> int:
    """Return the exit status with which trec_eval ends for the same reason."""
    if "exit_status" in vars(error):  # known where it was raised
        return error.exit_status
    if error.code in {"no_common_queries", "no_queries"}:
        return NOTHING_COMMON
    if isinstance(error, DuplicateError) or error.code == "conflicting_preferences":
        return UNUSABLE
    if isinstance(error, InputError | FileError):
        return UNREADABLE
    return WRONG_USAGE if isinstance(error, UsageError) else error.exit_status
