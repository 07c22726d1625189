"""Evaluates measures in one pass over the run, which is ranked and cut as in trec_eval."""

from __future__ import annotations

from array import array

from rankscope._core import Plan
from rankscope._evaluate.runs import evaluate_text
from rankscope._inputs.recognition import recognise
from rankscope.errors import FormatError
from rankscope.file import File
from rankscope.measures.parse import parse
from rankscope.records import record, replace
from rankscope.settings.policy import Policy
from rankscope.settings.reading import Reading
from rankscope.trec_eval.columns import RETRIEVED, plan_columns
from rankscope.trec_eval.differences import describe_differences

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Iterable, Mapping, Sequence

    from rankscope._core import Evaluation
    from rankscope._inputs.qrels import Qrels
    from rankscope.trec_eval.catalog import Entry
    from rankscope.trec_eval.columns import Column, Doubles, Kernel
    from rankscope.trec_eval.reading import Source
    from rankscope.trec_eval.requests import Options, Requested

POSITIVE: Kernel = parse("NumRel").kernel_spec()
CLEARED = {"num_ret", "utility", "rbp_resid", "relstring"}
"""The names of version 10 that it sets to 0 for a query that isn't in the run, in this spelling."""
FEW_RANKS = 1000
"""The length of relstring up to which the documents of the run aren't counted first."""
STAND_IN = b"ceci_nest_pas_un_docno"
"""The document of a query that isn't in the run, by its name in version 10."""


@record(frozen=True, slots=True)
class Evaluated:
    """A measure with its values.

    Args:
        entry: The measure of trec_eval.
        name: The name that is printed.
        columns: Its values by query: one column, or as many as a text needs.
        complete: The values that are added up over all judged queries, if they are others: with
            `-c`, trec_eval counts relevant documents in the judgments, without regard to `-l`.
    """

    entry: Entry
    name: str
    columns: Sequence[Doubles]
    complete: Doubles | None = None


def evaluate_requests(
    requests: list[Requested],
    qrels: Qrels,
    source: Source,
    options: Options,
    notes: list[str],
) -> tuple[list[Evaluated], Sequence[int]]:
    """Return the values of measures on a run, and which judged queries it has."""
    if any(map(is_long, requests)):
        [lengths], _ = evaluate_kernels(qrels, source, [RETRIEVED], options)
        longest = max(lengths)
        for place, request in enumerate(requests):
            if is_long(request):
                requests[place] = replace(request, values=(min(request.values[0], longest),))
    grades = qrels.judgments.grades()
    columns = [column for request in requests for column in plan_columns(request, grades, options)]
    kernels = list_kernels(columns)
    if options.is_complete:
        kernels[repr(POSITIVE)] = POSITIVE
    values, present = evaluate_kernels(qrels, source, list(kernels.values()), options)
    by_kernel = dict(zip(kernels, values, strict=True))
    evaluated = [_finish(column, by_kernel, present, options) for column in columns]
    notes.extend(
        describe_differences(requests, evaluated, grades, by_kernel, present, options=options)
    )
    return evaluated, present


def list_kernels(columns: Iterable[Column]) -> dict[str, Kernel]:
    """Return the computations for columns, by their text."""
    return {repr(kernel): kernel for column in columns for kernel in column.kernels}


def is_long(request: Requested) -> bool:
    """Check whether a text may be longer than all lists, for which the run is read twice."""
    return request.entry.name == "relstring" and request.values[0] > FEW_RANKS


def _finish(
    column: Column, by_kernel: Mapping[str, Doubles], present: Sequence[int], options: Options
) -> Evaluated:
    entry, columns = column.request.entry, column.compute(by_kernel)
    if options.dialect == "10" and (column.name in CLEARED or entry.name == "unj"):
        columns = [
            array("d", (v if is_present else 0.0 for v, is_present in zip(c, present, strict=True)))
            for c in columns
        ]
    is_counted = options.is_complete and entry.name == "num_rel"
    complete = by_kernel[repr(POSITIVE)] if is_counted else None
    return Evaluated(entry, column.name, columns, complete)


def plan_kernels(kernels: Iterable[Kernel], options: Options) -> Plan:
    """Plan the evaluation of kernels on lists that are ranked and cut as in trec_eval."""
    policy = Policy(
        ties="doc_id",
        empty="zero",
        missing="zero",
        unjudged="remove" if options.judged_only else "nonrelevant",
    )
    rows: list[tuple[str, str, Mapping[str, object], bool, tuple[str, float | None]]] = [
        (name, name, params, False, ("mean", None)) for name, params in kernels
    ]
    settings = policy.to_dict()
    return Plan(rows, settings, "error", options.score_type, [None], None, options.depth)


def evaluate_kernels(
    qrels: Qrels,
    source: Source,
    kernels: Sequence[Kernel],
    options: Options,
    *,
    is_part: bool = False,
) -> tuple[list[Doubles], Sequence[int]]:
    """Return the values of kernels by judged query, and whether each query is in the run.

    For a part of the judgments, there may be none.
    """
    plan = plan_kernels(kernels, options)

    def evaluate(run: File) -> tuple[list[Doubles], Sequence[int]]:
        answer = evaluate_text(qrels.judgments, plan, recognise(run, "run"), Reading.read(), None)
        return list_values(answer, len(kernels)), answer.is_present()

    ids = qrels.query_texts
    try:
        columns, present = source.read(evaluate)
    except FormatError as error:
        if error.code != "no_common_queries" or not (is_part or options.fills_missing):
            raise
        return evaluate(stand_in(ids))[0], bytes(len(ids))
    missing = [query for query, is_present in enumerate(present) if not is_present]
    if options.fills_missing and missing:
        others, _ = evaluate(stand_in(ids[query] for query in missing))
        columns = [array("d", column) for column in columns]
        for column, other in zip(columns, others, strict=True):
            for query in missing:
                column[query] = other[query]
    return columns, present


def stand_in(queries: Iterable[str]) -> File:
    """Return a run that has one unjudged document for each of these queries."""
    ids = (query.encode("utf-8", "surrogatepass") for query in queries)
    return File(b"\n".join(b"%b Q0 %b 1 1 -" % (query, STAND_IN) for query in ids), "trec")


def list_values(answer: Evaluation, count: int) -> list[Doubles]:
    """Return the values of each kernel by judged query; one that isn't in the run has 0."""
    return [memoryview(answer.values(number)).cast("d") for number in range(count)]
