"""The façade: the functions and classes that people call."""

from __future__ import annotations

from rankscope import _core, engine
from rankscope.data.policy import CHOICES, Policy, check_choice
from rankscope.data.qrels import Qrels
from rankscope.records import record

TYPE_CHECKING = False
if TYPE_CHECKING:
    from typing import Any, Literal

    import numpy as np
    from numpy.typing import NDArray

    from rankscope.data.policy import Ties
    from rankscope.engine import Measures
    from rankscope.results import Evaluation
    from rankscope.typing import InputLike, Progress


def read_qrels(
    qrels: InputLike,
    *,
    duplicates: Literal["error", "first", "max"] = "error",
    encoding: Literal["utf-8", "latin-1"] = "utf-8",
    progress: Progress = None,
) -> Qrels:
    """Read judgments once, to evaluate many runs against them.

    Args:
        qrels: As `evaluate` takes it.
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
    return engine.load_qrels(qrels, duplicates=duplicates, encoding=encoding, progress=progress)


def evaluate(
    qrels: InputLike | Qrels,
    run: InputLike,
    measures: Measures,
    *,
    policy: Policy | str | None = None,
    duplicates: Literal["error", "first", "max"] = "error",
    score_type: Literal["float64", "float32"] = "float64",
    encoding: Literal["utf-8", "latin-1"] = "utf-8",
    threads: int | None = None,
    strict: bool = False,
    progress: Progress = None,
) -> Evaluation:
    """Evaluate a run against judgments.

    Args:
        qrels: The judgments: a path (`-` is standard input; gzip, zstd and bzip2 are told by their
            first bytes), bytes of such a file, a mapping of query to document to grade, rows of
            (query, document, grade), or what `read_qrels` returns.
        run: The retrieved documents, in the same ways, with scores in place of grades. A file of
            rows grouped by query is evaluated while it is read, in bounded memory.
        measures: Measures, their names (`"nDCG@10"`), or one of either.
        policy: What is done where tools differ, as a `Policy` or as text: `"empty=skip"`.
        duplicates: What becomes of a document given twice in a query: `"error"`, the `"first"`
            counts, or the one with the larger grade or score (`"max"`). Judgments given twice with
            one grade are counted once.
        score_type: How scores are compared; `"float32"` ties scores that single precision cannot
            tell apart, as trec_eval 9 and pytrec_eval do.
        encoding: How files are encoded.
        threads: How many threads to use; one a processor where left out. Values do not depend
            on it.
        strict: Whether to refuse what is suspicious but legal, which else is only counted.
        progress: Called now and then with the bytes of the run read so far, and with their total
            where it is known.

    Returns:
        The means, the values of each query, and what they are made of.

    Raises:
        UsageError: A measure, the policy or another argument is not one.
        InputError: The input is not of the format, or there is nothing to evaluate.
        FileError: A file cannot be read.

    Examples:
        >>> from rankscope import AP, nDCG
        >>> qrels = {"q1": {"d1": 3, "d2": 0, "d3": 1}}
        >>> run = {"q1": {"d2": 0.7, "d1": 0.6, "d3": 0.5}}
        >>> ev = evaluate(qrels, run, [nDCG @ 10, AP, "P@1"])
        >>> {name: round(mean, 4) for name, mean in ev.items()}
        {'nDCG@10': 0.659, 'AP': 0.5833, 'P@1': 0.0}
    """
    if not isinstance(qrels, Qrels):
        engine.refuse_one_stdin_for_both(qrels, run)
        qrels = engine.load_qrels(qrels, duplicates=duplicates, encoding=encoding)
    return engine.evaluate_run(
        qrels,
        run,
        measures,
        engine.read_policy(policy),
        duplicates=duplicates,
        score_type=score_type,
        encoding=encoding,
        threads=threads,
        strict=strict,
        progress=progress,
    )


class Rankings:
    """Ranked lists joined with their judgments: ragged columns on a query axis; immutable.

    Rows of query `q` are `offsets[q]:offsets[q + 1]`, in rank order. Columns are read-only views
    of the core's memory.

    Examples:
        >>> r = Rankings.from_run({"q1": {"d1": 2, "d3": 1}}, {"q1": {"d1": 0.5, "d2": 0.9}})
        >>> r.relevance
        array([nan,  2.])
        >>> r.doc_ids("q1")
        ['d2', 'd1']
        >>> r.evaluate("RR")["RR"]
        0.5
    """

    def __init__(self, qrels: Qrels, core: _core.Rankings, name: str, choices: Choices) -> None:
        self._qrels = qrels
        self._core = core
        self._name = name
        self._choices = choices

    @classmethod
    def from_run(
        cls,
        qrels: InputLike | Qrels,
        run: InputLike,
        *,
        ties: Ties = "doc_id",
        duplicates: Literal["error", "first", "max"] = "error",
        score_type: Literal["float64", "float32"] = "float64",
        encoding: Literal["utf-8", "latin-1"] = "utf-8",
    ) -> Rankings:
        """Join a run with its judgments, and rank it.

        Args:
            qrels: As in `evaluate`.
            run: As in `evaluate`; it is held in memory.
            ties: What decides between equal scores, as in `Policy`.
            duplicates: As in `evaluate`.
            score_type: As in `evaluate`.
            encoding: As in `evaluate`.

        Raises:
            UsageError: An argument is not one of its choices.
            InputError: The input is not of the format.
            FileError: A file cannot be read.
        """
        check_choice("ties", ties, CHOICES["ties"])
        if not isinstance(qrels, Qrels):
            qrels = engine.load_qrels(qrels, duplicates=duplicates, encoding=encoding)
        held, found = engine.load_run(
            run, duplicates=duplicates, encoding=encoding, score_type=score_type
        )
        core = _core.Rankings(qrels.judgments, held, ties, duplicates)
        return cls(qrels, core, found.name, Choices(ties, duplicates, score_type))

    @property
    def query_ids(self) -> list[str]:
        """The identifiers of the judged queries, in first-seen order."""
        return self._qrels.query_ids

    @property
    def offsets(self) -> NDArray[np.int64]:
        """Where the rows of each query begin, and the last ones end; shape (queries + 1,)."""
        return self._column("offsets")

    @property
    def relevance(self) -> NDArray[np.float64]:
        """The grade of each row, NaN where the document is unjudged."""
        return self._column("relevance")

    @property
    def scores(self) -> NDArray[np.float64]:
        """The score of each row."""
        return self._column("scores")

    @property
    def ideal_offsets(self) -> NDArray[np.int64]:
        """Where the judged grades of each query begin in `ideal`; shape (queries + 1,)."""
        return self._column("ideal_offsets")

    @property
    def ideal(self) -> NDArray[np.float64]:
        """All judged grades of each query, largest first."""
        return self._column("ideal")

    def doc_ids(self, query: str) -> list[str]:
        """Give the documents retrieved for a query, in rank order.

        Raises:
            KeyError: The query is not judged.
        """
        index = self._qrels.judgments.find(query)
        if index is None:
            raise KeyError(query)
        start, stop = self.offsets[index : index + 2].tolist()
        names = self._core.docs()
        return [names[code] for code in self._column("doc_codes")[start:stop].tolist()]

    def evaluate(self, measures: Measures, *, policy: Policy | str | None = None) -> Evaluation:
        """Evaluate the rankings.

        Args:
            measures: As in `evaluate`.
            policy: As in `evaluate`; its `ties` can only be those with which the rankings were
                made, which are also the default here.

        Raises:
            UsageError: A measure or the policy is not one, or names other ties.
            InputError: The policy refuses a query.
        """
        chosen = engine.read_policy(policy, Policy(ties=self._choices.ties))
        asked, repeated = engine.read_measures(measures)
        duplicates, score_type = self._choices.duplicates, self._choices.score_type
        plan = engine.make_plan(asked, chosen, self._qrels.judgments, duplicates, score_type)
        answer = self._core.evaluate(plan, engine.count_threads(None))
        return engine.make_evaluation(
            answer,
            measures=asked,
            policy=chosen,
            qrels=self._qrels,
            run_name=self._name,
            duplicates=duplicates,
            repeated=repeated,
        )

    def __len__(self) -> int:
        return len(self.query_ids)

    def __repr__(self) -> str:
        rows = len(self.relevance)
        return f"Rankings({len(self)} queries, {rows} documents, ties={self._choices.ties!r})"

    def _column(self, name: str) -> NDArray[Any]:
        import numpy as np  # noqa: PLC0415 - loads with the first array

        column = self._core.column(name)
        kind: np.dtype[Any] = np.dtype(column.typecode)
        return np.frombuffer(memoryview(column), dtype=kind)


@record(frozen=True, slots=True)
class Choices:
    """The choices with which rankings were made."""

    ties: Ties
    duplicates: Literal["error", "first", "max"]
    score_type: Literal["float64", "float32"]
