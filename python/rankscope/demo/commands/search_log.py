"""Makes a small search log with known facts for the demo."""

from __future__ import annotations

import random
from dataclasses import dataclass, field

QUERIES = 400
DEPTH = 50
JUDGED = 12
COUNTRIES = ("de", "fr", "in", "us")


@dataclass(frozen=True, slots=True)
class Facts:
    """The facts that were planted, which an evaluation must find.

    Args:
        queries: The number of judged queries.
        empty: The number of judged queries without a relevant document.
        missing: The number of judged queries that are not in the runs.
        run_only: The number of queries in the runs that are not judged.
        worse_country: The country for which the new ranker ranks the best document lower.
    """

    queries: int = QUERIES
    empty: int = 14
    missing: int = 6
    run_only: int = 9
    worse_country: str = "in"


@dataclass(slots=True)
class SearchLog:
    """Judgments and two runs, as rows.

    Args:
        facts: The facts that were planted.
        qrels: Rows of query, document and grade.
        old: Rows of query, document and score of the current ranker.
        new: Rows of query, document and score of the new ranker.
    """

    facts: Facts
    qrels: list[tuple[str, str, int]] = field(default_factory=list)
    old: list[tuple[str, str, float]] = field(default_factory=list)
    new: list[tuple[str, str, float]] = field(default_factory=list)


def make_search_log(seed: int = 1) -> SearchLog:
    """Make a search log; the same seed always makes the same log.

    Each list is ordered by the grade and some noise. The new ranker has less noise than the old
    one, except for the queries of one country, where it takes the best document for a bad one.
    """
    chance = random.Random(seed)  # noqa: S311 - nothing is secret here
    facts = Facts()
    log = SearchLog(facts)
    for number in range(facts.queries + facts.run_only):
        country = COUNTRIES[number % len(COUNTRIES)]
        query = f"{country}-{number:03}"
        docs = [f"item{chance.randrange(10**6):06}-{rank}" for rank in range(DEPTH)]
        grades = _grades(chance, is_empty=number < facts.empty)
        if number < facts.queries:
            log.qrels += [(query, doc, grade) for doc, grade in zip(docs, grades, strict=False)]
        if facts.empty <= number < facts.empty + facts.missing:
            continue
        for doc, grade in zip(docs, [*grades, *[0] * (DEPTH - len(grades))], strict=True):
            misjudged = country == facts.worse_country and grade == max(grades)
            log.old.append((query, doc, round(grade + chance.gauss(0, 1.2), 3)))
            noise = chance.gauss(-2.5 if misjudged else 0, 0.9)
            log.new.append((query, doc, round(grade + noise, 3)))
    return log


def _grades(chance: random.Random, *, is_empty: bool) -> list[int]:
    if is_empty:
        return [0] * JUDGED
    return [3, *chance.choices([0, 1, 2], weights=[6, 3, 2], k=JUDGED - 1)]
