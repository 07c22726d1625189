"""`rankscope discounts`: compares rank discounts, and evaluates runs under each of them."""

from __future__ import annotations

import rankscope as rs
from rankscope.cli.files import (
    add_file_options,
    name_file,
    refuse_stdin_twice,
)
from rankscope.cli.options import (
    add_format_options,
    add_measure_option,
    add_policy_option,
    add_reading_options,
)
from rankscope.cli.output import print_csv, print_json, print_notes
from rankscope.cli.parser import OnceFlag, read_integer, read_number
from rankscope.discounts.chart import DiscountCurves, draw_discounts
from rankscope.errors import UsageError
from rankscope.evaluation.options import list_reading
from rankscope.inputs.recognition import name_path, shorten_names
from rankscope.names import quote
from rankscope.output.diagnostics import count_codes
from rankscope.output.text import show_lines
from rankscope.records import as_dict
from rankscope.writing import refuse_overwriting

TYPE_CHECKING = False
if TYPE_CHECKING:
    from argparse import Namespace
    from collections.abc import Sequence
    from typing import Any

    from rankscope.cli.parser import Parser
    from rankscope.clicks.examination_result import ExaminationCurve
    from rankscope.discounts.comparison import DiscountComparison
    from rankscope.discounts.result import Discounts
    from rankscope.output.table import Table


def add_arguments(parser: Parser) -> None:
    """Add the arguments of the command."""
    parser.usage = "%(prog)s [options]\n       %(prog)s [options] QRELS RUN..."
    parser.add_argument(
        "inputs",
        metavar="QRELS RUN...",
        nargs="*",
        help="judgments and runs to evaluate under each discount; - reads standard input",
    )
    parser.add_argument(
        "--ranks", type=read_integer, metavar="N", help="number of ranks (default: 10)"
    )
    add_measure_option(parser, "nDCG with a cutoff, to evaluate runs (default: nDCG@10)")
    parser.add_argument(
        "--base",
        action="append",
        type=read_number,
        metavar="B",
        help="base of the discounts log and jk (default: e and 2)",
    )
    parser.add_argument(
        "--s",
        action="append",
        type=read_number,
        metavar="S",
        help="exponent of the discount zipf (default: 0.5)",
    )
    parser.add_argument(
        "--table",
        action="append",
        default=[],
        metavar="NAME=W1,W2,...",
        help="a discount of your own, with a weight for each rank",
    )
    parser.add_argument(
        "--clicks",
        metavar="LOG",
        help="table of shown documents with rank and click; adds the discount `clicks`, estimated "
        "from how often each rank is looked at",
    )
    for role, text in (
        ("rank", "with the rank (default: rank or position)"),
        ("click", "with the click, 0 or 1 (default: click)"),
        ("propensity", "with the probability that the document was shown at its rank"),
    ):
        parser.add_argument(f"--{role}", metavar="COLUMN", help=f"column of LOG {text}")
    parser.add_argument(
        "-o",
        "--output",
        metavar="FILE",
        help="write a plot of the discounts to this file, as .svg, .png or .pdf",
    )
    parser.add_argument("--dark", action=OnceFlag, help="use dark colors for the plot")
    add_format_options(parser)
    add_policy_option(parser)
    add_reading_options(parser)
    add_file_options(parser)
    parser.add_examples(
        "rankscope discounts --ranks 5",
        "rankscope discounts --clicks clicks.csv -o discounts.svg",
        "rankscope discounts qrels.txt bm25.run dense.run",
    )
    parser.set_defaults(run=run)


def run(options: Namespace) -> int:
    """Print the weights of ranks, or the values of runs under each discount."""
    _refuse_misplaced(options)
    tables = _read_tables(options.table)
    examination = None if options.clicks is None else _examine(options)
    if examination is not None:
        if "clicks" in tables:
            raise UsageError(
                "--clicks adds a discount named clicks, and --table names one as well",
                hint="choose another name for the table",
                code="usage",
            )
        tables["clicks"] = [*examination.weights]
    discounts: dict[str, Any] = {
        "bases": options.base,
        "tables": tables,
        **({"powers": options.s} if options.s else {}),
    }
    if options.inputs:
        comparison = _compare(options, discounts)
        print_notes(comparison.notes)
        _print_comparison(comparison, options)
        return 0
    ranks = 10 if options.ranks is None else options.ranks
    weights = rs.tabulate_discounts(ranks, **discounts)
    if options.output is not None:
        _draw(weights, examination, options)
    _print_weights(weights, examination, options)
    return 0


def _refuse_misplaced(options: Namespace) -> None:
    inputs = options.inputs
    if len(inputs) == 1:
        raise UsageError(
            f"found only one file, {quote(inputs[0])}",
            hint="add a run, or pass no files to see the weights of ranks",
            code="usage",
        )
    refuse_stdin_twice(inputs)
    if options.output is not None and options.clicks is not None:
        refuse_overwriting(options.output, [options.clicks])
    for name, option, is_for_runs in (
        ("ranks", "--ranks", False),
        ("output", "-o", False),
        ("measure", "-m", True),
        ("policy", "--policy", True),
    ):
        if getattr(options, name) not in {None, ""} and bool(inputs) != is_for_runs:
            verb = "needs" if is_for_runs else "cannot be combined with"
            raise UsageError(
                f"{option} {verb} judgments and runs",
                hint=f"remove {option}",
                code="usage",
            )
    for name in ("rank", "click", "propensity"):
        if getattr(options, name) is not None and options.clicks is None:
            raise UsageError(
                f"--{name} has no effect without --clicks",
                hint="add --clicks log.csv",
                code="usage",
            )
    if options.dark and options.output is None:
        raise UsageError("--dark has no effect without -o", hint="add -o plot.svg", code="usage")


def _examine(options: Namespace) -> ExaminationCurve:
    return rs.estimate_examination(
        options.clicks,
        rank=options.rank,
        click=options.click or "click",
        propensity=options.propensity,
        encoding=options.encoding,
    )


def _draw(weights: Discounts, examination: ExaminationCurve | None, options: Namespace) -> None:
    from rankscope.drawing.saving import save  # noqa: PLC0415 - as above

    shown = DiscountCurves.of(weights, examination)
    save(draw_discounts(shown, theme="dark" if options.dark else "light"), options.output)


def _read_tables(texts: Sequence[str]) -> dict[str, list[float]]:
    tables: dict[str, list[float]] = {}
    for text in texts:
        name, _, weights = text.partition("=")
        try:
            numbers = [float(weight) for weight in weights.split(",")]
        except ValueError:
            numbers = []
        if not (name and numbers) or name in tables:
            raise UsageError(
                f"cannot read --table {quote(text)}",
                hint="write a name and numbers, such as --table mine=1,0.6,0.4; use a name once",
                code="usage",
            )
        tables[name] = numbers
    return tables


def _compare(options: Namespace, discounts: dict[str, Any]) -> DiscountComparison:
    path, *runs = options.inputs
    names = shorten_names([name_path(run, "run") for run in runs])
    if len(set(names)) < len(names):
        raise UsageError("a run is named twice", hint="remove one of them", code="usage")
    return rs.compare_discounts(
        name_file(path, "qrels", options),
        {name: name_file(run, "run", options) for name, run in zip(names, runs, strict=True)},
        options.measure or "nDCG@10",
        policy=options.policy or None,
        **list_reading(options),
        **discounts,
    )


def _print_weights(
    discounts: Discounts, examination: ExaminationCurve | None, options: Namespace
) -> None:
    if options.json:
        weights = {curve.name: [*curve.weights[: len(discounts)]] for curve in discounts.curves}
        document = {
            "ranks": len(discounts),
            "weights": weights,
            "attention": {str(rank): share for rank, share in discounts.attention.items()},
            "errors": discounts.errors.to_dict(),
            "closest": discounts.closest.name,
            "alike": list(map(list, discounts.alike)),
            **({} if examination is None else {"examination": examination.to_dict()}),
        }
        print_json(document)
    elif options.csv:
        _print_table(discounts)
    else:
        print(show_lines(str(discounts)))
        if examination is not None:
            print(f"\nclicks: {examination}")


def _print_comparison(comparison: DiscountComparison, options: Namespace) -> None:
    if options.json:
        document = {
            "measure": comparison.measure,
            "ndcg": _by_discount(comparison),
            "dcg": _by_discount(comparison.dcg),
            "orders": {name: list(map(list, order)) for name, order in comparison.orders.items()},
            "tau": comparison.tau.to_dict(),
            "exchanges": [*map(as_dict, comparison.exchanges)],
            "disagreements": [
                {"discount": each.discount, "ndcg": [*each.by_ndcg], "dcg": [*each.by_dcg]}
                for each in comparison.disagreements
            ],
            "diagnostics": count_codes(comparison.notes),
        }
        print_json(document)
    elif options.csv:
        _print_table(comparison)
    else:
        print(show_lines(str(comparison)))


def _print_table(table: Table) -> None:
    print_csv([table.names, *table.rows()])


def _by_discount(table: Table) -> dict[str, dict[str, object]]:
    first, *names = table.names
    runs: Sequence[object] = table.column(first)
    return {
        name: {str(run): value for run, value in zip(runs, table.column(name), strict=True)}
        for name in names
    }
