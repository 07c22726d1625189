"""`rankscope power`: which difference two runs can show, and how many queries an effect needs."""

from __future__ import annotations

import rankscope as rs
from rankscope._evaluate.evaluating import refuse_diagnostics
from rankscope.cli.files import add_file_options, refuse_stdin_twice
from rankscope.cli.options import add_policy_option, add_reading_options
from rankscope.cli.output import print_json, print_notes
from rankscope.cli.parser import OnceFlag, read_number
from rankscope.deferred import np
from rankscope.difference.command import add_pair_arguments, compare

TYPE_CHECKING = False
if TYPE_CHECKING:
    from argparse import Namespace

    from rankscope.cli.parser import Parser


def add_arguments(parser: Parser) -> None:
    """Add the arguments of the command."""
    add_pair_arguments(parser, "measure to plan for")
    parser.add_argument(
        "--effect",
        nargs="+",
        type=read_number,
        default=[],
        metavar="X",
        help="differences for which to compute the number of queries",
    )
    parser.add_argument(
        "--level",
        type=read_number,
        default=0.05,
        metavar="LEVEL",
        help="significance level (default: 0.05)",
    )
    parser.add_argument(
        "--power",
        type=read_number,
        default=0.8,
        metavar="POWER",
        help="probability of detecting the difference (default: 0.8)",
    )
    parser.add_argument(
        "--unpaired",
        action=OnceFlag,
        help="plan for runs with different queries, as in an A/B test",
    )
    parser.add_argument("--json", action=OnceFlag, help="print the result as JSON")
    add_policy_option(parser)
    add_reading_options(parser)
    add_file_options(parser)
    parser.add_examples(
        "rankscope power qrels.txt bm25.run dense.run -m nDCG@10 --effect 0.01 0.02",
        "rankscope power qrels.txt bm25.run dense.run -m AP --power 0.9 --json",
    )
    parser.set_defaults(run=run, convention=None)


def run(options: Namespace) -> int:
    """Print the smallest detectable difference, and the queries that each effect needs."""
    refuse_stdin_twice([options.qrels, options.a, options.b])
    difference = compare(options)
    if options.strict:
        refuse_diagnostics(difference.notes)
    print_notes(difference.notes)
    one, other = (
        np.asarray(difference.queries.column(name), np.float64) for name in difference.names
    )
    found = rs.power(
        one,
        other,
        effect=options.effect,
        level=options.level,
        power=options.power,
        paired=not options.unpaired,
    )
    if options.json:
        print_json({"measure": str(difference.measure), **found.to_dict()})
    else:
        print(difference.measure)
        print(found)
    return 0
