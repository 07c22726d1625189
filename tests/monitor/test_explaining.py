from __future__ import annotations

import json
import math
from collections import defaultdict

import pytest
import rankscope as rs
from hypothesis import given
from hypothesis import strategies as st
from rankscope import Interval, UsageError
from rankscope.errors import FormatError
from rankscope.measures import nDCG
from rankscope.monitor.ask.document_costs import BUILT_IN, CostCollector, read_catalogue
from rankscope.monitor.ask.explanation import explain_logged, explain_ranking
from rankscope.monitor.ask.queries import QueryCollector
from rankscope.monitor.definition.definition import define
from rankscope.monitor.evaluate.grades import grade_chunk, judge_labels
from rankscope.monitor.evaluate.values import evaluate_chunk
from rankscope.monitor.events.event import LABEL_KINDS, Items, Label, Ranking
from rankscope.monitor.events.limits import HOUR, SECOND
from rankscope.monitor.events.times import to_datetime
from rankscope.monitor.store.sqlite.store import SQLiteStore
from rankscope.monitor.why.compute import TraceChoices, trace

from tests.generated import examples
from tests.monitor import plain
from tests.monitor.chunks import make_chunk
from tests.refusals import refuses

MEASURES = ["nDCG@1", "nDCG@3", "nDCG(gain='exp2')@6", "nDCG(ideal='retrieved')@4"]
MEASURES += ["DCG@3", "AP@4", "RR@3", "P@2", "R@3", "ERR@3"]
POSITIVE = {"click": 1, "buy": 3, "skip": -1}
RULE = {"positive": POSITIVE, "window": 3600, "max_grade": 4}
GRADES = st.sampled_from([None, 0.0, 1.0, 2.0, 4.0, -1.0, 9.0])
TIMES = st.sampled_from([-1, 0, 1, 2, HOUR - 1, HOUR, HOUR + 1])
LABELS = st.builds(
    Label,
    event_id=st.text("abcdefgh", min_size=1, max_size=4),
    ranking_id=st.just("r"),
    doc_id=st.sampled_from("abcz"),
    time=TIMES,
    labels=st.sampled_from([(), ("click",), ("click", "buy"), ("skip",), ("?",)]),
    value=st.sampled_from([None, None, 0.0, 2.0]),
    kind=st.sampled_from(LABEL_KINDS),
)
POLICIES = st.sampled_from(
    ["empty=skip", "empty=zero", "empty=one", "negative=gain", "negative=minmax"]
)


@st.composite
def logged(draw):
    docs = draw(st.lists(st.sampled_from("abcdef"), unique=True, max_size=6))
    count = len(docs)
    ranks = st.lists(st.integers(1, 12), min_size=count, max_size=count, unique=True).map(sorted)
    ranks |= st.just(list(range(1, count + 1)))
    grades = draw(st.lists(GRADES, min_size=count, max_size=count))
    relevance = () if grades.count(None) == count else tuple(grades)
    return Ranking("r", "r", 0, Items(tuple(docs), tuple(draw(ranks)), (), relevance))


def order(labels):
    """Labels in the order in which they count, each event once."""
    once = {label.event_id: label for label in labels}
    return sorted(once.values(), key=lambda label: (label.time, label.event_id.encode()))


def same(one, other):
    """Whether two numbers have the same bits, or both are none."""
    return one == other or (math.isnan(one) and math.isnan(other))


@given(
    logged(),
    st.lists(LABELS, max_size=6).map(order),
    st.sampled_from([None, 0, 2, HOUR, 2 * HOUR]),
    st.tuples(POLICIES, st.sampled_from([0.0, None, 1.0])),
    st.sampled_from(MEASURES),
)
def test_a_value_is_explained_as_it_is_measured(ranking, labels, now, rule, asked):
    policy, unlabelled = rule
    # Other cutoffs beside it make another depth.
    measures = [asked, *(name for name in ("nDCG@1", "nDCG@9") if name != asked)]
    definition = define(measures=measures, policy=policy, unlabelled=unlabelled, **RULE)
    chunk, _ = make_chunk([ranking], *labels)
    values = evaluate_chunk(chunk, grade_chunk(chunk, definition, now), definition)
    measured = values.measures[0]
    name = measured.measure.name
    found = explain_ranking(ranking, labels, definition, measured.measure, now)
    assert same(found.value, float(measured.value[0]))
    known = plain.grades(ranking, labels, (definition, now))
    assert [each.grade for each in found.documents] == known
    if definition.policy.negative == "nonrelevant":
        assert same(found.value, plain.measure(ranking, known, definition)[name])
    if found.derivation is not None:
        assert same(found.derivation.value, found.value)
    else:
        assert found.is_refused or measured.measure.row.name == "ERR"
    json.dumps(found.to_dict(), allow_nan=False)
    assert str(found).startswith(f"{name} ")
    _check_parts(found)


def _check_parts(found):
    """Regrets add up to what the order and the cutoff cost, contributions to DCG."""
    if math.isnan(found.value) or found.losses is None:
        return
    losses = found.losses
    assert losses["retrieval"] is None
    seen = [losses[name] or 0.0 for name in ("truncation", "ordering", "undefined")]
    assert math.fsum([found.value, *seen]) == pytest.approx(1, abs=1e-12)
    if found.policy.negative == "nonrelevant" and not found.is_empty:
        regrets = [each.regret for each in found.documents if each.regret is not None]
        assert math.fsum(regrets) == pytest.approx(seen[0] + seen[1], abs=1e-12)
    derivation = found.derivation
    if isinstance(derivation, rs.Explanation):
        contributions = [each.contribution or 0.0 for each in found.documents]
        assert math.fsum(contributions) == pytest.approx(derivation.dcg, abs=1e-12)


@given(
    logged(),
    st.lists(LABELS, max_size=8).map(order),
    st.sampled_from([None, 0, 2, HOUR, 2 * HOUR]),
)
def test_what_counts_alone_makes_the_grades(ranking, labels, now):
    """Those labels that are said to count, said once more without the others, give the grades."""
    definition = define(measures=["nDCG@3"], **RULE)
    judged = judge_labels(ranking, labels, definition, now)
    assert [each.label for each in judged] == labels
    rule = (definition, now)
    wanted = plain.grades(ranking, labels, rule)
    counting = [each.label for each in judged if each.counts]
    heard = {each.label.doc_id for each in judged if each.is_heard}
    told = {each.doc_id for each in counting}
    alone = plain.grades(ranking, counting, rule)
    bare = Items(ranking.items.doc_ids, ranking.items.ranks)
    nothing = plain.grades(Ranking("r", "r", 0, bare), [], rule)
    docs = zip(ranking.items.doc_ids, wanted, alone, nothing, strict=True)
    for doc, grade, by_counting, by_none in docs:
        assert grade == (by_counting if doc in told or doc not in heard else by_none)
    for each in judged:
        is_shown = each.label.doc_id in ranking.items.doc_ids
        assert (each.status == "not shown") == (not is_shown)
        named = definition.attribution.weights.keys() & set(each.label.labels)
        is_worth = each.label.value is not None or bool(named)
        assert each.status != ("worth nothing" if is_worth else "counts")
        if is_shown and now is not None:
            is_late = each.label.time >= definition.window * SECOND
            assert (each.status == "late") == is_late
            assert (each.status == "not yet") == (not is_late and each.label.time > now)


ITEMS = Items(("x", "b", "c", "d", "a"), (1, 2, 3, 4, 5))
STORY = Ranking("e", "r", 0, ITEMS, "jazz", "ann", "ranker", "4", attributes=(("device", "tv"),))
GIVEN = {"a": 6.0, "b": 5.0, "c": 1.0, "d": 2.0, "x": 0.0}
TOLD = [Label(doc, "r", doc, 1, value=grade) for doc, grade in GIVEN.items()]
VALUES = define(measures=["nDCG@1", "nDCG@5", "RR@5"], positive="click", window=3600)


def test_the_search_of_the_story_is_explained(tmp_path):
    with SQLiteStore(tmp_path / "events.db") as store:
        store.append("music", [*TOLD, STORY])
        explained = explain_logged(store, "music", VALUES, "r", now=HOUR)
    assert str(explained.measure) == "nDCG@5"
    assert explained.value == rs.ndcg([0, 5, 1, 2, 6], 5)
    assert explained.is_final
    assert explained.definition == VALUES.hash
    first, *_, last = explained.documents
    assert (first.doc_id, first.grade, first.ideal_rank, first.regret) == ("x", 0.0, None, None)
    assert (last.doc_id, last.grade, last.ideal_rank, last.source) == ("a", 6.0, 1, "labels")
    ideal = rs.idcg([6, 5, 1, 2, 0], 5)
    assert last.regret == pytest.approx((6 - 6 / math.log2(6)) / ideal, abs=1e-15)
    text = str(explained)
    assert text.startswith(f"nDCG@5 = {explained.value:.4f} for ranking r\n")
    assert "The value is final: labels counted until 1 Jan 1970, 01:00 UTC." in text
    assert "DCG@5 = 5/log2(3) + 1/log2(4) + 2/log2(5) + 6/log2(6)" in text
    assert explained.formula.endswith("(6/log2(2) + 5/log2(3) + 2/log2(4) + 1/log2(5))")


def test_what_is_provisional_says_until_when():
    found = explain_ranking(STORY, TOLD[:2], VALUES, rs.nDCG @ 5, HOUR - 1)
    assert (found.is_final, found.pending, found.closes) == (False, 3, to_datetime(HOUR))
    assert [each.source for each in found.documents].count("pending") == 3
    assert "provisional: labels count until 1 Jan 1970, 01:00 UTC, and 3 of 5" in " ".join(
        str(found).split()
    )
    later = explain_ranking(STORY, TOLD[:2], VALUES, rs.nDCG @ 5, HOUR)
    assert [each.source for each in later.documents].count("unlabelled") == 3


def test_ranks_are_those_that_were_logged():
    items = Items(("a", "b", "c"), (2, 5, 900), (), (1.0, 2.0, 3.0))
    found = explain_ranking(Ranking("r", "r", 0, items), [], VALUES, rs.nDCG @ 5, HOUR)
    assert [each.rank for each in found.documents] == [2, 5, 900]
    discounts = [1 / math.log2(3), pytest.approx(1 / math.log2(6), abs=1e-16), None]
    assert [each.discount for each in found.documents] == discounts
    assert [row.rank for row in found.derivation.rows if row.grade is not None] == [2, 5]
    assert [row.found_at for row in found.derivation.ideal_rows] == [900, 5, 2]
    assert [each.rank for each in found.derivation.below.shown] == [900]
    assert found.has_gaps


def test_identifiers_may_be_anything():
    name = "<b>\x1b[31m\n=1+1"
    items, attributes = Items((name,), (1,)), ((name, name),)
    ranking = Ranking("e", name, 0, items, name, name, name, name, attributes=attributes)
    label = Label("l", name, name, 1, (name,))
    found = explain_ranking(ranking, [label], VALUES, rs.nDCG @ 5, HOUR)
    text = str(found)
    assert "\x1b" not in text
    assert found.to_dict()["ranking_id"] == name
    assert "<b>" not in found.to_html()


def test_a_ranking_that_is_not_there_is_refused(tmp_path):
    with SQLiteStore(tmp_path / "events.db") as store:
        store.append("music", [STORY])
        with refuses(UsageError, "unknown_ranking"):
            explain_logged(store, "other", VALUES, "r", now=0)
        other = define(measures="RR@3", positive="click", window=60)
        assert str(explain_logged(store, "music", other, "r", now=0).measure) == "RR@3"
        with pytest.raises(UsageError):
            explain_logged(store, "music", VALUES, "r", now=0, measure="nDCG@7")


QUICK = TraceChoices(support=1, interval=Interval(resamples=100))
GENRES = {"doc_id": ["a", "b", "c", "d"], "genre": ["jazz", "jazz", "pop", None]}
MEASURED = {"positive": "click", "window": 3600, "max_grade": 9}


@st.composite
def windows(draw):
    made = []
    for number in range(draw(st.integers(1, 8))):
        docs = draw(st.lists(st.sampled_from("abcdef"), unique=True, min_size=1, max_size=6))
        count = len(docs)
        ranks = st.lists(st.integers(1, 9), min_size=count, max_size=count, unique=True)
        grades = st.lists(
            st.sampled_from([0.0, 0.0, 1.0, 2.0, 5.0, -1.0]), min_size=count, max_size=count
        )
        placed = sorted(draw(ranks | st.just(list(range(1, count + 1)))))
        items = Items(tuple(docs), tuple(placed), (), tuple(draw(grades)))
        device = ("device", draw(st.sampled_from(["tv", "phone"])))
        name, query = f"r{number}", f"q{number % 3}"
        made.append(Ranking(name, name, 0, items, query, attributes=(device,)))
    return made


def collect(rankings, costs, rule):
    """The queries of a window, `None` where none has a value."""
    chunk, contexts = make_chunk(rankings)
    if rule.policy.empty == "skip" and all(
        max(one.items.relevance, default=0) <= 0 for one in rankings
    ):
        return None
    collector = QueryCollector(contexts, rule, rule.measures[0], costs=costs)
    collector.read([chunk], now=HOUR, threads=1)
    return collector.finish(["device"])


def trace_costs(one, other, **rule):
    definition = define(**MEASURED | rule)
    catalogue = read_catalogue(GENRES)
    costs = CostCollector(definition, catalogue, None)
    before = collect(one, costs, definition)
    after = collect(other, CostCollector(definition, catalogue, costs.shown), definition)
    return None if before is None or after is None else trace(before, after, QUICK)


@given(
    windows(),
    windows(),
    st.sampled_from([nDCG @ 1, nDCG @ 3, nDCG(gain="exp2") @ 5]),
    st.sampled_from(["empty=skip", "empty=zero", "empty=one"]),
)
@examples(60)
def test_regrets_add_up_to_the_losses(one, other, measure, policy):
    found = trace_costs(one, other, measures=measure, policy=policy)
    if found is None:
        return
    whole = found.decomposition
    parts = {"all": whole.losses} | {each.change.name: each.change.losses for each in found.causes}
    assert {(each.attribute, each.slice) for each in found.regrets} == {
        (attribute, name) for attribute in (*BUILT_IN, "genre") for name in parts
    }
    for each in found.regrets:
        losses = parts[each.slice]
        wanted = (losses["truncation"] or 0.0) + (losses["ordering"] or 0.0)
        assert abs(each.total - wanted) <= 1e-12
        assert abs(math.fsum(each.table.array("adds")) - each.total) <= 1e-15
    for name in ("before", "after"):
        tables = [each.table for each in found.regrets if each.slice == "all"]
        sums = [math.fsum(table.array(f"regret {name}")) for table in tables]
        assert max(sums) - min(sums) <= 1e-12


def terms(ranking, k):
    """The documents of a ranking that have a gain, said plainly, with what each costs."""
    items = ranking.items
    known = [grade or 0.0 for grade in items.relevance]
    order = sorted(known, reverse=True)
    ideal = [gain / math.log2(rank + 1) for rank, gain in enumerate(order[:k], 1) if gain > 0]
    for doc, rank, gain in zip(items.doc_ids, items.ranks, known, strict=True):
        if gain <= 0:
            continue
        places = [at for at, each in enumerate(order, 1) if each == gain]
        best = sum(gain / math.log2(at + 1) for at in places if at <= k) / len(places)
        there = gain / math.log2(rank + 1) if rank <= k else 0.0
        yield doc, rank, gain, (best - there) / math.fsum(ideal)


@given(windows(), windows())
@examples(60)
def test_regrets_are_those_of_the_definition(one, other):
    found = trace_costs(one, other, measures="nDCG@3")
    if found is None:
        return
    genre = read_catalogue(GENRES)["genre"]
    shown = {doc for each in one for doc in each.items.doc_ids}
    for at, window in enumerate((one, other)):
        defined = [each for each in window if any(terms(each, 3))]
        sums = defaultdict(list)
        for each in defined:
            for doc, rank, gain, cost in terms(each, 3):
                bins = {1: "1", 2: "2", 3: "3", 4: "4-5", 5: "4-5"}
                names = {
                    "genre": genre.get(doc, "<missing>"),
                    "grade": f"{gain:g}",
                    "logged rank": bins.get(rank, "6-10"),
                    "shown before": "yes" if at == 0 or doc in shown else "no",
                }
                for item in names.items():
                    sums[item].append(cost)
        for change in found.regrets:
            if change.slice != "all":
                continue
            names_of = change.table.column("value")
            for column, kind in (("documents", len), ("regret", math.fsum)):
                cells = change.table.column(f"{column} {('before', 'after')[at]}")
                for name, cell in zip(names_of, cells, strict=True):
                    costs = sums[change.attribute, str(name)]
                    size = 1 if column == "documents" else len(defined)
                    assert cell == pytest.approx(kind(costs) / size, abs=1e-12)


@pytest.mark.parametrize(
    ("documents", "code"),
    [
        ({"genre": ["a"]}, "columns"),
        ({"doc_id": ["a"], "item_id": ["a"], "genre": ["b"]}, "columns"),
        ({"doc_id": ["a", "b"], "genre": ["b"]}, "length_mismatch"),
        ({"doc_id": ["a"], "grade": ["b"]}, "bad_parameter"),
    ],
)
def test_a_table_of_documents_that_does_not_fit_is_refused(documents, code):
    with refuses(FormatError, code):
        read_catalogue(documents)
