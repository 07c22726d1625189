"""`rankscope conventions`: lists conventions of libraries, and computes a measure under each."""

from __future__ import annotations

from argparse import Namespace
from textwrap import fill

import rankscope as rs
from rankscope._cli.options import (
    add_duplicates_option,
    add_encoding_option,
    add_file_options,
    add_format_options,
    add_ignore_same_option,
    add_limit_option,
    add_measure_option,
    name_file,
    refuse_stdin_twice,
)
from rankscope._cli.parser import Parser, print_csv, print_json
from rankscope._conventions import TABLE, Convention, find
from rankscope._conventions.table import describe
from rankscope._evaluate.options import refuse_single_file
from rankscope._names import as_dict
from rankscope._reconcile.result import Reconciliation
from rankscope._show.table import show_lines
from rankscope.errors import FormatError, UsageError
from rankscope.measures.parse import split_measures

WIDTH = 88


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
            f"this command takes at most two files, found {len(words)}",
            hint="write nothing to list the conventions, NAME to describe one, or QRELS RUN -m "
            "MEASURE to compare them on files",
            code="usage",
        )
    for name in asked:
        raise UsageError(
            f"{'-m' if name == 'measure' else f'--{name}'} needs judgments and a run",
            hint="write rankscope conventions QRELS RUN -m nDCG@10",
            code="usage",
        )
    rows = [find(words[0])] if words else list(TABLE)
    if options.json:
        print_json({row.address: describe(row) for row in rows})
    elif options.csv:
        print_csv([["name", "version", "library", "verified", "policy", "summary"]])
        print_csv(
            [row.name, row.version, row.tool, row.verified, str(row.policy), row.summary]
            for row in rows
        )
    elif words:
        print(write_description(rows[0]))
    else:
        width = max(len(row.address) for row in rows)
        for row in rows:
            print(f"{row.address:{width}}  {row.summary}")
    return 0


def write_description(row: Convention) -> str:
    """Return a description of a convention: its policy, measures, options, notes and sources."""
    says = describe(row)
    items = {
        "verified": [says["verified"]],
        "policy": [says["policy"].replace(",", ", ")],
        "scores": [f"compared in {says['score_type']}"],
        "measure": says["measures"],
        "option": says["options"],
        "note": says["notes"],
        "not repeated": [*says["not_repeated"].values()],
        "source": says["sources"],
    }
    lines = [f"{row.address}: {row.tool}", fill(row.summary, WIDTH), ""]
    for label, texts in items.items():
        for number, text in enumerate(texts):
            item = f"{'' if number else label:14}{text}"
            lines.append(fill(item, WIDTH, subsequent_indent=" " * 14, break_on_hyphens=False))
    return "\n".join(lines)


def _evaluate(options: Namespace, words: list[str]) -> Reconciliation:
    parts = ("qrels", "run") if len(words) == 2 else ("table",)
    files = [name_file(word, part, options) for word, part in zip(words, parts, strict=True)]
    try:
        return rs.reconcile(
            files[0],
            files[1] if len(files) == 2 else None,
            split_measures([options.measure or "nDCG@10"]),  # type: ignore[arg-type]  # several are refused there
            got=options.got,
            duplicates=options.duplicates,
            ignore_same=options.ignore_same,
            encoding=options.encoding,
        )
    except FormatError as error:
        if len(files) == 2 or error.code != "unknown_format":
            raise
        raise refuse_single_file(words[0]) from error


def _reconcile(options: Namespace, words: list[str]) -> int:
    refuse_stdin_twice(words)
    result = _evaluate(options, words)
    difference = result.differ(*options.between, limit=options.limit) if options.between else None
    if options.json:
        document: dict[str, object] = {
            "measure": result.measure.name,
            "conventions": result.to_dict(),
            "got": result.got,
            "matches": list(result.matches),
            "deviations": [
                {"rule": each.rule, "setting": each.setting, "value": each.value, "in": each.names}
                for each in result.deviations
            ],
            "causes": [*map(as_dict, result.causes)],
        }
        print_json(document | ({"between": difference.to_dict()} if difference else {}))
    elif options.csv:
        table = (difference or result).table
        print_csv([table.names, *table.rows()])
    else:
        print(show_lines(str(difference or result)))
    return 1 if options.got is not None and not result.matches else 0
