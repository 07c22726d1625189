from __future__ import annotations

import math
from dataclasses import replace
from fractions import Fraction

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from rankscope import _core
from rankscope.errors import MeasureError
from rankscope.monitor.definition.definition import define
from rankscope.monitor.evaluate.clusters import SpreadSums
from rankscope.monitor.evaluate.grades import Graded, grade_chunk, list_columns, list_items
from rankscope.monitor.evaluate.values import (
    ChunkPlan,
    evaluate_chunk,
    evaluate_chunks,
    name_columns,
)
from rankscope.monitor.evaluate.windows import Grouping
from rankscope.monitor.events.event import Items, Label, Ranking
from rankscope.monitor.events.limits import HOUR, SECOND
from rankscope.monitor.store.ahead import map_ahead

from tests.generated import examples
from tests.monitor import chunk_twin
from tests.monitor.chunks import integers, make_chunk, texts

WEIGHTS = {"click": 1, "buy": 5.5, "return": -2, "odd": 0.1}
DEFINITIONS = (
    define(measures=["nDCG@1", "nDCG(dcg='exp-log2')@3", "P@2"], positive=WEIGHTS, window=7200),
    define(
        measures=["nDCG@3", "RR@3", "nDCG(ideal='whole')@2"],
        positive=WEIGHTS,
        window=3600,
        combine="max",
        max_grade=5,
        policy="empty=zero",
    ),
    define(
        measures=["nDCG@2", "AP@3", "nDCG(ideal='retrieved')@3"],
        positive=WEIGHTS,
        window=1,
        unlabelled=None,
        policy="empty=one",
    ),
    define(
        measures=["nDCG@4", "DCG@2", "Judged@3"],
        positive=WEIGHTS,
        window=3600,
        repeats="once",
        unlabelled=0.5,
        policy="negative=gain",
    ),
    define(measures=["nDCG@3"], positive=WEIGHTS, window=3600, policy="negative=minmax"),
)
DOCS = st.sampled_from(["a", "b", "ab", "document-1", "document-2", "another-1"])
SCORES = st.sampled_from([None, 1.0, 2.0])
GRADES = st.sampled_from([None, 0.0, 0.5, 1.0, 3.0, -1.0, 200.0])


@st.composite
def make_ranking(draw, number):
    docs = draw(st.lists(DOCS, unique=True, max_size=5))
    ranks = sorted(
        draw(st.lists(st.integers(1, 9), unique=True, min_size=len(docs), max_size=len(docs)))
    )
    if draw(st.booleans()):
        ranks = [*range(1, len(docs) + 1)]
    scores, grades = (
        tuple(draw(st.lists(each, min_size=len(docs), max_size=len(docs))))
        if draw(st.booleans())
        else ()
        for each in (SCORES, GRADES)
    )
    name, items = f"r{number}", Items(tuple(docs), tuple(ranks), scores, grades)
    query, user, version = (
        draw(st.sampled_from(some)) for some in (["", "q", "u"], ["", "u", "v"], ["1", "2"])
    )
    return Ranking(name, name, number * HOUR // 2, items, query, user, "m", version)


@st.composite
def make_label(draw, number, rankings):
    ranking = draw(st.sampled_from(rankings))
    kind = draw(st.sampled_from(["label", "label", "correction", "retraction"]))
    names = draw(st.lists(st.sampled_from([*WEIGHTS, "view"]), max_size=3))
    value = draw(st.sampled_from([None, 0.3, -1.0, 2.0]))
    delay = draw(st.sampled_from([-5, 0, 1, 600, 3599, 3600, 7200, 20_000]))
    time = ranking.time + delay * SECOND
    return Label(f"l{number}", ranking.ranking_id, draw(DOCS), time, tuple(names), value, kind)


@st.composite
def chunks(draw):
    rankings = [draw(make_ranking(number)) for number in range(draw(st.integers(1, 5)))]
    count = draw(st.integers(0, 12))
    return make_chunk(rankings, *(draw(make_label(number, rankings)) for number in range(count)))


def same(one, other):
    for name in Graded.__slots__:
        found, expected = getattr(one, name), getattr(other, name)
        assert found.dtype == expected.dtype, name
        # + 0.0 as there are two zeros.
        assert (found + 0).tobytes() == (expected + 0).tobytes(), name


def show(name, time=0, docs=("a", "b")):
    return Ranking(name, name, time, Items(tuple(docs), tuple(range(1, len(docs) + 1))))


def grade_as_the_twin(chunk):
    same(grade_chunk(chunk, DEFINITIONS[0]), chunk_twin.grade(chunk, DEFINITIONS[0], None))


def same_values(found, chunk, graded, definition):
    columns, others = chunk_twin.evaluate(chunk, graded, definition)
    assert [*found.columns()] == [*columns]
    for name, column in found.columns().items():
        assert (column + 0).tobytes() == (columns[name] + 0).tobytes(), name
    for name, expected in others.items():
        assert getattr(found, name).tolist() == expected.tolist(), name


@examples(150)
@given(
    made=chunks(), place=st.integers(0, len(DEFINITIONS) - 1), now=st.sampled_from([None, 0, 2, 9])
)
def test_values_and_grades_of_a_chunk_are_those_of_the_twin(made, place, now):
    chunk, definition = made[0], DEFINITIONS[place]
    as_of = None if now is None else now * HOUR // 2
    expected = chunk_twin.grade(chunk, definition, as_of)
    (found,) = evaluate_chunks([chunk], definition, now=as_of, threads=2)
    same(found.graded, expected)
    same(grade_chunk(chunk, definition, as_of), expected)
    same_values(found.values, chunk, expected, definition)
    same_values(evaluate_chunk(chunk, expected, definition), chunk, expected, definition)


def test_a_page_far_below_needs_no_places_above_it_and_other_measures_have_no_losses():
    definition = define(
        measures=["nDCG@2", "P@1", "nDCG(ideal='slots')@2"], positive="click", window=1
    )
    items = Items(("a", "b"), (999_999, 1_000_000), (), (1.0, 0.0))
    chunk, _ = make_chunk([Ranking("r", "r", 0, items)])
    columns = evaluate_chunk(chunk, grade_chunk(chunk, definition, 0), definition).columns()
    assert tuple(columns) == name_columns(definition)
    parts = ("truncation", "ordering", "undefined", "ideal")
    beside = [f"nDCG@2 {part}" for part in parts]
    assert list(columns) == ["nDCG@2", *beside, "P@1", "nDCG(ideal='slots')@2"]
    assert columns["nDCG@2"].tolist() == [0]
    assert columns["nDCG@2 truncation"].tolist() == [1]


@examples(60)
@given(made=chunks(), place=st.integers(0, len(DEFINITIONS) - 1))
def test_costs_of_documents_are_their_regrets_as_shares_of_the_ideal(made, place):
    chunk, definition = made[0], DEFINITIONS[place]
    graded = chunk_twin.grade(chunk, definition, None)
    items, plan = list_items(chunk.items, graded.relevance), ChunkPlan.of(definition)
    if definition.policy.negative == "minmax":
        with pytest.raises(MeasureError, match="whose loss is that of documents"):
            _core.measure_costs(items, plan.choices)
        return
    rankings, rows, *numbers = map(memoryview, _core.measure_costs(items, plan.choices))
    found = (
        np.frombuffer(rankings, np.int64).tolist(),
        np.frombuffer(rows, np.int64).tolist(),
        *(np.frombuffer(column, np.float64) + 0 for column in numbers),
    )
    expected = chunk_twin.costs(chunk, graded, definition)
    assert found[:2] == expected[:2]
    for one, other in zip(found[2:], expected[2:], strict=True):
        assert one.tobytes() == (other + 0).tobytes()


def test_texts_are_numbered_as_they_are_first_seen_and_a_set_has_those_that_were_added():
    codes = _core.TextCodes()
    users, queries = texts(["u", "", ""]), texts(["q", "q", ""])
    columns = [(b"user ", users), (b"query ", queries)]

    def read(column):
        return np.frombuffer(memoryview(column), np.int64).tolist()

    assert read(codes.number(columns, integers([2, 1, 0, 1]))) == [-1, 0, 1, 0]
    offsets, text = codes.texts()
    assert read(offsets) == [0, 7, 13]
    assert bytes(memoryview(text)) == b"query quser u"
    with pytest.raises(ValueError, match="fit"):
        codes.number(columns, integers([3]))
    ids = _core.IdSet()
    column = texts(["a", "b", "", "ab"])
    assert bytes(memoryview(ids.find(column, integers([0, 2])))) == b"\0\0"
    ids.add(column, integers([3, 1, 1, 2]))
    assert bytes(memoryview(ids.find(column, integers([0, 1, 2, 3])))) == b"\0\1\1\1"
    for broken in (
        texts(["a"]),
        (integers([0, 1, 9]), column[1]),
        (integers([-1, 1, 1]), column[1]),
    ):
        with pytest.raises(ValueError, match="fit"):
            ids.add(broken, integers([0, 1]))


def test_labels_need_not_be_in_the_order_of_rankings():
    labels = [
        Label(f"{at}", name, "b", at, ("click",), at / 7, "label")
        for at, name in enumerate("zxyxz")
    ]
    chunk, _ = make_chunk([show(name) for name in "xyz"], *labels)
    order = np.array([4, 0, 2, 1, 3])
    names = ("rankings", "times", "kinds", "codes", "values")
    told = replace(chunk.labels, **{name: getattr(chunk.labels, name)[order] for name in names})
    grade_as_the_twin(replace(chunk, labels=told))


def test_a_flood_of_labels_finds_its_documents():
    shown = show("r", docs=[f"document-{number:05}" for number in range(300)])
    labels = [
        Label(f"l{at}", "r", f"document-{at * 7 % 350:05}", at, ("click",)) for at in range(400)
    ]
    grade_as_the_twin(make_chunk([shown], *labels)[0])


@examples(60)
@given(made=chunks(), more=chunks())
def test_spreads_are_exact_sums_over_the_clusters_of_each_cell(made, more):
    contexts = dict(enumerate(dict.fromkeys([*made[1].values(), *more[1].values()])))
    numbers = {context: number for number, context in contexts.items()}
    moved = more[0].times + 3 * HOUR

    def renumber(pair, times):
        of = np.array([numbers[pair[1][number]] for number in range(len(pair[1]))])
        return replace(pair[0], contexts=of[pair[0].contexts], times=times)

    parts = [renumber(made, made[0].times), renumber(more, moved)]
    definition = DEFINITIONS[1]
    sums, grouping = SpreadSums(3), Grouping(contexts)
    totals = {}
    for each in evaluate_chunks(parts, definition, now=None):
        keys, groups = grouping.divide(each.chunk, each.graded.is_mature).group()
        sums.take(each, keys, groups)
        names = chunk_twin.name_clusters(each.chunk)
        for at, (name, group) in enumerate(zip(names, groups.tolist(), strict=True)):
            cluster = totals.setdefault(keys[group], {}).setdefault(name, [[], [], []])
            for values, measured in zip(cluster, each.values.measures, strict=True):
                if not math.isnan(measured.value[at]):
                    values.append(float(measured.value[at]))
    found = sums.finish()
    assert set(found) == set(totals)
    for key, clusters in totals.items():
        for measure in range(3):
            pairs = []
            for values in clusters.values():
                total = 0.0
                for value in values[measure]:
                    total += value
                pairs.append((len(values[measure]), total))
            expected = (
                sum(count > 0 for count, _ in pairs),
                sum(count * count for count, _ in pairs),
                math.fsum(total * count for count, total in pairs),
                math.fsum(total * total for _, total in pairs),
            )
            assert found[key][measure] == expected


def test_spreads_refuse_rankings_that_are_not_in_the_order_of_time():
    parts = [make_chunk([show("r", time)]) for time in (0, HOUR, 1)]
    sums, grouping = SpreadSums(3), Grouping(parts[0][1])
    shown = [chunk for chunk, _ in parts]
    early, late, again = evaluate_chunks(shown, DEFINITIONS[0], now=None)
    for each in (early, late):
        sums.take(each, *grouping.divide(each.chunk, each.graded.is_mature).group())
    with pytest.raises(RuntimeError, match="order of time"):
        sums.take(again, *grouping.divide(again.chunk, again.graded.is_mature).group())


@examples(100)
@given(
    rows=st.lists(
        st.tuples(
            st.integers(0, 3),
            st.booleans(),
            st.integers(0, 9),
            st.floats(-1e9, 1e9) | st.just(math.nan),
        ),
        min_size=1,
    )
)
def test_cells_are_counts_and_exact_sums(rows):
    groups, marks, amounts, values = (np.array(column) for column in zip(*rows, strict=True))
    # Each group by itself, and groups together.
    divisions = [[0, 1, 2, 3], [2, 0, 2, 0]]
    summed = _core.sum_cells(
        groups,
        4,
        [marks.view(np.uint8)],
        [amounts],
        [values, -values],
        [(integers(cells), max(cells) + 1) for cells in divisions],
    )
    for cells, (counts, defined, sums) in zip(divisions, summed, strict=True):
        assert len(sums) == max(cells) + 1
        for cell, packed in enumerate(sums):
            members = [row for row in rows if cells[row[0]] == cell]
            known = [value for *_, value in members if not math.isnan(value)]
            assert np.frombuffer(memoryview(counts), np.int64).reshape(-1, 3)[cell].tolist() == [
                len(members),
                sum(is_marked for _, is_marked, *_ in members),
                sum(amount for _, _, amount, _ in members),
            ]
            assert np.frombuffer(memoryview(defined), np.int64)[2 * cell] == len(known)
            total = float(sum(map(Fraction, known)))
            assert _core.round_sums(packed) == [total, -total]


def test_columns_that_do_not_fit_are_refused():
    definition = DEFINITIONS[0]
    chunk, _ = make_chunk([show("r")], Label("l", "r", "a", 1, ("click",)))
    labels, documents = chunk.labels, chunk.items
    ids = integers([0, 1, 9]), documents.doc_ids[1]
    broken = [
        replace(chunk, times=integers([0, 1])),
        replace(chunk, labels=replace(labels, rankings=integers([1]))),
        replace(chunk, labels=replace(labels, codes=integers([1]))),
        replace(chunk, labels=replace(labels, times=integers([]))),
        replace(chunk, items=replace(documents, offsets=integers([0, 3]))),
        replace(chunk, items=replace(documents, doc_ids=texts(["a"]))),
        replace(chunk, items=replace(documents, doc_ids=ids)),
    ]
    for one in broken:
        with pytest.raises(ValueError, match=r"fit|damaged"):
            _core.grade_items(*list_columns(one, definition, None), None)
    with pytest.raises(ValueError, match="fit"):
        _core.evaluate_items(
            list_items(documents, documents.relevance[:1]), ChunkPlan.of(definition).choices
        )
    one = integers([0])
    two = np.zeros(2, np.uint8)
    for count, marks, cells in [(0, [], []), (1, [two], [0]), (1, [], [1]), (1, [], [0, 0])]:
        with pytest.raises(ValueError, match="fit"):
            _core.sum_cells(one, count, marks, [], [], [(integers(cells), 1)])


def test_work_ahead_keeps_the_order_and_stops_where_a_piece_fails():
    assert [*map_ahead(abs, range(-9, 3), 3)] == [*map(abs, range(-9, 3))]
    assert [*map_ahead(abs, [], 3)] == []
    assert [*map_ahead(abs, [-1], 3)] == [1]
    taken = []

    def give():
        for number in range(100):
            taken.append(number)
            yield number

    made = map_ahead(lambda number: 1 // (5 - number), give(), 2)
    with pytest.raises(ZeroDivisionError):
        list(made)
    assert len(taken) < 20
