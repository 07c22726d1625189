"""`rankscope report`: writes an HTML report about one or more runs."""

from __future__ import annotations

import sys

import rankscope as rs
from rankscope._compare.report.compute import DEFAULT_MEASURES, WORST, report_rankings, say_reading
from rankscope._compare.report.source import hold
from rankscope._evaluate.options import (
    add_inputs,
    add_table_options,
    ask,
    list_reading,
    rank_scores,
    read_table,
    refuse_table_options,
)
from rankscope._inputs.files import expand_paths, is_scores
from rankscope.cli.files import (
    add_file_options,
    add_items_options,
    is_letor,
    list_items_files,
    name_file,
    name_items,
    refuse_stdin_twice,
)
from rankscope.cli.options import (
    add_convention_option,
    add_interval_options,
    add_measures_option,
    add_policy_option,
    add_reading_options,
    read_interval,
)
from rankscope.cli.output import print_notes
from rankscope.cli.parser import read_integer
from rankscope.errors import UsageError
from rankscope.measures.parse import split_measures
from rankscope.output.text import show
from rankscope.settings.reading import Reading
from rankscope.writing import refuse_overwriting, write_text

TYPE_CHECKING = False
if TYPE_CHECKING:
    from argparse import Namespace
    from typing import Any

    from rankscope._compare.report.report import Report
    from rankscope.cli.parser import Parser

LEVEL = 0.95
PAGE = "report.html"


def add_arguments(parser: Parser) -> None:
    """Add the arguments of the command."""
    add_inputs(parser)
    parser.add_argument(
        "-o",
        "--output",
        dest="page",
        default=PAGE,
        metavar="FILE",
        help="file to write the report to; - writes it to standard output",
    )
    add_measures_option(parser, DEFAULT_MEASURES)
    add_policy_option(parser)
    add_convention_option(parser)
    add_interval_options(parser, default=LEVEL)
    parser.add_argument(
        "--worst",
        type=read_integer,
        default=WORST,
        metavar="N",
        help="number of worst queries to explain for each run",
    )
    add_reading_options(parser)
    add_file_options(parser)
    add_items_options(parser)
    add_table_options(parser)
    parser.add_examples(
        "rankscope report qrels.txt bm25.run dense.run -o report.html",
        "rankscope report log.parquet --by country",
    )
    parser.set_defaults(run=run)


def run(options: Namespace) -> int:
    """Write the report, and print where it is."""
    options.inputs = [*options.inputs[:1], *expand_paths(options.inputs[1:])]
    read = [*options.inputs, *list_items_files(options)]
    refuse_stdin_twice(read)
    refuse_overwriting(options.page, read)
    measures = split_measures(options.measures or DEFAULT_MEASURES)
    if options.convention is None:
        rs.Policy.parse(options.policy)  # before anything is read
    options.interval = read_interval(options)
    report = _make(measures, options)
    print_notes(remark.note for remark in report.remarks)
    if options.page == "-":
        sys.stdout.write(report.to_html())
    else:
        page = report.to_html()
        write_text(options.page, page)
        print(f"{show(options.page)}: {len(page.encode()):,} bytes")
    return 0


def _make(measures: list[str], options: Namespace) -> Report:
    path, *runs = options.inputs
    shared: dict[str, Any] = {
        "policy": options.policy or None,
        "convention": options.convention,
        "interval": options.interval,
        "worst": options.worst,
        "history": options.history,
        "items": options.items,
        "catalogue": options.catalogue,
        **list_reading(options),
    }
    if not runs:
        table, of_table = read_table(path, options)
        return rs.report(table, measures, **shared, **of_table, progress=True)
    refuse_table_options(options)
    if is_letor(path, options) and all(map(is_scores, runs)):
        if "-" in options.inputs:
            raise UsageError(
                "SVMlight text and its scores cannot be read from standard input here",
                hint="write them to files first",
                code="usage",
            )
        held = [hold(path, "qrels"), *(hold(run, "run") for run in runs)]
        asked = ask(measures, options)
        rankings = [rank_scores(path, run, asked.choose_ties(), options) for run in runs]
        reading = Reading.read(
            duplicates=options.duplicates, encoding=options.encoding, threads=options.threads
        )
        return report_rankings(
            rankings,
            asked,
            reading,
            held=held,
            worst=options.worst,
            beside=name_items(options),
            options=say_reading(reading),
        )
    runs = [name_file(run, "run", options) for run in runs]
    return rs.report(name_file(path, "qrels", options), runs, measures, **shared, progress=True)
