"""Generated queries: documents with scores that tie, and judgments of every kind."""

from __future__ import annotations

from dataclasses import dataclass
from functools import cache

from hypothesis import strategies as st

from tests.invariance.variants import GRADES
from tests.reference import Retrieved, rank, value

# Their order by bytes is not that by code units, by numbers or by letters.
DOCUMENTS = ("a", "B", "b", "10", "9", "é", "e\u0301", "\uffee", "\U0001f50d", "z", "Z", "zz")
SCORES = (1e300, 2.0, 1.0, 1.0 + 2.0**-40, 0.0, -0.0, -1.0, -1e300, 5e-324)


@dataclass(frozen=True, slots=True)
class Judged:
    """One query: what was retrieved, and what was judged."""

    scores: dict[str, float]
    grades: dict[str, float]

    def ranking(self, ties="doc_id"):
        """The grades in rank order, `None` where unjudged."""
        documents = [
            Retrieved(document, score, self.grades.get(document))
            for document, score in self.scores.items()
        ]
        return [document.grade for document in rank(documents, ties)]

    def values(self, measures, policy):
        """The values by the definitions; NaN where they are undefined."""
        ranking = self.ranking(policy.ties)
        known = self.grades.keys()
        if policy.unretrieved == "ignore":
            known = known & self.scores.keys()
        judged = [grade for document, grade in self.grades.items() if document in known]
        condense = policy.unjudged == "remove"
        return [
            value(
                *_kernel_spec(measure),
                ranking,
                judged,
                negative=policy.negative,
                judged_only=measure.judged_only or condense,
            )
            for measure in measures
        ]


@cache
def _kernel_spec(measure):
    return measure.kernel_spec(grades=GRADES)


def judged_queries(*, grades=GRADES):
    """Queries with up to twelve documents, in any order, of which some are judged."""
    scores = st.dictionaries(st.sampled_from(DOCUMENTS), st.sampled_from(SCORES), min_size=1)
    judgments = st.dictionaries(
        st.sampled_from([*DOCUMENTS, "unseen", "unseen too"]), st.sampled_from(grades), min_size=1
    )
    return st.builds(Judged, scores, judgments)
