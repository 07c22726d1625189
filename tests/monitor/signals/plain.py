"""What signals are, said plainly: one ranking and one document at a time."""

from __future__ import annotations

import math
from itertools import pairwise
from statistics import median

import rankscope

NAN = math.nan


def score_of(ranking):
    return list(ranking.items.scores) or [None] * len(ranking.items)


def share(part, whole):
    return part / whole if whole else NAN


def place(ranking, name):
    return dict(ranking.attributes).get(name)


def measure(ranking, before, attributes=()):
    """The signals of a ranking; the rankings before it are of its model, by time."""
    docs, scores = ranking.items.doc_ids, score_of(ranking)
    pairs = [(a, b) for a, b in pairwise(scores) if a is not None and b is not None]
    scored = [one for one in scores if one is not None]
    return {
        "no_results": float(not docs),
        "tied": share(sum(a == b for a, b in pairs), len(pairs)),
        "constant": float(len(set(scored)) == 1) if len(scored) > 1 else NAN,
        "ascending": share(sum(a < b for a, b in pairs), len(pairs)),
        "length": _find_length(ranking, before),
        "score_rank": _rank(scored, [one for each in before for one in score_of(each)]),
        "unseen": _find_unseen(ranking, before, attributes),
        **_compare(ranking, [each for each in before if each.items.doc_ids]),
    }


def _find_length(ranking, before):
    lengths = [len(each.items) for each in before if len(each.items)]
    return min(len(ranking.items) / median(lengths), 1) if lengths else NAN


def _rank(scored, known):
    others = [one for one in known if one is not None]
    ranks = [
        sum((other < score) + 0.5 * (other == score) for other in others) / len(others)
        for score in scored
        if others
    ]
    return share(sum(ranks), len(ranks))


def _find_unseen(ranking, before, attributes):
    top = ranking.items.doc_ids[:10]
    new = set()
    for names in [(name,) for name in attributes] or [()]:
        alike = [each for each in before if all(place(each, n) == place(ranking, n) for n in names)]
        if not alike:
            return NAN
        new |= set(top) - {doc for each in alike for doc in each.items.doc_ids}
    return share(len(new), len(top))


def _compare(ranking, before):
    earlier = [each for each in before if each.query_key and each.query_key == ranking.query_key]
    if not earlier:
        return {"overlap": NAN}
    then, now = earlier[-1].items.doc_ids, ranking.items.doc_ids
    return {"overlap": rankscope.correlation.rbo(now[:100], then[:100], p=0.9) if now else 0.0}
