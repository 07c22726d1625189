"""`rankscope eval`: evaluates one or more runs against judgments."""

from __future__ import annotations

import os
from collections import Counter
from itertools import chain

import rankscope as rs
from rankscope._evaluate.evaluations import Evaluations
from rankscope._evaluate.exports import describe_evaluation, write_slices
from rankscope._evaluate.options import (
    add_inputs,
    add_table_options,
    evaluate_scores,
    evaluate_table,
    list_reading,
    list_settings,
    refuse_table_options,
)
from rankscope._inputs.files import expand_paths, is_scores
from rankscope._inputs.recognition import name_path, shorten_names
from rankscope.cli.files import (
    add_file_options,
    add_items_options,
    is_letor,
    name_file,
    refuse_stdin_twice,
)
from rankscope.cli.options import (
    add_convention_option,
    add_format_options,
    add_interval_options,
    add_measures_option,
    add_memory_options,
    add_policy_option,
    add_reading_options,
    read_interval,
)
from rankscope.cli.output import print_csv, print_json, print_notes
from rankscope.cli.parser import OnceFlag
from rankscope.errors import UsageError
from rankscope.measures.parse import split_measures
from rankscope.measures.reading import find_second
from rankscope.output.diagnostics import describe, gather
from rankscope.output.estimate import describe_intervals
from rankscope.output.progress import ProgressBar
from rankscope.output.text import format_value, show

TYPE_CHECKING = False
if TYPE_CHECKING:
    from argparse import Namespace
    from collections.abc import Iterator, Sequence

    from rankscope._evaluate.evaluation import Evaluation
    from rankscope._evaluate.slices import Slices
    from rankscope.cli.parser import Parser
    from rankscope.output.diagnostics import Diagnostic

DEFAULT_MEASURES = ("nDCG@10", "AP", "RR")


def add_arguments(parser: Parser) -> None:
    """Add the arguments of the command."""
    add_inputs(parser)
    add_measures_option(parser, DEFAULT_MEASURES)
    parser.add_argument(
        "-q", "--per-query", dest="by_query", action=OnceFlag, help="print the value of each query"
    )
    add_format_options(parser, papers=True)
    add_policy_option(parser)
    add_convention_option(parser)
    add_interval_options(parser)
    add_reading_options(parser)
    add_file_options(parser)
    parser.add_argument(
        "--subtopics",
        action=OnceFlag,
        help="read judgments by subtopic, which is the second column of TREC qrels or the column "
        "`subtopic` of a table (default: only if a measure of diversity is among the measures)",
    )
    parser.add_argument(
        "--samples",
        action=OnceFlag,
        help="treat the runs as rankings of one stochastic ranker, and print one value of each "
        "measure: EEL, EED and EER of the mean exposure, and the mean of the others over the runs",
    )
    add_items_options(parser)
    add_memory_options(parser, "the rows of a table or run")
    table = add_table_options(parser)
    table.add_argument(
        "--assume-grouped",
        action="store_true",
        help="fail if the rows of a query are not together, instead of loading the table into "
        "memory",
    )
    table.add_argument(
        "--cluster",
        metavar="COLUMN",
        help="query attribute that makes queries depend on one another, such as the user; "
        "intervals are over its values",
    )
    table.add_argument(
        "--attributes",
        metavar="FILE",
        help="for judgments and runs: the table with one row per query that has the columns of "
        "--by and --cluster",
    )
    parser.add_examples(
        "rankscope eval qrels.txt bm25.run -m nDCG@10,AP",
        "rankscope eval qrels.txt bm25.run dense.run --interval 0.95",
        "rankscope eval log.parquet -m nDCG@10 --by country",
    )
    parser.set_defaults(run=run)


def run(options: Namespace) -> int:
    """Evaluate the runs, and print the values."""
    refuse_stdin_twice(options.inputs)
    options.inputs = [*options.inputs[:1], *expand_paths(options.inputs[1:])]
    if options.by is not None and options.by_query:
        raise UsageError("-q cannot be combined with --by", hint="remove one of them", code="usage")
    measures = split_measures(options.measures or DEFAULT_MEASURES)
    if options.convention is None:
        rs.Policy.parse(options.policy)  # before anything is read
    options.interval = read_interval(options)
    evaluations = list(_evaluate(measures, options))
    print_notes([*_notes(options, evaluations), *_find_identical(_runs(options))])
    lines = (line for each in evaluations for line in describe_intervals(each.estimates))
    print_notes(dict.fromkeys(lines))
    if options.json:
        _print_json(options, evaluations)
    elif options.csv:
        _print_csv(options, evaluations)
    elif options.latex:
        print(_write_paper(options, evaluations))
    else:
        _print_table(options, evaluations)
    return 0


def _evaluate(measures: list[str], options: Namespace) -> Iterator[Evaluation]:
    if len(options.inputs) == 1:
        if options.attributes is not None:
            raise UsageError(
                "--attributes works with judgments and runs, not with one table",
                hint="put these columns into the table, and remove --attributes",
                code="usage",
            )
        if options.samples:
            raise UsageError(
                "--samples expects judgments and runs, found one input",
                hint="write rankscope eval QRELS RUN RUN --samples",
                code="usage",
            )
        yield evaluate_table(options.inputs[0], measures, options)
        return
    path, *runs = options.inputs
    if options.by and len(runs) > 1:
        raise UsageError(
            f"--by works with one run, found {len(runs)}",
            hint="write rankscope compare --by for several runs",
            code="usage",
        )
    beside = (options.by, options.cluster)
    if options.attributes is not None and not any(beside):
        raise UsageError(
            "--attributes has no effect without --by or --cluster",
            hint="add --by COLUMN or --cluster COLUMN, or remove --attributes",
            code="usage",
        )
    refuse_table_options(options, *(() if options.attributes is None else ("by", "cluster")))
    if options.samples:
        yield _evaluate_samples(path, runs, measures, options)
        return
    scored = [is_letor(path, options) and is_scores(run) for run in runs]
    settings = list_settings(options)
    qrels = None
    if not all(scored):
        second = find_second(measures, subtopics=options.subtopics or None)
        with ProgressBar("judgments") as progress:
            qrels = rs.read_qrels(
                name_file(path, "qrels", options),
                subtopics=second == "subtopic",
                strata=second == "stratum",
                duplicates=options.duplicates,
                encoding=options.encoding,
                progress=progress,
            )
    for run, has_only_scores in zip(runs, scored, strict=True):
        if has_only_scores or qrels is None:
            yield evaluate_scores(path, run, measures, options)
            continue
        with ProgressBar(show(name_path(run, "run"))) as progress:
            yield rs.evaluate(
                qrels,
                name_file(run, "run", options),
                measures,
                by=options.by,
                attributes=options.attributes,
                progress=progress,
                **settings,
            )


def _evaluate_samples(
    path: str,
    runs: Sequence[str],
    measures: list[str],
    options: Namespace,
) -> Evaluation:
    for name in ("convention", "memory", "spill_folder", "history", "items", "catalogue"):
        if getattr(options, name):
            raise UsageError(
                f"--{name.replace('_', '-')} has no effect with --samples",
                hint="remove one of them",
                code="usage",
            )
    return rs.evaluate_samples(
        name_file(path, "qrels", options),
        [name_file(run, "run", options) for run in runs],
        measures,
        policy=rs.Policy.parse(options.policy),
        interval=options.interval,
        cluster=options.cluster,
        attributes=options.attributes,
        **list_reading(options),
    )


def _runs(options: Namespace) -> list[str]:
    if options.samples:  # all runs have one value together
        return options.inputs[1:2]  # type: ignore[no-any-return]  # paths
    runs: list[str] = options.inputs[1:] or options.inputs
    return runs


def _names(options: Namespace) -> list[str]:
    return [name_path(path, "run") for path in _runs(options)]


def _notes(options: Namespace, evaluations: Sequence[Evaluation]) -> tuple[Diagnostic, ...]:
    names = shorten_names(_names(options))
    return gather({name: each.notes for name, each in zip(names, evaluations, strict=True)})


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
    slices = evaluations[0].slices
    if slices is not None:
        _print_slices(slices, evaluations[0])
        return
    query = ["query"] if options.by_query else []
    every = ["all"] if options.by_query else []
    if len(evaluations) > 1 or options.interval:
        print(*["measure", *query, *map(show, _header(options, evaluations))], sep="\t")
    if options.by_query:
        columns = _columns(evaluations)
        ends = ["", ""] if options.interval else []
        for number, query_id in enumerate(map(show, evaluations[0].query_texts)):
            for name, values in columns.items():
                cells = [[format_value(column[number]), *ends] for column in values]
                print(name, query_id, *chain(*cells), sep="\t")
    for name in evaluations[0]:
        cells = [list(map(format_value, _mean(each, name))) for each in evaluations]
        print(name, *every, *chain(*cells), sep="\t")


def _header(options: Namespace, evaluations: Sequence[Evaluation]) -> list[str]:
    """Return the names of the columns of means."""
    is_one = len(evaluations) == 1
    ends = ("lower", "upper") if options.interval else ()
    columns = [
        [name, *(end if is_one else f"{name} {end}" for end in ends)]
        for name in (["value"] if is_one else _names(options))
    ]
    return list(chain(*columns))


def _mean(evaluation: Evaluation, measure: str) -> tuple[float, ...]:
    """Return a mean, and the ends of its interval if there is one."""
    return (evaluation[measure], *evaluation.intervals.get(measure, ()))


def _print_slices(slices: Slices, evaluation: Evaluation) -> None:
    """Print a row for each group and measure, with its number of queries; all queries last."""
    ends = ("lower", "upper") if evaluation.intervals else ()
    print("measure", *map(show, slices.attributes), "value", *ends, "queries", sep="\t")
    for texts, cells in zip(slices.texts(), slices.rows(), strict=True):
        row = dict(zip(slices.names, cells, strict=True))
        for measure in evaluation:
            values = [float(row[f"{measure} {end}".rstrip()] or 0) for end in ("", *ends)]
            count = row[f"{measure} n"]
            print(measure, *map(show, texts), *map(format_value, values), count, sep="\t")
    every = ["all"] * len(slices.attributes)
    for measure in evaluation:
        means = map(format_value, _mean(evaluation, measure))
        print(measure, *every, *means, evaluation.denominators[measure], sep="\t")


def _print_csv(options: Namespace, evaluations: Sequence[Evaluation]) -> None:
    """Print a row for each measure and a column for each run.

    With `-q` there is a row for each query and a column for each measure, with `--by` a row for
    each group.
    """
    slices = evaluations[0].slices
    if slices is not None:
        print_csv([slices.names, *write_slices(slices)])
        return
    if not options.by_query:
        print_csv([["measure", *_header(options, evaluations)]])
        means = ((name, [_mean(each, name) for each in evaluations]) for name in evaluations[0])
        print_csv([name, *chain(*values)] for name, values in means)
        return
    columns = _columns(evaluations)
    is_many = len(evaluations) > 1
    print_csv([[*(["run"] if is_many else []), "query_id", *columns]])
    for index, path in enumerate(_names(options)):
        run = [path] if is_many else []
        values = zip(*(column[index] for column in columns.values()), strict=True)
        ids = evaluations[index].query_texts
        print_csv([*run, query, *row] for query, row in zip(ids, values, strict=True))


def _write_paper(options: Namespace, evaluations: Sequence[Evaluation]) -> str:
    """Return the means as a table for a paper."""
    if options.by_query or options.by is not None:
        raise UsageError(
            "tables for papers have the means over all queries",
            hint="remove -q and --by",
            code="usage",
        )
    found = dict(zip(shorten_names(_names(options)), evaluations, strict=True))
    table = evaluations[0] if len(evaluations) == 1 else Evaluations(found)
    return table.to_latex()


def _print_json(options: Namespace, evaluations: Sequence[Evaluation]) -> None:
    documents = [describe_evaluation(each, by_query=options.by_query) for each in evaluations]
    if len(documents) == 1:
        print_json(documents[0])
    else:
        pairs = zip(_names(options), documents, strict=True)
        print_json({"runs": [{"run": path, **document} for path, document in pairs]})


def _columns(evaluations: Sequence[Evaluation]) -> dict[str, list[list[float]]]:
    """Return the values of the queries in each run, by measure that has any."""
    measures = [each for each in evaluations[0].measures if each.row.level == "query"]
    return {
        each.name: [evaluation.per_query_list(each) for evaluation in evaluations]
        for each in measures
    }
