"""Ask scikit-learn: `… -m dev.parity.peers.scikit_learn.measure ANSWERS`."""

from __future__ import annotations

from functools import partial
from typing import TYPE_CHECKING

from sklearn.metrics import dcg_score, ndcg_score

from dev.parity.answers import Answers, at, publish

if TYPE_CHECKING:
    from collections.abc import Callable, Iterable

    from dev.parity.cases import Case

CUTOFFS = (None, 1, 3, 5, 10)


def measure(cases: list[Case]) -> Iterable[Answers]:
    """Ask with and without ties, of single rows and of whole matrices."""
    for convention, ignore_ties in (("sklearn", False), ("sklearn_ignore_ties", True)):
        answers = Answers(
            "scikit-learn",
            convention,
            f"ndcg_score(y_true, y_score, k=k, ignore_ties={ignore_ties}), a query is a row",
            arbitrary_above={"nDCG": 1, "DCG": 1} if ignore_ties else {},
            notes=["Lists of several lengths are no matrix, and have no mean."],
        )
        for case in filter(lambda case: case.complete, cases):
            for name, function in (("nDCG", ndcg_score), ("DCG", dcg_score)):
                for k in CUTOFFS:
                    score = partial(function, k=k, ignore_ties=ignore_ties)
                    answers.ask(case, at(name, k), partial(score_rows, case, score))
        yield answers


def score_rows(case: Case, score: Callable[..., float], queries: list[str]) -> float:
    """Hand over rows of grades and of scores."""
    return score([case.grades(q) for q in queries], [case.scores(q) for q in queries])


if __name__ == "__main__":
    publish(measure)
