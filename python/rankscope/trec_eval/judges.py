"""Evaluates against judgments of several judges: the mean over the judges of each query."""

from __future__ import annotations

from array import array
from operator import truediv

import rankscope as rs
from rankscope.file import File
from rankscope.measures.parse import parse
from rankscope.records import replace
from rankscope.trec_eval.catalog import entries_of
from rankscope.trec_eval.columns import make_measures
from rankscope.trec_eval.evaluating import Evaluated, evaluate_kernels
from rankscope.trec_eval.reading import read_lines

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Sequence

    from rankscope._inputs.qrels import Qrels
    from rankscope.trec_eval.reading import Source
    from rankscope.trec_eval.requests import Options, Requested

FIELDS = ("query", "judge", "document", "grade")
SUFFIX = "_avgjg"


def read_judges(path: str, *, has_comments: bool) -> tuple[Qrels, list[Qrels]]:
    """Read judgments whose second field names the judge: of all judges, and of each.

    Judges are in the order of the bytes of their names.
    """
    lines: dict[bytes, list[bytes]] = {}
    first: dict[tuple[bytes, bytes], bytes] = {}
    for _, fields in read_lines(path, FIELDS, has_comments=has_comments):
        query, judge, document, _ = fields
        line = b" ".join(fields)
        lines.setdefault(judge, []).append(line)
        first.setdefault((query, document), line)
    judges = [rs.read_qrels(File(b"\n".join(lines[judge]), "trec")) for judge in sorted(lines)]
    return rs.read_qrels(File(b"\n".join(first.values()), "trec")), judges


def evaluate_judges(
    requests: Sequence[Requested],
    qrels: Qrels,
    judges: Sequence[Qrels],
    source: Source,
    options: Options,
) -> tuple[list[Evaluated], Sequence[int]]:
    """Evaluate measures for each judge, and average them over the judges of each query."""
    names, kernels = [], []
    for request in requests:
        if request.entry.format == "qrels_jg":
            entry = entries_of("9")[request.entry.name.removesuffix(SUFFIX)]
            measures = make_measures(replace(request, entry=entry), options)
            names += [(request.entry, name) for name in request.names]
            kernels += [measure.kernel_spec() for measure in measures]
    # Version 10 also evaluates if no query is in the run.
    _, present = evaluate_kernels(qrels, source, [parse("NumQ").kernel_spec()], options)
    numbers = {query: number for number, query in enumerate(qrels.query_texts)}
    sums = [array("d", bytes(8 * len(numbers))) for _ in kernels]
    counts = [0] * len(numbers)
    for judge in judges:
        places = [numbers[query] for query in judge.query_texts]
        for place in places:
            counts[place] += 1
        columns, _ = evaluate_kernels(judge, source, kernels, options, is_part=True)
        for column, total in zip(columns, sums, strict=True):
            for place, value in zip(places, column, strict=True):
                total[place] += value
    return [
        Evaluated(entry, name, [array("d", map(truediv, total, counts))])
        for (entry, name), total in zip(names, sums, strict=True)
    ], present
