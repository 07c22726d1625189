"""Values by query in the order of trec_eval, with its sums, for its output line by line."""

from __future__ import annotations

from array import array

from rankscope._core import Lines, Plan, evaluate_dict
from rankscope._evaluate.runs import evaluate_text
from rankscope._inputs.recognition import recognise
from rankscope.errors import FormatError
from rankscope.file import File
from rankscope.records import record
from rankscope.settings.policy import Policy
from rankscope.settings.reading import Reading

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Iterable, Mapping, Sequence
    from typing import Literal, TypeAlias

    from rankscope._core import Judgments
    from rankscope._inputs.qrels import Qrels
    from rankscope.settings.policy import ScoreType

    Doubles: TypeAlias = memoryview[float] | array[float]
    Form: TypeAlias = Literal["value", "count", "text"]
    Kernel: TypeAlias = tuple[str, Mapping[str, object]]


STAND_IN = b"ceci_nest_pas_un_docno"
"""The document of a query that isn't in the run, by its name in version 10."""


@record(frozen=True, slots=True)
class QueryValues:
    """The values of kernels for every judged query.

    Args:
        judgments: The judgments, which name the queries.
        columns: The values of each kernel by query, in input order.
        retrieved: The queries in the run, in the order of the bytes of their IDs.
        judged: All judged queries, in the same order.
    """

    judgments: Judgments
    columns: list[Doubles]
    retrieved: list[int]
    judged: list[int]


@record(frozen=True, slots=True)
class PrintedColumns:
    """What is printed of a measure for each query.

    Args:
        name: What its lines begin with.
        form: How its values are printed.
        columns: Its values by query: one column, or as many as a text needs.
    """

    name: str
    form: Form
    columns: Sequence[Doubles]


def plan_kernels(
    kernels: Iterable[Kernel],
    *,
    score_type: ScoreType,
    judged_only: bool,
    depth: int | None = None,
) -> Plan:
    """Plan the evaluation of kernels on lists that are ranked and cut as in trec_eval."""
    policy = Policy(
        ties="doc_id",
        empty="zero",
        missing="zero",
        unjudged="remove" if judged_only else "nonrelevant",
    )
    rows: list[tuple[str, str, Mapping[str, object], bool, tuple[str, float | None]]] = [
        (name, name, params, False, ("mean", None)) for name, params in kernels
    ]
    return Plan(rows, policy.to_dict(), "error", score_type, [None], None, depth)


def evaluate_scores(
    judgments: Judgments, scores: Mapping[str, Mapping[str, float]], plan: Plan, count: int
) -> list[Doubles]:
    """Return the values of each kernel by judged query; one that has no scores has the value 0."""
    answer = evaluate_dict(judgments, plan, scores)
    return [memoryview(answer.values(number)).cast("d") for number in range(count)]


def evaluate_kernels(
    qrels: Qrels,
    run: File,
    kernels: Sequence[Kernel],
    *,
    score_type: ScoreType,
    depth: int | None,
    judged_only: bool,
    fills_missing: bool = False,
) -> QueryValues:
    """Evaluate kernels on a run in one pass, as trec_eval ranks and cuts it."""
    plan = plan_kernels(kernels, score_type=score_type, judged_only=judged_only, depth=depth)
    ids = [query.encode("utf-8", "surrogatepass") for query in qrels.query_texts]
    judged = sorted(range(len(ids)), key=ids.__getitem__)
    columns: list[Doubles]
    try:
        columns, is_present = _evaluate(qrels, run, plan, len(kernels))
    except FormatError as error:
        if not fills_missing or error.code != "no_common_queries":
            raise
        is_present = bytes(len(ids))
        columns = [array("d", bytes(8 * len(ids))) for _ in kernels]
    missing = [query for query in judged if not is_present[query]] if fills_missing else []
    if missing:
        filled, _ = _evaluate(qrels, stand_in(ids[query] for query in missing), plan, len(kernels))
        columns = [array("d", column) for column in columns]
        for column, others in zip(columns, filled, strict=True):
            for query in missing:
                column[query] = others[query]
    return QueryValues(
        judgments=qrels.judgments,
        columns=columns,
        retrieved=[query for query in judged if is_present[query]],
        judged=judged,
    )


def stand_in(queries: Iterable[bytes]) -> File:
    """Return a run that has one unjudged document for each of these queries."""
    return File(b"\n".join(b"%b Q0 %b 1 1 -" % (query, STAND_IN) for query in queries), "trec")


def _evaluate(
    qrels: Qrels, run: File, plan: Plan, count: int
) -> tuple[list[Doubles], Sequence[int]]:
    """Return the values of each kernel, and which queries are in the run."""
    given = recognise(run, "run")
    answer = evaluate_text(qrels.judgments, plan, given, Reading.read(), None)
    values = [memoryview(answer.values(number)).cast("d") for number in range(count)]
    return list(values), answer.is_present()


def make_lines(measures: Sequence[PrintedColumns], order: list[int]) -> Lines:
    """Return lines and sums of measures over queries in an order."""
    return Lines(
        [(measure.name, measure.form, list(measure.columns)) for measure in measures], order
    )
