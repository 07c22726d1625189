from __future__ import annotations

import math
from hashlib import blake2b

import numpy as np
import pytest
import rankscope as rs
from hypothesis import given
from hypothesis import strategies as st
from rankscope import DCG, Policy, Rankings, UsageError, nDCG
from rankscope.errors import EmptyError
from rankscope.monitor.ask.document_costs import CostCollector
from rankscope.monitor.ask.growing import GrowingColumn
from rankscope.monitor.ask.queries import QueryCollector
from rankscope.monitor.ask.regrets import find_regrets
from rankscope.monitor.definition.definition import define
from rankscope.monitor.definition.slices import Slicing, extend_slicing
from rankscope.monitor.evaluate.clusters import ClusterCodes, number_clusters
from rankscope.monitor.evaluate.grades import grade_chunk
from rankscope.monitor.events.event import Items, Label, Ranking
from rankscope.monitor.events.limits import HOUR
from rankscope.monitor.store.records import Context

from tests.generated import examples
from tests.monitor.chunks import make_chunk
from tests.refusals import refuses

RULE = {"positive": {"click": 1, "buy": 5}, "window": 3600}
SHOWN = Ranking("r", "r", 0, Items(("a", "b", "ab"), (1, 2, 3)))
NAN = float("nan")


def told(kind, doc_id, time, *labels, value=None):
    """A label whose id is when it happened."""
    return Label(f"{time:020}{kind}", "r", doc_id, time, labels, value, kind)


def grade(*labels, now=2 * HOUR, **rule):
    return grade_chunk(make_chunk([SHOWN], *labels)[0], define(**RULE | rule), now)


CLICK, BUY = told("label", "b", 1, "click"), told("label", "b", 2, "buy")
GRADES = {
    "labels add": ([CLICK, BUY], {}, 1 + 5),
    "the most counts": ([CLICK, BUY], {"combine": "max"}, 5),
    "a label adds each time": ([CLICK, told("label", "b", 3, "click")], {}, 2),
    "or once": ([CLICK, told("label", "b", 3, "click")], {"repeats": "once"}, 1),
    "others are worth nothing": ([told("label", "b", 1, "view")], {}, 0),
    "no label is no relevance": ([], {}, 0),
    "or not known": ([], {"unlabelled": None}, NAN),
    "a correction takes the place": ([BUY, told("correction", "b", 3, "click")], {}, 1),
    "and later labels add": ([told("correction", "b", 0, "click"), BUY], {}, 1 + 5),
    "a retraction takes all away": ([CLICK, BUY, told("retraction", "b", 3)], {}, 0),
    "but not what comes later": ([told("retraction", "b", 0), BUY], {}, 5),
    "a grade that was sent": ([told("label", "b", 1, value=0.5)], {}, 0.5),
    "grades add": ([told("label", "b", 1, value=2), told("label", "b", 2, value=3)], {}, 5),
    "to labels": ([CLICK, told("label", "b", 2, value=3)], {}, 1 + 3),
    "a grade below none": ([told("label", "b", 1, value=-3)], {"combine": "max"}, -3),
    "the largest of both": ([BUY, told("label", "b", 3, value=3)], {"combine": "max"}, 5),
    "time counts, not order": ([told("correction", "b", 9, "click"), BUY], {}, 1),
    "before its ranking": ([told("label", "b", -7, "click")], {}, 1),
    "to the last moment": ([told("label", "b", HOUR - 1, "click")], {}, 1),
    "not after it": ([told("label", "b", HOUR, "click")], {}, 0),
    "nor takes away after it": ([CLICK, told("retraction", "b", HOUR)], {}, 1),
}


@pytest.mark.parametrize(("labels", "rule", "wanted"), GRADES.values(), ids=GRADES)
def test_the_grade_of_a_document(labels, rule, wanted):
    found = grade(*labels, **rule).relevance
    rest = NAN if "unlabelled" in rule else 0.0
    assert np.array_equal(found, [rest, wanted, rest], equal_nan=True)


def test_labels_that_do_not_count_are_counted():
    unshown = [told("label", "B", 1, "click"), told("label", "a ", 1, "click")]
    graded = grade(CLICK, *unshown, told("label", "b", HOUR, "buy"))
    assert (graded.unshown.tolist(), graded.late.tolist()) == ([2], [1])
    assert graded.ages.tolist() == [1]


NAMES = st.lists(st.tuples(st.sampled_from(["", "a", "é"]), st.sampled_from(["", "a", "b"])))


def make(names):
    shown = [
        Ranking(f"r{at}", f"r{at}", at, Items(("d",), (1,)), query, user)
        for at, (user, query) in enumerate(names)
    ]
    wanted = [
        (f"u{user}" if user else f"q{query}" if query else f"rr{at}").encode()
        for at, (user, query) in enumerate(names)
    ]
    return make_chunk(shown)[0], wanted


@given(NAMES)
@examples(60)
def test_numbers_are_made_of_names(names):
    chunk, wanted = make(names)
    digests = [blake2b(name, digest_size=8).digest() for name in wanted]
    found = number_clusters(chunk, np.arange(len(names)))
    assert found.tolist() == [int.from_bytes(each, "big", signed=True) for each in digests]


@given(NAMES)
@examples(60)
def test_codes_are_in_the_order_of_names(names):
    chunk, wanted = make(names)
    codes = ClusterCodes()
    half = len(names) // 2
    found = [
        codes.number(chunk, np.arange(begin, end)) for begin, end in ((half, len(names)), (0, half))
    ]
    ordered = sorted(set(wanted))
    expected = [ordered.index(name) for name in wanted[half:] + wanted[:half]]
    assert codes.sort()[np.concatenate(found)].tolist() == expected


@given(st.lists(st.lists(st.integers(0, 70_000), max_size=5)), st.data())
@examples(60)
def test_a_column_holds_its_pieces(pieces, data):
    column = GrowingColumn()
    wanted = []
    for piece in pieces:
        column.extend(np.array(piece, dtype=np.min_scalar_type(max(piece, default=0))))
        wanted += piece
        if data.draw(st.booleans()):
            kept = np.arange(len(wanted)) % 3 > 0
            column.keep(kept)
            wanted = [each for each, is_kept in zip(wanted, kept.tolist(), strict=True) if is_kept]
        assert len(column) == len(wanted)
        assert column.values.tolist() == wanted
    assert column.finish().tolist() == wanted
    assert not len(column)


NOTHING = Slicing((("device", ()), ("country", ())), (("device", "country"),))


def extend(slicing, *devices, most):
    contexts = {
        number: Context("m", "4", "production", () if one is None else (("device", one),))
        for number, one in enumerate(devices)
    }
    return extend_slicing(slicing, contexts, most)


def test_the_values_that_came_first_keep_their_slices_and_the_others_are_counted():
    slicing = extend(NOTHING, "tv", None, "phone", "car", "watch", most=2)
    assert slicing.values == (("device", ("phone", "tv")), ("country", ()))
    assert slicing.folded == (("device", 2), ("country", 0))
    before = extend(NOTHING, "watch", "car", most=2)
    after = extend(before, "tv", "watch", "car", most=2)
    assert after.values == before.values
    assert after.folded[0] == ("device", 1)
    assert extend(before, "tv", "watch", "car", most=1).values == before.values
    slicing = extend(NOTHING, "tv", "phone", "car", most=3)
    assert slicing.values[0] == ("device", ("car", "phone", "tv"))
    assert slicing.folded[0] == ("device", 0)


def test_slices_are_of_all_rankings_of_each_attribute_and_of_the_pairs():
    assert NOTHING.dimensions() == ((), ("device",), ("country",), ("device", "country"))


MEASURES = ["nDCG@2", "RR@2", "DCG@2"]
MEASURED = {"measures": MEASURES, "positive": "click", "window": 3600}
ITEMS = Items(("a", "b", "c"), (1, 2, 3))
TV = (("device", "tv"),)
ASKED = [
    Ranking("1", "1", 0, ITEMS, "jazz", "ann", "m", "3", attributes=TV),
    Ranking("2", "2", 0, ITEMS, "jazz", "", "m", "4"),
    Ranking("3", "3", 0, ITEMS, "", "", "m", "4", attributes=TV),
    Ranking("4", "4", 9 * HOUR, ITEMS, "new", "bob", "m", "4", attributes=TV),
]
LABELS = [Label(f"l{id_}", id_, doc_id, 1, ("click",)) for id_, doc_id in (("1", "b"), ("2", "c"))]


def collect(*labels, version="", measure="nDCG@2", **rule):
    chunk, contexts = make_chunk(ASKED, *labels)
    wanted = {
        number: one for number, one in contexts.items() if not version or one.version == version
    }
    definition = define(**MEASURED | rule)
    costs = CostCollector(definition.only(measure), {}, None)
    collector = QueryCollector(wanted, definition, measure, costs=costs)
    collector.read([chunk], now=9 * HOUR, threads=1)
    return collector.finish(["device", "version"])


def texts(column):
    return [None if code < 0 else column.texts[code] for code in column.codes]


def test_rankings_are_as_the_policy_averages_them():
    skipping, counting = collect(*LABELS), collect(*LABELS, policy="empty=zero")
    second, third = rs.ndcg([0, 1, 0], 2), 0.0
    assert skipping.value.tolist() == [second, third]
    assert counting.value.tolist() == [second, third, 0.0]
    assert counting.ordering.tolist() == [1 - second, 0.0, 0.0]
    assert counting.truncation.tolist() == [0.0, 1.0, 0.0]
    assert counting.undefined.tolist() == [0.0, 0.0, 1.0]
    assert counting.ideal.tolist() == [1.0, 1.0, 0.0]
    assert counting.relevant.tolist() == [1.0, 1.0, 0.0]
    assert counting.retrieval is None


def test_each_ranking_of_a_version_has_its_texts_and_nothing_is_no_window():
    found = collect(*LABELS, policy="empty=zero")
    assert texts(found.key) == ["jazz", "jazz", None]
    assert texts(found.cluster) == ["user ann", "query jazz", None]
    assert texts(found.attributes["device"]) == ["tv", None, "tv"]
    assert texts(found.attributes["version"]) == ["3", "4", "4"]
    assert texts(collect(*LABELS, version="4").attributes["version"]) == ["4"]
    with refuses(EmptyError, "empty_input"):
        collect()


@pytest.mark.parametrize(
    ("measure", "code"),
    [("RR@2", "losses_unavailable"), ("DCG@2", "losses_unavailable"), ("nDCG@3", "bad_definition")],
)
def test_a_measure_has_losses_and_is_defined(measure, code):
    with refuses(UsageError, code):
        collect(*LABELS, measure=measure)


QRELS = {"q1": {"a": 3, "b": 1, "c": 1, "d": 2}, "q2": {"f": 1, "g": 1}, "empty": {"x": 0}}
RUN = {"q1": {"b": 4.0, "x": 3.0, "a": 2.0, "c": 1.0}, "q2": {"g": 1.0}, "empty": {"x": 1.0}}
POLICIES = ["ties=average", "ties=average,unjudged=remove", "unjudged=0.5", "negative=gain"]
POLICIES += ["missing=skip", "unretrieved=ignore"]
LOSSES = ("retrieval", "truncation", "ordering", "undefined")


def definition(ranking, grades, k):
    """The regret of each document with a gain, by its definition."""
    weights = [0 if k and rank > k else 1 / math.log2(rank + 1) for rank in range(1, 20)]
    best = sorted(grades, key=lambda doc: -grades[doc])
    ideal = math.fsum(grades[doc] * weights[at] for at, doc in enumerate(best))
    regrets = {}
    for doc, grade in grades.items():
        if grade == 0:
            continue
        places = [at for at, other in enumerate(best) if grades[other] == grade]
        wanted = math.fsum(weights[at] for at in places) / len(places)
        found = weights[ranking.index(doc)] if doc in ranking else 0.0
        regrets[doc] = grade * (wanted - found) / ideal
    return regrets


@pytest.mark.parametrize("k", [None, 1, 2, 3])
def test_regrets_are_those_of_the_definition(k):
    rankings = Rankings.from_run(QRELS, RUN)
    found = find_regrets(rankings, nDCG(k=k), Policy())
    rows = list(zip(found.queries, found.ranks, found.grades, found.regrets, strict=True))
    expected = []
    for at, query in enumerate(rankings.query_texts):
        grades = {doc: float(grade) for doc, grade in QRELS[query].items()}
        listed = list(RUN[query])
        for doc, regret in definition(listed, grades, k).items() if any(grades.values()) else ():
            rank = listed.index(doc) + 1 if doc in listed else 0
            expected.append((at, rank, grades[doc], pytest.approx(regret, abs=1e-15)))
    assert sorted(rows, key=lambda row: row[:3]) == sorted(expected, key=lambda row: row[:3])


scores = st.sampled_from([0.0, 1.0, 1.0, 2.0, 3.0])
lists = st.dictionaries(st.sampled_from("abcdefgh"), scores, max_size=7)
judgments = st.dictionaries(
    st.sampled_from("abcdefgh"), st.sampled_from([-1, 0, 1, 2, 3]), min_size=1
)


@given(
    qrels=st.fixed_dictionaries({"q0": judgments, "q1": judgments}),
    run=st.dictionaries(st.sampled_from(["q0", "q1"]), lists, min_size=1).filter(
        lambda run: any(run.values())
    ),
    measure=st.sampled_from(
        [
            nDCG @ 3,
            nDCG,
            nDCG(gain="exp2", discount="reciprocal") @ 2,
            nDCG(gain="binary") @ 4,
            nDCG(ideal="retrieved") @ 3,
            nDCG(ideal="whole") @ 2,
            nDCG(judged_only=True) @ 3,
            DCG @ 4,
            rs.CG @ 3,
        ]
    ),
    policy=st.sampled_from(["", *POLICIES]),
)
def test_regrets_add_up_to_the_losses(qrels, run, measure, policy):
    ties = "average" if "average" in policy else "doc_id"
    made = Rankings.from_run(qrels, run, ties=ties)
    losses = made.losses(measure, policy=f"{policy},empty=skip".strip(","))
    found = find_regrets(made, measure, rs.Policy.parse(policy))
    lacking = sum(losses.array(name) for name in LOSSES)
    for at, expected in enumerate(lacking.tolist()):
        total = math.fsum(found.regrets[found.queries == at].tolist())
        assert total == pytest.approx(0 if math.isnan(expected) else expected, abs=1e-12)


@pytest.mark.parametrize("measure", ["AP", "nDCG(ideal='slots')@3"])
def test_what_is_no_sum_over_documents_is_refused(measure):
    (asked,) = rs.evaluate(QRELS, RUN, measure).measures
    with refuses(rs.UsageError, "regrets_unavailable"):
        find_regrets(Rankings.from_run(QRELS, RUN), asked, Policy())
