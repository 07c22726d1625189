"""`rankscope agreement`: measures how far two runs agree."""

from __future__ import annotations

from typing import TYPE_CHECKING

import rankscope as rs
from rankscope._inputs.recognition import name_path, shorten_names
from rankscope.agreement.measures import DEFAULT, TIES
from rankscope.cli.files import add_file_options, name_file, refuse_stdin_twice
from rankscope.cli.options import (
    add_encoding_option,
    add_format_options,
    add_score_type_option,
    add_threads_option,
)
from rankscope.cli.output import print_csv, print_json
from rankscope.cli.parser import OnceFlag, read_integer, read_number
from rankscope.errors import UsageError
from rankscope.measures.parse import split_measures
from rankscope.output.text import format_value, show, show_lines

if TYPE_CHECKING:
    from argparse import Namespace

    from rankscope.cli.parser import Parser

DEPTH = 10


def add_arguments(parser: Parser) -> None:
    """Add the arguments of the command."""
    parser.add_argument("a", metavar="RUN_A", help="the first run; - reads standard input")
    parser.add_argument("b", metavar="RUN_B", help="the second run, which is compared with it")
    parser.add_argument(
        "-m",
        "--measure",
        action="append",
        metavar="MEASURE",
        help="measure, or several separated by commas; one of: RBO, RBO_min, RBO_max, "
        "RBO_residual, tau, tau_ap, overlap@10, jaccard@10 with any depth "
        f"(default: {', '.join(DEFAULT)})",
    )
    parser.add_argument(
        "--p",
        type=read_number,
        metavar="P",
        default=0.9,
        help="persistence of rank-biased overlap, between 0 and 1 (default: 0.9)",
    )
    parser.add_argument(
        "--k",
        type=read_integer,
        metavar="K",
        help=f"depth of the overlap if no measures are chosen (default: {DEPTH})",
    )
    parser.add_argument(
        "--ties",
        choices=TIES,
        default="a",
        metavar="FORM",
        help="what equal scores mean: any order, by its expected value (a); the same, corrected "
        "for ties (b); or the same rank (w)",
    )
    parser.add_argument(
        "-q", "--per-query", action=OnceFlag, help="print the value of each query in both runs"
    )
    add_format_options(parser)
    add_score_type_option(parser)
    add_encoding_option(parser)
    add_threads_option(parser)
    add_file_options(parser)
    parser.add_examples(
        "rankscope agreement bm25.run dense.run",
        "rankscope agreement bm25.run dense.run -m RBO,jaccard@20 --p 0.95 -q",
    )
    parser.set_defaults(run=run)


def run(options: Namespace) -> int:
    """Compare the runs, and print how far they agree."""
    refuse_stdin_twice([options.a, options.b])
    one, other = shorten_names([name_path(path, "run") for path in (options.a, options.b)])
    result = rs.agreement(
        name_file(options.a, "run", options),
        name_file(options.b, "run", options),
        _read_measures(options),
        p=options.p,
        ties=options.ties,
        names=(one, other),
        score_type=options.score_type or "float64",
        encoding=options.encoding,
        threads=options.threads,
    )
    if options.json:
        document = result.to_dict()
        if not options.per_query:
            del document["per_query"]
        print_json(document)
    elif options.csv:
        print_csv([result.table.names, *result.table.rows()])
    else:
        if options.per_query:
            queries = result.table.column("query_id")
            for name in result.means:
                for query, value in zip(queries, result.per_query(name).tolist(), strict=True):
                    print(name, show(str(query)), format_value(value), sep="\t")
        print(show_lines(str(result)))
    return 0


def _read_measures(options: Namespace) -> list[str]:
    if options.measure is None:
        return [*DEFAULT[:-1], f"overlap@{DEPTH if options.k is None else options.k}"]
    if options.k is not None:
        raise UsageError(
            "--k sets the depth of the default measures, found it with -m",
            hint=f"write the depth with the measure: -m overlap@{options.k}",
            code="usage",
        )
    return split_measures(options.measure)
