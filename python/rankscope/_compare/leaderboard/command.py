"""`rankscope leaderboard`: ranks many runs by many measures in one table."""

from __future__ import annotations

import rankscope as rs
from rankscope._compare.command import add_test_options, find_run, read_names
from rankscope._compare.leaderboard.layout import lay_out
from rankscope._compare.leaderboard.runs import DEFAULT_MEASURES, list_runs
from rankscope._evaluate.evaluating import refuse_diagnostics
from rankscope._inputs.recognition import name_path, shorten_names
from rankscope.cli.files import (
    add_file_options,
    add_items_options,
    list_items_files,
    name_file,
    read_items,
    refuse_stdin_twice,
)
from rankscope.cli.options import (
    add_convention_option,
    add_measures_option,
    add_policy_option,
    add_reading_options,
    add_small_print_option,
)
from rankscope.cli.parser import OnceFlag, read_integer, read_number
from rankscope.errors import UsageError
from rankscope.measures.parse import split_measures
from rankscope.names import quote
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
    parser.add_argument("qrels", metavar="QRELS", help="judgments; - reads standard input")
    parser.add_argument(
        "runs",
        metavar="RUN",
        nargs="+",
        help="runs, or folders of which each file is a run; - reads standard input",
    )
    add_measures_option(parser, DEFAULT_MEASURES)
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
    parser.add_argument("--names", metavar="NAME,...", help="short names of the runs, in order")
    add_test_options(parser)
    parser.add_argument(
        "--confidence",
        type=read_number,
        default=0.95,
        metavar="LEVEL",
        help="confidence level; corrected p-values below 1 - LEVEL are significant",
    )
    parser.add_argument(
        "--seed", type=read_integer, default=0, metavar="N", help="random seed of the test"
    )
    parser.add_argument(
        "--cluster",
        metavar="COLUMN",
        help="what queries depend within, such as user_id; tests then treat each cluster as one "
        "unit",
    )
    parser.add_argument(
        "--attributes", metavar="FILE", help="table with one row per query, for --cluster"
    )
    form = parser.add_mutually_exclusive_group()
    for name, what in FORMATS.items():
        form.add_argument(f"--{name}", action=OnceFlag, help=f"print the table as {what}")
    add_small_print_option(parser)
    parser.add_argument("--caption", metavar="TEXT", help="caption of a table for a paper")
    parser.add_argument(
        "--label", metavar="NAME", help="label of a table for a paper, such as tab:runs"
    )
    parser.add_argument(
        "--plot", metavar="FILE", help="also draw the runs by the measure that they are sorted by"
    )
    add_policy_option(parser)
    add_convention_option(parser)
    add_reading_options(parser)
    add_file_options(parser)
    add_items_options(parser)
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
    if (options.cluster is None) != (options.attributes is None):
        raise UsageError(
            "--cluster and --attributes belong together",
            hint="add --attributes FILE with --cluster COLUMN",
            code="usage",
        )
    board = _rank(options)
    if options.strict:
        refuse_diagnostics(board.notes)
    if options.plot is not None:
        from rankscope.drawing.saving import save  # noqa: PLC0415 - loads Matplotlib

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


def _rank(options: Namespace) -> Leaderboard:
    """Evaluate the runs that the options name, and rank them."""
    paths = [path for given in options.runs for path in _list_files(given)]
    read = [options.qrels, *paths, *([options.attributes] if options.attributes else [])]
    refuse_stdin_twice([*read, *list_items_files(options)])
    if options.plot is not None:
        refuse_overwriting(options.plot, read, "choose another file with --plot")
    found = shorten_names([name_path(each, "run") for each in paths])
    twice = next((name for at, name in enumerate(found) if name in found[:at]), None)
    if twice is not None:
        raise UsageError(f"{quote(twice)} is given twice", hint="remove one of them", code="usage")
    names = read_names(options.names, len(found)) or found
    baselines = [find_run(each, names, paths) for each in options.baseline or ()]
    return rs.leaderboard(
        name_file(options.qrels, "qrels", options),
        {name: name_file(path, "run", options) for name, path in zip(names, paths, strict=True)},
        split_measures(options.measures or DEFAULT_MEASURES),
        sort=options.sort,
        top=options.top,
        baseline=[each for each in baselines if each is not None] or None,
        cluster=options.cluster,
        attributes=options.attributes,
        test=options.test,
        correction=options.correction,
        level=options.confidence,
        permutations=options.permutations,
        seed=options.seed,
        policy=options.policy if options.convention else rs.Policy.parse(options.policy),
        convention=options.convention,
        items=read_items(options),
        duplicates=options.duplicates,
        ignore_same=options.ignore_same,
        score_type=options.score_type,
        encoding=options.encoding,
        threads=options.threads,
        progress=True,
    )


def _list_files(given: str) -> list[str]:
    """Return the files of a folder or a pattern, or the path itself."""
    found = given if given == "-" else list_runs(given)
    return [given] if isinstance(found, str) else list(found)  # type: ignore[call-overload]  # paths
