"""Evaluates the measures that were asked for, in one pass over the run."""

from __future__ import annotations

from array import array

from rankscope.measures import parse
from rankscope.records import record, replace
from rankscope.trec_eval.catalog import UNQUERIED
from rankscope.trec_eval.differences import describe_differences
from rankscope.trec_eval.requests import gain_table, make_measures, rbp_kernel
from rankscope.trec_eval.undefined import RETRIEVED, Known, correct, kernels_needed
from rankscope.trec_eval.values import evaluate_kernels

TYPE_CHECKING = False
if TYPE_CHECKING:
    from argparse import Namespace
    from collections.abc import Callable, Mapping, Sequence
    from typing import TypeAlias

    from rankscope._inputs.qrels import Qrels
    from rankscope.trec_eval.catalog import Entry
    from rankscope.trec_eval.reading import Source
    from rankscope.trec_eval.requests import Options, Requested
    from rankscope.trec_eval.values import Doubles, Kernel, QueryValues

    Wanted: TypeAlias = tuple[Requested, str, int, tuple[Kernel, ...]]
    """A measure, a name that it prints, the place of the name, and the computations for it."""

POSITIVE: Kernel = parse("NumRel").kernel_spec()
CHARACTERS = 6
"""How many characters of relstring a value of the core holds."""
FEW_RANKS = 1000
"""The length of relstring up to which the documents of the run aren't counted first."""


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


def plan_requests(
    requests: Sequence[Requested], grades: Sequence[float], options: Options
) -> tuple[list[Wanted], dict[str, Kernel]]:
    """Return the names that measures print, and the computations for them by their text."""
    wanted = [
        (request, name, place, kernels)
        for request in requests
        for place, (name, kernels) in enumerate(_plan(request, grades, options))
    ]
    needed = [kernel for *_, several in wanted for kernel in several]
    needed += kernels_needed(requests, grades, options)
    return wanted, {repr(kernel): kernel for kernel in needed}


def evaluate_requests(
    requests: Sequence[Requested],
    qrels: Qrels,
    source: Source,
    options: Namespace,
    note: Callable[[str], None],
) -> tuple[list[Evaluated], QueryValues]:
    """Evaluate measures on a run."""
    if any(map(is_long, requests)):
        counted = source.read(lambda: run_kernels(qrels, source, [RETRIEVED], options), note)
        longest = max(counted.columns[0])
        requests = [
            replace(one, values=(min(one.values[0], longest),)) if is_long(one) else one
            for one in requests
        ]
    grades = qrels.judgments.grades()
    wanted, kernels = plan_requests(requests, grades, options)
    counts_all = options.complete_rel_info_wanted
    if counts_all:
        kernels[repr(POSITIVE)] = POSITIVE
    found = source.read(lambda: run_kernels(qrels, source, list(kernels.values()), options), note)
    columns = dict(zip(kernels, found.columns, strict=True))
    known = Known(options, grades, found, columns)
    evaluated = []
    for one, name, place, several in wanted:
        texts = _cut_text(one, [columns[repr(kernel)] for kernel in several])
        complete = columns[repr(POSITIVE)] if counts_all and one.entry.name == "num_rel" else None
        evaluated.append(
            Evaluated(one.entry, name, correct(one, name, texts, place, known), complete)
        )
    for difference in describe_differences(requests, evaluated, known):
        note(difference)
    return evaluated, found


def is_long(requested: Requested) -> bool:
    """Check whether a text may be longer than all lists, for which the run is read twice."""
    return requested.entry.name == "relstring" and requested.values[0] > FEW_RANKS


def _plan(
    requested: Requested, grades: Sequence[float], options: Options
) -> list[tuple[str, tuple[Kernel, ...]]]:
    """Return the names that a measure prints, and the computations of the core for each."""
    entry = requested.entry
    if entry.name in UNQUERIED:
        return []
    if entry.name == "relstring":
        starts = range(1, int(max(requested.values[0], 1)) + 1, CHARACTERS)
        kernels: tuple[Kernel, ...] = tuple(("relstring", {"k": start}) for start in starts)
        return [(requested.name, kernels)]
    if entry.name == "set_F" and requested.text:
        # The square of a square root may have another last bit than the weight.
        parts = (parse(part)(rel=options.level).kernel_spec() for part in ("set_P", "set_recall"))
        return [(requested.name, tuple(parts))]
    if entry.name == "rbp" and requested.has_gains:
        return [(requested.name, (rbp_kernel(requested, grades),))]
    planned: list[tuple[str, tuple[Kernel, ...]]] = []
    measures = make_measures(
        requested, level=options.level, documents=options.documents, dialect=options.dialect
    )
    for name, measure in zip(requested.names, measures, strict=True):
        kernel, params = measure.kernel_spec(grades=grades)
        changed: Mapping[str, object] = params
        if requested.pairs and "gain" in params:
            changed = {**params, **gain_table(requested, grades).parameters()}
        planned.append((name, ((kernel, changed),)))
    return planned


def _cut_text(requested: Requested, columns: list[Doubles]) -> list[Doubles]:
    """Cut what the last column of a text has beyond its length."""
    if requested.entry.name != "relstring" or not columns:
        return columns
    left = int(max(requested.values[0], 0)) - CHARACTERS * (len(columns) - 1)
    mask = (1 << 8 * left) - 1
    return [*columns[:-1], array("d", (float(int(value) & mask) for value in columns[-1]))]


def run_kernels(
    qrels: Qrels, source: Source, kernels: list[Kernel], options: Namespace
) -> QueryValues:
    """Evaluate kernels as the options say."""
    return evaluate_kernels(
        qrels,
        source.file(),
        kernels,
        score_type="float32" if options.dialect == "9" else "float64",
        depth=options.depth,
        judged_only=options.Judged_docs_only,
        fills_missing=options.dialect == "10" and options.complete_rel_info_wanted,
    )
