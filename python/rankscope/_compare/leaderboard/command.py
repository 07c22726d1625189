"""`rankscope leaderboard`: ranks many runs by many measures in one table."""

from __future__ import annotations

import rankscope as rs
from rankscope._compare.leaderboard.compute import DEFAULT_MEASURES
from rankscope._compare.leaderboard.layout import lay_out
from rankscope._compare.options import add_query_options, add_runs, add_test_options, read_runs
from rankscope._evaluate.evaluating import refuse_diagnostics
from rankscope._inputs.files import expand_paths
from rankscope.cli.parser import OnceFlag, read_integer
from rankscope.errors import UsageError
from rankscope.measures.parse import split_measures
from rankscope.output.layout.text import write_wide
from rankscope.writing import refuse_overwriting

TYPE_CHECKING = False
if TYPE_CHECKING:
    from argparse import Namespace

    from rankscope._compare.leaderboard.result import Leaderboard
    from rankscope.cli.parser import Parser

FORMATS = {
    "json": "JSON",
    "csv": "CSV",
    "markdown": "Markdown",
    "html": "HTML that can be sorted by each measure",
    "latex": "a LaTeX table for a paper (booktabs)",
}


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
    form = parser.add_mutually_exclusive_group()
    for name, what in FORMATS.items():
        form.add_argument(f"--{name}", action=OnceFlag, help=f"print the table as {what}")
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
        read = [*options.inputs, *runs, *([options.attributes] if options.attributes else [])]
        refuse_overwriting(options.plot, read, "choose another file with --plot")
    judged, runs, shared = read_runs(options)
    board = rs.leaderboard(
        judged,
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
        from rankscope.drawing.axes import save  # noqa: PLC0415 - loads Matplotlib

        save(board.plot(), options.plot)
    print(_write(options, board))
    return 0


def _write(options: Namespace, board: Leaderboard) -> str:
    """Return the table in the format that the options name."""
    if options.latex:
        return board.to_latex(caption=options.caption or "", label=options.label or "")
    if options.csv:
        return board.to_csv().rstrip("\n")
    for name, plain in (
        ("json", board.to_json),
        ("html", board.to_html),
        ("markdown", board.to_markdown),
    ):
        if getattr(options, name):
            return str(plain())
    return write_wide(lay_out(board)) if options.small_print else str(board)
