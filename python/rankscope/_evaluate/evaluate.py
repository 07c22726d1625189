"""Evaluate runs against judgments, or one table that has both."""

from __future__ import annotations

import os
from collections.abc import Mapping, Sequence
from dataclasses import replace
from typing import TYPE_CHECKING, Any, TypeGuard, Unpack, overload

from rankscope._evaluate.evaluating import evaluate_run, load_qrels, load_qrels_for
from rankscope._evaluate.evaluation import Evaluation
from rankscope._evaluate.query_values import By, Clusters, Weights, bad_parameter
from rankscope._evaluate.settings import (
    Settings,
    are_matrices,
    read_table_options,
    refuse_reading,
    refuse_table_options,
    refuse_unused,
    split_question,
)
from rankscope._file import File
from rankscope._inputs.files import list_runs
from rankscope._inputs.reading import Qrels, load_items, read_items_for
from rankscope._inputs.recognition import (
    are_lists,
    has_documents,
    has_query,
    is_of_ranx,
    is_single_column,
    is_table,
    name_series,
    refuse_splits,
    shorten_names,
)
from rankscope._settings import Interval, Policy, Reading, read_interval
from rankscope.errors import FormatError
from rankscope.measures.parse import Measures

if TYPE_CHECKING:
    from rankscope._conventions import Convention
    from rankscope._evaluate.evaluations import Evaluations
    from rankscope._evaluate.settings import TableOptions
    from rankscope._inputs.items import Items
    from rankscope._settings import ReadingOptions
    from rankscope.typing import HistoryLike, InputLike, Lists, Path, Second

    class Options(TableOptions, total=False):
        """The keyword arguments of `evaluate`."""

        by: By | None
        policy: Policy | str | None
        convention: Convention | str | None
        interval: float | Interval | None
        cluster: str | Clusters | None
        weights: str | Weights | None
        attributes: object
        subtopics: bool | None
        history: HistoryLike | None
        items: object
        catalogue: object
        assume_grouped: bool
        strict: bool


def read_qrels(
    judgments: InputLike,
    *,
    subtopics: bool = False,
    strata: bool = False,
    **options: Unpack[ReadingOptions],
) -> Qrels:
    """Read judgments once, to evaluate many runs against them.

    Args:
        judgments: As in `evaluate`.
        subtopics: Whether each judgment is of a subtopic of the query, as measures of diversity
            need: the second column of a TREC file, the column `subtopic` of a table, rows of
            (query, subtopic, document, grade), or a mapping of query to subtopic to document to
            grade.
        strata: Whether the judgments are of samples, as infNDCG and xinfAP need: TREC qrels with
            five columns (query, 0, document, stratum, grade), a table with a column `stratum`, rows
            of (query, stratum, document, grade), or a mapping of query to stratum to document to
            grade. A negative grade means that a document of the stratum wasn't judged.
        **options: How they are read, as in `evaluate`.

    Returns:
        Judgments to pass to `evaluate`.

    Raises:
        UsageError: Both subtopics and strata are set.
        InputError: The input doesn't hold judgments.
        FileError: The file can't be read.

    Examples:
        >>> qrels = read_qrels([("q1", "d1", 1), ("q1", "d2", 0)])
        >>> [evaluate(qrels, {"q1": run}, "RR")["RR"] for run in ({"d1": 2.0}, {"d2": 1.0})]
        [1.0, 0.0]
    """
    if subtopics and strata:
        raise bad_parameter(
            "expected judgments by subtopic or by stratum, found both",
            "set one of subtopics and strata",
        )
    second: Second = "stratum" if strata else "subtopic" if subtopics else ""
    return load_qrels(judgments, Reading.of("read_qrels", options), second)


@overload
def evaluate(
    judgments: InputLike | Qrels,
    run: Mapping[str, Lists] | Mapping[str, Path | File] | list[str] | list[File],
    measures: Measures,
    **options: Unpack[Options],
) -> Evaluations: ...


@overload
def evaluate(
    judgments: InputLike | Qrels,
    run: InputLike,
    measures: Measures,
    **options: Unpack[Options],
) -> Evaluation: ...


@overload
def evaluate(judgments: object, run: Measures, **options: Unpack[Options]) -> Evaluation: ...


@overload
def evaluate(
    judgments: object, *, measures: Measures, **options: Unpack[Options]
) -> Evaluation: ...


@overload
def evaluate(
    judgments: object, run: Measures, *, scores: Sequence[str], **options: Unpack[Options]
) -> Evaluations: ...


@overload
def evaluate(
    judgments: object, run: Measures, *, runs: str, **options: Unpack[Options]
) -> Evaluations: ...


def evaluate(
    judgments: object,
    run: object = None,
    measures: Measures | None = None,
    *,
    by: By | None = None,
    policy: Policy | str | None = None,
    convention: Convention | str | None = None,
    interval: float | Interval | None = None,
    cluster: str | Clusters | None = None,
    weights: str | Weights | None = None,
    attributes: object = None,
    subtopics: bool | None = None,
    history: HistoryLike | None = None,
    items: object = None,
    catalogue: object = None,
    scores: Sequence[str] | None = None,
    runs: str | None = None,
    assume_grouped: bool = False,
    strict: bool = False,
    **options: Unpack[TableOptions],
) -> Evaluation | Evaluations:
    r"""Evaluate runs against judgments, or a table whose rows have both scores and grades.

    `evaluate(judgments, run, measures)` and `evaluate(table, measures)` give the same values for
    the same lists.

    Args:
        judgments: The judgments: a path (`-` for standard input; gzip, zstd and bzip2 are
            recognized by their first bytes), the bytes of a file, a `File`, a mapping of query to
            document to grade, a mapping of query to a list or set of relevant documents, a data
            frame or Arrow table, rows of (query, document, grade), records, or the result of
            `read_qrels`. A row of a table can hold a whole query, with lists of documents and
            grades. A path can also be in a bucket (`s3://`), or be a Delta or Iceberg table.
            Or a table whose rows hold a grade and a score or a rank, followed by the measures: a
            path of a CSV, TSV, JSONL, Parquet or Arrow file, a folder, a pattern such as
            `"logs/*.parquet"`, or any table that `Rankings.from_table` accepts. Or `Rankings`, or a
            mapping of names to `Rankings`.
        run: The retrieved documents, in any of the same forms, with scores in place of grades. In
            a mapping of query to a list of documents, the first is the best. A file, a DuckDB
            relation, a lazy frame, or a dataset or reader of PyArrow whose rows are grouped by
            query is evaluated while it is read, in bounded memory; for other orders of rows,
            `memory` is the bound. Or a mapping of names to several runs:
            `{"bm25": run_a, "dense": run_b}`; or a list of paths, or a folder or pattern of TREC
            files, whose runs are named after their files. Two matrices
            of grades and scores, queries by documents, are judgments and a run, too.
        measures: One or more measures, or their names (`"nDCG@10"`, `"nDCG@1,5,10"`).
        by: What to slice by: the result has `slices` with the means of each value. One or more
            columns of the table or of `attributes`, or a mapping or Series of query to value.
        policy: What to do where tools differ: a `Policy`, or text such as `"empty=skip"`. Equal
            scores are ordered by the ids of documents (`ties=doc_id`), as in trec_eval; in a table
            without documents, values are averaged over all orders (`ties=average`).
        convention: The library whose numbers you want, such as `"lightgbm"` or `"trec_eval@10.0"`.
            It sets the measures and the policy; other arguments must not contradict it.
        interval: The confidence level of an interval for each mean, or an `Interval` with more
            settings. The result prints the method that was used.
        cluster: What makes queries depend on one another, such as the user: a column of the table
            or of `attributes`, a mapping of query to cluster, or a sequence in the order of the
            queries. Intervals are then over clusters. A query without a cluster is one of its own.
        weights: The weight of each query, given like `cluster`.
        attributes: For judgments and runs: a table with one row per query that has the columns of
            `by`, `cluster` and `weights`: a path, a data frame, or a mapping of column name to
            values.
        subtopics: Whether each judgment is of a subtopic; see `read_qrels` (default: only if a
            measure of diversity is among the measures). Measures that know no subtopics then take
            the highest grade of each document. If infNDCG or xinfAP is among the measures, the
            judgments are those of samples.
        history: For measures of recommended items, such as `Novelty@10`: the interactions of users
            with items before the recommendations; see `read_items`.
        items: For such measures: the attributes of items, or the result of `read_items`.
        catalogue: For such measures: the items that can be recommended.
        scores: For a table whose rows have the scores of several runs: their columns.
        runs: For a table of several runs, one below the other: the column that names the run.
        assume_grouped: For a table: whether a query that reappears is an error, rather than a
            reason to read the table into memory.
        strict: Whether to raise an error for suspicious input, which is otherwise only counted.
        **options: How the inputs are read:

            - `query`, `doc`, `relevance`, `score`, `rank`, `subtopic`, `stratum`: the columns of
              tables (default: found by their usual names, as in `Rankings.from_table`)
            - `labels`, `predicted`, `positive`, and `combine`, `repeats`, `unlabelled`, `unknown`
              and `separator`: for a table that has labels in place of grades; see `attribute`
            - `duplicates`: what to do with a document that occurs twice in a query: `"error"`
              (default), keep the `"first"`, or keep the one with the larger grade or score
              (`"max"`). Judgments that repeat the same grade count once.
            - `ignore_same`: whether to leave out of each list the document that has the ID of its
              query, as collections need whose queries are documents (BEIR's
              `ignore_identical_ids`). A run that isn't a table is then held in memory.
            - `score_type`: the precision in which the scores of a run are compared (default:
              `"float64"`). `"float32"` ties scores that are equal in single precision, as
              trec_eval 9 and pytrec_eval do.
            - `encoding`: the encoding of text files: `"utf-8"` (default) or `"latin-1"`
            - `threads`: the number of threads (default: all cores). Values don't depend on it.
            - `memory`: the memory that the rows of a run or a table outside of memory may use, in
              bytes or as text such as `"1GiB"` (default: half of what is free). What exceeds it is
              written to temporary files. Judgments are always held in memory, and so is a table
              with labels, a convention, or functions as parameters of measures.
            - `spill_folder`: the folder for these files (default: the system's, which `TMPDIR`
              sets). They have no names, and are removed however the process ends.
            - `progress`: whether to show a bar in a notebook or on a terminal while files are read.
              Or a function that is called from time to time with the bytes read so far, and with
              their total if it is known.

    Returns:
        The means, the values of each query, and the counts behind them; for several runs, a mapping
        of these by name. To find out which run is better, use `compare`.

    Raises:
        UsageError: A measure, the policy or another argument is invalid, or contradicts the
            convention.
        InputError: The input doesn't have the expected format, or there is nothing to evaluate.
        FileError: A file can't be read or written.
        OutOfMemoryError: The rows of a single query need more than `memory`.

    Examples:
        >>> log = {"qid": [1, 1, 2], "label": [1, 0, 1], "score": [0.1, 0.9, 0.5]}
        >>> evaluate(log, "RR")["RR"]
        0.75
        >>> from rankscope import AP, nDCG
        >>> qrels = {"q1": {"d1": 3, "d2": 0, "d3": 1}}
        >>> run = {"q1": {"d2": 0.7, "d1": 0.6, "d3": 0.5}}
        >>> ev = evaluate(qrels, run, [nDCG @ 10, AP, "P@1"])
        >>> {name: round(mean, 4) for name, mean in ev.items()}
        {'nDCG@10': 0.659, 'AP': 0.5833, 'P@1': 0.0}
        >>> relevant, ranked = {"q1": {"d1", "d3"}}, {"q1": ["d2", "d1", "d3"]}
        >>> evaluate(relevant, ranked, "RR")["RR"]
        0.5
        >>> round(evaluate(qrels, run, nDCG @ 10, convention="lightgbm")["nDCG@10"], 4)
        0.6443
        >>> ten = {f"q{n}": {"d1": n % 2, "d2": 1} for n in range(10)}
        >>> lists = {query: {"d1": 2.0, "d2": 1.0} for query in ten}
        >>> print(evaluate(ten, lists, "nDCG@10", interval=0.95))
        measure  value   interval          queries
        nDCG@10  0.8155  0.5478 to 0.9310  10 of 10
        policy: ties=doc_id,empty=zero,missing=zero,unjudged=nonrelevant,negative=nonrelevant
        intervals: 95%, bounded
    """
    reading, columns = read_table_options("evaluate", options, holds_all="")
    judged, retrieved, measures = split_question("evaluate", judgments, run, measures)
    settings = Settings(
        measures=measures,
        policy=policy,
        convention=convention,
        interval=read_interval(interval),
        by=by,
        cluster=cluster,
        weights=weights,
        attributes=attributes,
        items=read_items_for(
            measures, history=history, items=items, catalogue=catalogue, reading=reading
        ),
        strict=strict,
    )
    if scores is not None or runs is not None:
        from rankscope._evaluate.ranked_runs import evaluate_several

        refuse_table_options(columns, assume_grouped=assume_grouped)
        refuse_unused({"judgments": judged, "subtopics": subtopics}, "a table of several runs")
        return evaluate_several(retrieved, scores, runs, settings, reading)
    if judged is None:
        from rankscope._evaluate.evaluate_table import evaluate_table
        from rankscope._inputs.rows import read_pair

        refuse_unused({"subtopics": subtopics}, "one table: it is for judgments and runs")
        arguments = {**options, "assume_grouped": assume_grouped or None}
        try:
            return evaluate_table(retrieved, settings, columns, reading, options=arguments)
        except FormatError as error:
            pair = read_pair(retrieved, reading) if error.code == "columns" else None
            if pair is None:
                raise
        judged, retrieved = pair
    refuse_table_options(columns, assume_grouped=assume_grouped)
    if are_matrices(judged, retrieved):
        from rankscope._evaluate.rankings import Rankings, evaluate_rankings

        arguments = {**options, "attributes": attributes, "subtopics": subtopics}
        refuse_reading(arguments, "arrays of grades and scores")
        ties = settings.choose_ties() or "average"
        rankings = Rankings.from_arrays(judged, retrieved, ties=ties)
        return evaluate_rankings(rankings, settings, reading)
    named = read_named_runs(retrieved, reading.columns)
    sources: dict[str, InputLike] = {"": retrieved} if named is None else named
    of_qrels = replace(reading, progress=reading.progress is True)
    qrels = load_qrels_for(judged, sources.values(), measures, of_qrels, subtopics=subtopics)
    evaluated = {
        name: evaluate_run(qrels, source, settings, reading) for name, source in sources.items()
    }
    if named is None:
        return evaluated[""]
    from rankscope._evaluate.evaluations import Evaluations

    return Evaluations(evaluated)


def name_runs(runs: object) -> dict[str, InputLike]:
    """Name the paths of a list after their files; a path can stand for several runs."""
    are_listed = isinstance(runs, list | tuple)
    sources: Any = runs if are_listed else [runs]
    listed: list[InputLike] = [
        run
        for source in sources
        for run in (_is_path(source) and list_runs(source, are_several=not are_listed)) or [source]
    ]
    paths = [
        os.fsdecode(run.path if isinstance(run, File) else run) for run in listed if _is_path(run)
    ]
    if len(paths) < len(listed) or not listed:
        raise bad_parameter(
            "expected runs by name, or a list of paths", "write {'bm25': run_a, 'dense': run_b}"
        )
    named = dict(zip(shorten_names(paths), listed, strict=True))
    if len(named) < len(listed):
        raise bad_parameter(
            "expected different runs, found one path twice",
            "remove one, or pass a mapping of names to runs",
        )
    return named


def _is_path(source: object) -> TypeGuard[Path | File]:
    """Check whether a source is a path, which can stand for several files."""
    return isinstance(source, str | os.PathLike) or (
        isinstance(source, File) and not isinstance(source.path, bytes)
    )


def read_named_runs(runs: object, columns: Mapping[str, str] = {}) -> dict[str, InputLike] | None:
    """Return several runs by name; `None` if it is one run."""
    if isinstance(runs, list | tuple) and runs and isinstance(runs[0], str | os.PathLike | File):
        return name_runs(runs)
    if _is_path(runs) and runs != "-":
        listed = list_runs(runs)
        return name_runs(listed) if listed else None
    if not isinstance(runs, Mapping) or not runs:
        return None
    refuse_splits(runs, "run")
    first = name_series(next(iter(runs.values())), "run")
    is_run = isinstance(first, str | bytes | os.PathLike | File) or is_of_ranx(first)
    is_run = is_run or (is_table(first) and not is_single_column(first)) or _is_rows(first, columns)
    # The values of one run are the documents of queries, those of several runs are queries.
    if isinstance(first, Mapping):
        is_run = bool(first) and all(map(has_documents, first.values()))
    elif not is_run and all(map(are_lists, runs.values())):
        # Lists of two integers could be documents with their scores.
        is_run = any(isinstance(doc, str) for docs in first for doc in docs)
    return {str(name): run for name, run in runs.items()} if is_run else None


def _is_rows(run: object, columns: Mapping[str, str]) -> bool:
    """Check whether a list has rows or records with their query, and not the documents of one."""
    if not isinstance(run, list | tuple) or not run:
        return hasattr(run, "scoreddocs_iter")
    is_row = isinstance(run[0], tuple | list) and len(run[0]) == 3
    return is_row or has_query(run[0], columns)


def read_items(
    items: object = None,
    *,
    history: HistoryLike | None = None,
    catalogue: object = None,
    **options: Unpack[ReadingOptions],
) -> Items:
    """Read the history, the attributes and the catalogue of items once, to evaluate many runs.

    Args:
        items: What items are like. A table (a data frame, an Arrow table, or a CSV or Parquet
            file) with a column of items and at least one other column; or a mapping of item to a
            category, several categories, or a vector of numbers. Columns of text, or of lists of
            texts, are categories; columns of numbers, or one column of lists of numbers, are a
            vector. Rows of the same item bring their categories together. An item without a
            category, or with a missing number, has no attributes.
        history: The interactions of users with items before the recommendations, in any form of the
            judgments of `evaluate`. A table needs no grades: each row is an interaction, whatever
            other columns there are. A pair of user and item counts once.
        catalogue: The items that can be recommended: a list, a set, or a column of ids; or a table
            with a column of items (default: those of `items`, or else those of the history).
        **options: How they are read, as in `evaluate`; `query` is the column of users, and `doc`
            that of items.

    Returns:
        What to pass to `evaluate` as `items`.

    Raises:
        UsageError: Nothing is given.
        InputError: Something doesn't have the expected format, or the catalogue is empty.
        FileError: A file can't be read.

    Examples:
        >>> history = {"ann": ["a", "b"], "bob": ["a"]}
        >>> genres = {"a": "pop", "b": "rock", "c": ["pop", "folk"]}
        >>> items = read_items(genres, history=history)
        >>> items
        Items(history, items; 3 items)
        >>> from rankscope import evaluate
        >>> ev = evaluate({"ann": ["c"]}, {"ann": ["c", "b"]}, ["Novelty", "ILD"], items=items)
        >>> ev["Novelty"], ev["ILD"]
        (1.0, 1.0)
    """
    if history is None and items is None and catalogue is None:
        raise bad_parameter(
            "expected a history, items or a catalogue, found none of them",
            "write read_items(history=train)",
        )
    return load_items(
        history=history,
        items=items,
        catalogue=catalogue,
        reading=Reading.of("read_items", options),
    )
