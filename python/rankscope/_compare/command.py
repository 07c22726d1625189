"""`rankscope compare`: compares two or more runs: differences, intervals and p-values."""

from __future__ import annotations

import os

import rankscope as rs
from rankscope._compare.pair import NAMES, RANGES
from rankscope._compare.promise import CORRECTIONS
from rankscope._evaluate.evaluating import refuse_diagnostics
from rankscope._inputs.files import expand_paths
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
from rankscope.cli.output import print_csv, print_json, print_notes
from rankscope.cli.parser import OnceFlag, read_integer, read_number
from rankscope.errors import UsageError
from rankscope.measures.parse import split_measures
from rankscope.names import find_closest, quote
from rankscope.stats.test.paired import TESTS

TYPE_CHECKING = False
if TYPE_CHECKING:
    from argparse import ArgumentParser, Namespace
    from collections.abc import Sequence
    from typing import Any

    from rankscope._compare.result import Comparison
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
    parser.usage = (
        "%(prog)s [options] QRELS RUN_A RUN_B...\n"
        "       %(prog)s [options] TABLE --scores COLUMN,COLUMN..."
    )
    parser.add_argument(
        "inputs",
        metavar="QRELS RUN_A RUN_B... | TABLE",
        nargs="+",
        help="judgments and two or more runs, or one table with several columns of scores; - reads "
        "standard input",
    )
    add_measures_option(parser, DEFAULT_MEASURES)
    add_comparison_options(parser)
    add_test_options(parser)
    parser.add_argument(
        "--margin",
        type=read_number,
        metavar="X",
        help="largest difference that does not matter; adds tests of non-inferiority and "
        "equivalence",
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
    add_small_print_option(parser)
    add_policy_option(parser)
    add_convention_option(parser)
    add_reading_options(parser)
    add_file_options(parser)
    add_items_options(parser)
    parser.add_examples(
        "rankscope compare qrels.txt bm25.run dense.run -m nDCG@10,AP",
        "rankscope compare qrels.txt *.run --baseline bm25.run --latex",
        "rankscope compare qrels.txt a.run b.run --attributes queries.csv --by country --cluster "
        "user_id",
        "rankscope compare log.parquet --scores old,new",
    )
    parser.set_defaults(run=run)


def add_test_options(parser: ArgumentParser) -> None:
    """Add the options about the significance test."""
    parser.add_argument(
        "--test",
        default="permutation",
        choices=TESTS,
        metavar="TEST",
        help="significance test",
    )
    parser.add_argument(
        "--correction",
        default="holm",
        choices=CORRECTIONS,
        metavar="NAME",
        help="correction of p-values for the number of comparisons",
    )
    parser.add_argument(
        "--permutations",
        type=read_integer,
        metavar="N",
        help="number of random permutations (default: by the size of the data)",
    )


def add_comparison_options(parser: ArgumentParser) -> None:
    """Add the options about runs, slices, clusters and intervals."""
    parser.add_argument("--names", metavar="NAME,...", help="short names of the runs, in order")
    parser.add_argument(
        "--baseline",
        metavar="NAME",
        help="run to compare all others with (default: compare all pairs)",
    )
    parser.add_argument(
        "--attributes",
        metavar="FILE",
        help="table with one row per query, for --by and --cluster",
    )
    parser.add_argument(
        "--by", action="append", metavar="COLUMN", help="also compare within each value of it"
    )
    parser.add_argument(
        "--cluster",
        metavar="COLUMN",
        help="what queries depend within, such as user_id; intervals and tests then treat each "
        "cluster as one unit",
    )
    parser.add_argument(
        "--scores",
        metavar="COLUMN,...",
        help="columns of scores of a table, each of which is a run",
    )
    parser.add_argument(
        "--confidence",
        type=read_number,
        default=0.95,
        metavar="LEVEL",
        help="confidence level of intervals; p-values below 1 - LEVEL are significant",
    )
    parser.add_argument(
        "--interval-method",
        default="auto",
        choices=("auto", "dense", "bounded", "t"),
        metavar="METHOD",
        help="what intervals and p-values promise (default: dense; t with --test t)",
    )
    parser.add_argument(
        "--seed",
        type=read_integer,
        default=0,
        metavar="N",
        help="random seed of the test and the intervals",
    )


def run(options: Namespace) -> int:
    """Compare the runs, and print the result."""
    path, *runs = options.inputs
    options.inputs = [path, *expand_paths(runs, are_several=len(runs) == 1)]
    comparison = compare(
        options,
        split_measures(options.measures or DEFAULT_MEASURES),
        bounds=True if options.bounds else False if options.no_bounds else None,
        test=options.test,
        correction=options.correction,
        margin=options.margin,
        permutations=options.permutations,
    )
    if options.strict:
        refuse_diagnostics(comparison.notes)
    if options.json:
        print_notes(comparison.notes)
        print_json(comparison.to_dict())
    elif options.csv:
        print_notes(comparison.notes)
        columns = (*NAMES, *RANGES)
        rows = [each.to_dict() for each in comparison.comparisons]
        print_csv([columns, *([_write(row[name]) for name in columns] for row in rows)])
    elif options.latex:
        print(comparison.to_latex())
    elif options.markdown or options.html:
        print(comparison.table("markdown" if options.markdown else "html"))
    else:
        print(comparison.table() if options.small_print else comparison)
    return 0


def compare(
    options: Namespace, measures: Sequence[str], *, bounds: bool | None, **testing: object
) -> Comparison:
    """Compare the runs that the options name."""
    read = [*options.inputs, *([options.attributes] if options.attributes else [])]
    refuse_stdin_twice([*read, *list_items_files(options)])
    by = options.by if options.by is None or len(options.by) > 1 else options.by[0]
    shared: dict[str, Any] = testing | {
        "by": by,
        "cluster": options.cluster,
        "bounds": bounds,
        "items": read_items(options),
        "duplicates": options.duplicates,
        "ignore_same": options.ignore_same,
        "encoding": options.encoding,
        "interval": rs.Interval(
            options.confidence, method=options.interval_method, seed=options.seed
        ),
        "seed": options.seed,
        "threads": options.threads,
        "progress": True,
    }
    if options.scores is not None:
        return _compare_table(options, measures, shared)
    if len(options.inputs) < 3:
        raise UsageError(
            f"compare needs judgments and two or more runs, found "
            f"{len(options.inputs)} file{'s' * (len(options.inputs) != 1)}",
            hint="write QRELS RUN_A RUN_B; or TABLE --scores old,new",
            code="usage",
        )
    if options.attributes is None and (by is not None or options.cluster is not None):
        raise UsageError(
            "--by and --cluster need a table with one row per query",
            hint="add --attributes FILE",
            code="usage",
        )
    path, *paths = options.inputs
    found = shorten_names([name_path(each, "run") for each in paths])
    if len(set(found)) < len(found):
        twice = next(name for at, name in enumerate(found) if name in found[:at])
        raise UsageError(f"{twice} is given twice", hint="remove one of them", code="usage")
    names = read_names(options.names, len(found)) or found
    return rs.compare(
        name_file(path, "qrels", options),
        {name: name_file(each, "run", options) for name, each in zip(names, paths, strict=True)},
        measures,
        attributes=options.attributes,
        policy=options.policy if options.convention else rs.Policy.parse(options.policy),
        convention=options.convention,
        score_type=options.score_type,
        baseline=find_run(options.baseline, names, paths),
        **shared,
    )


def _compare_table(
    options: Namespace, measures: Sequence[str], shared: dict[str, Any]
) -> Comparison:
    if len(options.inputs) != 1 or options.attributes or options.convention:
        raise UsageError(
            "--scores works with one table, without --attributes and --convention",
            hint="put the columns of --by and --cluster into the table",
            code="usage",
        )
    scores = options.scores.split(",")
    names = read_names(options.names, len(scores)) or scores
    return rs.compare(
        name_file(options.inputs[0], "table", options),
        measures,
        scores=scores,
        names=names,
        policy=options.policy or None,
        baseline=find_run(options.baseline, names, scores),
        **shared,
    )


def read_names(text: str | None, count: int) -> list[str] | None:
    """Return the names that `--names` gives to so many runs."""
    if text is None:
        return None
    names = [name.strip() for name in text.split(",")]
    twice = [name for at, name in enumerate(names) if name in names[:at]]
    if len(names) != count or twice or not all(names):
        given = f"{len(names)} name{'s' * (len(names) != 1)} for {count} runs"
        if len(names) == count:
            given = f"the name {quote(twice[0])} twice" if twice else "an empty name"
        raise UsageError(
            f"--names gives {given}",
            hint="give a different name for each run, separated by commas",
            code="usage",
        )
    return names


def find_run(given: str | None, names: Sequence[str], paths: Sequence[str]) -> str | None:
    """Return the name of the run that is called so: its name, its path, or its file name."""
    if given is None or given in names:
        return given
    found = {
        name
        for name, path in zip(names, paths, strict=True)
        if given in {path, os.path.basename(path), os.path.splitext(os.path.basename(path))[0]}  # noqa: PTH119, PTH122 - pathlib loads slowly
    }
    if len(found) == 1:
        return found.pop()
    closest = find_closest(given, names)
    raise UsageError(
        f"there is no run {quote(given)} to be the baseline",
        hint=f"did you mean {closest}?" if closest else f"the runs are {', '.join(names)}",
        code="usage",
    )


def _write(cell: object) -> str | float | None:
    if isinstance(cell, float) and cell != cell:  # noqa: PLR0124 - NaN alone differs
        return ""
    return cell if isinstance(cell, str | float | int) else ""
