"""`rankscope leaderboard`: ranks many runs by many measures in one table."""

from __future__ import annotations

from argparse import Namespace

import rankscope as rs
from rankscope._cli.parser import Parser, read_integer
from rankscope._compare.leaderboard.compute import DEFAULT_MEASURES
from rankscope._compare.leaderboard.layout import lay_out
from rankscope._compare.leaderboard.result import Leaderboard
from rankscope._compare.options import (
    add_format_options,
    add_query_options,
    add_runs,
    add_test_options,
    read_runs,
)
from rankscope._evaluate.evaluating import refuse_diagnostics
from rankscope._inputs.files import expand_paths
from rankscope._show.text import write_wide
from rankscope._writing import refuse_overwriting
from rankscope.errors import UsageError
from rankscope.measures.parse import split_measures


def add_arguments(parser: Parser) -> None:
    """Add the arguments of the command."""
    add_runs(parser, DEFAULT_MEASURES)
    parser.add_argument(
        "--sort",
        metavar="MEASURE",
        help="measure to sort and group the runs by (default: the first)",
    )
    parser.add_argument(
        "--top",
        type=read_integer,
        metavar="N",
        help="number of runs to show besides baselines (default: all)",
    )
    parser.add_argument(
        "--baseline",
        action="append",
        metavar="NAME",
        help="run to test all others against",
    )
    add_query_options(parser)
    add_format_options(parser, "the table as HTML that can be sorted by each measure")
    parser.add_argument("--caption", metavar="TEXT", help="caption of a table for a paper")
    parser.add_argument(
        "--label", metavar="NAME", help="label of a table for a paper, such as tab:runs"
    )
    parser.add_argument(
        "--plot", metavar="FILE", help="also draw the runs by the measure that they are sorted by"
    )
    add_test_options(parser)
    parser.add_examples(
        "rankscope leaderboard qrels.txt runs/*",
        "rankscope leaderboard qrels.txt runs/ -m nDCG@10,AP,R@100 --baseline bm25.run --top 10",
        "rankscope leaderboard qrels.txt runs/* --baseline bm25.run --latex --label tab:runs",
    )
    parser.set_defaults(run=run)


def run(options: Namespace) -> int:
    """Rank the runs, and print the table."""
    if (options.caption or options.label) and not options.latex:
        raise UsageError(
            "--caption and --label need --latex",
            hint="add --latex, or remove them",
            code="usage",
        )
    if options.plot is not None:
        runs = expand_paths(options.inputs[1:], are_several=len(options.inputs) == 2)
        files = [*options.inputs, *runs, *([options.attributes] if options.attributes else [])]
        refuse_overwriting(options.plot, files, "choose another file with --plot")
    judgments, runs, shared = read_runs(options)
    board = rs.leaderboard(
        judgments,
        runs,
        split_measures(options.measures or DEFAULT_MEASURES),
        sort=options.sort,
        top=options.top,
        level=options.confidence,
        **shared,
    )
    if options.strict:
        refuse_diagnostics(board.notes)
    if options.plot is not None:
        from rankscope._drawing import save

        save(board.plot(), options.plot)
    print(_write(options, board))
    return 0


def _write(options: Namespace, board: Leaderboard) -> str:
    """Return the table in the format that the options name."""
    if options.latex:
        return board.to_latex(caption=options.caption or "", label=options.label or "")
    if options.csv:
        return board.to_csv().rstrip("\n")
    for name in ("json", "html", "markdown"):
        if getattr(options, name):
            return str(getattr(board, f"to_{name}")())
    return write_wide(lay_out(board)) if options.small_print else str(board)
