"""Evaluate a run against judgments."""

from __future__ import annotations

from rankscope import engine
from rankscope.data.interval import read_interval
from rankscope.data.qrels import Qrels

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence
    from typing import Literal

    from rankscope.conventions import Convention
    from rankscope.data.interval import Interval
    from rankscope.data.policy import Duplicates, Policy, ScoreType
    from rankscope.engine import Measures
    from rankscope.results import Evaluation
    from rankscope.typing import InputLike, Progress


def read_qrels(
    qrels: InputLike,
    *,
    columns: Mapping[str, str] | None = None,
    duplicates: Duplicates = "error",
    encoding: Literal["utf-8", "latin-1"] = "utf-8",
    progress: Progress = None,
) -> Qrels:
    """Read judgments once, to evaluate many runs against them.

    Args:
        qrels: As `evaluate` takes it.
        columns: As in `evaluate`.
        duplicates: What becomes of a document judged twice with different grades.
        encoding: How a file is encoded.
        progress: As in `evaluate`, for the judgments.

    Returns:
        Something that `evaluate` takes as `qrels`.

    Raises:
        InputError: It is not qrels.
        FileError: The file cannot be read.

    Examples:
        >>> qrels = read_qrels([("q1", "d1", 1), ("q1", "d2", 0)])
        >>> [evaluate(qrels, {"q1": run}, "RR")["RR"] for run in ({"d1": 2.0}, {"d2": 1.0})]
        [1.0, 0.0]
    """
    return engine.load_qrels(
        qrels, columns=columns, duplicates=duplicates, encoding=encoding, progress=progress
    )


def evaluate(
    qrels: InputLike | Qrels,
    run: InputLike,
    measures: Measures,
    *,
    policy: Policy | str | None = None,
    convention: Convention | str | None = None,
    columns: Mapping[str, str] | None = None,
    weights: Mapping[str, float] | Sequence[float] | None = None,
    interval: float | Interval | None = None,
    duplicates: Duplicates = "error",
    score_type: ScoreType | None = None,
    encoding: Literal["utf-8", "latin-1"] = "utf-8",
    threads: int | None = None,
    strict: bool = False,
    progress: Progress = None,
) -> Evaluation:
    """Evaluate a run against judgments.

    Args:
        qrels: The judgments: a path (`-` is standard input; gzip, zstd and bzip2 are told by their
            first bytes), bytes of such a file, a mapping of query to document to grade, a data
            frame or Arrow table, rows of (query, document, grade), or what `read_qrels` returns.
        run: The retrieved documents, in the same ways, with scores in place of grades. A file of
            rows grouped by query is evaluated while it is read, in bounded memory.
        measures: Measures, their names (`"nDCG@10"`), or one of either.
        policy: What is done where tools differ, as a `Policy` or as text: `"empty=skip"`.
        convention: The library whose numbers are wanted, such as `"lightgbm"` or
            `"trec_eval@10.0"`: measures and policy become its own. What is said beside it must
            not contradict it.
        columns: By role (`query`, `doc`, `relevance`, `score`, `rank`), the columns of data frames
            that are not called by their usual names.
        weights: How much each query counts, by query or in the order of the qrels.
        interval: The level of an interval around each mean, or an `Interval` that says more.
        duplicates: What becomes of a document given twice in a query: `"error"`, the `"first"`
            counts, or the one with the larger grade or score (`"max"`). Judgments given twice with
            one grade are counted once.
        score_type: How scores are compared, `"float64"` if left out; `"float32"` ties scores that
            single precision cannot tell apart, as trec_eval 9 and pytrec_eval do.
        encoding: How files are encoded.
        threads: How many threads to use; one a processor where left out. Values do not depend
            on it.
        strict: Whether to refuse what is suspicious but legal, which else is only counted.
        progress: Called now and then with the bytes of the run read so far, and with their total
            where it is known.

    Returns:
        The means, the values of each query, and what they are made of.

    Raises:
        UsageError: A measure, the policy or another argument is not one, or the convention has
            others.
        InputError: The input is not of the format, or there is nothing to evaluate.
        FileError: A file cannot be read.

    Examples:
        >>> from rankscope import AP, nDCG
        >>> qrels = {"q1": {"d1": 3, "d2": 0, "d3": 1}}
        >>> run = {"q1": {"d2": 0.7, "d1": 0.6, "d3": 0.5}}
        >>> ev = evaluate(qrels, run, [nDCG @ 10, AP, "P@1"])
        >>> {name: round(mean, 4) for name, mean in ev.items()}
        {'nDCG@10': 0.659, 'AP': 0.5833, 'P@1': 0.0}
        >>> round(evaluate(qrels, run, nDCG @ 10, convention="lightgbm")["nDCG@10"], 4)
        0.6443
        >>> ten = {f"q{n}": {"d1": n % 2, "d2": 1} for n in range(10)}
        >>> lists = {query: {"d1": 2.0, "d2": 1.0} for query in ten}
        >>> print(evaluate(ten, lists, "nDCG@10", interval=0.95))
        measure  value   interval          queries
        nDCG@10  0.8155  0.6678 to 0.8893  10 of 10
        policy: ties=doc_id,empty=zero,missing=zero,unjudged=nonrelevant,negative=nonrelevant
    """
    if not isinstance(qrels, Qrels):
        engine.refuse_one_stdin_for_both(qrels, run)
        qrels = engine.load_qrels(qrels, columns=columns, duplicates=duplicates, encoding=encoding)
    return engine.evaluate_run(
        qrels,
        run,
        measures,
        policy=policy,
        convention=convention,
        columns=columns,
        weights=weights,
        interval=read_interval(interval),
        duplicates=duplicates,
        score_type=score_type,
        encoding=encoding,
        threads=threads,
        strict=strict,
        progress=progress,
    )
