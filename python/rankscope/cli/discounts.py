"""`rankscope discounts`: every discount side by side, and what each makes of runs."""

from __future__ import annotations

import rankscope as rs
from rankscope.adapters.inputs import name_path, shorten_names
from rankscope.cli.arguments import (
    Once,
    OnceFlag,
    add_policy_argument,
    add_reading_arguments,
)
from rankscope.cli.files import (
    add_file_arguments,
    name_file,
    refuse_overwriting,
    refuse_stdin_twice,
)
from rankscope.cli.output import print_csv, print_json, print_notes
from rankscope.errors import UsageError
from rankscope.results.text import show, show_lines

TYPE_CHECKING = False
if TYPE_CHECKING:
    from argparse import ArgumentParser, Namespace
    from collections.abc import Sequence
    from typing import Any

    from rankscope.results.discount_comparison import DiscountComparison
    from rankscope.results.discounts import Discounts
    from rankscope.results.examination import ExaminationCurve
    from rankscope.results.table import Table


def add_arguments(parser: ArgumentParser) -> None:
    """Say what the command takes."""
    parser.add_argument(
        "inputs",
        metavar="QRELS RUN…",
        nargs="*",
        help="judgments and runs, to evaluate these under each discount; - is standard input",
    )
    parser.add_argument(
        "--ranks", action=Once, type=int, metavar="N", help="how many ranks, 10 if left out"
    )
    parser.add_argument(
        "-m",
        dest="measure",
        action=Once,
        metavar="MEASURE",
        help="nDCG with a cutoff, for runs; nDCG@10 if left out",
    )
    parser.add_argument(
        "--base",
        action="append",
        type=float,
        metavar="B",
        help="the base of the discounts log and jk, e and 2 if left out; may be given again",
    )
    parser.add_argument(
        "--s",
        action="append",
        type=float,
        metavar="S",
        help="the power of the discount zipf, 0.5 if left out; may be given again",
    )
    parser.add_argument(
        "--table",
        action="append",
        default=[],
        metavar="NAME=W1,W2,…",
        help="a discount of your own: a weight a rank; may be given again",
    )
    parser.add_argument(
        "--clicks",
        action=Once,
        metavar="LOG",
        help="a table of what was shown at which rank and clicked: how often ranks are looked at, "
        "as one more discount, clicks",
    )
    for role, about in (
        ("rank", "ranks, rank or position if left out"),
        ("click", "clicks, 0 or 1; click if left out"),
        ("propensity", "the probability with which a document was put there, if there is one"),
    ):
        parser.add_argument(
            f"--{role}", action=Once, metavar="COLUMN", help=f"the column of LOG that holds {about}"
        )
    parser.add_argument(
        "-o",
        dest="output",
        action=Once,
        metavar="FILE",
        help="draw the curves, as .svg, .png or .pdf",
    )
    parser.add_argument("--dark", action=OnceFlag, help="draw on dark paper")
    form = parser.add_mutually_exclusive_group()
    form.add_argument("--json", action=OnceFlag, help="print one JSON document")
    form.add_argument("--csv", action=OnceFlag, help="print a table with commas")
    add_policy_argument(parser)
    add_reading_arguments(parser)
    add_file_arguments(parser)


def run(options: Namespace) -> int:
    """Print the weights of ranks, or what becomes of runs."""
    _refuse_misplaced(options)
    tables = _read_tables(options.table)
    examination = None if options.clicks is None else _examine(options)
    if examination is not None:
        if "clicks" in tables:
            raise UsageError(
                "expected --clicks and --table with different names, found clicks twice",
                hint="call the table something else",
                code="usage",
            )
        tables["clicks"] = [*examination.weights]
    discounts: dict[str, Any] = {
        "bases": options.base,
        "tables": tables,
        **({"powers": options.s} if options.s else {}),
    }
    if options.inputs:
        found = _compare(options, discounts)
        print_notes(found.notes)
        _print_comparison(found, options)
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
            f"expected judgments and runs, found {show(inputs[0])} alone",
            hint="name a run, or nothing to see the weights of ranks",
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
            place = "judgments and runs" if is_for_runs else "no files"
            raise UsageError(
                f"expected {place} beside {option}", hint=f"leave {option} out", code="usage"
            )

    for name in ("rank", "click", "propensity"):
        if getattr(options, name) is not None and options.clicks is None:
            raise UsageError(
                f"expected --clicks beside --{name}, found none",
                hint="write --clicks log.csv",
                code="usage",
            )
    if options.dark and options.output is None:
        raise UsageError(
            "expected -o beside --dark, found none", hint="write -o plot.svg", code="usage"
        )


def _examine(options: Namespace) -> ExaminationCurve:
    return rs.estimate_examination(
        options.clicks,
        rank=options.rank,
        click=options.click or "click",
        propensity=options.propensity,
        encoding=options.encoding,
    )


def _draw(weights: Discounts, examination: ExaminationCurve | None, options: Namespace) -> None:
    from rankscope.plots.data import DiscountCurves  # noqa: PLC0415 - only where it is drawn
    from rankscope.plots.matplotlib import draw_discounts, save  # noqa: PLC0415 - as above

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
                f"expected --table as NAME=W1,W2,…, each name once, found {text!r}",
                hint="write it as --table mine=1,0.6,0.4",
                code="usage",
            )
        tables[name] = numbers
    return tables


def _compare(options: Namespace, discounts: dict[str, Any]) -> DiscountComparison:
    path, *runs = options.inputs
    names = shorten_names([name_path(run, "run") for run in runs])
    if len(set(names)) < len(names):
        raise UsageError("expected each run once", hint="leave one out", code="usage")
    return rs.compare_discounts(
        name_file(path, "qrels", options),
        {name: name_file(run, "run", options) for name, run in zip(names, runs, strict=True)},
        options.measure or "nDCG@10",
        policy=options.policy or None,
        duplicates=options.duplicates,
        score_type=options.score_type,
        encoding=options.encoding,
        threads=options.threads,
        strict=options.strict,
        **discounts,
    )


def _print_weights(
    found: Discounts, examination: ExaminationCurve | None, options: Namespace
) -> None:
    if options.json:
        weights = {curve.name: [*curve.weights[: len(found)]] for curve in found.curves}
        document = {
            "ranks": len(found),
            "weights": weights,
            "attention": {str(rank): share for rank, share in found.attention.items()},
            "errors": found.errors.to_dict(),
            "closest": found.closest.name,
            "alike": list(map(list, found.alike)),
            **({} if examination is None else {"examination": examination.to_dict()}),
        }
        print_json(document)
    elif options.csv:
        _print_table(found)
    else:
        print(show_lines(str(found)))
        if examination is not None:
            print(f"\nclicks: {examination}")


def _print_comparison(found: DiscountComparison, options: Namespace) -> None:
    if options.json:
        document = {
            "measure": found.measure,
            "ndcg": _by_discount(found),
            "dcg": _by_discount(found.dcg),
            "orders": {name: list(map(list, order)) for name, order in found.orders.items()},
            "tau": found.tau.to_dict(),
            "exchanges": [
                {
                    "discount": each.discount,
                    "better": each.better,
                    "worse": each.worse,
                    "gap": each.gap,
                    "former": each.former,
                }
                for each in found.exchanges
            ],
            "disagreements": [
                {"discount": each.discount, "ndcg": [*each.by_ndcg], "dcg": [*each.by_dcg]}
                for each in found.disagreements
            ],
            "diagnostics": {note.code: note.count for note in found.notes},
        }
        print_json(document)
    elif options.csv:
        _print_table(found)
    else:
        print(show_lines(str(found)))


def _print_table(table: Table) -> None:
    print_csv([table.names, *table.rows()])


def _by_discount(table: Table) -> dict[str, dict[str, object]]:
    first, *names = table.names
    runs: Sequence[object] = table.column(first)
    return {
        name: {str(run): value for run, value in zip(runs, table.column(name), strict=True)}
        for name in names
    }
