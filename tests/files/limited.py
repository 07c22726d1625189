"""What the tests of rows beyond the memory limit share."""

from __future__ import annotations

import functools

from hypothesis import strategies as st

SMALL = 40_000
"""A limit of so many bytes makes a dozen rows a part of their own."""
MOST_OF_QUERY = 14
"""So many rows of one query are within the limit."""

MEASURES = ["nDCG@3", "AP", "RR", "NumQ", "nDCG(gain='exp2')@5", "Judged@3"]
ODD = {
    "query_id": [None, "", "q" * 4097],
    "doc_id": [None, "", "a\0b"],
    "score": [None, float("nan"), float("inf"), 1e39],
    "rank": [None, 9.0],
    "relevance": [float("inf"), -1.0, 2000.0, 0.5],
    "country": ["other", None],
}


def draw_settings(**others):
    """Arguments of an evaluation: the usual ones, and others with their values."""
    choices = {"duplicates": ["error", "first", "max"], "interval": [None, 0.9], "threads": [1, 2]}
    drawn = {name: st.sampled_from(values) for name, values in (choices | others).items()}
    measures = st.lists(st.sampled_from(MEASURES), min_size=1, unique=True)
    return st.fixed_dictionaries({"measures": measures, **drawn})


def draw_pairs(draw, choose):
    """Draw the numbers of queries and of their documents."""
    sizes = [choose.randint(1, MOST_OF_QUERY) for _ in range(draw(st.integers(1, 12)))]
    return [(query, doc) for query, size in enumerate(sizes) for doc in range(size)]


def spoil(draw, choose, table):
    """Put odd values into some of the columns, but no text among integers."""
    for name in draw(st.lists(st.sampled_from(sorted(ODD.keys() & table.keys())), max_size=2)):
        for _ in range(draw(st.integers(1, 2))):
            column = table[name]
            if not (name.endswith("_id") and isinstance(column[0], int)):
                column[choose.randrange(len(column))] = choose.choice(ODD[name])


def describe(evaluation):
    """Return all that an evaluation says, to the last bit, but for the name of its input."""
    names = {note.file for note in evaluation.notes if note.file}

    def say(text):
        return functools.reduce(lambda said, name: said.replace(f"{name}: ", ""), names, str(text))

    return [
        say(evaluation),
        repr(list(evaluation.items())),
        [evaluation.per_query(name).tobytes() for name in evaluation],
        evaluation.query_ids,
        evaluation.counts,
        evaluation.denominators,
        list(map(say, evaluation.notes)),
        repr(evaluation.estimates),
        repr(evaluation.slices and [*evaluation.slices.texts(), *evaluation.slices.rows()]),
        str(evaluation.to_arrow().schema),
    ]
