"""`rankscope eval`: values of measures for one or many runs."""

from __future__ import annotations

import math
import os
from collections import Counter

import rankscope as rs
from rankscope.adapters.inputs import name_path
from rankscope.cli.arguments import Once, OnceFlag, split_measures
from rankscope.cli.output import print_csv, print_json, print_notes, show
from rankscope.cli.progress import ProgressBar
from rankscope.data.diagnostics import describe
from rankscope.errors import UsageError
from rankscope.results.text import format_value

TYPE_CHECKING = False
if TYPE_CHECKING:
    from argparse import ArgumentParser, Namespace
    from collections.abc import Iterator, Mapping, Sequence

    from rankscope.data import Diagnostic
    from rankscope.results import Evaluation

DEFAULT_MEASURES = ("nDCG@10", "AP", "RR")


def add_arguments(parser: ArgumentParser) -> None:
    """Say what the command takes."""
    parser.add_argument("qrels", metavar="QRELS", help="judgments; - is standard input")
    parser.add_argument("runs", metavar="RUN", nargs="+", help="runs; - is standard input")
    parser.add_argument(
        "-m",
        dest="measures",
        metavar="MEASURE",
        action="append",
        help=f"a measure, or several with commas between; {' '.join(DEFAULT_MEASURES)} if left "
        "out; `rankscope measures` lists them",
    )
    parser.add_argument("-q", dest="by_query", action=OnceFlag, help="print each query's values")
    form = parser.add_mutually_exclusive_group()
    form.add_argument("--json", action=OnceFlag, help="print one JSON document")
    form.add_argument("--csv", action=OnceFlag, help="print a table with commas")
    parser.add_argument(
        "--policy",
        action=Once,
        default="",
        metavar="FIELD=VALUE,…",
        help="what is done where tools differ: ties, empty, missing, unjudged, negative",
    )
    parser.add_argument(
        "--convention",
        action=Once,
        metavar="NAME",
        help="the library whose numbers are wanted, such as lightgbm; `rankscope conventions` "
        "lists them",
    )
    parser.add_argument(
        "--duplicates",
        action=Once,
        default="error",
        choices=("error", "first", "max"),
        help="which of two rows for one document counts",
    )
    parser.add_argument(
        "--score-type",
        action=Once,
        choices=("float64", "float32"),
        help="how scores are compared, float64 if left out; trec_eval 9 compares float32",
    )
    parser.add_argument(
        "--encoding", action=Once, default="utf-8", choices=("utf-8", "latin-1"), help="of files"
    )
    parser.add_argument(
        "--threads", action=Once, type=int, metavar="N", help="one a processor if left out"
    )
    parser.add_argument("--strict", action=OnceFlag, help="refuse what is suspicious but legal")


def run(options: Namespace) -> int:
    """Evaluate the runs, and print what came of it."""
    if [options.qrels, *options.runs].count("-") > 1:
        raise UsageError(
            "expected '-' for one input, found it for two", hint="name files", code="stdin_twice"
        )
    measures = split_measures(options.measures or DEFAULT_MEASURES)
    policy = rs.Policy.parse(options.policy) if options.convention is None else options.policy
    with ProgressBar("judgments") as progress:
        qrels = rs.read_qrels(
            options.qrels,
            duplicates=options.duplicates,
            encoding=options.encoding,
            progress=progress,
        )
    evaluations = []
    for path in options.runs:
        with ProgressBar(show(name_path(path, "run"))) as progress:
            evaluation = rs.evaluate(
                qrels,
                path,
                measures,
                policy=policy,
                convention=options.convention,
                duplicates=options.duplicates,
                score_type=options.score_type,
                encoding=options.encoding,
                threads=options.threads,
                strict=options.strict,
                progress=progress,
            )
        evaluations.append(evaluation)
    print_notes(dict.fromkeys([*_notes(evaluations), *_find_identical(options.runs)]))
    if options.json:
        _print_json(options, evaluations)
    elif options.csv:
        _print_csv(options, evaluations)
    else:
        _print_table(options, evaluations)
    return 0


def _names(options: Namespace) -> list[str]:
    return [name_path(path, "run") for path in options.runs]


def _notes(evaluations: Sequence[Evaluation]) -> Iterator[Diagnostic]:
    for evaluation in evaluations:
        yield from evaluation.notes


def _find_identical(runs: Sequence[str]) -> list[Diagnostic]:
    # pathlib would take as long to load as all the rest.
    files = [path for path in runs if os.path.isfile(path)]  # noqa: PTH113
    sizes = [os.stat(path).st_size for path in files]  # noqa: PTH116
    count = Counter(sizes)
    alike = [path for path, size in zip(files, sizes, strict=True) if count[size] > 1]
    same = len(alike) - len({_digest(path) for path in alike})
    return [describe("identical_runs", same, {})] if same else []


def _digest(path: str) -> bytes:
    from hashlib import file_digest  # noqa: PLC0415 - only where two runs have one size

    with open(path, "rb") as file:  # noqa: PTH123 - as above
        return file_digest(file, "blake2b").digest()


def _print_table(options: Namespace, evaluations: Sequence[Evaluation]) -> None:
    query = ["query"] if options.by_query else []
    every = ["all"] if options.by_query else []
    if len(evaluations) > 1:
        print(*["measure", *query, *map(show, _names(options))], sep="\t")
    if options.by_query:
        columns = _columns(evaluations)
        for number, query_id in enumerate(map(show, evaluations[0].query_ids)):
            for name, values in columns.items():
                print(
                    name, query_id, *(format_value(column[number]) for column in values), sep="\t"
                )
    for name in evaluations[0]:
        print(*[name, *every, *(format_value(each[name]) for each in evaluations)], sep="\t")


def _print_csv(options: Namespace, evaluations: Sequence[Evaluation]) -> None:
    """One row a measure and a column a run; with `-q` one row a query and a column a measure."""
    if not options.by_query:
        header = _names(options) if len(evaluations) > 1 else ["value"]
        print_csv([["measure", *header]])
        print_csv([name, *(each[name] for each in evaluations)] for name in evaluations[0])
        return
    columns = _columns(evaluations)
    is_many = len(evaluations) > 1
    print_csv([[*(["run"] if is_many else []), "query_id", *columns]])
    for index, path in enumerate(_names(options)):
        run = [path] if is_many else []
        values = zip(*(column[index] for column in columns.values()), strict=True)
        ids = evaluations[index].query_ids
        print_csv([*run, query, *row] for query, row in zip(ids, values, strict=True))


def _print_json(options: Namespace, evaluations: Sequence[Evaluation]) -> None:
    documents = [_document(each, by_query=options.by_query) for each in evaluations]
    if len(documents) == 1:
        print_json(documents[0])
    else:
        pairs = zip(_names(options), documents, strict=True)
        print_json({"runs": [{"run": path, **document} for path, document in pairs]})


def _document(evaluation: Evaluation, *, by_query: bool) -> dict[str, object]:
    document: dict[str, object] = {
        "measures": _without_nan(evaluation),
        "denominators": evaluation.denominators,
        "counts": evaluation.counts.to_dict(),
        "policy": evaluation.policy.to_dict(),
        **({"convention": evaluation.convention.address} if evaluation.convention else {}),
        "diagnostics": evaluation.diagnostics,
    }
    if by_query:
        rows = evaluation.to_dict()
        document["per_query"] = {query: _without_nan(row) for query, row in rows.items()}
    return document


def _without_nan(values: Mapping[str, float]) -> dict[str, float | None]:
    """JSON has no NaN: a value that the policy leaves out is null."""
    return {name: None if math.isnan(value) else value for name, value in values.items()}


def _columns(evaluations: Sequence[Evaluation]) -> dict[str, list[list[float]]]:
    """By measure, the values of the queries in each run."""
    return {name: [each.per_query_list(name) for each in evaluations] for name in evaluations[0]}
