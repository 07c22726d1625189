"""Every row of the table with every parameter varied: what the tests here go through."""

from __future__ import annotations

import math
from itertools import combinations_with_replacement, product

from rankscope.measures import TABLE
from rankscope.measures.table import measure

GRADES = (-2.0, -1.0, 0.0, 0.5, 1.0, 1.5, 2.0, 3.0, 4.0)
"""The grades of generated judgments; tables and scales here cover them."""

GAIN_TABLE = {-2: -0.5, -1: 0, 0: 0.25, 0.5: 0.25, 1: 1, 1.5: 1.125, 2: 3, 3: 3.5, 4: 10}
WEIGHTS = (1.0, 0.7, 0.7, 0.3, 0.1, 0.1, 0.05, 0.0, 0.0, 0.0)


def cubed(grade):
    return float(grade**3)


def rooted(rank):
    return 1 / math.sqrt(rank)


VALUES = {
    "k": (None, 1, 4),
    "rel": (None, 1, 0, 0.5, 2, 7),
    "gain": ("linear", "exp2", "binary", GAIN_TABLE, cubed),
    "discount": ("log2", "log", "jk", "reciprocal", "linear", "zipf", WEIGHTS, rooted),
    "base": (2, math.e),
    "s": (1, 0.5),
    "recall": (0, 0.1, 0.25, 0.5, 1),
    "beta": (1, 0.5, 3),
    "p": (0.8, 0.5, 0.95),
    "max_grade": (4, 6.5),
    "levels": ([tenths / 10 for tenths in range(11)], [0.2, 0.5, 0.8]),
    "multiple": (1, 0.2, 1.6),
    "hit": (1, 2.5),
    "false_alarm": (-1, 0),
    "miss": (0, -0.5),
    "rejection": (0, 0.25),
    "documents": (0, 100),
    "T": (1, 2.5),
    "cost": (1, 4.5),
    "halflife": (224, 3),
    "L": (1000, 12),
    "A": (0.2, 0.5),
    "b1": (0.9, 0.5),
    "b2": (0.9, 0.5),
    "R1": (10, 1),
    "R2": (10, 1),
    "min_rel": (0, 1),
    "max_rel": (4, 2),
    "alpha": (0.5, 0, 0.9),
    "u": (0.5, 0.2),
}
"""For each parameter the values that are gone through; of one that takes words only, all words."""
GUESSED = (0.5, 1, 2, 3, 0, False, True)
"""Of another parameter those that it takes are gone through, besides its default."""


MOST = 5000
"""Of a row with more combinations of values, not all are gone through."""


def values_of(parameter):
    """The values of a parameter that are gone through."""
    listed = VALUES.get(parameter.name)
    if listed is None:
        others = (one for one in GUESSED if one != parameter.default)
        listed = () if parameter.domain.choices else (parameter.default, *others)
    listed = (*listed, *(word for word in parameter.domain.choices if word not in listed))
    return tuple(one for one in listed if one is None or _is_in(parameter.domain, one))


def _is_in(domain, value):
    try:
        domain.read(value)
    except ValueError:
        return False
    return True


def variants(row):
    """Every combination of parameter values that the row allows, each measure once.

    Of a row with very many, every pair of values is in one of those that are chosen.
    """
    names = [parameter.name for parameter in row.parameters]
    values = [values_of(parameter) for parameter in row.parameters]
    is_large = math.prod(map(len, values)) > MOST
    combinations = _pair_up(values) if is_large else product(*values)
    made = (_make(row, dict(zip(names, chosen, strict=True))) for chosen in combinations)
    return list(dict.fromkeys(one for one in made if one is not None))


def _pair_up(values):
    """Combine values so that every pair of two parameters occurs with the first of all others."""
    first = [of_one[0] for of_one in values]
    for one, other in combinations_with_replacement(range(len(values)), 2):
        for pair in product(values[one], values[other]):
            combined = [*first]
            combined[one], combined[other] = pair
            yield tuple(combined)


def _make(row, settings):
    """The measure, unless a value does not go with the row or with another value."""
    given = {}
    for parameter in row.parameters:
        value = settings[parameter.name]
        if value is None:
            if parameter.required or parameter.default is not None:
                return None
            continue
        if parameter.only_with is not None:
            companion, allowed = parameter.only_with
            if settings[companion] not in allowed:
                continue
        if value in parameter.needs_k and settings["k"] is None:
            return None
        given[parameter.name] = value
    listed = not isinstance(settings.get("discount", ""), str)
    if listed and ("k" not in given or given.get("ideal") == "whole"):
        return None
    made = measure(row.name)(**given)
    # Condensing a list is the same for all gains and discounts.
    return None if made.judged_only and "discount" in made.settings else made


def choose_pairs(measures):
    """Choose measures that have all pairs of values of two parameters of a row between them."""
    seen = set()
    chosen = []
    for one in measures:
        settings = [(name, repr(value)) for name, value in one.parameters.items()]
        pairs = {(one.row.name, *pair) for pair in combinations_with_replacement(settings, 2)}
        pairs.add((one.row.name,))
        if pairs - seen:
            seen |= pairs
            chosen.append(one)
    return chosen


VARIANTS = [variant for row in TABLE.values() if row.of_grades for variant in variants(row)]
"""`test_second_column.py` and `test_items.py` have those of measures that need more than grades."""
NAMES = {variant.name for variant in VARIANTS}
