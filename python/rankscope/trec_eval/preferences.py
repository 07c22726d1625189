"""Evaluates a run against preferences between documents: `-R prefs` and `-R qrels_prefs`."""

from __future__ import annotations

import math
from array import array
from itertools import pairwise

import rankscope as rs
from rankscope.errors import FormatError
from rankscope.file import File
from rankscope.names import quote
from rankscope.records import record
from rankscope.trec_eval.evaluating import Evaluated, stand_in
from rankscope.trec_eval.reading import read_lines

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence
    from typing import TypeAlias

    from rankscope._inputs.qrels import Qrels
    from rankscope.trec_eval.reading import Source
    from rankscope.trec_eval.requests import Options, Requested

    Line: TypeAlias = tuple[bytes, bytes, float, bytes]
    """The group of the judge, the subgroup, and the level of a document."""

FIELDS = {
    "prefs": ("query", "group", "subgroup", "document", "level"),
    "qrels_prefs": ("query", "group", "document", "level"),
}
"""The fields of a line, by format. In the second, a group has one subgroup."""


@record(frozen=True, slots=True)
class Preferences:
    """Preferences of judges.

    Args:
        path: Where they were read from.
        qrels: Judgments whose grades are the numbers of the documents of a query, in the order of
            the bytes of their IDs.
        lines: The lines of each query.
        documents: The documents of each query with their numbers.
    """

    path: str
    qrels: Qrels
    lines: Sequence[Sequence[Line]]
    documents: Sequence[Sequence[bytes]]


def read_preferences(path: str, form: str, *, has_comments: bool) -> Preferences:
    """Read preferences."""
    lines: dict[bytes, list[Line]] = {}
    for number, fields in read_lines(path, FIELDS[form], has_comments=has_comments):
        query, group, *subgroup, document, level = fields
        try:
            value = float(level)
        except ValueError:
            value = -1.0
        if not 0 <= value < float("inf"):
            raise FormatError(
                f"expected a level of 0 or more, found {quote(level.decode(errors='replace'))}",
                hint="the level of a document that isn't relevant is 0",
                code="rel_not_number",
                file=path,
                line=number,
            )
        lines.setdefault(query, []).append((group, b"".join(subgroup), value, document))
    documents = [sorted({line[-1] for line in some}) for some in lines.values()]
    texts = [
        b"%b 0 %b %d" % (query, document, number)
        for query, of_query in zip(lines, documents, strict=True)
        for number, document in enumerate(of_query)
    ]
    qrels = rs.read_qrels(File(b"\n".join(texts), "trec"))
    return Preferences(path, qrels, list(lines.values()), documents)


def evaluate_preferences(
    requests: Sequence[Requested], preferences: Preferences, source: Source, options: Options
) -> tuple[list[Evaluated], Sequence[int]]:
    """Evaluate measures against preferences."""
    # Reading judgments needs no NumPy.
    from rankscope.trec_eval.preference_counts import ConflictError, find_values  # noqa: PLC0415 - loads late

    def rank(run: File) -> rs.Rankings:
        return rs.Rankings.from_run(
            preferences.qrels,
            run,
            # trec_eval sorts other judgments by descending IDs.
            ties="doc_id_asc",
            score_type=options.score_type,
        )

    try:
        rankings = source.read(rank)
    except FormatError as error:
        if not options.fills_missing or error.code != "no_common_queries":
            raise
        rankings = rank(stand_in(preferences.qrels.query_texts))
    entries = [request.entry for request in requests if request.entry.format == "prefs"]
    present = bytearray()
    rows: list[Mapping[str, float]] = []
    for query, (start, end) in enumerate(pairwise(rankings.offsets.tolist())):
        present.append(start < end)
        names = preferences.documents[query]
        shown = rankings.relevance[start:end][: options.depth].tolist()
        # The grades of the judged documents are their numbers.
        found = [int(number) for number in shown if not math.isnan(number)]
        ranked = [names[number] for number in dict.fromkeys([*found, *range(len(names))])]
        places = {name: place for place, name in enumerate(ranked)}
        judgments = [
            (group, subgroup, level, places[name])
            for group, subgroup, level, name in preferences.lines[query]
        ]
        try:
            is_counted = options.fills_missing or start < end
            rows.append(find_values(judgments, len(names), len(found)) if is_counted else {})
        except ConflictError as conflict:
            number, what = conflict.args
            shown = quote(ranked[number].decode("utf-8", "replace"))
            raise FormatError(
                f"expected preferences that agree within a group, but in query "
                f"{quote(preferences.qrels.query_texts[query])} the document {shown} {what}",
                hint="give judges who disagree different groups",
                code="conflicting_preferences",
                file=preferences.path,
            ) from None
    return [
        Evaluated(entry, entry.name, [array("d", [row.get(entry.name, 0.0) for row in rows])])
        for entry in entries
    ], present
