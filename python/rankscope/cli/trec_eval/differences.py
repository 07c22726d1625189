"""Tells where trec_eval would crash, print a wrong number, or leave something out in silence."""

from __future__ import annotations

from itertools import pairwise

from rankscope.cli.trec_eval.requests import POOLED, gain_table, rbp_scale
from rankscope.measures import parse

TYPE_CHECKING = False
if TYPE_CHECKING:
    from argparse import Namespace
    from collections.abc import Iterator, Mapping, Sequence

    from rankscope.cli.trec_eval.requests import Requested
    from rankscope.data.qrels import Qrels
    from rankscope.engine.trec_values import Doubles, Kernel, QueryValues

INTERPOLATED = {"iprec_at_recall", "11pt_avg"}
UNJUDGED: Kernel = parse("Unjudged(denominator='retrieved')@1000000000").kernel_spec()
POSITIVE: Kernel = parse("NumRel").kernel_spec()
RETRIEVED: Kernel = parse("NumRet").kernel_spec()


def num_rel(options: Namespace) -> Kernel:
    """Return the computation of how many documents are relevant at the level of `-l`."""
    return parse("NumRel")(rel=options.level).kernel_spec()


def kernels_of_differences(requests: Sequence[Requested], options: Namespace) -> list[Kernel]:
    """Return the computations that `describe_differences`, `-l` and `-c` need."""
    names = {one.entry.name for one in requests}
    kernels: list[Kernel] = []
    if "rbp_resid" in names:
        kernels.append(UNJUDGED)
    if options.Judged_docs_only and names & INTERPOLATED:
        kernels.append(RETRIEVED)
    if "num_rel" in names and options.complete_rel_info_wanted:
        kernels.append(POSITIVE)
    if "Rndcg" in names:
        kernels.append(num_rel(options))
        if options.level == 0:
            kernels.append(POSITIVE)
    return kernels


def describe_differences(
    requests: Sequence[Requested],
    qrels: Qrels,
    found: QueryValues,
    columns: Mapping[str, Doubles],
    options: Namespace,
) -> Iterator[str]:
    """Return what to tell about this evaluation.

    Args:
        requests: The measures.
        qrels: The judgments.
        found: The queries.
        columns: The values of kernels, by the text of the kernel.
        options: The arguments of the command.
    """
    names = {one.entry.name for one in requests}
    grades = [grade for grade in qrels.judgments.grades() if grade >= 0]
    missing = len(found.judged) - len(found.retrieved)
    if options.dialect == "10" and missing and not options.complete_rel_info_wanted:
        yield f"trec_eval 10 stops at a judged query that isn't in the run; there are {missing}"
    yield from _describe_rbp(requests, grades)

    def count(kernel: Kernel) -> int:
        values = columns[repr(kernel)]
        return sum(values[query] == 0 for query in found.retrieved)

    if "rbp_resid" in names and (whole := count(UNJUDGED)):
        yield (
            "rbp_resid includes the ranks below the end of the list; trec_eval 10 prints 0 for "
            f"queries of which all retrieved documents are judged: {whole}"
        )
    if options.Judged_docs_only and names & INTERPOLATED and (empty := count(RETRIEVED)):
        yield (
            "interpolated precision is 0 for queries of which no retrieved document is judged; "
            f"trec_eval prints -nan for them and for the mean: {empty}"
        )
    if options.level == 0 and "Rndcg" in names and (empty := count(POSITIVE)):
        yield (
            "Rndcg is 0 for queries without a document of grade 1 or more; with -l 0, trec_eval "
            f"prints -nan for them and for the mean: {empty}"
        )
    if "num_rel" in names and options.complete_rel_info_wanted and options.level != 1:
        yield "with -c, num_rel of all queries counts grades of 1 or more, as in trec_eval: not -l"
    yield from _describe_gains(requests, qrels.judgments.grades())


def _describe_rbp(requests: Sequence[Requested], grades: Sequence[float]) -> Iterator[str]:
    """Return what to tell about the scale of RBP."""
    for one in requests:
        if one.entry.name != "rbp":
            continue
        by = "grades by the highest one of each query" if max(grades, default=0) > 1 else ""
        if one.has_gains:
            scale = rbp_scale(one, grades)
            by = f"gains by the highest one, {scale:g}" if scale > 1 else ""
        if by:
            yield f"rbp divides {by}; trec_eval 10 scales them by variables that are never set"


def _describe_gains(requests: Sequence[Requested], every: Sequence[float]) -> Iterator[str]:
    """Return what to tell about gains of grades, for all grades that the judgments have."""
    grades = [grade for grade in every if grade >= 0]
    for one in requests:
        if not one.pairs or one.entry.name.startswith("rbp"):
            continue
        gains = sorted(gain_table(one, grades).gains.values())
        if any(0 < high - low < 1 for low, high in pairwise(gains)):
            yield f"{one.name} has gains less than 1 apart, which trec_eval sorts wrongly"
        if any(float(name) == POOLED and gain > 0 for name, gain in one.pairs) and (
            min(every, default=0) < 0
        ):
            yield (
                f"{one.name} includes documents with a negative grade in the ideal list; trec_eval "
                "doesn't, so its values can be larger than 1"
            )
