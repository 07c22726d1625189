"""`rankscope power`: which difference two runs can show, and how many queries an effect needs."""

from __future__ import annotations

import rankscope as rs
from rankscope.cli.files import add_file_options, name_file, refuse_stdin_twice
from rankscope.cli.options import add_measure_option, add_policy_option, add_reading_options
from rankscope.cli.output import print_json, print_notes
from rankscope.cli.parser import OnceFlag, read_number
from rankscope.measures.parse import split_measures
from rankscope.output.diagnostics import gather

TYPE_CHECKING = False
if TYPE_CHECKING:
    from argparse import Namespace

    from rankscope.cli.parser import Parser


def add_arguments(parser: Parser) -> None:
    """Add the arguments of the command."""
    parser.add_argument("qrels", metavar="QRELS", help="judgments; - reads standard input")
    parser.add_argument("a", metavar="RUN_A", help="the first run, such as the baseline")
    parser.add_argument("b", metavar="RUN_B", help="the second run")
    about = "measure to plan for; `rankscope measures` lists them"
    add_measure_option(parser, about, "nDCG@10")
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
    evaluations = rs.evaluate(
        name_file(options.qrels, "qrels", options),
        {name: name_file(getattr(options, name), "run", options) for name in "ab"},
        split_measures([options.measure]),
        policy=rs.Policy.parse(options.policy),
        duplicates=options.duplicates,
        ignore_same=options.ignore_same,
        score_type=options.score_type,
        encoding=options.encoding,
        threads=options.threads,
        strict=options.strict,
    )
    notes = gather({name: each.notes for name, each in evaluations.items()})
    print_notes(notes)
    [measure] = evaluations["a"].measures
    one, other = (each.per_query(measure) for each in evaluations.values())
    low, high = measure.row.value_range
    found = rs.power(
        one,
        other,
        effect=options.effect,
        level=options.level,
        power=options.power,
        paired=not options.unpaired,
        largest=high - low,
    )
    if options.json:
        print_json({"measure": measure.name, **found.to_dict()})
    else:
        print(measure)
        print(found)
    return 0
