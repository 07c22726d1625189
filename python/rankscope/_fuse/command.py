"""`rankscope fuse`: fuses the runs of several systems into one."""

from __future__ import annotations

import os
import sys
from argparse import Namespace
from collections.abc import Mapping
from itertools import combinations
from operator import attrgetter

import rankscope as rs
from rankscope._cli.options import (
    add_encoding_option,
    add_file_options,
    add_measure_option,
    add_score_type_option,
    add_threads_option,
    name_file,
    refuse_stdin_twice,
)
from rankscope._cli.parser import Parser, listed, print_notes, read_integer, read_number
from rankscope._file import File
from rankscope._fuse.run import FusedRun, check_run_path, check_tag
from rankscope._fuse.settings import DEFAULT_SCALE, METHODS, SCALES, TIES
from rankscope._inputs.files import expand_paths
from rankscope._inputs.recognition import name_path, shorten_names
from rankscope._names import quote
from rankscope._show.table import show
from rankscope._writing import refuse_overwriting
from rankscope.errors import UsageError

FITTED = "combsum"
"""The method whose weights are fitted by default."""


def add_arguments(parser: Parser) -> None:
    """Add the arguments of the command."""
    parser.description = (
        "Fuse the runs of several systems into one, and print it in TREC format. With --fit, the "
        "weights of the runs are chosen that have the best value on some judged queries."
    )
    parser.add_argument("runs", nargs="+", metavar="RUN", help="a run; - reads standard input")
    parser.add_argument(
        "-o",
        "--output",
        default="-",
        metavar="FILE",
        help="write the run to this file (default: -, standard output)",
    )
    parser.add_argument(
        "--method",
        metavar="NAME",
        help=f"how runs are fused; one of: {', '.join(METHODS)} (default: rrf; with --fit, "
        f"{FITTED})",
    )
    parser.add_argument(
        "--weights",
        type=listed(read_number),
        metavar="W,W,...",
        help="weight of each run, in their order, such as 0.3,0.7 (default: 1 for each)",
    )
    parser.add_argument(
        "--normalize",
        metavar="SCALE",
        help="how scores are scaled before they are added; one of: "
        f"{', '.join(SCALES)} (default: {DEFAULT_SCALE})",
    )
    for method in sorted(METHODS.values(), key=attrgetter("parameter")):
        if method.parameter:
            parser.add_argument(
                f"--{method.parameter}",
                type=read_number,
                metavar=method.parameter.upper(),
                help=f"the constant of {method.name} (default: {method.default:g})",
            )
    parser.add_argument(
        "--depth",
        type=read_integer,
        metavar="N",
        help="number of documents to keep for each query (default: all)",
    )
    parser.add_argument(
        "--tag",
        metavar="NAME",
        help="name of the run, the last column (default: the method)",
    )
    parser.add_argument(
        "--fit",
        metavar="QRELS",
        help="judgments of the queries on which weights are fitted, with -m",
    )
    add_measure_option(parser, "measure that the weights improve, such as nDCG@10")
    parser.add_argument(
        "--ties",
        choices=TIES,
        default=TIES[0],
        metavar="ORDER",
        help="order of documents with equal scores",
    )
    add_score_type_option(parser)
    add_encoding_option(parser)
    add_threads_option(parser)
    add_file_options(parser)
    parser.add_examples(
        "rankscope fuse bm25.run dense.run -o fused.run",
        "rankscope fuse bm25.run dense.run --method combsum --weights 0.3,0.7 --depth 1000",
        "rankscope fuse bm25.run dense.run --fit train.qrels -m nDCG@10 -o fused.run",
    )
    parser.set_defaults(run=run)


def run(options: Namespace) -> int:
    """Fuse the runs, and print or write the result."""
    options.runs = expand_paths(options.runs, are_several=len(options.runs) == 1)
    inputs = [*options.runs, *([options.fit] if options.fit else [])]
    refuse_stdin_twice(inputs)
    tag = None if options.tag is None else check_tag(options.tag)
    if options.output != "-":
        check_run_path(options.output)
        refuse_overwriting(options.output, inputs)
    for path, other in combinations(options.runs, 2):
        if path == other or _are_same(path, other):
            raise UsageError(
                f"expected different runs, found {quote(path)}"
                + (" twice" if path == other else f" and {quote(other)}, which is the same file"),
                hint="remove one; to count a run more than others, use --weights",
                code="usage",
            )
    names = shorten_names([name_path(path, "run") for path in options.runs])
    runs = {
        name: name_file(path, "run", options)
        for name, path in zip(names, options.runs, strict=True)
    }
    fused = _fuse(options, runs)
    if options.output == "-":
        sys.stdout.buffer.writelines(fused.lines(tag=tag))
    else:
        fused.write(options.output, tag=tag)
    for name, missing in zip(fused.names, fused.missing, strict=True):
        if missing:
            queries = "query" if missing == 1 else "queries"
            print(f"note: {show(name)} lacks {missing:,} {queries} of the others", file=sys.stderr)
    print_notes(fused.notes)
    return 0


def _are_same(path: str, other: str) -> bool:
    try:
        return os.path.samefile(path, other)  # noqa: PTH121 - pathlib loads slowly
    except (OSError, ValueError):  # one of the two does not exist, or is standard input
        return False


def _fuse(options: Namespace, runs: Mapping[str, str | File]) -> FusedRun:
    weights = options.weights
    names = ("normalize", "k", "p", "sigma", "depth", "ties", "encoding", "threads")
    settings = {name: getattr(options, name) for name in names}
    settings["score_type"] = options.score_type or "float64"
    method = options.method or (FITTED if options.fit else "rrf")
    if (options.fit is None) != (options.measure is None):
        raise UsageError(
            "--fit and -m belong together",
            hint="write --fit train.qrels -m nDCG@10, or leave both out",
            code="usage",
        )
    if options.fit is not None:
        if weights is not None:
            raise UsageError(
                "--weights sets the weights that --fit looks for",
                hint="remove one of the two",
                code="usage",
            )
        if "-" in options.runs:
            raise UsageError(
                "--fit reads the runs twice, and standard input (-) can be read only once",
                hint="write the run to a file",
                code="usage",
            )
        judged = name_file(options.fit, "qrels", options)
        fitted = rs.fit_fusion(judged, runs, options.measure, method, **settings)
        weights = list(fitted.weights.values())
        written = ", ".join(f"{show(name)} {weight:g}" for name, weight in fitted.weights.items())
        for note in (f"weights: {written}", fitted.describe(), *fitted.notes):
            print(f"note: {note}", file=sys.stderr)
    return rs.fuse(runs, method, weights=weights, **settings)
