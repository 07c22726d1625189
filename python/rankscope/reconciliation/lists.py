"""One query under a set of rules: documents in order, grades and gains."""

from __future__ import annotations

import math

from rankscope.records import record
from rankscope.reference.gain import discounted, gain_of, ideal_gains
from rankscope.reference.query import Query

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Mapping

    from rankscope.conventions.rules import Rules
    from rankscope.evaluation.rankings import Rankings

    Places = dict[str, tuple[int, int]]


@record(frozen=True, slots=True)
class Listed:
    """One query under a set of rules.

    Args:
        rules: The rules.
        docs: The retrieved documents in rank order.
        scores: Their scores.
        grade_of: The grade of each judged document, retrieved or not.
        query: The query as the reference takes it.
        parameters: The parameters of the measure as kernels take them.
    """

    rules: Rules
    docs: list[str]
    scores: list[float]
    grade_of: dict[str, float]
    query: Query
    parameters: Mapping[str, object]

    @classmethod
    def of_query(
        cls,
        rankings: Rankings,
        rules: Rules,
        query_id: str,
        number: int,
        grade_of: dict[str, float],
    ) -> Listed:
        """Extract a query from rankings."""
        start, stop = rankings.offsets[number : number + 2].tolist()
        docs = rankings.doc_texts(query_id)
        _, parameters = rules.measure.kernel_spec(
            grades=set(grade_of.values()), depth=max(len(docs), len(grade_of))
        )
        is_known = set(docs if rules.policy.unretrieved == "ignore" else grade_of)
        judged = [grade for doc, grade in grade_of.items() if doc in is_known]
        negative_gain = rules.policy.negative in {"gain", "minmax"}
        query = Query(
            [grade_of.get(doc) for doc in docs], sorted(judged, reverse=True), negative_gain
        )
        scores = rankings.scores[start:stop].tolist()
        return cls(rules, docs, scores, grade_of, query, parameters)

    @property
    def shown(self) -> list[str]:
        """The documents down to the cutoff."""
        return self.docs[: self.rules.measure.k]

    def grade(self, doc: str) -> float:
        """Return the grade of a document, NaN if it is unjudged."""
        return self.grade_of.get(doc, math.nan)

    def gain(self, doc: str) -> float:
        """Return the gain of a document."""
        return gain_of(self.query, self.grade_of.get(doc), self.parameters["gain"])  # type: ignore[arg-type]  # as kernels take it

    def weight(self, rank: int) -> float:
        """Return the discount of a rank."""
        return discounted(1.0, rank, self.parameters["discount"])  # type: ignore[arg-type]  # as kernels take it

    def ideal_gains(self) -> list[float]:
        """List the gains of the ideal list."""
        ideal = str(self.parameters["ideal"])
        return ideal_gains(self.query, self.rules.measure.k, self.parameters["gain"], ideal)  # type: ignore[arg-type]  # as kernels take it

    def ideal_docs(self) -> list[str]:
        """List the documents of the ideal list. Of equal gains, retrieved ones come first."""
        ideal = self.parameters.get("ideal")
        known = {doc: self.gain(doc) for doc in self.docs if doc in self.grade_of}
        if ideal != "retrieved" and self.rules.policy.unretrieved == "count":
            known |= {doc: self.gain(doc) for doc in sorted(self.grade_of) if doc not in known}
        ordered = sorted(known, key=lambda doc: -known[doc])
        positive = [doc for doc in ordered if known[doc] > 0]
        return positive if ideal == "whole" else positive[: self.rules.measure.k]

    def places(self) -> Places:
        """Return the first and the last rank that each document may have."""
        places: Places = {}
        is_averaged = self.rules.policy.ties == "average"
        start = 0
        for end in range(1, len(self.docs) + 1):
            if end < len(self.docs) and self.scores[end] == self.scores[start]:
                continue
            for index in range(start, end):
                place = (start + 1, end) if is_averaged else (index + 1, index + 1)
                places[self.docs[index]] = place
            start = end
        return places
