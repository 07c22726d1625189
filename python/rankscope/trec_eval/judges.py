"""Evaluates against judgments of several judges: the mean over the judges of each query."""

from __future__ import annotations

from array import array

import rankscope as rs
from rankscope.errors import FormatError
from rankscope.file import File
from rankscope.measures import parse
from rankscope.records import record
from rankscope.trec_eval.catalog import entries_of
from rankscope.trec_eval.evaluating import Evaluated, run_kernels
from rankscope.trec_eval.reading import read_lines
from rankscope.trec_eval.requests import Requested, make_measures

TYPE_CHECKING = False
if TYPE_CHECKING:
    from argparse import Namespace
    from collections.abc import Sequence

    from rankscope._inputs.qrels import Qrels
    from rankscope.trec_eval.reading import Source
    from rankscope.trec_eval.values import QueryValues

FIELDS = ("query", "judge", "document", "grade")
SUFFIX = "_avgjg"


@record(frozen=True, slots=True)
class Judges:
    """The judgments of several judges.

    Args:
        every: The judgments of all judges, which name the queries.
        each: The judgments of each judge, in the order of the bytes of their names.
    """

    every: Qrels
    each: list[Qrels]


def read_judges(path: str, *, has_comments: bool) -> Judges:
    """Read judgments whose second field names the judge."""
    lines: dict[bytes, list[bytes]] = {}
    first: dict[tuple[bytes, bytes], bytes] = {}
    for _, fields in read_lines(path, FIELDS, has_comments=has_comments):
        query, judge, document, _ = fields
        line = b" ".join(fields)
        lines.setdefault(judge, []).append(line)
        first.setdefault((query, document), line)
    each = [rs.read_qrels(File(b"\n".join(lines[judge]), "trec")) for judge in sorted(lines)]
    return Judges(rs.read_qrels(File(b"\n".join(first.values()), "trec")), each)


def evaluate_judges(
    requests: Sequence[Requested], judges: Judges, source: Source, options: Namespace
) -> tuple[list[Evaluated], QueryValues]:
    """Evaluate measures for each judge, and average them over the judges of each query."""
    planned = [
        (request, name, measure.kernel_spec())
        for request in requests
        if request.entry.format == "qrels_jg"
        for name, measure in zip(request.names, _make_measures(request, options), strict=True)
    ]
    # Version 10 also evaluates if no query is in the run.
    found = run_kernels(judges.every, source, [parse("NumQ").kernel_spec()], options)
    numbers = {query: number for number, query in enumerate(judges.every.query_texts)}
    sums = [array("d", bytes(8 * len(numbers))) for _ in planned]
    counts = array("d", bytes(8 * len(numbers)))
    for qrels in judges.each:
        places = [numbers[query] for query in qrels.query_texts]
        for place in places:
            counts[place] += 1
        try:
            values = run_kernels(qrels, source, [kernel for _, _, kernel in planned], options)
        except FormatError as error:
            if error.code != "no_common_queries":
                raise
            continue  # this judge's values are 0
        for column, total in zip(values.columns, sums, strict=True):
            for place, value in zip(places, column, strict=True):
                total[place] += value
    evaluated = []
    for (one, name, _), total in zip(planned, sums, strict=True):
        means = array("d", (value / count for value, count in zip(total, counts, strict=True)))
        evaluated.append(Evaluated(one.entry, name, [means]))
    return evaluated, found


def _make_measures(requested: Requested, options: Namespace) -> tuple[rs.Measure, ...]:
    entry = entries_of("9")[requested.entry.name.removesuffix(SUFFIX)]
    of_one = Requested(entry, requested.text, requested.values)
    return make_measures(of_one, level=options.level, documents=0, dialect=options.dialect)
