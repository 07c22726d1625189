"""Joins measures, policy and input into one call of the core, and its answer into a result."""

from __future__ import annotations

import operator
import os

from rankscope import _core
from rankscope.adapters import read_judgments, read_run, recognise
from rankscope.data.diagnostics import describe
from rankscope.data.policy import Policy, check_choice, split_aggregate
from rankscope.data.qrels import Qrels, Queries
from rankscope.errors import FormatError, MeasureError, PolicyError, UsageError
from rankscope.measures import Measure, parse
from rankscope.records import record
from rankscope.results import Counts, Evaluation

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Callable, Iterable, Mapping
    from typing import Literal, TypeAlias

    from rankscope.adapters.inputs import Input
    from rankscope.conventions import Convention
    from rankscope.data.diagnostics import Diagnostic
    from rankscope.typing import InputLike, Progress

    Measures: TypeAlias = Measure | str | Iterable[Measure | str]

DUPLICATES = ("error", "first", "max")
SCORE_TYPES = ("float64", "float32")
ENCODINGS = ("utf-8", "latin-1")


def read_measures(given: Measures) -> tuple[list[Measure], int]:
    """Read measures; give each once, and how many were given again.

    Raises:
        MeasureError: One is not known, or there is none.
    """
    if isinstance(given, Measure | str):
        given = [given]
    measures = [parse(one) if isinstance(one, str) else one for one in given]
    for one in measures:
        if not isinstance(one, Measure):
            raise MeasureError(
                f"expected a measure or its name, found {type(one).__name__}",
                hint="write nDCG @ 10 or 'nDCG@10'",
                code="unknown_measure",
            )
    once = list(dict.fromkeys(measures))
    if not once:
        raise MeasureError(
            "expected at least one measure", hint="give [nDCG @ 10]", code="no_measures"
        )
    names = {measure.name for measure in once}
    if len(names) < len(once):
        raise MeasureError(
            "expected measures with different names, found two with one",
            hint="give the functions that they are made of different names",
            code="same_name",
        )
    return once, len(measures) - len(once)


def read_policy(given: Policy | str | None, default: Policy | None = None) -> Policy:
    """Read a policy: a record, a text such as `empty=skip`, or none for the default.

    Raises:
        PolicyError: A field or a value is unknown.
    """
    if isinstance(given, Policy):
        return given
    if isinstance(given, str):
        return Policy.parse(given, default)
    if given is None:
        return Policy() if default is None else default
    raise PolicyError(
        f"expected a Policy or text, found {type(given).__name__}",
        hint="write Policy(empty='skip') or 'empty=skip'",
        code="bad_policy",
    )


@record(frozen=True, slots=True, kw_only=True)
class Request:
    """What is to be evaluated, and how.

    Args:
        measures: The measures to compute, each once.
        policy: The policy.
        score_type: How scores are compared.
        repeated: How many measures were asked for again.
        convention: The convention that it follows, if any.
        names: Under a convention, what the measures that were asked for are called here.
    """

    measures: list[Measure]
    policy: Policy
    score_type: Literal["float64", "float32"]
    repeated: int
    convention: Convention | None
    names: Mapping[str, str]


def read_request(
    measures: Measures,
    policy: Policy | str | None,
    *,
    default: Policy | None = None,
    convention: Convention | str | None,
    score_type: Literal["float64", "float32"] | None,
    grades: list[float],
) -> Request:
    """Read what is asked for, under a convention or not.

    Raises:
        UsageError: A measure, the policy or the convention is not one, or they contradict.
        InputError: The library of the convention does not take these grades.
    """
    asked, repeated = read_measures(measures)
    if score_type is not None:
        check_choice("score_type", score_type, SCORE_TYPES)
    if convention is None:
        return Request(
            measures=asked,
            policy=read_policy(policy, default),
            score_type=score_type or "float64",
            repeated=repeated,
            convention=None,
            names={},
        )
    from rankscope.conventions import adapt  # noqa: PLC0415 - only where one is asked for

    chosen = policy if policy is None or isinstance(policy, str) else read_policy(policy)
    adapted = adapt(convention, asked, policy=chosen, score_type=score_type, grades=grades)
    return Request(
        measures=list(adapted.measures),
        policy=adapted.policy,
        score_type=adapted.score_type,
        repeated=repeated,
        convention=adapted.convention,
        names=adapted.names,
    )


def refuse_one_stdin_for_both(qrels: InputLike, run: InputLike) -> None:
    """Refuse to read judgments and run from the one standard input.

    Raises:
        UsageError: Both are `-`.
    """
    if isinstance(qrels, str) and isinstance(run, str) and qrels == run == "-":
        raise UsageError(
            "expected '-' for one input, found it for both",
            hint="name a file for the other",
            code="stdin_twice",
        )


def count_threads(given: object) -> int:
    """Say how many threads to use: as many as asked for, or one a processor.

    Raises:
        UsageError: The number is not positive.
    """
    if given is None:
        try:
            return len(os.sched_getaffinity(0))
        except AttributeError:  # not every system says which processors a process may use
            count = os.cpu_count()
            return 1 if count is None else count
    is_number = hasattr(given, "__index__") and not isinstance(given, bool)
    threads = operator.index(given) if is_number else 0  # type: ignore[arg-type]  # see above
    if threads < 1:
        raise UsageError(
            f"expected threads to be 1 or more, found {given!r}",
            hint="leave it out for one a processor",
            code="bad_threads",
        )
    return min(threads, 256)


def load_qrels(
    given: InputLike, *, duplicates: str, encoding: str, progress: Progress = None
) -> Qrels:
    """Read judgments.

    Raises:
        InputError: They are not of the format.
        FileError: The file cannot be read.
    """
    check_choice("duplicates", duplicates, DUPLICATES)
    check_choice("encoding", encoding, ENCODINGS)
    found = recognise(given, "qrels")
    watch = _watch(found, progress)
    judgments = read_judgments(found, duplicates=duplicates, encoding=encoding, progress=watch)
    return Qrels(judgments, found.name, duplicates)


def load_run(
    given: InputLike, *, duplicates: str, encoding: str, score_type: str
) -> tuple[_core.Run, Input]:
    """Read a run into memory, and say what it was.

    Raises:
        InputError: It is not of the format.
        FileError: The file cannot be read.
    """
    check_choice("duplicates", duplicates, DUPLICATES)
    check_choice("encoding", encoding, ENCODINGS)
    check_choice("score_type", score_type, SCORE_TYPES)
    found = recognise(given, "run")
    run = read_run(found, duplicates=duplicates, encoding=encoding, score_type=score_type)
    return run, found


def evaluate_run(
    qrels: Qrels,
    run: InputLike,
    measures: Measures,
    *,
    policy: Policy | str | None = None,
    convention: Convention | str | None = None,
    duplicates: str = "error",
    score_type: Literal["float64", "float32"] | None = None,
    encoding: str = "utf-8",
    threads: int | None = None,
    strict: bool = False,
    progress: Progress = None,
) -> Evaluation:
    """Evaluate a run; `rankscope.evaluate` says what the arguments mean.

    Raises:
        UsageError: A measure, the policy or another argument is not one.
        InputError: The run is not of the format, or the policy refuses it.
        FileError: The file cannot be read.
    """
    grades = qrels.judgments.grades()
    request = read_request(
        measures, policy, convention=convention, score_type=score_type, grades=grades
    )
    check_choice("duplicates", duplicates, DUPLICATES)
    check_choice("encoding", encoding, ENCODINGS)
    workers = count_threads(threads)
    found = recognise(run, "run")
    plan = make_plan(request, request.policy.ties, grades, duplicates)
    if found.kind == "file":
        watch = _watch(found, progress)
        answer = _core.evaluate_path(qrels.judgments, plan, found.source, encoding, workers, watch)
    elif found.kind == "mapping":
        answer = _core.evaluate_dict(qrels.judgments, plan, found.value)
    else:
        held = read_run(
            found, duplicates=duplicates, encoding=encoding, score_type=request.score_type
        )
        answer = _core.evaluate_run(qrels.judgments, plan, held, workers)
    evaluation = make_evaluation(
        answer, request, queries=qrels.queries, run_name=found.name, duplicates=duplicates
    )
    if strict:
        refuse_diagnostics(evaluation.notes)
    return evaluation


def make_plan(request: Request, ties: str, grades: list[float], duplicates: str) -> _core.Plan:
    """Make what the core is asked for.

    Args:
        request: What is to be evaluated, and how.
        ties: What decides between equal scores.
        grades: The different grades of the judgments.
        duplicates: What becomes of a document given twice.

    Raises:
        MeasureError: A measure lacks a parameter, or its function gives no number.
    """
    policy = request.policy
    if policy.negative not in {"gain", "minmax"}:
        grades = [grade for grade in grades if grade >= 0]
    aggregate = split_aggregate(policy.aggregate)
    rows: list[tuple[str, str, Mapping[str, object], bool, tuple[str, float | None]]] = []
    for measure in request.measures:
        kernel, params = measure.kernel_spec(grades=grades)
        own = aggregate if measure.row.mean == "mean" else (measure.row.mean, None)
        rows.append((measure.name, kernel, params, measure.judged_only, own))
    fields = policy.to_dict() | {"ties": ties}
    cutoffs = cutoffs_of(request.measures)
    return _core.Plan(rows, fields, duplicates, request.score_type, cutoffs, None)


def cutoffs_of(measures: list[Measure]) -> list[int | None]:
    """Give the cutoffs of the measures, ascending; the whole list, as `None`, comes last."""
    cutoffs = {measure.k for measure in measures}
    return [*sorted(k for k in cutoffs if k is not None), *([None] if None in cutoffs else [])]


def make_evaluation(
    answer: _core.Evaluation,
    request: Request,
    *,
    queries: Queries,
    run_name: str,
    duplicates: str,
) -> Evaluation:
    """Make a result of the core's answer."""
    judged, evaluated, empty, missing, run_only, tied, flat = answer.counts()
    cutoffs = cutoffs_of(request.measures)
    at_cutoffs = dict(zip(cutoffs, answer.at_cutoffs(), strict=True))
    counts = Counts(
        queries=judged,
        evaluated=evaluated,
        empty=empty,
        missing=missing,
        run_only=run_only,
        tied=tied,
        retrieved_at_k={k: retrieved for k, (retrieved, _) in at_cutoffs.items()},
        unjudged_at_k={k: unjudged for k, (_, unjudged) in at_cutoffs.items()},
    )
    choices = request.policy.to_dict() | {"duplicates": queries.duplicates}
    notes = [
        describe(code, count, choices, file=queries.name, line=line)
        for code, count, line in queries.notes
    ]
    choices["duplicates"] = duplicates
    notes += [
        describe(code, count, choices, file=run_name, line=line)
        for code, count, line in answer.notes()
    ]
    deepest = cutoffs[-1]
    shown, unjudged = at_cutoffs[deepest]
    whole = {
        "duplicate_measures": request.repeated,
        "n_missing": missing,
        "n_run_only": run_only,
        "n_no_relevant": empty,
        "tied_scores": flat,
        "all_unjudged": unjudged if 0 < shown == unjudged else 0,
    }
    notes += [describe(code, count, choices) for code, count in whole.items() if count]
    return Evaluation(
        measures=request.measures,
        policy=request.policy,
        counts=counts,
        notes=notes,
        queries=queries,
        answer=answer,
        convention=request.convention,
        names=request.names,
    )


def refuse_diagnostics(notes: Iterable[Diagnostic]) -> None:
    """Refuse anything suspicious, as `strict` asks.

    Raises:
        FormatError: There is something; the first is named.
    """
    for note in notes:
        raise FormatError(
            f"expected nothing suspicious, as strict says; {note.sentence}",
            hint="mend the input, or leave strict out",
            code=note.code,
            file=note.file or None,
            line=note.line or None,
        )


def _watch(found: Input, progress: Progress) -> Callable[[int], None] | None:
    if progress is None:
        return None
    total = found.size
    return lambda done: progress(done, total)
