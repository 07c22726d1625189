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
        qrels: As in `evaluate`.
        columns: As in `evaluate`.
        duplicates: What to do with a document that is judged twice with different grades.
        encoding: The encoding of a file.
        progress: As in `evaluate`, for the judgments.

    Returns:
        Judgments to pass to `evaluate` as `qrels`.

    Raises:
        InputError: The input doesn't hold judgments.
        FileError: The file can't be read.

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
        qrels: The judgments: a path (`-` for standard input; gzip, zstd and bzip2 are recognized by
            their first bytes), the bytes of a file, a mapping of query to document to grade, a data
            frame or Arrow table, rows of (query, document, grade), or the result of `read_qrels`.
        run: The retrieved documents, in any of the same forms, with scores in place of grades. A
            file whose rows are grouped by query is evaluated while it is read, in bounded memory.
        measures: One or more measures, or their names (`"nDCG@10"`).
        policy: What to do where tools differ: a `Policy`, or text such as `"empty=skip"`.
        convention: The library whose numbers you want, such as `"lightgbm"` or `"trec_eval@10.0"`.
            It sets the measures and the policy; other arguments must not contradict it.
        columns: The names of columns by role (`query`, `doc`, `relevance`, `score`, `rank`), where
            a data frame doesn't use the usual ones.
        weights: The weight of each query: a mapping, or a sequence in the order of the qrels.
        interval: The confidence level of an interval for each mean, or an `Interval` with more
            settings.
        duplicates: What to do with a document that occurs twice in a query: `"error"`, keep the
            `"first"`, or keep the one with the larger grade or score (`"max"`). Judgments that
            repeat the same grade count once.
        score_type: The precision in which scores are compared (default: `"float64"`). `"float32"`
            ties scores that are equal in single precision, as trec_eval 9 and pytrec_eval do.
        encoding: The encoding of files.
        threads: The number of threads (default: all cores). Values don't depend on it.
        strict: Whether to raise an error for suspicious input, which is otherwise only counted.
        progress: A function that is called from time to time with the bytes of the run read so far,
            and with their total if it is known.

    Returns:
        The means, the values of each query, and the counts behind them.

    Raises:
        UsageError: A measure, the policy or another argument is invalid, or contradicts the
            convention.
        InputError: The input doesn't have the expected format, or there is nothing to evaluate.
        FileError: A file can't be read.

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
