"""The arguments of `rankscope trec_eval`, which are those of trec_eval."""

from __future__ import annotations

import sys

from rankscope import __version__
from rankscope.cli.output import print_error, print_notes
from rankscope.errors import (
    DuplicateError,
    EmptyError,
    FileError,
    FormatError,
    InputError,
    MeasureError,
    RankscopeError,
    UsageError,
)
from rankscope.names import quote
from rankscope.trec_eval.catalog import NICKNAMES, UNQUERIED, entries_of
from rankscope.trec_eval.evaluating import evaluate_requests, is_long
from rankscope.trec_eval.judges import evaluate_judges, read_judges
from rankscope.trec_eval.preferences import evaluate_preferences, read_preferences
from rankscope.trec_eval.printing import Layout, print_values, read_moments
from rankscope.trec_eval.reading import Source, read_judgments
from rankscope.trec_eval.requests import read_requests

TYPE_CHECKING = False
if TYPE_CHECKING:
    from argparse import Namespace

    from rankscope.cli.parser import Parser
    from rankscope.trec_eval.catalog import Entry

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


def add_arguments(parser: Parser) -> None:
    """Add the arguments of the command."""
    parser.usage_status = WRONG_USAGE
    parser.allow_abbrev = True  # as getopt_long does
    parser.add_argument("qrels", nargs="?", metavar="QRELS", help="judgments, as TREC text")
    parser.add_argument(
        "results", nargs="?", metavar="RUN", help="run, as TREC text; '-' for standard input"
    )
    parser.add_argument(
        "-q", "--query_eval_wanted", action="store_true", help="print the values of each query"
    )
    parser.add_argument(
        "-n", "--nosummary", action="store_true", help="don't print the values of all queries"
    )
    parser.add_argument(
        "-c",
        "--complete_rel_info_wanted",
        action="store_true",
        help="average over all judged queries; those that aren't in the run count as 0",
    )
    parser.add_argument(
        "-m",
        "--measure",
        action="append",
        default=[],
        metavar="MEASURE",
        help="measure, such as map, P.5,10 or ndcg.1=3,2=9, or a nickname, such as all_trec "
        "(default: official)",
    )
    parser.add_argument(
        "-l",
        "--level_for_rel",
        metavar="LEVEL",
        default="1",
        help="lowest grade that counts as relevant",
    )
    parser.add_argument(
        "-M",
        "--Max_retrieved_per_topic",
        metavar="NUMBER",
        help="number of documents per query that count (default: all)",
    )
    parser.add_argument(
        "-N",
        "--Number_docs_in_coll",
        metavar="NUMBER",
        default="0",
        help="number of documents in the collection, for utility",
    )
    parser.add_argument(
        "-J",
        "--Judged_docs_only",
        action="store_true",
        help="remove unjudged documents from the list first",
    )
    parser.add_argument(
        "-R",
        "--Rel_info_format",
        metavar="FORMAT",
        default="qrels",
        help="format of the judgments: qrels; qrels_jg, where the second field names the judge; or "
        "prefs or qrels_prefs, which are preferences",
    )
    parser.add_argument(
        "-T", "--Results_format", metavar="FORMAT", default="trec_results", help="format of the run"
    )
    parser.add_argument(
        "-Z",
        "--Zscore",
        metavar="FILE",
        help="print deviations from the means in this file, in standard deviations",
    )
    parser.add_argument(
        "-D",
        "--Debug_level",
        metavar="LEVEL[.QUERY]",
        help="evaluate this query only; nothing else is printed for debugging",
    )
    parser.add_argument(
        "-o", "--Output_old_results_format", action="store_true", help="has no effect"
    )
    parser.add_argument(
        "-v", "--version", action="store_true", help="print the version to standard error, and exit"
    )
    parser.add_argument(
        "--dialect",
        choices=("9", "10"),
        default="9",
        help="version of trec_eval whose rules and measures count",
    )
    parser.add_examples(
        "rankscope trec_eval qrels.txt bm25.run",
        "rankscope trec_eval -q -m all_trec qrels.txt bm25.run",
        "rankscope trec_eval -c -l2 -m P.5,10 -m ndcg_cut.10 qrels.txt bm25.run",
    )
    _list_measures(parser)
    parser.set_defaults(run=run)


def _list_measures(parser: Parser) -> None:
    """Show the names that `-m` takes in the help."""
    known = entries_of("9")
    of_format = {
        format_: [name for name, entry in known.items() if entry.format == format_]
        for format_ in ("qrels", "qrels_jg", "prefs")
    }
    newer = [name for name in entries_of("10") if name not in known]
    parser.add_argument_group("measures", ", ".join(of_format["qrels"]))
    parser.add_argument_group("measures of version 10 (--dialect 10)", ", ".join(newer))
    parser.add_argument_group("measures of judges (-R qrels_jg)", ", ".join(of_format["qrels_jg"]))
    parser.add_argument_group("measures of preferences (-R prefs)", ", ".join(of_format["prefs"]))
    parser.add_argument_group("nicknames", ", ".join(NICKNAMES))


def run(options: Namespace) -> int:
    """Evaluate the run, print the values, and return the exit status of trec_eval."""
    if options.version:
        version = VERSIONS[options.dialect]
        print(f"rankscope {__version__}, as trec_eval version {version}", file=sys.stderr)
        return 0
    try:
        _check(options)
        _evaluate(options)
    except RankscopeError as error:
        error.hint = HINTS.get(error.code, error.hint)
        print_error(error, as_json=False)
        return _find_status(error)
    return 0


def _check(options: Namespace) -> None:
    """Turn numbers in the arguments into numbers."""
    if options.results is None:
        raise UsageError(
            "expected judgments and a run",
            hint="write rankscope trec_eval QRELS RUN",
            code="usage",
        )
    if options.qrels == options.results == "-":
        raise UsageError(
            "expected '-' for one input, found it for both",
            hint="name a file for the judgments",
            code="stdin_twice",
        )
    formats = {
        "-R": (("qrels", "qrels_jg", "prefs", "qrels_prefs"), options.Rel_info_format),
        "-T": (("trec_results",), options.Results_format),
    }
    for option, (known, given) in formats.items():
        if given not in known:
            raise FormatError(
                f"unknown format {quote(given)} for {option}",
                hint=f"use {' or '.join(known)}",
                code="unsupported_format",
            )
    options.level = _read_count(options.level_for_rel, "-l")
    options.documents = _read_count(options.Number_docs_in_coll, "-N")
    most = options.Max_retrieved_per_topic
    options.depth = None if most is None else _read_count(most, "-M")


def _evaluate(options: Namespace) -> None:
    notes: list[str] = []
    requests = read_requests(options.measure, options.dialect)
    for one in requests:
        _check_format(one.entry, options.Rel_info_format)
        if one.entry.takes == "cutoffs" and "." in one.text:
            notes.append(f"{one.entry.name}.{one.text}: trec_eval leaves out decimals of cutoffs")
    needs_id = any(request.entry.name == "runid" for request in requests) and not options.nosummary
    # These may read the run more than once.
    keeps_text = needs_id or options.Rel_info_format != "qrels" or any(map(is_long, requests))
    # Version 10 skips comments in all files.
    has_comments = options.dialect == "10"
    source = Source(options.results, keeps_text=keeps_text, has_comments=has_comments)
    moments = read_moments(options.Zscore) if options.Zscore else None
    if options.Rel_info_format == "qrels_jg":
        judges = read_judges(options.qrels, has_comments=has_comments)
        qrels = judges.every
        evaluated, values = source.read(
            lambda: evaluate_judges(requests, judges, source, options), notes.append
        )
    elif options.Rel_info_format in {"prefs", "qrels_prefs"}:
        preferences = read_preferences(
            options.qrels, options.Rel_info_format, has_comments=has_comments
        )
        qrels = preferences.qrels
        evaluated, values = source.read(
            lambda: evaluate_preferences(requests, preferences, source, options), notes.append
        )
    else:
        qrels = read_judgments(options.qrels, notes.append, has_comments=has_comments)
        evaluated, values = evaluate_requests(requests, qrels, source, options, notes.append)
    ids = qrels.query_texts
    is_complete = options.complete_rel_info_wanted
    order = values.judged if is_complete and options.dialect == "10" else values.retrieved
    _, _, only = (options.Debug_level or "").partition(".")
    if only:
        order = [query for query in order if ids[query] == only]
    if not order:
        raise EmptyError(
            f"expected the query {quote(only)} in the judgments and the run",
            hint="leave -D out",
            code="no_common_queries",
        )
    layout = Layout(
        has_queries=options.query_eval_wanted,
        has_summary=not options.nosummary,
        order=order,
        counted=values.judged if is_complete else order,
        run_id=source.find_run_id() if needs_id else "",
        moments=moments,
    )
    print_notes(notes)
    print_values(requests, evaluated, values, ids, layout)


def _check_format(entry: Entry, given: str) -> None:
    """Refuse a measure that needs another format of judgments."""
    needed = "prefs" if given == "qrels_prefs" else given
    if entry.format == needed or entry.name in UNQUERIED:
        return
    mistake = MeasureError(
        f"{entry.name} needs judgments of the format {entry.format}, found {given}",
        hint=f"add -R {entry.format}",
        code="unsupported_format",
    )
    mistake.exit_status = UNUSABLE
    raise mistake


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
    if isinstance(error, DuplicateError):
        return UNUSABLE
    if isinstance(error, InputError | FileError):
        return UNREADABLE
    return WRONG_USAGE if isinstance(error, UsageError) else error.exit_status
