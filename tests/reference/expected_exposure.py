"""Expected exposure: how evenly relevant documents get the attention of users."""

from __future__ import annotations

import math
from collections import defaultdict
from collections.abc import Sequence
from typing import TypedDict, Unpack

from tests.reference.logarithm import add, log2
from tests.reference.query import Query


class Settings(TypedDict):
    """How ranks get attention, and which documents are relevant."""

    k: int | None
    model: str
    p: float
    u: float
    rel: float
    complete: bool


def eel(query: Query, **settings: Unpack[Settings]) -> float:
    """Return the squared distance between exposures and their targets."""
    return of_samples("eel", [query], **settings)


def eed(query: Query, **settings: Unpack[Settings]) -> float:
    """Return the sum of squared exposures."""
    return of_samples("eed", [query], **settings)


def eer(query: Query, **settings: Unpack[Settings]) -> float:
    """Return the sum of exposures times their targets."""
    return of_samples("eer", [query], **settings)


def of_samples(
    kernel: str,
    samples: Sequence[Query],
    *,
    k: int | None,
    model: str,
    p: float,
    u: float,
    rel: float,
    complete: bool,
) -> float:
    """Return one of these values for several rankings of a query, which are equally likely."""
    judged = samples[0].judged
    if not any(grade >= rel for grade in judged):
        return math.nan
    least = 0.0 if complete else rel
    ideal = sorted((grade for grade in judged if grade >= least), reverse=True)
    of_ideal = _attention([grade >= rel for grade in ideal], k, model, p, u)
    targets = {
        grade: add(a for a, other in zip(of_ideal, ideal, strict=False) if other == grade)
        / ideal.count(grade)
        for grade in ideal
    }
    exposures: dict[object, list[float]] = defaultdict(list)
    grade_of: dict[object, float] = {}
    for sample in samples:
        relevant = [grade is not None and grade >= rel for grade in sample.ranking]
        documents = sample.documents or range(len(sample.ranking))
        attention = _attention(relevant, k, model, p, u)
        for document, grade, exposure in zip(documents, sample.ranking, attention, strict=False):
            exposures[document].append(exposure)
            grade_of[document] = math.nan if grade is None else grade
    pairs = [
        (add(sorted(parts)) / len(samples), targets.get(grade_of[document], 0.0))
        for document, parts in exposures.items()
    ]
    if kernel == "eed":
        return math.fsum(exposure * exposure for exposure, _ in pairs)
    if kernel == "eer":
        return math.fsum(exposure * target for exposure, target in pairs)
    shown = list(grade_of.values())
    unseen = [
        (ideal.count(grade) - shown.count(grade)) * (target * target)
        for grade, target in targets.items()
    ]
    return math.fsum(
        [(exposure - target) * (exposure - target) for exposure, target in pairs] + unseen
    )


def _attention(
    relevant: Sequence[bool], k: int | None, model: str, p: float, u: float
) -> list[float]:
    """Return the attention of the first `k` ranks, of which some are relevant."""
    made = []
    reads_on = 1.0
    for rank, is_relevant in enumerate(relevant[:k], start=1):
        made.append(1 / log2(rank + 1) if model == "dcg" else reads_on)
        reads_on *= p
        if is_relevant and model == "gerr":
            reads_on *= 1 - u
    return made
