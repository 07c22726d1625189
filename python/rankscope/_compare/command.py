"""`rankscope compare`: compares two or more runs: differences, intervals and p-values."""

from __future__ import annotations

import rankscope as rs
from rankscope._compare.options import add_query_options, add_runs, add_test_options, read_runs
from rankscope._evaluate.evaluating import refuse_diagnostics
from rankscope.cli.output import print_json, print_notes
from rankscope.cli.parser import OnceFlag, read_number
from rankscope.errors import UsageError
from rankscope.measures.parse import split_measures

TYPE_CHECKING = False
if TYPE_CHECKING:
    from argparse import Namespace

    from rankscope.cli.parser import Parser

DEFAULT_MEASURES = ("nDCG@10",)
FORMATS = {
    "json": "print the result as JSON",
    "csv": "print the result as CSV",
    "markdown": "print all tables as Markdown",
    "html": "print all tables as HTML",
    "latex": "print the means as a LaTeX table for a paper (booktabs)",
}


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
    form = parser.add_mutually_exclusive_group()
    for name, what in FORMATS.items():
        form.add_argument(f"--{name}", action=OnceFlag, help=what)
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
    judged, runs, shared = read_runs(options)
    if isinstance(runs, dict) and len(runs) < 2:
        raise UsageError(
            f"compare needs judgments and two or more runs, found {len(runs)} "
            f"run{'s' * (len(runs) != 1)}",
            hint="write QRELS RUN_A RUN_B; or TABLE --scores old,new",
            code="usage",
        )
    comparison = rs.compare(
        judged,
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
