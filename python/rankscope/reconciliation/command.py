"""`rankscope conventions`: lists conventions of libraries, and computes a measure under each."""

from __future__ import annotations

from textwrap import fill

import rankscope as rs
from rankscope._evaluate.options import refuse_single_file
from rankscope.cli.files import add_file_options, name_file, refuse_stdin_twice
from rankscope.cli.options import (
    add_duplicates_option,
    add_encoding_option,
    add_format_options,
    add_ignore_same_option,
    add_limit_option,
    add_measure_option,
)
from rankscope.cli.output import print_csv, print_json
from rankscope.conventions import TABLE, find
from rankscope.conventions.find import (
    describe_forms,
    describe_option,
    describe_policy,
    describe_rest,
)
from rankscope.errors import FormatError, UsageError
from rankscope.measures.parse import split_measures
from rankscope.output.text import show_lines
from rankscope.records import as_dict

TYPE_CHECKING = False
if TYPE_CHECKING:
    from argparse import Namespace
    from typing import Any

    from rankscope.cli.parser import Parser
    from rankscope.conventions import Convention
    from rankscope.reconciliation.difference import Difference
    from rankscope.reconciliation.result import Reconciliation

WIDTH = 88
USAGE = (
    "write nothing to list the conventions, NAME to describe one, or QRELS RUN -m MEASURE to "
    "compare them on files"
)


def add_arguments(parser: Parser) -> None:
    """Add the arguments of the command."""
    parser.usage = (
        "%(prog)s [options]\n"
        "       %(prog)s [options] NAME\n"
        "       %(prog)s [options] QRELS RUN\n"
        "       %(prog)s [options] TABLE -m MEASURE"
    )
    parser.add_argument(
        "words",
        metavar="NAME | QRELS RUN | TABLE",
        nargs="*",
        help="nothing to list the conventions; a name to describe one; judgments and a run, or "
        "one table whose rows hold both, to compute a measure under each convention; - reads "
        "standard input",
    )
    add_measure_option(parser, "measure to compute (default: nDCG@10)")
    parser.add_argument(
        "--got",
        metavar="NUMBER",
        help="find the conventions that give this number, which another tool printed; the exit "
        "status is 1 if none does",
    )
    parser.add_argument(
        "--between",
        nargs=2,
        metavar=("A", "B"),
        help="show which rules, queries and documents make two conventions differ",
    )
    add_limit_option(parser, "number of queries to show with --between", 10)
    add_format_options(parser)
    add_duplicates_option(parser)
    add_ignore_same_option(parser)
    add_encoding_option(parser)
    add_file_options(parser)
    parser.add_examples(
        "rankscope conventions lightgbm",
        "rankscope conventions qrels.txt bm25.run -m nDCG@10 --got 0.6376",
        "rankscope conventions qrels.txt bm25.run --between lightgbm trec_eval",
    )
    parser.set_defaults(run=run)


def run(options: Namespace) -> int:
    """List the conventions, describe one, or compute a measure under all of them."""
    words: list[str] = options.words
    asked = [name for name in ("measure", "got", "between") if getattr(options, name) is not None]
    if len(words) == 2 or (words and asked):
        return _reconcile(options, words)
    if len(words) > 2:
        raise UsageError(
            f"this command takes at most two files, found {len(words)}", hint=USAGE, code="usage"
        )
    for name in asked:
        raise UsageError(
            f"{'-m' if name == 'measure' else f'--{name}'} needs judgments and a run",
            hint="write rankscope conventions QRELS RUN -m nDCG@10",
            code="usage",
        )
    rows = [find(words[0])] if words else list(TABLE)
    if options.json:
        print_json({row.address: _document(row) for row in rows})
    elif options.csv:
        print_csv([["name", "version", "library", "verified", "policy", "summary"]])
        print_csv(
            [row.name, row.version, row.tool, row.verified, describe_policy(row), row.summary]
            for row in rows
        )
    elif words:
        print(describe(rows[0]))
    else:
        width = max(len(row.address) for row in rows)
        for row in rows:
            print(f"{row.address:{width}}  {row.summary}")
    return 0


def describe(row: Convention) -> str:
    """Return a description of a convention: its policy, measures, options, notes and sources."""
    lines = [
        f"{row.address}: {row.tool}",
        fill(row.summary, WIDTH),
        "",
        _item("verified", row.verified),
        _item("policy", describe_policy(row).replace(",", ", ")),
        _item("scores", f"compared in {row.score_type}"),
        *_items("measure", describe_forms(row)),
        *_items("option", [describe_option(option) for option in row.options]),
        *_items("note", describe_rest(row)),
        *_items("not repeated", [bug.says for bug in row.bugs]),
        *_items("source", row.sources),
    ]
    return "\n".join(lines)


def _item(label: str, text: str) -> str:
    return fill(f"{label:14}{text}", WIDTH, subsequent_indent=" " * 14, break_on_hyphens=False)


def _items(label: str, texts: list[str] | tuple[str, ...]) -> list[str]:
    return [_item("" if number else label, text) for number, text in enumerate(texts)]


def _document(row: Convention) -> dict[str, object]:
    return {
        "library": row.tool,
        "summary": row.summary,
        "verified": row.verified,
        "policy": describe_policy(row),
        "score_type": row.score_type,
        "measures": describe_forms(row),
        "options": [describe_option(option) for option in row.options],
        "notes": describe_rest(row),
        "not_repeated": {bug.name: bug.says for bug in row.bugs},
        "sources": list(row.sources),
    }


def _evaluate(options: Namespace, words: list[str]) -> Reconciliation:
    asked: dict[str, Any] = {
        "measure": split_measures([options.measure or "nDCG@10"]),  # several are refused there
        "got": options.got,
        "duplicates": options.duplicates,
        "ignore_same": options.ignore_same,
        "encoding": options.encoding,
    }
    if len(words) == 1:
        try:
            return rs.reconcile(name_file(words[0], "table", options), **asked)
        except FormatError as error:
            if error.code != "unknown_format":
                raise
            raise refuse_single_file(words[0]) from error
    qrels, run = (
        name_file(word, part, options) for word, part in zip(words, ("qrels", "run"), strict=True)
    )
    return rs.reconcile(qrels, run, **asked)


def _reconcile(options: Namespace, words: list[str]) -> int:
    refuse_stdin_twice(words)
    found = _evaluate(options, words)
    difference = found.differ(*options.between, limit=options.limit) if options.between else None
    if options.json:
        print_json(_whole_document(found, difference))
    elif options.csv:
        table = (difference or found).table
        print_csv([table.names, *table.rows()])
    else:
        print(show_lines(str(found if difference is None else difference)))
    return 1 if options.got is not None and not found.matches else 0


def _whole_document(found: Reconciliation, difference: Difference | None) -> dict[str, object]:
    document: dict[str, object] = {
        "measure": found.measure.name,
        "conventions": found.to_dict(),
        "got": found.got,
        "matches": list(found.matches),
        "deviations": [
            {"rule": each.rule, "setting": each.setting, "value": each.value, "in": each.names}
            for each in found.deviations
        ],
        "causes": [*map(as_dict, found.causes)],
    }
    if difference is not None:
        document["between"] = difference.to_dict()
    return document
