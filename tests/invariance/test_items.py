"""Measures of recommended items give the values of their twins, whatever way the inputs come in."""

from __future__ import annotations

import math
import pickle
from functools import partial
from itertools import combinations

import numpy as np
import pandas as pd
import polars as pl
import pytest
import rankscope as rs
from hypothesis import given
from hypothesis import strategies as st
from rankscope.measures import TABLE

from tests.generated import examples
from tests.invariance.variants import choose_pairs, variants
from tests.reference import Known, value
from tests.refusals import refused, refuses

MEASURES = [one for row in TABLE.values() if row.of_items for one in variants(row)]
VECTORS = [one for one in MEASURES if not one.row.categories]
ITEMS = ["a", "b", "c", "d", "e", "é", "unheard"]
USERS = ["u", "v", "w"]


lists_of_items = st.lists(st.sampled_from(ITEMS), max_size=6, unique=True)


def with_a(lists):
    """Add the item a to the list of the user u, so that inputs have both in common."""
    own = lists.get("u", [])
    return {**lists, "u": own if "a" in own else [*own, "a"]}


recommendations = st.fixed_dictionaries(dict.fromkeys(USERS, lists_of_items)).map(with_a)
histories = st.dictionaries(
    st.sampled_from([*USERS, "x", "y"]),
    st.lists(st.sampled_from(ITEMS[:-1]), min_size=1, max_size=5, unique=True),
    min_size=1,
).map(with_a)
categories = st.dictionaries(
    st.sampled_from(ITEMS),
    st.lists(st.sampled_from(["pop", "rock", "jazz"]), max_size=3, unique=True),
).map(lambda items: {**items, "a": items.get("a") or ["pop"]})
numbers = st.sampled_from([0.0, 1.0, -0.5, 0.1, 3.0])
vectors = st.dictionaries(st.sampled_from(ITEMS), st.lists(numbers, min_size=3, max_size=3)).map(
    lambda items: {"a": [0.1, 0.0, 1.0], **items}
)
catalogues = st.sets(st.sampled_from(ITEMS)).map(lambda items: sorted({"a", *items}))


def twins(measure, relevant, lists, *, history, items, catalogue):
    """The values of a measure by its definition: of each user, or of all lists together."""
    shown = [recommended for recommended in lists.values() if recommended]
    judged = {user: dict.fromkeys(of, 1.0) for user, of in relevant.items()}
    known = Known(history, items, catalogue, shown, judged)
    values = []
    for user in relevant:
        ranking = [1.0 if item in relevant[user] else None for item in lists[user]]
        values.append(
            value(
                *measure.kernel_spec(),
                ranking,
                [1.0] * len(relevant[user]),
                documents=lists[user],
                user=user,
                known=known,
            )
        )
    return values[:1] if measure.row.level == "run" else values


def evaluate(measures, relevant, lists, **known):
    run = {user: recommended for user, recommended in lists.items() if recommended}
    return rs.evaluate(relevant, run, measures, policy="empty=nan", **known)


def values_of(found, measure):
    return [found[measure]] if measure.row.level == "run" else found.per_query_list(measure)


@given(
    relevant=st.fixed_dictionaries(dict.fromkeys(USERS, lists_of_items)).filter(
        lambda judged: any(judged.values())
    ),
    lists=recommendations,
    history=histories,
    items=st.one_of(categories, vectors),
    catalogue=catalogues,
)
@examples(40)
def test_a_kernel_is_its_twin(relevant, lists, history, items, catalogue):
    are_vectors = isinstance(next(each for of in items.values() for each in of), float)
    measures = VECTORS if are_vectors else MEASURES
    if any(isinstance(each, float) and each < 0 for of in items.values() for each in of):
        measures = [one for one in measures if one.row.name != "AWRF"]  # no shares of groups
    found = evaluate(measures, relevant, lists, history=history, items=items, catalogue=catalogue)
    for measure in measures:
        expected = twins(
            measure, relevant, lists, history=history, items=items, catalogue=catalogue
        )
        assert repr(values_of(found, measure)) == repr([one + 0.0 for one in expected]), measure


RELEVANT = {"u": ["a"], "v": ["b", "c"], "w": ["e"]}
LISTS = {"u": ["b", "a", "unheard"], "v": ["a", "b", "d"], "w": ["c", "a"]}
HISTORY = {"u": ["c", "d"], "v": ["a", "e"], "w": ["a"], "x": ["a", "b"]}
GENRES = {"a": ["pop"], "b": ["pop", "rock"], "c": ["jazz"], "d": ["rock"]}


def test_a_run_of_any_form_and_what_was_read_before_give_the_same_bits(tmp_path):
    expected = evaluate(MEASURES, RELEVANT, LISTS, history=HISTORY, items=GENRES)
    known = rs.read_items(history=HISTORY, items=GENRES)
    assert repr(dict(evaluate(MEASURES, RELEVANT, LISTS, items=known))) == repr(dict(expected))
    rankings = rs.Rankings.from_run(RELEVANT, LISTS)
    for again in (rankings, pickle.loads(pickle.dumps(rankings))):  # noqa: S301 - our own bytes
        found = again.evaluate(MEASURES, items=known, policy="empty=nan", threads=1)
        assert repr(dict(found)) == repr(dict(expected))
    text = "".join(
        f"{user} Q0 {item} 0 {-rank} t\n"
        for user, items in LISTS.items()
        for rank, item in enumerate(items)
    )
    (tmp_path / "run.txt").write_text(text, encoding="utf-8")
    frame = pd.DataFrame(
        [(user, item, rank) for user, of in LISTS.items() for rank, item in enumerate(of, start=1)],
        columns=["user_id", "item_id", "rank"],
    )
    frame.to_csv(tmp_path / "run.csv", index=False)
    runs = (frame, pl.from_pandas(frame).lazy(), tmp_path / "run.csv", tmp_path / "run.txt")
    for run in runs:
        found = rs.evaluate(RELEVANT, run, MEASURES, items=known, policy="empty=nan")
        assert repr(dict(found)) == repr(dict(expected))


def test_vectors_come_from_columns_and_from_lists():
    vectors = {"a": [1.0, 0.0], "b": [0.5, 2.0], "c": [0.0, 3.0], "d": [2.0, 2.0]}
    names = ["ILD", "ILD(distance='euclidean')@2", "ILD(distance='hamming')"]
    expected = dict(rs.evaluate(RELEVANT, LISTS, names, items=vectors))
    columns = pd.DataFrame.from_dict(vectors, orient="index", columns=["x", "y"])
    columns = columns.rename_axis("item_id").reset_index()
    lists = pd.DataFrame({"item_id": [*vectors], "vector": [*vectors.values()]})
    fixed = pl.DataFrame({"item_id": [*vectors], "vector": np.array([*vectors.values()])})
    held = (columns, lists, fixed, {item: np.array(of) for item, of in vectors.items()})
    for items in held:
        assert dict(rs.evaluate(RELEVANT, LISTS, names, items=items)) == expected


def test_integer_ids_are_the_same_items_everywhere():
    frame = pd.DataFrame({"user_id": [1, 1, 2], "item_id": [10, 20, 10]})
    run = pd.DataFrame({"user_id": [1, 2], "item_id": [20, 30], "rank": [1, 1]})
    genres = pd.DataFrame({"item_id": [10, 20, 30], "genre": ["pop", "pop", "rock"]})
    measures = ["Novelty@5", "Coverage@5", "Miscalibration@5"]
    found = rs.evaluate(frame, run, measures, history=frame, items=genres)
    history, items = {"1": ["10", "20"], "2": ["10"]}, {"10": "pop", "20": "pop", "30": "rock"}
    lists = {"1": ["20"], "2": ["30"]}
    texts = rs.evaluate(history, lists, measures, history=history, items=items)
    assert dict(found) == dict(texts)
    assert found["Novelty@5"] == math.log2(2 / 1)
    assert found["Coverage@5"] == 2 / 3


def test_unknown_items_are_counted_in_notes():
    measures = ["Novelty@3", "Coverage@3", "ILD@3"]
    found = rs.evaluate(
        RELEVANT, LISTS, measures, history=HISTORY, items=GENRES, catalogue=["a", "b", "e"]
    )
    counted = {code: n for code, n in found.diagnostics.items() if code.startswith("items_")}
    assert counted == {
        "items_outside_catalogue": len({"c", "d", "unheard"}),
        "items_without_history": len({"unheard"}),
        "items_without_attributes": len({"unheard"}),
    }
    assert found["Coverage@3"] == 2 / 3
    only = rs.evaluate(RELEVANT, LISTS, "Personalization", history=HISTORY)
    assert not any(code.startswith("items_") for code in only.diagnostics)
    assert only.to_dict() == {query: {} for query in RELEVANT}


def test_personalization_is_the_mean_over_all_pairs_of_users():
    lists = {"u": ["a", "b", "c"], "v": ["a"], "w": ["c", "b"], "x": ["d", "a"]}
    pairs = [
        len({*one} & {*other}) / math.sqrt(len(one) * len(other))
        for one, other in combinations(lists.values(), 2)
    ]
    found = rs.evaluate({user: ["a"] for user in lists}, lists, "Personalization")
    assert found["Personalization"] == pytest.approx(1 - sum(pairs) / len(pairs), abs=1e-15)


@given(lists=recommendations, history=histories, order=st.permutations(USERS))
@examples(30)
def test_the_order_of_users_and_items_does_not_matter(lists, history, order):
    relevant = {user: ["a"] for user in USERS}
    again = {user: lists[user] for user in order}
    turned = {user: items[::-1] for user, items in reversed(history.items())}
    one = evaluate(MEASURES, relevant, lists, history=history, items=GENRES)
    judged, genres = {user: ["a"] for user in order}, dict(reversed(GENRES.items()))
    other = evaluate(MEASURES, judged, again, history=turned, items=genres)
    assert repr(dict(one)) == repr(dict(other))


def test_a_measure_without_what_it_needs_names_the_argument():
    for name, needs in (
        ("Novelty@5", "history"),
        ("ILD@5", "items"),
        ("Coverage@5", "catalogue"),
        ("Serendipity@5", "history"),
        ("Miscalibration@5", "history"),
    ):
        said = f"{name} needs {needs}"
        call = partial(rs.evaluate, RELEVANT, LISTS, name)
        assert f"{needs}=" in refused(call, "items_unavailable", said).hint
    vectors = {"history": HISTORY, "items": {"a": [1.0, 2.0]}}
    with pytest.raises(rs.errors.MeasureError, match="needs the categories of items"):
        rs.evaluate(RELEVANT, LISTS, "Miscalibration", **vectors)


@pytest.mark.parametrize(
    ("measure", "choices", "said"),
    [
        ("Novelty", {"policy": "unjudged=remove"}, "unjudged"),
        ("Novelty", {"policy": "ties=average"}, "ties"),
        ("Novelty", {"memory": "1GiB"}, "memory has no effect"),
        ("Novelty", {"history": HISTORY}, "beside it"),
        ("Coverage", {"weights": [1, 2, 3]}, "weights has no effect on Coverage"),
    ],
)
def test_choices_without_an_effect_are_refused(measure, choices, said):
    known = rs.read_items(history=HISTORY, items=GENRES)
    with pytest.raises(rs.UsageError, match=said):
        rs.evaluate(RELEVANT, LISTS, measure, items=known, **choices)


def test_what_has_no_answer_is_refused():
    known = rs.read_items(history=HISTORY, items=GENRES)
    rankings = rs.Rankings.from_run(RELEVANT, LISTS)
    with pytest.raises(rs.UsageError, match="by has no effect on Coverage"):
        rankings.evaluate("Coverage", items=known, by=dict.fromkeys(USERS, "de"))
    with pytest.raises(rs.errors.MeasureError, match="Novelty has no bounds"):
        rankings.bounds("Novelty")
    alone = rankings.evaluate("Personalization")
    assert dict(alone) == dict(rankings.evaluate("Personalization", items=known))
    without_ids = rs.Rankings.from_lists([[1, 0]])
    with pytest.raises(rs.errors.MeasureError, match="the ids of their items"):
        without_ids.evaluate("Personalization", items=known)
    table = {"user_id": ["u"], "item_id": ["a"], "score": [1.0], "relevance": [1]}
    with pytest.raises(rs.RankscopeError, match="Novelty"):
        rs.evaluate(table, "Novelty", policy="ties=doc_id")
    with pytest.raises(rs.UsageError, match="expected a history, items or a catalogue"):
        rs.read_items()
    with pytest.raises(rs.errors.FormatError, match="at least one item"):
        rs.read_items(catalogue=[])


@pytest.mark.parametrize(
    ("items", "found"),
    [
        ({}, "'items' \\(empty\\)"),
        ([("a", "pop")], "found list"),
        ([{"item_id": "a", "genre": ["pop", 1]}], "one kind of values in genre"),
        ({1, 2}, "found set"),
        (pd.Series(["pop"], index=["a"]), "found a pandas Series"),
        ({"a": [1.0, 2.0], "b": [1.0]}, "found 1 and 2"),
        (pd.DataFrame({"item_id": ["a"], "genre": ["pop"], "year": [1999]}), "number"),
        (pd.DataFrame({"item_id": ["a"]}), "no column beside the items"),
        (pd.DataFrame({"item_id": ["a"], "x": [math.inf]}), "infinite"),
        (pd.DataFrame({"item_id": ["a", "a"], "x": [1.0, 2.0]}), "two for the same"),
    ],
)
def test_attributes_that_are_none_are_refused(items, found):
    with pytest.raises(rs.InputError, match=found):
        rs.evaluate(RELEVANT, LISTS, "ILD", items=items)


def test_one_value_of_all_lists_is_no_value_of_a_query():
    found = rs.evaluate(RELEVANT, LISTS, ["Coverage@2", "nDCG@2"], history=HISTORY, interval=0.95)
    assert "resampled users" in found.estimates["Coverage@2"].reason
    assert found.estimates["Coverage@2"].value == found["Coverage@2"]
    assert set(found.to_dict()["u"]) == {"nDCG@2"}
    with pytest.raises(rs.errors.MeasureError, match="no value for a query"):
        found.per_query("Coverage@2")
    again = pickle.loads(pickle.dumps(found))  # noqa: S301 - our own bytes
    assert dict(again) == dict(found)
    with pytest.raises(rs.UsageError, match="can't be compared: it is one value"):
        rs.compare({"one": found, "other": found}, "Coverage@2")


def test_recommenders_are_compared_by_values_of_users():
    relevant = {f"u{n}": ["a"] for n in range(12)}
    popular = {user: ["a", "b"] for user in relevant}
    niche = {user: ["b", f"n{user}"] for user in relevant}
    found = rs.evaluate(
        relevant, {"popular": popular, "niche": niche}, "Novelty@2", history=HISTORY
    )
    compared = rs.compare(found, "Novelty@2")
    assert compared["Novelty@2", "niche"].difference > 0
    assert compared["Novelty@2", "niche"].p < 0.05


def test_a_user_without_a_list_has_no_value():
    found = rs.evaluate(
        RELEVANT, {"u": ["a"]}, ["Novelty", "Coverage"], history=HISTORY, policy="missing=skip"
    )
    assert found.denominators == {"Novelty": 1, "Coverage": 1}
    assert found["Novelty"] == math.log2(4) - math.log2(3)


def test_what_is_undefined_is_left_out_of_the_mean():
    """Zero is the best Miscalibration, so no user may get it for want of a list or a history."""
    lists = {"u": ["a", "b"], "v": ["b", "c"], "w": []}
    history = {"u": ["a"], "w": ["a"]}
    genres = {"a": "pop", "b": "rock", "c": "jazz"}
    relevant = {user: ["a"] for user in (*lists, "x")}
    asked = ["Miscalibration", "ILD", "Novelty"]
    found = rs.evaluate(relevant, lists, asked, history=history, items=genres)
    # The list of u has half of the category that is all of the history.
    assert found["Miscalibration"] == pytest.approx(-math.log(0.99 / 2 + 0.01), abs=1e-15)
    # u and v have two items; who has no list has the value 0 where that is the worst.
    assert found.denominators == {"Miscalibration": 1, "ILD": 4, "Novelty": 4}
    assert found["ILD"] == 0.5
    noted = [note for note in found.notes if note.code == "items_undefined"]
    assert [(note.count, "Miscalibration" in note.sentence) for note in noted] == [(3, True)]
    alone = rs.evaluate({"u": ["a"]}, {"u": ["a"]}, "ILD", items=genres)
    assert math.isnan(alone["ILD"])
    assert alone.denominators == {"ILD": 0}


@pytest.mark.parametrize(
    ("measure", "known", "code"),
    [
        ("Novelty", {"history": {"u": ["A"]}}, "no_common_items"),
        ("ILD", {"items": {"A": "pop"}}, "no_common_items"),
        ("Coverage", {"catalogue": ["A"]}, "no_common_items"),
        ("Miscalibration", {"history": {1: ["a"]}, "items": {"a": "pop"}}, "no_common_users"),
    ],
)
def test_inputs_without_a_common_id_are_refused(measure, known, code):
    with refuses(rs.errors.FormatError, code, match="found none: in the run are"):
        rs.evaluate({"u": ["a"]}, {"u": ["a"]}, measure, **known)


def test_new_items_alone_are_new_if_their_ids_are_known_to_be_written_alike():
    """What no user had counts as in a list of old and new items: as if one user had it."""
    new, history = {"u": ["new", "newer"]}, {"u": ["a", "b"], "v": ["a"]}
    asked = ["Novelty", "AvgPopularity", "Serendipity"]
    for known in (
        {"catalogue": ["a", "new", "newer"]},
        {"items": {"a": "pop", "new": "pop"}, "catalogue": ["new", "newer"]},
    ):
        found = rs.evaluate({"u": ["new"]}, new, asked, history=history, **known)
        catalogue = len(known["catalogue"])
        expected = [math.log2(2 / 1), 0.0, 1 / 2 * (catalogue + 1 - 1) / catalogue]
        assert list(found.values()) == expected
        assert found.diagnostics["items_without_history"] == 2
    for known in ({}, {"catalogue": ["new", "newer"]}, {"catalogue": ["a", "b"]}):
        with pytest.raises(rs.errors.FormatError, match="found none") as caught:
            rs.evaluate({"u": ["new"]}, new, "Novelty", history=history, **known)
        assert "If all of these items are new" in str(caught.value.hint)


def test_only_items_above_the_deepest_cutoff_are_noted():
    lists = {"u": ["a", "b", "unheard"]}
    for k, count in ((2, 0), (3, 1)):
        found = rs.evaluate({"u": ["a"]}, lists, f"Novelty@{k}", history=HISTORY)
        assert found.diagnostics.get("items_without_history", 0) == count


def test_numbers_of_a_text_file_are_numbers(tmp_path):
    path = tmp_path / "items.csv"
    for text in (
        "x,y\na,1,0\nb,0.5,\nc,-2e1,3\nd,4,2\n",
        "live,new\na,True,False\nb,False,True\nc,True,True\n",
    ):
        path.write_text(f"item_id,{text}", encoding="utf-8")
        one, other = (
            rs.evaluate(RELEVANT, LISTS, "ILD", items=items)["ILD"]
            for items in (path, pd.read_csv(path))
        )
        assert one == other
    path.write_text("item_id,genre,year\na,pop,1999\n", encoding="utf-8")
    with pytest.raises(rs.errors.FormatError, match=r"'genre' \(text\), 'year' \(number\)"):
        rs.evaluate(RELEVANT, LISTS, "ILD", items=path)
    lines = tmp_path / "items.jsonl"
    lines.write_text('{"item_id":"a","v":[1,0]}\n{"item_id":"b","v":[0.5,1]}\n', encoding="utf-8")
    vectors = {"a": [1.0, 0.0], "b": [0.5, 1.0]}
    expected = rs.evaluate(RELEVANT, LISTS, "ILD", items=vectors)["ILD"]
    assert rs.evaluate(RELEVANT, LISTS, "ILD", items=lines)["ILD"] == expected


@pytest.mark.parametrize(
    "items",
    [
        {"a": "pop", "b": [1.0]},
        {"a": ["pop", 1], "b": "rock"},
        {"a": [object()]},
        {"a": b"pop"},
        {"a": 7, "b": [1.0]},
    ],
)
def test_attributes_that_are_neither_categories_nor_vectors_are_an_error(items):
    with pytest.raises(rs.errors.FormatError) as caught:
        rs.read_items(items)
    assert caught.value.code in {"item_attributes", "column_type"}
    assert caught.value.file == "items"


def test_an_item_can_have_no_attributes():
    known = {"a": "pop", "b": "rock"}
    expected = rs.evaluate(RELEVANT, LISTS, "ILD", items=known)
    found = rs.evaluate(RELEVANT, LISTS, "ILD", items={**known, "c": None})
    assert repr(dict(found)) == repr(dict(expected))


def test_a_history_is_of_users_even_beside_queries(tmp_path):
    rows = [(user, item) for user, items in HISTORY.items() for item in items]
    log = pd.DataFrame(rows, columns=["user_id", "item_id"])
    log.insert(0, "query_id", range(len(log)))
    log["query"] = "some words"
    log.to_csv(tmp_path / "log.csv", index=False)
    expected = rs.evaluate(RELEVANT, LISTS, "Novelty", history=HISTORY)["Novelty"]
    ratings = log[["user_id", "item_id"]].set_axis(["userId", "movieId"], axis=1)
    for history in (ratings, log, pl.from_pandas(log), tmp_path / "log.csv"):
        found = rs.evaluate(RELEVANT, LISTS, "Novelty", history=history)
        assert found["Novelty"] == expected


@pytest.mark.slow
def test_values_do_not_depend_on_the_number_of_threads():
    random = np.random.default_rng(1)
    users = np.repeat(np.arange(20_000), 6)
    run = pd.DataFrame(
        {"user_id": users, "item_id": random.integers(0, 500, len(users)), "score": 1.0}
    ).drop_duplicates(["user_id", "item_id"])
    history = pd.DataFrame(
        {"user_id": users[::3], "item_id": random.integers(0, 400, len(users) // 3)}
    )
    items = pd.DataFrame({"item_id": range(450), "genre": [f"g{n % 7}" for n in range(450)]})
    measures = choose_pairs(measure for measure in MEASURES if measure.k == 4)
    one, three = (
        rs.evaluate(history, run, measures, history=history, items=items, threads=threads)
        for threads in (1, 3)
    )
    assert repr(dict(one)) == repr(dict(three))
    assert repr(one.to_dict()) == repr(three.to_dict())  # NaN is no equal of itself


GROUPS = {"a": ["f"], "b": ["f", "m"], "c": ["m"], "d": ["m"]}


def test_shares_of_groups_are_those_of_categories():
    shares = {"a": [1.0, 0.0], "b": [0.5, 0.5], "c": [0.0, 1.0], "d": [0.0, 3.0]}
    names = ["AWRF", "AWRF(target='uniform')@2", "AWRF(attention='geometric', target='relevant')"]
    texts = rs.evaluate(RELEVANT, LISTS, names, items=GROUPS)
    numbers = rs.evaluate(RELEVANT, LISTS, names, items=shares)
    assert repr(dict(texts)) == repr(dict(numbers))


def test_a_list_of_the_groups_of_its_target_has_the_value_1():
    run = {"u": ["a", "c"]}
    relevant = {"u": ["a", "c"]}
    names = ["AWRF", "AWRF(target='relevant')", "AWRF(target='uniform')"]
    found = rs.evaluate(relevant, run, names, items={"a": "f", "c": "m"})
    assert list(found.values()) == [1.0, 1.0, 1.0]
    one = rs.evaluate(relevant, {"u": ["a"]}, names, items={"a": "f", "c": "m"})
    # Half of the target is left out: (ln(4/3) + ln(2/3)/2 + ln(2)/2) / 2.
    expected = 1 - (math.log(1 / 0.75) + 0.5 * math.log(0.5 / 0.75) + 0.5 * math.log(2)) / 2
    assert list(one.values()) == pytest.approx([expected] * 3)
    none = rs.evaluate(
        {"u": ["a"]}, {"u": ["c"]}, "AWRF(target='relevant')", items={"a": "f", "c": "m"}
    )
    assert none["AWRF(target='relevant')"] == pytest.approx(1 - math.log(2))


def test_the_attention_of_ranks_is_its_formula():
    run = {"u": ["a", "c", "d"]}
    items = {"a": "f", "c": "m", "d": "m"}

    def divergence(share):
        pairs = [(share, 0.5), (1 - share, 0.5)]
        return sum(p * math.log(2 * p / (p + q)) + q * math.log(2 * q / (p + q)) for p, q in pairs)

    for name, weights in {
        "AWRF(target='uniform')": [1, 1, 1 / math.log2(3)],
        "AWRF(attention='geometric', target='uniform')": [1, 0.5, 0.25],
        "AWRF(attention='geometric', p=0.8, target='uniform')": [1, 0.8, 0.64],
        "AWRF(target='uniform')@2": [1, 1],
    }.items():
        found = rs.evaluate({"u": ["a"]}, run, name, items=items)[name]
        assert found == pytest.approx(1 - divergence(weights[0] / sum(weights)) / 2), name


def test_what_is_no_share_of_a_group_is_refused():
    with refuses(rs.errors.FormatError, "item_attributes", match="share of each group"):
        rs.evaluate(RELEVANT, LISTS, "AWRF", items={"a": [1.0, -0.5], "b": [0.0, 1.0]})


def test_groups_of_relevant_items_need_the_judgments():
    rankings = rs.Rankings.from_run(RELEVANT, LISTS)
    known = rs.read_items(items=GROUPS)
    name = "AWRF(target='relevant')"
    expected = rs.evaluate(RELEVANT, LISTS, name, items=GROUPS)
    assert dict(rankings.evaluate(name, items=known)) == dict(expected)
    table = pd.DataFrame(
        [("u", "a", 1.0, 1), ("u", "b", 0.5, 0)],
        columns=["query_id", "doc_id", "score", "relevance"],
    )
    alone = rs.Rankings.from_table(table, ties="doc_id")
    with pytest.raises(rs.errors.MeasureError, match="expected judgments beside the rankings"):
        alone.evaluate(name, items=known)
