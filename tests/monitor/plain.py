"""What windows are, said plainly: one ranking, one document, one label at a time."""

from __future__ import annotations

import math
from collections import Counter, defaultdict
from dataclasses import replace
from itertools import combinations, pairwise
from typing import TypeAlias

from rankscope.measures import IDCG, OrderingLoss, TruncationLoss
from rankscope.monitor.definition.definition import Definition
from rankscope.monitor.evaluate.windows import Key
from rankscope.monitor.events.event import Label, Ranking
from rankscope.monitor.events.limits import SECOND

from tests import reference

Rule: TypeAlias = tuple[Definition, int | None]
Where: TypeAlias = tuple[tuple[str, str], ...]

OTHER = ("<missing>", "<other>")
MAKE = {"truncation": TruncationLoss, "ordering": OrderingLoss, "ideal": IDCG}


def grade(
    ranking: Ranking, doc: str, logged: float | None, labels: list[Label], rule: Rule
) -> float | None:
    """The grade of a document by its labels; `None` while it is pending."""
    definition, now = rule
    window = definition.window * SECOND
    unlabelled = definition.attribution.unlabelled
    nothing = None if math.isnan(unlabelled) else unlabelled
    current: list[Label] = []
    is_touched = False
    for label in sorted(labels, key=lambda label: (label.time, label.event_id.encode())):
        if (label.ranking_id, label.doc_id) != (ranking.ranking_id, doc):
            continue
        if now is not None and (label.time > now or label.time >= ranking.time + window):
            continue
        is_touched = True
        if label.kind != "label":
            current = []
        if label.kind != "retraction":
            current.append(label)
    if not is_touched and logged is not None:
        return logged
    if current:
        weights = definition.attribution.weights
        worth = [weights.get(name, 0.0) for label in current for name in label.labels]
        worth += [label.value for label in current if label.value is not None]
        if worth:
            return sum(worth) if definition.attribution.combine == "sum" else max(worth)
        return nothing
    is_mature = now is None or ranking.time + window <= now
    return nothing if is_mature else None


def grades(ranking: Ranking, labels: list[Label], rule: Rule) -> list[float | None]:
    return [grade(ranking, item.doc_id, item.relevance, labels, rule) for item in ranking.items]


def measure(
    ranking: Ranking, known: list[float | None], definition: Definition
) -> dict[str, float]:
    at = dict(zip(ranking.items.ranks, known, strict=True))
    # Ranks beyond all cutoffs are one as good as another.
    ranks = [*range(1, definition.depth + 1), *(rank for rank in at if rank > definition.depth)]
    shown = [at.get(rank) for rank in ranks]
    judged = [one for one in known if one is not None]
    is_refused = any(abs(each) > definition.max_grade for each in judged)
    fill = {"zero": 0.0, "one": 1.0}.get(definition.policy.empty, math.nan)
    found = {}
    for one in definition.measures:
        value = reference.value(*one.kernel_spec(), shown, judged)
        found[one.name] = fill if math.isnan(value) else value
        if one.row.name == "nDCG":
            parts = {
                name: reference.value(*make(**one.settings).kernel_spec(), shown, judged)
                for name, make in MAKE.items()
            }
            parts["undefined"] = 0.0
            if math.isnan(value):
                lost = fill * 0.0
                parts |= {"truncation": lost, "ordering": lost, "undefined": 1.0 - fill}
            found |= {f"{one.name} {name}": part for name, part in parts.items()}
    return dict.fromkeys(found, math.nan) if is_refused else found


def slices(one: Ranking, kept: dict[str, tuple[str, ...]]) -> list[Where]:
    own = dict(one.attributes)
    pairs = [
        (name, own[name] if own.get(name) in values else OTHER[name in own])
        for name, values in kept.items()
    ]
    return [(), *((pair,) for pair in pairs), *combinations(pairs, 2)]


def windows(
    rankings: list[Ranking],
    labels: list[Label],
    rule: Rule,
    kept: dict[str, tuple[str, ...]],
    length: int,
) -> dict[Key, tuple[dict[str, int], dict[str, tuple[int, float]]]]:
    """By cell, the counts, and of each column how many values and their sum."""
    definition, now = rule
    by_key = defaultdict(list)
    for one in rankings:
        known = grades(one, labels, rule)
        is_mature = now is None or one.time + definition.window * SECOND <= now
        values = measure(one, known, definition)
        given = grades(one, labels, (leave_unlabelled(definition), now))
        is_refused = any(abs(each) > definition.max_grade for each in known if each is not None)
        relevant = 0 if is_refused else sum(each is not None and each > 0 for each in known)
        scores = one.items.scores or (None,) * len(one.items)
        counts = {
            "rankings": 1,
            "labelled": int(any(each is not None for each in given)),
            "empty": int(not relevant and not is_refused),
            "missing": int(not known),
            "tied": int(any(a is not None and a == b for a, b in pairwise(scores))),
            "gaps": int(one.items.ranks != tuple(range(1, len(known) + 1))),
            "refused": int(is_refused),
            "documents": len(known),
            "relevant": relevant,
            "unjudged": known.count(None),
        }
        for where in slices(one, kept):
            start = one.time // length * length
            key = Key(start, one.environment, one.model, one.version, where, is_mature)
            by_key[key].append((counts, values))
    found = {}
    for key, members in by_key.items():
        total = Counter[str]()
        for counts, _ in members:
            total.update(counts)
        sums = {}
        for name in members[0][1]:
            defined = [values[name] for _, values in members if not math.isnan(values[name])]
            sums[name] = (len(defined), math.fsum(defined))
        found[key] = (dict(total), sums)
    return found


def leave_unlabelled(definition: Definition) -> Definition:
    """The definition under which what has no label never gets a grade."""
    unlabelled = replace(definition.attribution, unlabelled=math.nan)
    return replace(definition, attribution=unlabelled)
