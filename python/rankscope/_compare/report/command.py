"""`rankscope report`: writes an HTML report about one or more runs."""

from __future__ import annotations

import sys
from argparse import Namespace
from typing import Any

import rankscope as rs
from rankscope._cli.options import (
    LEVEL,
    add_convention_option,
    add_file_options,
    add_interval_options,
    add_items_options,
    add_measures_option,
    add_policy_option,
    add_reading_options,
    list_items_files,
    name_file,
    name_items,
    read_interval,
    refuse_stdin_twice,
)
from rankscope._cli.parser import Parser, print_notes, read_integer
from rankscope._compare.report.compute import DEFAULT_MEASURES, WORST
from rankscope._evaluate.options import (
    add_inputs,
    add_table_options,
    list_reading,
    read_table,
    refuse_table_options,
)
from rankscope._inputs.files import expand_paths
from rankscope._show.table import show
from rankscope._writing import refuse_overwriting, write_text
from rankscope.measures.parse import split_measures


def add_arguments(parser: Parser) -> None:
    """Add the arguments of the command."""
    add_inputs(parser)
    parser.add_argument(
        "-o",
        "--output",
        dest="page",
        default="report.html",
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
    path, *runs = options.inputs
    runs = expand_paths(runs)
    files = [path, *runs, *list_items_files(options)]
    refuse_stdin_twice(files)
    refuse_overwriting(options.page, files)
    if options.convention is None:
        rs.Policy.parse(options.policy)  # before anything is read
    shared: dict[str, Any] = {**name_items(options), **list_reading(options)}
    shared |= {
        "measures": split_measures(options.measures or DEFAULT_MEASURES),
        "policy": options.policy or None,
        "convention": options.convention,
        "interval": read_interval(options),
        "worst": options.worst,
        "progress": True,
    }
    if runs:
        refuse_table_options(options)
        judgments = name_file(path, "qrels", options)
        report = rs.report(judgments, [name_file(run, "run", options) for run in runs], **shared)
    else:
        table, of_table = read_table(path, options)
        report = rs.report(table, **of_table, **shared)
    print_notes(report.notes)
    page = report.to_html()
    if options.page == "-":
        sys.stdout.write(page)
    else:
        write_text(options.page, page)
        print(f"{show(options.page)}: {len(page.encode()):,} bytes")
    return 0
