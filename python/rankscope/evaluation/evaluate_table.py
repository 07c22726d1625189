"""Evaluate a table whose rows hold both scores and grades."""

from __future__ import annotations

import os
from functools import partial

from rankscope.engine.items import read_items_for
from rankscope.engine.memory import read_memory
from rankscope.engine.progress import watch
from rankscope.engine.query_values import check_cluster_column, refuse_cluster_alone
from rankscope.engine.requests import read_request
from rankscope.errors import FormatError, UsageError
from rankscope.evaluation.evaluating import refuse_diagnostics
from rankscope.evaluation.rankings import Rankings, rank_rows, read_attribution
from rankscope.evaluation.streaming import TableRequest, can_stream, evaluate_file
from rankscope.file import File
from rankscope.inputs.reading import open_joined
from rankscope.inputs.recognition import find_stream, recognise_table
from rankscope.inputs.tables import JoinedColumns
from rankscope.settings.interval import read_interval
from rankscope.settings.policy import CHOICES, Policy, check_choice
from rankscope.settings.reading import Reading

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence
    from typing import Literal, Unpack

    from rankscope.conventions import Convention
    from rankscope.engine.requests import Measures
    from rankscope.evaluation.evaluation import Evaluation
    from rankscope.file import Format
    from rankscope.inputs.files.table import TableFile
    from rankscope.inputs.recognition import Input
    from rankscope.settings.attribution import Positive, Settings
    from rankscope.settings.interval import Interval
    from rankscope.settings.policy import Duplicates, Ties
    from rankscope.typing import HistoryLike, Progress


def evaluate_table(
    table: object,
    measures: Measures,
    *,
    query: str | None = None,
    doc: str | None = None,
    relevance: str | None = None,
    score: str | None = None,
    rank: str | None = None,
    labels: str | None = None,
    predicted: str | None = None,
    positive: Positive | None = None,
    by: str | Sequence[str] | None = None,
    ties: Ties | None = None,
    policy: Policy | str | None = None,
    convention: Convention | str | None = None,
    interval: float | Interval | None = None,
    cluster: str | None = None,
    weights: Mapping[str, float] | None = None,
    history: HistoryLike | None = None,
    items: object = None,
    catalogue: object = None,
    duplicates: Duplicates = "error",
    format: Format | None = None,  # noqa: A002 - what everybody calls it
    encoding: Literal["utf-8", "latin-1"] = "utf-8",
    assume_grouped: bool = False,
    threads: int | None = None,
    memory: int | str | None = None,
    spill_folder: str | os.PathLike[str] | None = None,
    strict: bool = False,
    progress: Progress = None,
    **attribution: Unpack[Settings],
) -> Evaluation:
    r"""Evaluate a table whose rows hold a score, or a rank, and a grade.

    Files, DuckDB relations, lazy frames, and datasets and readers of PyArrow are evaluated while
    they are read, so they can be larger than memory as long as the rows of each query are
    contiguous. If a query reappears, the columns are read into memory instead, with the same
    values. If they would exceed `memory`, the rows are written to temporary files, partitioned by
    query, and evaluated partition by partition, again with the same values.

    Args:
        table: The path of a CSV, TSV, JSONL, Parquet or Arrow file, a folder, a pattern such as
            `"logs/*.parquet"`, `"-"` for standard input, the bytes of a file, a `File`, or any
            table that `Rankings.from_table` accepts.
        measures: As in `evaluate`.
        query: The column of queries (default: found by its usual names, as in
            `Rankings.from_table`).
        doc: The column of documents, which is optional.
        relevance: The column of grades. Null and NaN mean unjudged.
        score: The column of scores. Larger scores rank first.
        rank: The column of ranks. If there are scores too, both must agree.
        labels: The column of relevance labels in place of grades, as in `Rankings.from_table`. The
            table is then read into memory.
        predicted: The column of predicted labels, as in `attribute`.
        positive: The positive classes, as in `attribute`.
        by: One or more columns with attributes of the query. The result has `slices` by their
            values.
        ties: How equal scores are ordered (default: what the policy or the convention says, else
            `"average"`).
        policy: As in `evaluate`.
        convention: As in `evaluate`. The table is then read into memory.
        interval: As in `evaluate`.
        cluster: The column with what makes queries depend on one another, such as the user.
            Intervals are then over its values. A query whose value is null is a cluster of its own.
        weights: The weight of each query, as a mapping.
        history: As in `evaluate`, for measures of recommended items. The table is then read into
            memory.
        items: As in `evaluate`.
        catalogue: As in `evaluate`.
        duplicates: What to do with a document that occurs twice in a query, as in `evaluate`.
        format: The format of a file, one of: `"csv"`, `"tsv"`, `"jsonl"`, `"parquet"`, `"arrow"`
            (default: what its name says).
        encoding: The encoding of a text file.
        assume_grouped: Whether a query that reappears in a file is an error, rather than a reason
            to read the file into memory.
        threads: As in `evaluate`.
        memory: The memory that a table outside of memory may use, in bytes or as text such as
            `"1GiB"` (default: half of what is free, as far as the system, its control groups and
            `ulimit` allow). A table that needs more is evaluated with temporary files, unless it
            has labels, a convention or functions as parameters of measures, which need all rows in
            memory.
        spill_folder: The folder for these files (default: the system's, which `TMPDIR` sets). They
            have no names, and are removed however the process ends.
        strict: As in `evaluate`.
        progress: As in `evaluate`.
        **attribution: `combine`, `repeats`, `unlabelled`, `unknown` and `separator`, as in
            `attribute`.

    Raises:
        UsageError: An argument is not one of its choices, or both labels and grades are given.
        InputError: A column is missing, or holds invalid values.
        FileError: A file can't be read, or there is no space for temporary files.
        OutOfMemoryError: A single query needs more than `memory`.

    Examples:
        >>> log = b"qid,label,score\n1,1,0.1\n1,0,0.9\n2,1,0.5\n"
        >>> evaluate_table(log, "RR", format="csv")["RR"]
        0.75
        >>> log = b"qid,events,score\n1,click,0.1\n1,,0.9\n2,buy,0.5\n"
        >>> evaluate_table(log, "RR", labels="events", positive=["buy"], format="csv")["RR"]
        0.5
    """
    attributed = (labels, predicted, positive, attribution or None)
    has_labels = _has_labels(attributed, assume_grouped=assume_grouped)
    names = {"query": query, "doc": doc, "relevance": relevance, "score": score, "rank": rank}
    slicing = read_slicing(by)
    made = read_interval(interval)
    check_cluster_column(cluster)
    refuse_cluster_alone(cluster, made)
    policy = _read_ties(ties, policy, has_convention=convention is not None)
    reading = Reading.read(
        duplicates=duplicates,
        encoding=encoding,
        threads=threads,
        memory=memory,
        spill_folder=spill_folder,
        progress=progress,
    )
    if format is not None and isinstance(table, str | bytes | os.PathLike):
        table = File(table, format)
    given = recognise_table(table)
    asked = read_request(
        measures,
        policy,
        default=Policy(ties=ties or "average"),
        convention=convention,
        score_type=None,
        grades=[],
    )
    known = read_items_for(
        measures, history=history, items=items, catalogue=catalogue, reading=reading
    )
    # What a convention refuses, or a function gives, depends on grades: known when all is read.
    needs_all = convention is not None or has_labels or not can_stream(asked.measures)
    given = _find_stream(given, reading, needs_all=needs_all)
    limit = read_memory(memory, spill_folder)
    wanted = TableRequest(
        request=asked,
        reading=reading,
        attributes=slicing,
        cluster=cluster,
        interval=made,
        weights=weights,
        is_grouped=assume_grouped,
    )
    evaluation: Evaluation | None = None
    kept: TableFile | None = None
    if given.is_in_files and not needs_all:
        with watch(given, progress) as tell:
            open_file = partial(open_joined, given, names, wanted.columns, reading, tell)
            evaluation, kept = evaluate_file(open_file, wanted, limit, is_once=given.is_once)
    if evaluation is None:
        if assume_grouped and given.is_in_files:
            raise _comes_back(given.name)
        columns = JoinedColumns(
            names,
            wanted.columns,
            read_attribution(relevance, labels, predicted, positive, attribution),
        )
        rankings = rank_rows(Rankings, given, columns, asked.ties, reading, source=kept)
        evaluation = rankings.evaluate(
            measures,
            policy=policy,
            convention=convention,
            by=by,
            interval=made,
            cluster=cluster,
            weights=weights,
            items=known,
            threads=threads,
        )
    if strict:
        refuse_diagnostics(evaluation.notes)
    return evaluation


def read_slicing(by: object) -> list[str]:
    """Return the columns to group by.

    Raises:
        UsageError: They are no names.
    """
    names = [by] if isinstance(by, str) else [] if by is None else by
    if not isinstance(names, list | tuple) or not all(isinstance(name, str) for name in names):
        raise UsageError(
            f"expected by as the names of columns, found {type(by).__name__}",
            hint="write by='country', or by=['country', 'device']",
            code="bad_parameter",
        )
    return [*names]


def _read_ties(
    ties: Ties | None, policy: Policy | str | None, *, has_convention: bool
) -> Policy | str | None:
    """Return the policy, under a convention with these ties unless it has its own."""
    if ties is None:
        return policy
    check_choice("ties", ties, CHOICES["ties"])
    if not has_convention:
        return policy
    if isinstance(policy, Policy):
        return policy.resolve(ties)
    return ",".join(filter(None, (f"ties={ties}", policy)))


def _has_labels(attributed: Sequence[object], *, assume_grouped: bool) -> bool:
    """Check whether the table has labels to convert to grades, which needs it in memory."""
    has_labels = any(value is not None for value in attributed)
    if has_labels and assume_grouped:
        raise UsageError(
            "expected assume_grouped or labels, found both",
            hint="a table with labels is held in memory; leave assume_grouped out",
            code="bad_parameter",
        )
    return has_labels


def _find_stream(given: Input, reading: Reading, *, needs_all: bool) -> Input:
    """Return a table as batches, if it can be evaluated so.

    Raises:
        UsageError: There is a memory limit, and all rows are held in memory.
    """
    found = given if needs_all else find_stream(given)
    limits = ("memory", "spill_folder")
    named = [name for name in limits if getattr(reading, name) is not None]
    if not named or (found.is_in_files and not needs_all):
        return found
    reason = "a table in memory"
    if found.is_in_files:
        reason = "labels, a convention, a function or a measure of items"
    raise UsageError(
        f"{named[0]} has no effect on {reason}, which needs all rows in memory",
        hint=f"remove {named[0]}, or pass a file with grades and scores or ranks",
        code="bad_memory",
    )


def _comes_back(name: str) -> FormatError:
    return FormatError(
        "expected the rows of each query together, as assume_grouped says, found a query again",
        hint="sort the file by query, or leave assume_grouped out",
        code="query_returns",
        file=name,
    )
