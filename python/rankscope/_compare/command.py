"""`rankscope compare`: compares two or more runs: differences, intervals and p-values."""

from __future__ import annotations

from argparse import Namespace

import rankscope as rs
from rankscope._cli.parser import OnceFlag, Parser, print_json, print_notes, read_number
from rankscope._compare.options import (
    add_format_options,
    add_query_options,
    add_runs,
    add_test_options,
    read_runs,
)
from rankscope._evaluate.evaluating import refuse_diagnostics
from rankscope.errors import UsageError
from rankscope.measures.parse import split_measures

DEFAULT_MEASURES = ("nDCG@10",)


def add_arguments(parser: Parser) -> None:
    """Add the arguments of the command."""
    add_runs(parser, DEFAULT_MEASURES)
    parser.add_argument(
        "--baseline",
        metavar="NAME",
        help="run to compare all others with (default: compare all pairs)",
    )
    parser.add_argument(
        "--by", action="append", metavar="COLUMN", help="also compare within each value of it"
    )
    add_query_options(parser)
    parser.add_argument(
        "--interval-method",
        default="auto",
        choices=("auto", "dense", "bounded", "t"),
        metavar="METHOD",
        help="what intervals and p-values promise (default: dense; t with --test t)",
    )
    parser.add_argument(
        "--margin",
        type=read_number,
        metavar="X",
        help="largest difference that does not matter: says what is not worse, and what is "
        "equivalent",
    )
    bounds = parser.add_mutually_exclusive_group()
    bounds.add_argument(
        "--bounds",
        action=OnceFlag,
        help="always compute what unjudged documents and ties could change (default: only where "
        "it is quick)",
    )
    bounds.add_argument(
        "--no-bounds",
        action=OnceFlag,
        help="never compute what unjudged documents and ties could change",
    )
    add_format_options(parser, "all tables as HTML")
    add_test_options(parser)
    parser.add_examples(
        "rankscope compare qrels.txt bm25.run dense.run -m nDCG@10,AP",
        "rankscope compare qrels.txt *.run --baseline bm25.run --latex",
        "rankscope compare qrels.txt a.run b.run --attributes queries.csv --by country --cluster "
        "user_id",
        "rankscope compare log.parquet --scores old,new",
    )
    parser.set_defaults(run=run)


def run(options: Namespace) -> int:
    """Compare the runs, and print the result."""
    judgments, runs, shared = read_runs(options)
    if isinstance(runs, dict) and len(runs) < 2:
        raise UsageError(
            f"compare needs judgments and two or more runs, found {len(runs)} "
            f"run{'s' * (len(runs) != 1)}",
            hint="write QRELS RUN_A RUN_B; or TABLE --scores old,new",
            code="usage",
        )
    comparison = rs.compare(
        judgments,
        runs,
        split_measures(options.measures or DEFAULT_MEASURES),
        by=options.by,
        margin=options.margin,
        bounds=True if options.bounds else False if options.no_bounds else None,
        interval=rs.Interval(options.confidence, method=options.interval_method, seed=options.seed),
        **shared,
    )
    if options.strict:
        refuse_diagnostics(comparison.notes)
    if options.json or options.csv:
        print_notes(comparison.notes)
    if options.json:
        print_json(comparison.to_dict())
    elif options.csv:
        print(comparison.to_csv(), end="")
    elif options.latex:
        print(comparison.to_latex())
    elif options.markdown or options.html:
        print(comparison.table("markdown" if options.markdown else "html"))
    else:
        print(comparison.table() if options.small_print else comparison)
    return 0
