"""The arguments of `rankscope trec_eval`, which are those of trec_eval."""

from __future__ import annotations

import sys
from functools import partial

from rankscope import __version__
from rankscope.cli.output import print_error, print_notes
from rankscope.errors import (
    DuplicateError,
    EmptyError,
    FileError,
    FormatError,
    InputError,
    RankscopeError,
    UsageError,
)
from rankscope.names import quote
from rankscope.trec_eval.catalog import NICKNAMES, UNQUERIED, entries_of
from rankscope.trec_eval.evaluating import evaluate_requests, is_long
from rankscope.trec_eval.judges import evaluate_judges, read_judges
from rankscope.trec_eval.preferences import evaluate_preferences, read_preferences
from rankscope.trec_eval.printing import (
    Layout,
    print_queries,
    print_summary,
    read_moments,
    standardize,
)
from rankscope.trec_eval.reading import Source, read_judgments
from rankscope.trec_eval.requests import Options, read_requests, refuse

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
FORMATS = {"-R": ("qrels", "qrels_jg", "prefs", "qrels_prefs"), "-T": ("trec_results",)}


def add_arguments(parser: Parser) -> None:
    """Add the arguments of the command."""
    parser.usage_status = WRONG_USAGE
    parser.allow_abbrev = True  # as getopt_long does
    add = parser.add_argument
    flag = partial(add, action="store_true")
    add("qrels", nargs="?", metavar="QRELS", help="judgments, as TREC text")
    add("results", nargs="?", metavar="RUN", help="run, as TREC text; '-' for standard input")
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
    )
    known, all_known = entries_of("9"), entries_of("10")
    for title, names in (
        ("measures", [name for name in known if known[name].format == "qrels"]),
        ("measures of version 10 (--dialect 10)", all_known.keys() - known),
        ("measures of judges (-R qrels_jg)", NICKNAMES["qrels_jg"] - UNQUERIED),
        ("measures of preferences (-R prefs)", NICKNAMES["all_prefs"] - UNQUERIED),
        ("nicknames", NICKNAMES),
    ):
        shown = [name for name in all_known if name in names] or names
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
    notes: list[str] = []
    form, has_summary = arguments.Rel_info_format, not arguments.nosummary
    requests = read_requests(arguments.measure, options.dialect)
    for request in requests:
        _check_format(request.entry, form)
        if request.entry.takes == "cutoffs" and "." in request.text:
            name = f"{request.entry.name}.{request.text}"
            notes.append(f"{name}: trec_eval leaves out decimals of cutoffs")
    needs_id = "runid" in {request.entry.name for request in requests} and has_summary
    # These may read the run more than once.
    keeps_text = needs_id or form != "qrels" or any(map(is_long, requests))
    # Version 10 skips comments in all files.
    has_comments = options.dialect == "10"
    source = Source(arguments.results, notes, keeps_text=keeps_text, has_comments=has_comments)
    moments = read_moments(arguments.Zscore) if arguments.Zscore else None
    if form == "qrels_jg":
        qrels, judges = read_judges(arguments.qrels, has_comments=has_comments)
        evaluated, present = evaluate_judges(requests, qrels, judges, source, options)
    elif form == "qrels":
        qrels = read_judgments(arguments.qrels, notes, has_comments=has_comments)
        evaluated, present = evaluate_requests(requests, qrels, source, options, notes)
    else:
        preferences = read_preferences(arguments.qrels, form, has_comments=has_comments)
        qrels = preferences.qrels
        evaluated, present = evaluate_preferences(requests, preferences, source, options)
    ids = qrels.query_texts
    judged = sorted(range(len(ids)), key=lambda query: ids[query].encode("utf-8", "surrogatepass"))
    order = [query for query in judged if present[query] or options.fills_missing]
    if only := (arguments.Debug_level or "").partition(".")[2]:
        order = [query for query in order if ids[query] == only]
    if not order:
        raise EmptyError(
            f"expected the query {quote(only)} in the judgments and the run",
            hint="leave -D out",
            code="no_common_queries",
        )
    layout = Layout(
        order=order,
        counted=judged if options.is_complete else order,
        run_id=source.find_run_id() if needs_id else "",
        is_standardized=moments is not None,
    )
    print_notes(notes)
    if moments is not None:
        evaluated = [standardize(one, ids, moments) for one in evaluated]
    if arguments.query_eval_wanted:
        print_queries(evaluated, qrels, layout)
    if has_summary:
        print_summary(requests, evaluated, layout)


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
