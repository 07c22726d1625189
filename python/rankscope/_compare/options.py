"""The inputs and options of the commands that compare several runs."""

from __future__ import annotations

import os

from rankscope._compare.promise import CORRECTIONS
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
from rankscope.cli.parser import read_integer, read_number
from rankscope.errors import UsageError
from rankscope.names import find_closest, quote
from rankscope.stats.test.paired import TESTS

TYPE_CHECKING = False
if TYPE_CHECKING:
    from argparse import ArgumentParser, Namespace
    from collections.abc import Sequence
    from typing import Any

    from rankscope.cli.parser import Parser


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
    parser.add_argument(
        "--scores",
        metavar="COLUMN,...",
        help="columns of scores of a table, each of which is a run",
    )
    parser.add_argument(
        "--runs", metavar="COLUMN", help="column of a table that names the run of each row"
    )
    parser.add_argument("--names", metavar="NAME,...", help="short names of the runs, in order")


def add_query_options(parser: ArgumentParser) -> None:
    """Add the options about what is known of queries."""
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
    add_small_print_option(parser)
    add_policy_option(parser)
    add_convention_option(parser)
    add_reading_options(parser)
    add_file_options(parser)
    add_items_options(parser)


def read_runs(options: Namespace) -> tuple[Any, Any, dict[str, Any]]:
    """Return judgments and runs, or a table and its column of runs, and how they are compared."""
    path, *given = options.inputs
    paths = expand_paths(given, are_several=len(given) == 1)
    read = [path, *paths, *([options.attributes] if options.attributes else [])]
    refuse_stdin_twice([*read, *list_items_files(options)])
    baselines = options.baseline if isinstance(options.baseline, list) else [options.baseline]
    shared: dict[str, Any] = {
        "cluster": options.cluster,
        "weights": options.weights,
        "attributes": options.attributes,
        "test": options.test,
        "correction": options.correction,
        "permutations": options.permutations,
        "seed": options.seed,
        "policy": options.policy or None,
        "convention": options.convention,
        "items": read_items(options),
        "duplicates": options.duplicates,
        "ignore_same": options.ignore_same,
        "score_type": options.score_type,
        "encoding": options.encoding,
        "threads": options.threads,
        "progress": True,
    }
    if options.scores or options.runs:
        if paths or options.attributes:
            raise UsageError(
                "--scores and --runs work with one table, without --attributes",
                hint="put the columns of other options into the table",
                code="usage",
            )
        scores = options.scores.split(",") if options.scores else None
        names = options.names.split(",") if options.names else None
        if scores:
            names = _read_names(options.names, len(scores))
        shared |= {"scores": scores, "names": names, "baseline": options.baseline}
        return name_file(path, "table", options), options.runs, shared
    named = {name: getattr(options, name, None) for name in ("by", "cluster", "weights")}
    needs = next((name for name, column in named.items() if column), None)
    if needs is not None and not options.attributes:
        raise UsageError(
            f"--{needs} needs a table with one row per query",
            hint="add --attributes FILE",
            code="usage",
        )
    found = shorten_names([name_path(each, "run") for each in paths])
    twice = next((name for at, name in enumerate(found) if name in found[:at]), None)
    if twice is not None:
        raise UsageError(f"{quote(twice)} is given twice", hint="remove one of them", code="usage")
    names = _read_names(options.names, len(found)) or found
    chosen = [_find_run(each, names, paths) for each in baselines if each is not None]
    shared["baseline"] = chosen if isinstance(options.baseline, list) else next(iter(chosen), None)
    files = [name_file(each, "run", options) for each in paths]
    return name_file(path, "qrels", options), dict(zip(names, files, strict=True)), shared


def _read_names(text: str | None, count: int) -> list[str] | None:
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


def _find_run(given: str, names: Sequence[str], paths: Sequence[str]) -> str:
    """Return the name of the run that is called so: its name, its path, or its file name."""
    if given in names:
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
