"""The inputs and options of the commands that compare several runs."""

from __future__ import annotations

import os
from argparse import ArgumentParser, Namespace
from collections.abc import Sequence
from typing import Any

from rankscope._cli.options import (
    add_convention_option,
    add_file_options,
    add_items_options,
    add_measures_option,
    add_policy_option,
    add_reading_options,
    add_small_print_option,
    list_items_files,
    name_file,
    read_items,
    refuse_stdin_twice,
)
from rankscope._cli.parser import OnceFlag, Parser, read_integer, read_number
from rankscope._compare.notes import CORRECTIONS
from rankscope._evaluate.options import list_reading
from rankscope._inputs.files import expand_paths
from rankscope._inputs.recognition import name_path, shorten_names
from rankscope._names import find_closest, quote
from rankscope._stats.paired import TESTS
from rankscope.errors import UsageError

RUN_OPTIONS = (
    *("cluster", "weights", "attributes", "test", "correction", "permutations", "seed"),
    *("baseline", "convention"),
)
"""The options that are arguments of `compare` and `leaderboard` as they are."""


def add_runs(parser: Parser, measures: Sequence[str]) -> None:
    """Add judgments and runs, or one table of several runs, and the measures."""
    parser.usage = (
        "%(prog)s [options] QRELS RUN_A RUN_B...\n"
        "       %(prog)s [options] TABLE --scores COLUMN,COLUMN...\n"
        "       %(prog)s [options] TABLE --runs COLUMN"
    )
    parser.add_argument(
        "inputs",
        metavar="QRELS RUN_A RUN_B... | TABLE",
        nargs="+",
        help="judgments and the runs, or folders of which each file is a run; or one table of "
        "several runs; - reads standard input",
    )
    add_measures_option(parser, measures)
    add_table_of_runs(parser, "COLUMN,...", "columns of scores of a table, each of which is a run")
    parser.add_argument("--names", metavar="NAME,...", help="short names of the runs, in order")


def add_table_of_runs(parser: Parser, scores: str, about: str) -> None:
    """Add the options that name the runs of one table."""
    parser.add_argument("--scores", metavar=scores, help=about)
    parser.add_argument(
        "--runs", metavar="COLUMN", help="column of a table that names the run of each row"
    )


def add_query_options(parser: ArgumentParser) -> None:
    """Add the options about attributes of queries."""
    parser.add_argument(
        "--attributes",
        metavar="FILE",
        help="table with one row per query, which has the columns of other options",
    )
    parser.add_argument(
        "--cluster",
        metavar="COLUMN",
        help="what queries depend within, such as user_id; tests and intervals then treat each "
        "cluster as one unit",
    )
    parser.add_argument(
        "--weights", metavar="COLUMN", help="weight of each query, such as how often it is asked"
    )


def add_test_options(parser: Parser) -> None:
    """Add the options about the significance test, and how inputs are read."""
    parser.add_argument(
        "--test", default="permutation", choices=TESTS, metavar="TEST", help="significance test"
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
    parser.add_argument(
        "--confidence",
        type=read_number,
        default=0.95,
        metavar="LEVEL",
        help="confidence level; corrected p-values below 1 - LEVEL are significant",
    )
    add_input_options(parser, "random seed of the test")


def add_input_options(parser: Parser, about_seed: str) -> None:
    """Add the seed, the policy, and how inputs are read."""
    parser.add_argument("--seed", type=read_integer, default=0, metavar="N", help=about_seed)
    add_small_print_option(parser)
    add_policy_option(parser)
    add_convention_option(parser)
    add_reading_options(parser)
    add_file_options(parser)
    add_items_options(parser)


def add_format_options(parser: Parser, html: str) -> None:
    """Add the formats in which the result can be printed."""
    formats = parser.add_mutually_exclusive_group()
    for name, what in {
        "json": "the result as JSON",
        "csv": "the result as CSV",
        "markdown": "all tables as Markdown",
        "html": html,
        "latex": "the means as a LaTeX table for a paper (booktabs)",
    }.items():
        formats.add_argument(f"--{name}", action=OnceFlag, help=f"print {what}")


def list_input_options(options: Namespace) -> dict[str, Any]:
    """Return how inputs are read, as `compare` and others take it: notes are strict afterwards."""
    reading = list_reading(options) | {"items": read_items(options)}
    del reading["strict"]
    return reading


def read_runs(options: Namespace) -> tuple[Any, Any, dict[str, Any]]:
    """Return judgments and runs, or a table and its column of runs, and how they are compared."""
    path, *others = options.inputs
    paths = expand_paths(others, are_several=len(others) == 1)
    files = [path, *paths, *([options.attributes] if options.attributes else [])]
    refuse_stdin_twice([*files, *list_items_files(options)])
    shared: dict[str, Any] = {name: getattr(options, name) for name in RUN_OPTIONS}
    shared |= {**list_input_options(options), "policy": options.policy or None, "progress": True}
    if options.scores or options.runs:
        if paths or options.attributes:
            raise UsageError(
                "--scores and --runs work with one table, without --attributes",
                hint="put the columns of other options into the table",
                code="usage",
            )
        names = options.names.split(",") if options.names else None
        if options.scores:
            shared["scores"] = options.scores.split(",")
            names = _read_names(options.names, len(shared["scores"]))
        return name_file(path, "table", options), options.runs, shared | {"names": names}
    by = getattr(options, "by", None)
    columns = {"by": by, "cluster": options.cluster, "weights": options.weights}
    used = next((name for name, column in columns.items() if column), None)
    if used is not None and not options.attributes:
        raise UsageError(
            f"--{used} needs a table with one row per query",
            hint="add --attributes FILE",
            code="usage",
        )
    file_names = shorten_names([name_path(run, "run") for run in paths])
    twice = next((name for at, name in enumerate(file_names) if name in file_names[:at]), None)
    if twice is not None:
        raise UsageError(f"{quote(twice)} is given twice", hint="remove one of them", code="usage")
    names = _read_names(options.names, len(paths)) or file_names
    if isinstance(options.baseline, list):
        shared["baseline"] = [_find_run(name, names, paths) for name in options.baseline]
    elif options.baseline is not None:
        shared["baseline"] = _find_run(options.baseline, names, paths)
    runs = {name: name_file(run, "run", options) for name, run in zip(names, paths, strict=True)}
    return name_file(path, "qrels", options), runs, shared


def _read_names(text: str | None, count: int) -> list[str] | None:
    """Return the names that `--names` gives to so many runs."""
    if text is None:
        return None
    names = [name.strip() for name in text.split(",")]
    twice = [name for at, name in enumerate(names) if name in names[:at]]
    if len(names) != count or twice or not all(names):
        problem = f"{len(names)} name{'s' * (len(names) != 1)} for {count} runs"
        if len(names) == count:
            problem = f"the name {quote(twice[0])} twice" if twice else "an empty name"
        raise UsageError(
            f"--names gives {problem}",
            hint="give a different name for each run, separated by commas",
            code="usage",
        )
    return names


def _find_run(name: str, names: Sequence[str], paths: Sequence[str]) -> str:
    """Return the name of the run that is called so: its name, its path, or its file name."""
    if name in names:
        return name
    runs = {
        run
        for run, path in zip(names, paths, strict=True)
        if name in {path, os.path.basename(path), os.path.splitext(os.path.basename(path))[0]}  # noqa: PTH119, PTH122 - pathlib loads slowly
    }
    if len(runs) == 1:
        return runs.pop()
    closest = find_closest(name, names)
    raise UsageError(
        f"there is no run {quote(name)} to be the baseline",
        hint=f"did you mean {closest}?" if closest else f"the runs are {', '.join(names)}",
        code="usage",
    )
