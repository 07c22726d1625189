"""`rankscope eval`: evaluates one or more runs against judgments."""

from __future__ import annotations

import os
from argparse import Namespace
from collections import Counter
from collections.abc import Iterator, Sequence
from itertools import chain

import rankscope as rs
from rankscope._cli.options import (
    add_convention_option,
    add_file_options,
    add_format_options,
    add_interval_options,
    add_items_options,
    add_measures_option,
    add_memory_options,
    add_policy_option,
    add_reading_options,
    is_letor,
    name_file,
    read_interval,
    refuse_stdin_twice,
)
from rankscope._cli.parser import OnceFlag, Parser, print_csv, print_json, print_notes
from rankscope._evaluate.evaluation import Evaluation, describe_evaluation, write_slices
from rankscope._evaluate.options import (
    add_inputs,
    add_table_options,
    bad_usage,
    evaluate_scores,
    evaluate_table,
    list_reading,
    list_settings,
    refuse_table_options,
)
from rankscope._evaluate.query_values import Slices
from rankscope._inputs.files import expand_paths, is_scores
from rankscope._inputs.recognition import name_path, shorten_names
from rankscope._show.diagnostics import Diagnostic, describe, describe_intervals, gather
from rankscope._show.progress import ProgressBar
from rankscope._show.table import format_value, show
from rankscope.measures.parse import find_second, split_measures

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
        raise bad_usage("-q cannot be combined with --by", "remove one of them")
    measures = split_measures(options.measures or DEFAULT_MEASURES)
    if options.convention is None:
        rs.Policy.parse(options.policy)  # before anything is read
    options.interval = read_interval(options)
    evaluations = list(_evaluate(measures, options))
    paths = options.inputs[1:] or options.inputs
    paths = paths[:1] if options.samples else paths  # all samples have one value together
    names = [name_path(path, "run") for path in paths]
    short_names = shorten_names(names)
    notes = {name: run.notes for name, run in zip(short_names, evaluations, strict=True)}
    print_notes([*gather(notes), *_find_identical(paths)])
    lines = (line for run in evaluations for line in describe_intervals(run.estimates))
    print_notes(dict.fromkeys(lines))
    if options.json:
        _print_json(options, names, evaluations)
    elif options.latex:
        print(_write_paper(options, short_names, evaluations))
    elif (slices := evaluations[0].slices) is not None:
        _print_slices(options, slices, evaluations[0])
    elif options.csv:
        _print_csv(options, names, evaluations)
    else:
        _print_table(options, names, evaluations)
    return 0


def _evaluate(measures: list[str], options: Namespace) -> Iterator[Evaluation]:
    if len(options.inputs) == 1:
        if options.attributes is not None:
            raise bad_usage(
                "--attributes works with judgments and runs, not with one table",
                "put these columns into the table, and remove --attributes",
            )
        if options.samples:
            raise bad_usage(
                "--samples expects judgments and runs, found one input",
                "write rankscope eval QRELS RUN RUN --samples",
            )
        yield evaluate_table(options.inputs[0], measures, options)
        return
    path, *runs = options.inputs
    if options.by and len(runs) > 1:
        raise bad_usage(
            f"--by works with one run, found {len(runs)}",
            "write rankscope compare --by for several runs",
        )
    if options.attributes is not None and not (options.by or options.cluster):
        raise bad_usage(
            "--attributes has no effect without --by or --cluster",
            "add --by COLUMN or --cluster COLUMN, or remove --attributes",
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
    path: str, runs: Sequence[str], measures: list[str], options: Namespace
) -> Evaluation:
    for name in ("convention", "memory", "spill_folder", "history", "items", "catalogue"):
        if getattr(options, name):
            raise bad_usage(
                f"--{name.replace('_', '-')} has no effect with --samples", "remove one of them"
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


def _find_identical(paths: Sequence[str]) -> list[Diagnostic]:
    """Note files with the same bytes."""
    # pathlib would take as long to load as all the rest.
    sizes = {path: os.stat(path).st_size for path in paths if os.path.isfile(path)}  # noqa: PTH113, PTH116
    counts = Counter(sizes[path] for path in paths if path in sizes)
    alike = [path for path in paths if path in sizes and counts[sizes[path]] > 1]
    same = len(alike) - len({_digest(path) for path in alike})
    return [describe("identical_runs", same, {})] if same else []


def _digest(path: str) -> bytes:
    from hashlib import file_digest

    with open(path, "rb") as file:  # noqa: PTH123 - as above
        return file_digest(file, "blake2b").digest()


def _print_table(
    options: Namespace, names: Sequence[str], evaluations: Sequence[Evaluation]
) -> None:
    """Print a row for each measure and a column for each run; with `-q`, also rows of queries."""
    query, every = (["query"], ["all"]) if options.by_query else ([], [])
    if len(evaluations) > 1 or options.interval:
        print("measure", *query, *map(show, _head(options, names)), sep="\t")
    if options.by_query:
        columns = _read_columns(evaluations)
        ends = ["", ""] if options.interval else []
        for place, query_id in enumerate(map(show, evaluations[0].query_texts)):
            for name, runs in columns.items():
                cells = ([format_value(values[place]), *ends] for values in runs)
                print(name, query_id, *chain(*cells), sep="\t")
    for name in evaluations[0]:
        print(name, *every, *map(format_value, _read_means(name, evaluations)), sep="\t")


def _head(options: Namespace, names: Sequence[str]) -> list[str]:
    """Return the names of the columns of means."""
    ends = ("lower", "upper") if options.interval else ()
    if len(names) == 1:
        return ["value", *ends]
    return [f"{name} {end}" if end else name for name in names for end in ("", *ends)]


def _read_means(measure: str, evaluations: Sequence[Evaluation]) -> list[float]:
    """Return the mean of each run, followed by the ends of its interval if there is one."""
    means = ((run[measure], *run.intervals.get(measure, ())) for run in evaluations)
    return [*chain(*means)]


def _print_slices(options: Namespace, slices: Slices, evaluation: Evaluation) -> None:
    """Print a row for each group and measure, with its number of queries; all queries last."""
    if options.csv:
        print_csv([slices.names, *write_slices(slices)])
        return
    ends = ("lower", "upper") if evaluation.intervals else ()
    print("measure", *map(show, slices.attributes), "value", *ends, "queries", sep="\t")
    for texts, cells in zip(slices.texts(), slices.rows(), strict=True):
        row = dict(zip(slices.names, cells, strict=True))
        for measure in evaluation:
            values = [float(row[f"{measure} {end}".rstrip()] or 0) for end in ("", *ends)]
            count = row[f"{measure} n"]
            print(measure, *map(show, texts), *map(format_value, values), count, sep="\t")
    every = ["all"] * len(slices.attributes)
    for measure, count in evaluation.denominators.items():
        means = map(format_value, _read_means(measure, [evaluation]))
        print(measure, *every, *means, count, sep="\t")


def _print_csv(options: Namespace, names: Sequence[str], evaluations: Sequence[Evaluation]) -> None:
    """Print a row for each measure and a column for each run; with `-q`, the values of queries."""
    if not options.by_query:
        print_csv([["measure", *_head(options, names)]])
        print_csv([name, *_read_means(name, evaluations)] for name in evaluations[0])
        return
    columns = _read_columns(evaluations)
    are_several = len(evaluations) > 1
    print_csv([[*(["run"] if are_several else []), "query_id", *columns]])
    for place, (name, evaluation) in enumerate(zip(names, evaluations, strict=True)):
        run = [name] if are_several else []
        values = zip(*(runs[place] for runs in columns.values()), strict=True)
        ids = evaluation.query_texts
        print_csv([*run, query, *row] for query, row in zip(ids, values, strict=True))


def _write_paper(
    options: Namespace, names: Sequence[str], evaluations: Sequence[Evaluation]
) -> str:
    """Return the means as a table for a paper."""
    if options.by_query or options.by is not None:
        raise bad_usage("tables for papers have the means over all queries", "remove -q and --by")
    if len(evaluations) == 1:
        return evaluations[0].to_latex()
    from rankscope._evaluate.evaluations import Evaluations

    return Evaluations(dict(zip(names, evaluations, strict=True))).to_latex()


def _print_json(
    options: Namespace, names: Sequence[str], evaluations: Sequence[Evaluation]
) -> None:
    documents = [describe_evaluation(run, by_query=options.by_query) for run in evaluations]
    runs = [{"run": name, **document} for name, document in zip(names, documents, strict=True)]
    print_json(documents[0] if len(documents) == 1 else {"runs": runs})


def _read_columns(evaluations: Sequence[Evaluation]) -> dict[str, list[list[float]]]:
    """Return the values of the queries in each run, by measure that has any."""
    return {
        measure.name: [run.per_query_list(measure) for run in evaluations]
        for measure in evaluations[0].measures
        if measure.row.level == "query"
    }
