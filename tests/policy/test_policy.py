"""Policies: their words, the order of ties, and the audit of ties by all orders of documents."""

from __future__ import annotations

import inspect
import itertools
import math
import random
from pathlib import Path
from typing import get_args

import numpy as np
import pytest
import rankscope
import rankscope as rs
from hypothesis import given
from hypothesis import strategies as st
from rankscope import Rankings, _core, _settings, nDCG, parse
from rankscope._core import EMPTY_VALUES
from rankscope._settings import CHOICES, FIELDS

from dev.tables import write_words
from tests.generated import examples
from tests.refusals import refused

TABLE = {"qid": [1, 1, 2], "doc": ["a", "b", "a"], "rel": [2, 0, 1], "score": [1.0, 1.0, 2.0]}
QRELS = {"1": {"a": 2, "b": 0}, "2": {"a": 1}}
RUN = {"1": {"a": 1.0, "b": 1.0}, "2": {"a": 2.0}}


def from_run(ties):
    return rs.Rankings.from_run(QRELS, RUN, ties=ties)


def from_table(ties):
    return rs.Rankings.from_table(TABLE, ties=ties)


def from_arrays(ties):
    return rs.Rankings.from_arrays([[2, 0]], [[1.0, 1.0]], ties=ties)


def from_groups(ties):
    return rs.Rankings.from_groups([2, 0, 1], [1.0, 1.0, 2.0], [2, 1], ties=ties)


def from_lists(_ties):
    return rs.Rankings.from_lists([[2, 0], [1]])


BY_ID = ("doc_id", "doc_id_asc")
WAYS = [
    *((from_run, ties) for ties in CHOICES["ties"]),
    *((from_table, ties) for ties in CHOICES["ties"]),
    *((from_arrays, ties) for ties in CHOICES["ties"] if ties not in BY_ID),
    *((from_groups, ties) for ties in CHOICES["ties"] if ties not in BY_ID),
    (from_lists, "input"),
]
OTHERS = [
    *(
        {field: word}
        for field in FIELDS
        if field not in {"ties", "missing_gain"}
        for word in CHOICES[field]
    ),
    {"missing_gain": -1.0},
    {"unjudged": 0.5},
    {"aggregate": "quantile(0.5)"},
]


@pytest.mark.parametrize(("make", "ties"), WAYS)
@pytest.mark.parametrize("given", OTHERS, ids=str)
def test_a_field_that_is_not_set_is_that_of_the_rankings(make, ties, given):
    policy = rs.Policy(**given)
    found = make(ties).evaluate("nDCG", policy=policy)
    assert found.policy == rs.Policy(ties=ties, **given)
    assert found.policy.to_dict()["ties"] == ties
    assert str(found.policy).startswith(f"ties={ties},")
    text = ",".join(f"{field}={value}" for field, value in given.items())
    same = make(ties).evaluate("nDCG", policy=text)
    assert same.policy == found.policy
    assert same["nDCG"] == found["nDCG"]


@pytest.mark.parametrize(("make", "ties"), WAYS)
def test_other_ties_than_those_of_the_rankings_are_an_error(make, ties):
    rankings = make(ties)
    for other in CHOICES["ties"]:
        policy = rs.Policy(ties=other)
        if other == ties:
            assert rankings.evaluate("nDCG", policy=policy).policy.ties == ties
            continue
        with pytest.raises(rs.errors.PolicyError) as raised:
            rankings.evaluate("nDCG", policy=policy)
        assert raised.value.code == "ties_fixed"


def test_every_question_about_rankings_takes_their_ties():
    rankings = rs.Rankings.from_lists([[2, 0, 3], [1, 1]])
    policy = rs.Policy(empty="skip")
    assert rankings.bounds("nDCG", policy=policy).policy.ties == "input"
    assert rankings.ties("nDCG", policy=policy).policy.ties == "input"
    assert rankings.losses("nDCG", policy=policy)
    explained = rankings.explain(0, "nDCG", policy=policy)
    assert explained.policy.ties == "input"


def test_ties_go_by_ids_where_there_are_any():
    policy = rs.Policy(empty="skip")
    without = {name: column for name, column in TABLE.items() if name != "doc"}
    assert rs.evaluate(QRELS, RUN, "RR", policy=policy).policy.ties == "doc_id"
    assert rs.evaluate(TABLE, "RR", policy=policy).policy.ties == "doc_id"
    assert rs.evaluate(without, "RR", policy=policy).policy.ties == "average"
    assert rs.evaluate(TABLE, "RR", policy=rs.Policy(ties="best")).policy.ties == "best"
    assert rs.evaluate(TABLE, "RR", policy="empty=skip") == rs.evaluate(TABLE, "RR", policy=policy)


def test_a_policy_without_ties_takes_those_of_the_convention():
    policy = rs.Policy(empty="one", missing="skip", unretrieved="ignore", negative="error")
    found = rs.evaluate(QRELS, RUN, "nDCG", policy=policy, convention="lightgbm")
    assert found.policy == rs.evaluate(QRELS, RUN, "nDCG", convention="lightgbm").policy


def test_a_policy_on_its_own_prints_what_was_set():
    assert str(rs.Policy()) == "empty=zero,missing=zero,unjudged=nonrelevant,negative=nonrelevant"
    assert rs.Policy().to_dict()["ties"] is None
    assert rs.Policy.parse(str(rs.Policy())) == rs.Policy()
    assert rs.Policy().resolve() == rs.Policy(ties="doc_id")
    assert rs.Policy(ties="best").resolve("input").ties == "best"


ROOT = Path(__file__).parents[2]
NUMBERS = {"missing_gain"}
"""Fields without words."""


def test_every_field_has_words_or_is_a_number():
    assert set(FIELDS) | {"duplicates", "score_type"} == _core.POLICY.keys() | NUMBERS
    assert all(
        meaning.endswith(".") for words in _core.POLICY.values() for meaning in words.values()
    )


@pytest.mark.parametrize("field", [field for field in FIELDS if field not in NUMBERS])
def test_the_record_explains_every_word_and_takes_it(field):
    explained = inspect.getdoc(rankscope.Policy) or ""
    for word in _core.POLICY[field]:
        written = f"{word}(0.1)" if word in _core.SHARES else word
        assert f'"{written}"' in explained
        chosen = rankscope.Policy(**{field: written})
        assert chosen.to_dict()[field] == written
        assert f"{field}={written}" in str(rankscope.Policy.parse(f"{field}={written}")) or (
            word == CHOICES[field][0]
        )


@pytest.mark.parametrize("field", [field for field in CHOICES if field in FIELDS])
def test_the_message_for_another_word_lists_all(field):
    with pytest.raises(rankscope.errors.PolicyError) as raised:
        rankscope.Policy(**{field: "other"})
    assert all(word in str(raised.value) for word in _core.POLICY[field])


@pytest.mark.parametrize("empty", CHOICES["empty"])
def test_undefined_values_are_those_that_the_core_lists(empty):
    qrels = {"q1": {"a": 0}, "q2": {"a": 1}}
    run = {"q1": {"a": 1.0}, "q2": {"a": 1.0}}
    if empty == "error":
        with pytest.raises(rankscope.errors.PolicyError, match="undefined for query `q1`"):
            rankscope.evaluate(qrels, run, "RR", policy=f"empty={empty}")
        return
    values = rankscope.evaluate(qrels, run, "RR", policy=f"empty={empty}").per_query("RR")
    expected = EMPTY_VALUES.get(empty, float("nan"))
    assert values.tolist() == pytest.approx([expected, 1.0], rel=0, abs=0, nan_ok=True)


def test_the_documentation_has_a_table_for_every_field():
    page = (ROOT / "docs" / "how-numbers-are-computed.md").read_text(encoding="utf-8")
    for field in set(FIELDS) - NUMBERS:
        assert f"<!-- table: policy {field} -->" in page
        for word, meaning in _core.POLICY[field].items():
            shown = f"{word}(0.1)" if word in _core.SHARES else word
            assert f"| `{shown}` | {meaning}" in write_words(field)


GRADES = {"a": 1, "b": 1, "c": 0, "d": 0, "n": -1, "m": -1}
UNJUDGED = ["w", "bb", "z"]


def find_grade(doc):
    """Return the grade that a document is ordered by: 0 where it is unjudged."""
    return GRADES.get(doc, 0)


def descending(docs):
    return sorted(docs, reverse=True)


ORDERS = {
    "doc_id": descending,
    "doc_id_asc": sorted,
    # The sort is stable, so documents of one grade stay in descending order.
    "best": lambda docs: sorted(descending(docs), key=lambda doc: -find_grade(doc)),
    "worst": lambda docs: sorted(descending(docs), key=find_grade),
    "input": list,
}


@pytest.mark.parametrize("ties", ORDERS)
def test_documents_of_one_score_are_in_the_order_of_their_policy(ties):
    generator = random.Random(4)
    for _ in range(20):
        docs = [*GRADES, *UNJUDGED]
        generator.shuffle(docs)
        first, rest = docs[:4], docs[4:]
        scores = dict.fromkeys(first, 2.0) | dict.fromkeys(rest, 1.0)
        expected = [*ORDERS[ties](first), *ORDERS[ties](rest)]
        joined = rs.Rankings.from_run({"q": GRADES}, {"q": scores}, ties=ties)
        assert joined.doc_ids("q") == expected
        table = {
            "query_id": ["q"] * len(docs),
            "doc_id": docs,
            "score": list(scores.values()),
            "relevance": [GRADES.get(doc) for doc in docs],
        }
        assert rs.Rankings.from_table(table, ties=ties).doc_ids("q") == expected


WITHOUT = math.nan


def every_order(documents):
    """The grades in each order in which no score is above the one before it."""
    scores = sorted({score for score, _ in documents}, reverse=True)
    groups = [[grade for own, grade in documents if own == score] for score in scores]
    orders = itertools.product(*map(itertools.permutations, groups))
    return [list(itertools.chain(*order)) for order in orders]


grades = st.sampled_from([WITHOUT, 0.0, 1.0, 2.0, 3.0])
documents = st.lists(st.tuples(st.integers(0, 2), grades), min_size=1, max_size=6)


@pytest.mark.parametrize(
    "name",
    [
        *("nDCG@3", "nDCG", "nDCG(gain='exp2')@4", "DCG@3", "AP", "RR", "P@3", "R@2"),
        *("Judged@2", "Unjudged@2", "Bpref"),
    ],
)
@given(documents=documents)
@examples(40)
def test_the_audit_is_that_of_all_orders(name, documents):
    measure = parse(name)
    documents = [*documents, (-1, 0.0)]  # something has to be judged
    orders = every_order(documents)
    values = Rankings.from_lists(orders).evaluate(measure).per_query(measure)
    scores, relevance = zip(*documents, strict=True)
    ranked = Rankings.from_arrays([relevance], [scores], ties="input")
    audit = ranked.ties(measure)
    row = audit.to_dict()["0"]
    # Bpref has no formula for the mean over all orders; without relevant documents it is 0.
    has_formula = name != "Bpref" or not any(grade > 0 for grade in relevance)
    is_known = has_formula or len(set(scores)) == len(scores)
    mean = values.mean() if is_known else math.nan
    assert row["expected"] == pytest.approx(mean, abs=1e-12, nan_ok=True)
    assert row["lower"] == pytest.approx(values.min(), abs=1e-12)
    assert row["upper"] == pytest.approx(values.max(), abs=1e-12)
    if "DCG" in name:
        assert row["variance"] == pytest.approx(values.var(), abs=1e-12)
    sizes = np.unique(scores, return_counts=True)[1]
    assert row["tied"] == sizes[sizes > 1].sum()


def test_the_spread_of_a_published_example():
    # Yang et al., arXiv 2508.03306: scores .99 .97 .97 .97 .95, the second and the fourth relevant.
    relevance, scores = [[0, 1, 0, 1, 0]], [[0.99, 0.97, 0.97, 0.97, 0.95]]
    ranked = Rankings.from_arrays(relevance, scores, ties="input")
    for name, expected in {
        "nDCG@3": (0.3869, 0.4623, 0.3066, 0.6934),
        "nDCG@5": (0.6509, 0.6383, 0.5706, 0.6934),
    }.items():
        found = ranked.ties(name).summary
        assert (found.value, found.expected, found.lower, found.upper) == pytest.approx(
            expected, abs=5e-5
        )
    assert ranked.ties("RR@3").summary.expected == pytest.approx(0.4444, abs=5e-5)
    assert ranked.ties("R@3").summary.expected == pytest.approx(0.6667, abs=5e-5)


def test_ties_that_rounding_makes_are_told_from_those_that_are_there():
    # The first two are equal; the next two only in bfloat16, and the last two in float32 as well.
    scores = [[1.5, 1.5, 1.0001, 1.0002, 0.5, 0.5 + 2**-40]]
    found = Rankings.from_arrays([[0, 1, 0, 1, 0, 1]], scores).ties(nDCG).by_precision
    assert found.to_dict() == {
        name: {**row, "tied documents": tied}
        for (name, row), tied in zip(found.to_dict().items(), [2, 4, 6, 6], strict=True)
    }
    assert found.column("scores") == ("as given", "float32", "bfloat16", "float16")


@pytest.mark.parametrize(
    ("scores", "precision"),
    [
        ([3.0, 2.0, 1.0], "ranks"),
        ([2.5, 1.5, 0.5], "float16"),
        ([0.5, 0.5, 0.25], "float16"),
        ([1e30, 1e20, 1e10], "float64"),
        ([float(np.float32(0.1)), 0.0, -1.0], "float32"),
        ([2.0**100, 1.0, 0.5], "bfloat16"),
        ([0.1, 0.0, -1.0], "float64"),
    ],
)
def test_the_narrowest_type_of_the_scores_is_named(scores, precision):
    assert Rankings.from_arrays([[1, 0, 2]], [scores]).ties(nDCG).summary.precision == precision


def test_an_undefined_query_has_the_value_of_the_policy_in_any_order():
    ranked = Rankings.from_arrays([[0, 0], [1, 0]], [[1, 1], [1, 1]])
    for empty, value in {"zero": 0.0, "one": 1.0}.items():
        row = ranked.ties(nDCG, policy=f"empty={empty},ties=average").to_dict()["0"]
        assert (row["expected"], row["lower"], row["upper"], row["variance"]) == (*[value] * 3, 0.0)
    skipped = ranked.ties(nDCG, policy="empty=skip,ties=average")
    assert np.isnan(skipped.array("expected")).tolist() == [True, False]
    assert skipped.summary.queries == 1


@pytest.mark.parametrize(("measure", "policy"), [("GMAP", None), ("nDCG", "aggregate=median")])
def test_a_mean_is_not_said_of_what_is_not_averaged(measure, policy):
    refused(
        lambda: Rankings.from_arrays([[1, 0]], [[1, 1]]).ties(measure, policy=policy),
        "aggregate_unavailable",
    )


def test_a_deviation_that_is_not_known_is_not_written():
    ranked = Rankings.from_arrays([[1, 0]], [[1, 1]])
    assert "standard deviation" in str(ranked.ties("nDCG"))
    assert "standard deviation" not in str(ranked.ties("RR"))


@pytest.mark.parametrize("field", [field for field in CHOICES if field != "aggregate"])
def test_literal_types_have_the_words_of_the_core(field):
    literal = getattr(_settings, field.title().replace("_", ""))
    assert get_args(literal) == tuple(CHOICES[field])
