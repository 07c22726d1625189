"""Arrays, buffers and lists as grades and scores: N1 to N18 of the catalogue."""

from __future__ import annotations

import math
import pickle
from functools import partial

import numpy as np
import pandas as pd
import polars as pl
import pyarrow as pa
import pytest
import rankscope as rs
from rankscope import Rankings, nDCG

from tests.inputs.array_entries import (
    HUGE_FORMS,
    OK,
    PLAIN,
    REFUSED,
    TRUTHS,
    OnlyCuda,
    OnlyDLPack,
)
from tests.inputs.carriers import meanwhile
from tests.inputs.entry import QRELS, RUN
from tests.inputs.measured import measure
from tests.inputs.outcome import is_refused

SCORES = [2, 3, 1]

OF_GRADES = {
    "from_lists": lambda x: Rankings.from_lists([x]).evaluate(nDCG)[nDCG],
    "ideal of from_lists": lambda x: Rankings.from_lists([PLAIN], ideal=[x]).evaluate(nDCG)[nDCG],
    "from_groups": lambda x: Rankings.from_groups(x, SCORES, [3]).evaluate(nDCG)[nDCG],
    "from_arrays": lambda x: Rankings.from_arrays(x, SCORES, groups="one").evaluate(nDCG)[nDCG],
    "rows of from_arrays": lambda x: Rankings.from_arrays([x] * 2, [SCORES] * 2).evaluate(nDCG)[
        nDCG
    ],
    "ndcg_score": lambda x: rs.ndcg_score([x], [SCORES]),
    "dcg_score": lambda x: rs.dcg_score([x], [SCORES]),
    "ndcg": lambda x: rs.ndcg(x, groups="one"),
    "ndcg by groups": lambda x: rs.ndcg(x, groups=["q"] * 3)[0],
    "ndcg_score by groups": lambda x: rs.ndcg_score(x, SCORES, groups=["q"] * 3),
    "ndcg_score, ties ignored": lambda x: rs.ndcg_score([x], [SCORES], ignore_ties=True),
    "ideal of ndcg": lambda x: rs.ndcg(PLAIN, ideal=x),
    "lists of ndcg": lambda x: rs.ndcg([x, x])[1],
}
OF_SCORES = {
    "from_groups": lambda x: Rankings.from_groups(SCORES, x, [3]).evaluate(nDCG)[nDCG],
    "from_arrays": lambda x: Rankings.from_arrays(SCORES, x, groups="one").evaluate(nDCG)[nDCG],
    "ndcg_score": lambda x: rs.ndcg_score([SCORES], [x]),
    "dcg_score": lambda x: rs.dcg_score([SCORES], [x]),
    "ndcg_score, ties ignored": lambda x: rs.ndcg_score([SCORES], [x], ignore_ties=True),
    "ndcg_score by groups": lambda x: rs.ndcg_score(SCORES, x, groups=["q"] * 3),
}
FLAT = ("from_groups", "from_arrays", "ndcg")
"""Those whose numbers are no list of lists."""
WAYS = {f"grades of {name}": way for name, way in OF_GRADES.items()} | {
    f"scores of {name}": way for name, way in OF_SCORES.items()
}


@pytest.mark.parametrize("way", WAYS)
@pytest.mark.parametrize("form", OK)
def test_what_holds_the_same_numbers_gives_the_same_value(form, way):
    assert WAYS[way](OK[form](PLAIN)) == WAYS[way](PLAIN)


@pytest.mark.parametrize("way", WAYS)
@pytest.mark.parametrize("entry", REFUSED, ids=lambda entry: entry.id)
def test_what_holds_something_else_is_refused_with_its_place(entry, way):
    check_place(is_refused(lambda: WAYS[way](entry.make()), entry.code), way, entry.at)


@pytest.mark.parametrize("way", [way for way in OF_GRADES if "ideal" not in way])
@pytest.mark.parametrize("form", TRUTHS)
def test_truth_values_are_the_grades_1_and_0(form, way):
    make, _ = TRUTHS[form]
    assert OF_GRADES[way](make()) == OF_GRADES[way]([1, 1, 0])
    assert rs.ndcg([0, 1, 0], ideal=make()) == rs.ndcg([0, 1, 0], ideal=[1, 1, 0])


@pytest.mark.parametrize("way", OF_SCORES)
@pytest.mark.parametrize("form", TRUTHS)
def test_truth_values_are_no_scores(form, way):
    make, at = TRUTHS[form]
    error = is_refused(lambda: OF_SCORES[way](make()), "not_numeric")
    check_place(error, f"scores of {way}", at)


@pytest.mark.parametrize("way", WAYS)
@pytest.mark.parametrize("form", HUGE_FORMS)
def test_what_is_beyond_all_doubles_is_refused_as_infinity_is(form, way):
    code = "score_overflow" if way.startswith("scores") else "rel_out_of_range"
    check_place(is_refused(lambda: WAYS[way](HUGE_FORMS[form]()), code), way, 2)


def check_place(error, way, at):
    """Hold the place of a refusal against where it must be."""
    assert error.file in {"relevance", "scores", "y_true", "y_score", "lists", "rel", "ideal"}
    is_flat = way.rpartition(" ")[2] in FLAT or "by groups" in way
    is_nested = not is_flat or "rows" in way or "lists" in way
    place = [at] if at else []
    assert error.location.split(":")[1:] == list(map(str, [1] * is_nested + place))


@pytest.mark.parametrize("tensor", [OnlyDLPack, OnlyCuda])
def test_an_array_that_gives_none_in_main_memory_is_refused(tensor):
    error = is_refused(lambda: Rankings.from_arrays(tensor(), SCORES), "device_array")
    assert ".cpu()" in error.hint


LIAR = """
import numpy as np

class Liar:
    memory = np.zeros(2)
    __array_interface__ = dict(memory.__array_interface__, shape=(10**9,))

class Struct:
    __array_struct__ = np.zeros(2).__array_struct__

codes = []
for one in (Liar(), Struct()):
    for given in (one, [one], [[one]], (1, one), np.array([one, 1], dtype=object)):
        for call in (
            lambda: rs.Rankings.from_arrays(given, [1, 2]),
            lambda: rs.Rankings.from_groups([1, 2], given, [2]),
            lambda: rs.Rankings.from_groups([1], [1], given),
            lambda: rs.Rankings.from_lists(given),
            lambda: rs.Rankings.from_lists([[1]], ideal=given),
            lambda: rs.ndcg(given),
            lambda: rs.ndcg_score(given, [[1, 2]]),
            lambda: rs.ndcg_score(given, [[1, 2]], ignore_ties=True),
            lambda: rs.ndcg_score([[1, 2]], given, ignore_ties=True),
            lambda: rs.ndcg_score([[1]], [[1]], sample_weight=given),
        ):
            try:
                call()
                codes.append("accepted")
            except rs.errors.FormatError as error:
                codes.append(error.code)
value = sorted(set(codes))
"""


def test_an_object_is_not_believed_where_its_memory_lies():
    """NumPy would read a gigabyte behind two numbers, and end the process."""
    found = measure(LIAR)
    assert not found.code
    assert set(found.value) <= {"not_numeric", "array_shape"}


def test_columns_of_different_lengths_are_refused():
    for call in (
        lambda: Rankings.from_groups([1, 0], [1], [2]),
        lambda: Rankings.from_groups([1, 0], [1, 2], [1]),
        lambda: Rankings.from_groups([1, 0], [1, 2], [2, 1]),
        lambda: Rankings.from_arrays([[1, 0]], [[1]]),
        lambda: Rankings.from_arrays([[1, 0]], [[1, 2], [1, 2]]),
        lambda: Rankings.from_lists([[1], [1]], ideal=[[1]]),
        lambda: Rankings.from_table({"qid": [1, 1], "label": [1, 0], "score": [1]}),
        lambda: rs.ndcg_score([[1, 0]], [[1]]),
        lambda: rs.ndcg([[1], [1]], ideal=[[1]]),
    ):
        is_refused(call, "length_mismatch")


@pytest.mark.parametrize("shape", [(), (3, 1), (1, 3), (1, 1, 3), (3, 1, 1)])
def test_an_array_of_another_shape_is_refused(shape):
    odd = np.ones(shape)
    for call in (
        lambda: Rankings.from_groups(odd, SCORES, [3]),
        lambda: Rankings.from_groups(SCORES, odd, [3]),
        lambda: Rankings.from_groups(SCORES, SCORES, odd),
        lambda: rs.ndcg_score([SCORES], [SCORES], sample_weight=odd),
        lambda: Rankings.from_lists([odd]),
        lambda: Rankings.from_table({"qid": [1] * 3, "label": odd, "score": SCORES}),
    ):
        error = is_refused(call, "array_shape")
        assert f"{shape}" in error.message
        assert "ravel()" in error.hint
    if len(shape) != 2:
        is_refused(lambda: Rankings.from_arrays(odd, odd), "array_shape")
        is_refused(lambda: rs.ndcg_score(odd, odd), "array_shape")


def test_rows_of_different_lengths_are_no_matrix():
    """But they are lists."""
    ragged = [[1, 0], [1]]
    error = is_refused(lambda: Rankings.from_arrays(ragged, ragged), "not_numeric")
    assert "from_lists" in error.hint
    assert len(Rankings.from_lists(ragged)) == 2
    assert len(Rankings.from_lists(np.array([[1, 0], [1]], dtype=object))) == 2


def test_lists_in_lists_in_lists_are_refused_however_deep():
    deep = [1]
    for _ in range(100_000):
        deep = [deep]
    itself = []
    itself.append(itself)
    for odd in ([[[1]]], deep, itself):
        is_refused(lambda odd=odd: Rankings.from_arrays(odd, odd), "array_shape")
        is_refused(lambda odd=odd: Rankings.from_lists(odd), "array_shape")
        is_refused(lambda odd=odd: Rankings.from_groups(odd, [1], [1]), "array_shape")


@pytest.mark.parametrize(
    "make",
    [
        lambda: Rankings.from_lists([]),
        lambda: Rankings.from_lists([[]]),
        lambda: Rankings.from_lists([[], []]),
        lambda: Rankings.from_lists([[1]], ideal=[[]]),
        lambda: Rankings.from_lists([[math.nan]]),
        lambda: Rankings.from_groups([], [], []),
        lambda: Rankings.from_groups([], [], [0, 0]),
        lambda: Rankings.from_groups([math.nan], [1], [1]),
        lambda: Rankings.from_arrays([], []),
        lambda: Rankings.from_arrays([[], []], [[], []]),
        lambda: Rankings.from_arrays([[1, 0]], [[math.nan, math.nan]]),
        lambda: Rankings.from_arrays([[math.nan, math.nan]], [[1, 2]]),
        lambda: rs.ndcg_score([], [], groups="one"),
        lambda: rs.ndcg_score([], [], groups=[]),
        lambda: rs.ndcg([], groups=[]),
        lambda: rs.Rankings.from_table({"qid": [], "label": [], "score": []}),
    ],
)
def test_where_nothing_is_judged_there_is_nothing_to_evaluate(make):
    """The same verdict as for judgments without a document."""
    is_refused(make, "empty_input")


def test_ties_by_ids_need_ids():
    is_refused(lambda: Rankings.from_arrays([[1, 0]], [[1, 1]], ties="doc_id"), "ties_need_ids")


def test_an_empty_list_beside_others_is_an_empty_ranking():
    ideal = 1 + 1 / math.log2(3)
    assert rs.dcg([[1, 1], []]).tolist() == [ideal, 0]
    assert rs.ndcg([], ideal=[1]) == 0
    groups = Rankings.from_groups([1, 1], [2, 1], [2, 0]).evaluate(nDCG)
    assert groups.per_query_list(nDCG) == [1, 0]
    assert groups.counts.empty == 1


@pytest.mark.parametrize("kind", ["f2", "f4", "f8", "g"])
def test_nan_is_no_document_in_a_matrix_and_a_grade_that_is_not_known(kind):
    odd = np.array([1, math.nan, 2], dtype=kind)
    assert Rankings.from_arrays(SCORES, odd, groups="one").relevance.tolist() == [1, 2]
    for made in (
        Rankings.from_arrays(odd, [3, 2, 1], groups="one"),
        Rankings.from_groups(odd, [3, 2, 1], [3]),
        Rankings.from_lists([odd]),
    ):
        assert math.isnan(made.relevance[1])
    for place, code, call in (
        ("scores:2", "score_nan", lambda: Rankings.from_groups(SCORES, odd, [1, 2])),
        ("ideal:2", "rel_not_number", lambda: rs.ndcg(PLAIN, ideal=odd)),
        (
            "ideal:2:2",
            "rel_not_number",
            lambda: Rankings.from_lists([[1], PLAIN], ideal=[[1], odd]),
        ),
        ("group_sizes:2", "group_sizes", lambda: Rankings.from_groups(SCORES, SCORES, odd)),
    ):
        assert is_refused(call, code).location == place


@pytest.mark.parametrize("ignore_ties", [False, True])
def test_infinity_is_found_in_the_row_that_has_it(*, ignore_ties):
    holed = [[math.nan, 1, 2], [math.nan, math.inf, 2]]
    for scores, padding in (([SCORES, [1, math.inf, 2]], None), (holed, "nan")):
        choices = {"ignore_ties": ignore_ties, "padding": padding}
        for form in (scores, np.array(scores)):
            call = partial(rs.ndcg_score, [SCORES] * 2, form, **choices)
            assert is_refused(call, "score_overflow").location == "y_score:2:2"
    assert is_refused(lambda: rs.ndcg([[1], holed[1]]), "rel_out_of_range").location == "rel:2:2"


@pytest.mark.parametrize("kind", ["i4", "f4", "f8", object])
def test_a_mask_is_never_lost(kind):
    masked = np.ma.array([1, 9, 2], mask=[False, True, False], dtype=kind)
    for given in (masked[None], [masked], [[1, math.nan, 2]]):
        scores = Rankings.from_arrays([SCORES], given)
        assert scores.scores.tolist() == [2, 1]
        grades = Rankings.from_arrays(given, [[3, 2, 1]])
        assert np.isnan(grades.relevance).tolist() == [False, True, False]
    assert np.isnan(Rankings.from_lists([masked]).relevance).tolist() == [False, True, False]
    grouped = Rankings.from_groups(masked, [3, 2, 1], [3])
    assert np.isnan(grouped.relevance).tolist() == [False, True, False]
    is_refused(lambda: Rankings.from_groups(SCORES, masked, [3]), "score_nan")
    is_refused(lambda: Rankings.from_groups([1] * 3, [1] * 3, masked), "group_sizes")


def test_what_a_mask_hides_may_be_anything():
    hidden = np.ma.array([1, 2**53 + 1, 2], mask=[False, True, False])
    assert rs.cg([hidden])[0] == 3
    assert rs.cg([np.ma.array([1, "x", 2], mask=[0, 1, 0], dtype=object)])[0] == 3


@pytest.mark.parametrize(
    "lists",
    [
        [[1, 2], [3]],
        ([1, 2], (3,)),
        [np.array([1, 2]), np.array([3])],
        np.array([[1, 2], [3]], dtype=object),
        pd.Series([[1, 2], [3]]),
        pl.Series([[1, 2], [3]]),
        pa.array([[1, 2], [3]]),
    ],
)
def test_several_lists_come_in_whatever_holds_them(lists):
    assert rs.ndcg(lists).tolist() == [rs.ndcg([1, 2]), 1]
    assert rs.ndcg(range(1, 3)) == rs.ndcg([1, 2])


@pytest.mark.parametrize(
    ("rel", "code", "location"),
    [
        (np.array(1.0), "array_shape", "rel"),
        (np.zeros((1, 1, 1)), "array_shape", "rel"),
        (None, "not_numeric", "rel"),
        (5, "not_numeric", "rel"),
        ([[1], 2], "not_numeric", "rel:2"),
        ([1, [2]], "array_shape", "rel:2"),
        ([], "empty_input", "rel"),
        ([[], []], "empty_input", "rel"),
        (np.zeros((0, 2)), "empty_input", "rel"),
    ],
)
@pytest.mark.parametrize("function", [rs.cg, rs.dcg, rs.idcg, rs.ndcg])
def test_what_is_neither_a_list_nor_lists_is_refused(function, rel, code, location):
    assert is_refused(lambda: function(rel), code).location == location


def test_columns_of_a_table_are_read_as_arrays_are_and_mistakes_have_their_rows():
    table = {"qid": [1] * 3, "label": [1, 0, 2], "score": OK["N8 unaligned"](PLAIN)}
    assert Rankings.from_table(table).scores.tolist() == sorted(PLAIN, reverse=True)
    masked = np.ma.array(PLAIN, "g", mask=[False, True, False])
    is_refused(lambda: Rankings.from_table({**table, "score": masked}), "missing_score")
    for label, row in (([None, 1, "x"], 3), ([None, 1, [1]], 3), ([None, None, 2**53 + 1], 3)):
        with pytest.raises(rs.errors.FormatError) as caught:
            Rankings.from_table({**table, "label": label})
        assert caught.value.line == row


def test_a_value_repeated_without_memory_is_read():
    """A stride of 0."""
    ones = np.broadcast_to(np.float32(1), (3, 4))
    assert rs.cg(ones).tolist() == [4, 4, 4]
    assert Rankings.from_groups(ones[0], ones[1], np.broadcast_to(2, 2)).scores.tolist() == [1] * 4


def test_an_array_may_be_written_to_while_it_is_read():
    """The values are those of some moment; here, they are finite at every one."""
    grades, scores = np.ones((200, 50)), np.ones((200, 50))
    listed = grades.tolist()
    generator = np.random.default_rng(9)

    def write():
        grades[:] = generator.integers(0, 5, grades.shape)
        scores[:] = generator.integers(0, 5, scores.shape)
        listed[0].append(1.0)
        listed[-1].clear()

    with meanwhile(write):
        for _ in range(50):
            assert 0 <= rs.ndcg_score(grades, scores) <= 1 + 1e-12
            assert np.isfinite(Rankings.from_lists(grades).relevance).all()
            try:
                Rankings.from_lists(listed)
            except (rs.errors.RankscopeError, RuntimeError):
                continue


def test_rankings_do_not_follow_their_arrays_and_tables():
    grades, scores, sizes = np.array([1.0, 0.0]), np.array([1.0, 2.0]), np.array([2])
    columns = {"qid": sizes.repeat(2), "label": grades, "score": scores}
    frame = pd.DataFrame(columns)
    made = [
        Rankings.from_table(frame),
        Rankings.from_groups(grades, scores, sizes),
        Rankings.from_arrays(grades, scores, groups="one"),
        Rankings.from_lists([grades]),
        Rankings.from_table(columns),
    ]
    before = [each.evaluate("RR")["RR"] for each in made]
    for column in (grades, scores, sizes):
        column[:] = 7
    frame.loc[:, ["label", "score"]] = 7.0
    values = [each.evaluate("RR")["RR"] for each in made]
    assert values == before == [1 / 2, 1 / 2, 1 / 2, 1, 1 / 2]
    for each in made:
        with pytest.raises(ValueError, match="read-only"):
            each.relevance[:] = 1


@pytest.mark.parametrize(
    ("sizes", "code", "line"),
    [
        ([1], "length_mismatch", None),
        ([2, 1], "length_mismatch", None),
        ([2**62, 2], "length_mismatch", None),
        ([3, -1], "group_sizes", 2),
        ([0.5, 1.5], "group_sizes", 1),
        ([2, math.nan], "group_sizes", 2),
        ([math.inf, 2], "group_sizes", 1),
        ([True, True], "not_numeric", 1),
        (["2"], "not_numeric", 1),
        (2, "not_numeric", None),
    ],
)
def test_group_sizes_that_do_not_add_up_are_refused(sizes, code, line):
    error = is_refused(lambda: Rankings.from_groups([1, 0], [1, 2], sizes), code)
    assert (error.file, error.line) == ("group_sizes", line)


FUNCTIONS = {
    "ndcg": lambda k: rs.ndcg([1, 2, 0], k=k),
    "dcg": lambda k: rs.dcg([1, 2, 0], k=k),
    "ndcg_score": lambda k: rs.ndcg_score([[1, 2, 0]], [[3, 2, 1]], k=k),
    "dcg_score": lambda k: rs.dcg_score([[1, 2, 0]], [[3, 2, 1]], k=k),
    "measure": lambda k: Rankings.from_lists([[1, 2, 0]]).evaluate(nDCG @ k)[nDCG @ k],
}


@pytest.mark.parametrize("k", [0, -1, 2.5, True, np.True_, np.float64(2), "2", 2j, [[1]]])
def test_a_cutoff_that_is_none_is_refused(k):
    for compute in FUNCTIONS.values():
        is_refused(lambda compute=compute: compute(k), "bad_parameter")


@pytest.mark.parametrize("function", FUNCTIONS)
def test_a_cutoff_is_any_positive_integer_or_none(function):
    compute = FUNCTIONS[function]
    for integer in (np.int64, np.uint8):
        assert compute(integer(2)) == compute(2)
    for longer in (3, 2**31, 2**63 - 1):
        assert compute(longer) == compute(3)
    if function != "measure":
        assert compute(None) == compute(3)


@pytest.mark.parametrize("k", [np.array(2), {1, 2}, {1: 2}, iter([1]), b"12", "every"])
def test_cutoffs_have_an_order(k):
    is_refused(lambda: rs.ndcg([1, 2, 0], k=k), "bad_parameter")
    two, one = rs.ndcg([1, 2, 0], k=(2, 1))
    assert (two, one) == (rs.ndcg([1, 2, 0], k=2), rs.ndcg([1, 2, 0], k=1))
    for several in (range(2, 0, -1), np.array([2, 1]), pd.Series([2, 1]), pl.Series([2, 1])):
        assert rs.ndcg([1, 2, 0], k=several).tolist() == [two, one]


def test_a_cutoff_beyond_all_lists_is_the_whole_list():
    far, farther = 10**20, 10**30
    found = rs.evaluate({"q": {"a": 1, "b": 2}}, {"q": {"a": 2.0}}, [nDCG @ far, nDCG @ farther])
    assert set(found.values()) == {rs.ndcg([1], ideal=[1, 2])}
    assert found.counts.retrieved_at_k == {far: 1, farther: 1}
    matrix = np.array([[1.0, 2.0]])
    for given in (matrix, matrix.tolist()):
        assert rs.ndcg_score(given, given, k=far) == 1


@pytest.mark.parametrize(
    "weights", [[1, math.inf], [1, -1], [1, math.nan], [1], [0, 0], ["a", "b"]]
)
def test_a_weight_that_is_none_is_refused(weights):
    for matrix in ([[1, 0]] * 2, np.array([[1, 0]] * 2)):
        with pytest.raises(rs.errors.RankscopeError) as caught:
            rs.ndcg_score(matrix, matrix, sample_weight=weights)
        assert caught.value.file == "sample_weight"


def test_negative_gains_are_what_the_policy_says():
    is_refused(lambda: rs.ndcg_score([[1, -1]], [[2, 1]]), "negative_gain")
    is_refused(lambda: rs.ndcg([1, -1], negative="error"), "negative_gain")
    assert rs.ndcg([-1, 1]) == 1 / math.log2(3)
    assert rs.dcg([-1, 1], negative="gain") == -1 + 1 / math.log2(3)
    assert rs.dcg_score([[1, -1]], [[2, 1]]) == 1 - 1 / math.log2(3)


def test_gains_that_overflow_are_refused():
    """2^1000 is a double, and its ratio is exact."""
    assert rs.ndcg([1000, 1000], gain="exp2") == 1
    is_refused(lambda: rs.ndcg([1024], gain="exp2"), "gain_overflow")
    is_refused(lambda: rs.ndcg([1023, 1023, 1023], gain="exp2"), "gain_overflow")
    is_refused(lambda: rs.cg([1e308, 1e308]), "gain_overflow")


def test_many_tiny_values_are_added_exactly():
    """A float adds 10^6 such values to something else, by each order of them."""
    tiny, count = 0.1 * 2**-40, 1_000_000
    grades = np.full(count, tiny)
    grades[0] = 1.0
    expected = math.fsum(grades.tolist()) / count
    assert expected != sum(grades.tolist()) / count
    for column in (grades, grades[::-1], np.random.default_rng(14).permutation(grades)):
        rankings = Rankings.from_groups(column, np.zeros(count), np.ones(count, dtype=int))
        assert rankings.evaluate("CG")["CG"] == expected


@pytest.mark.parametrize("threads", [1, 2, 7])
def test_threads_add_to_one_sum(threads):
    tiny = 0.1 * 2**-40
    qrels = [("q", "d", 1.0), *((f"q{at}", "d", tiny) for at in range(20_000))]
    run = b"".join(b"%s Q0 d 1 1 t\n" % query.encode() for query, _, _ in qrels)
    expected = math.fsum([1.0] + [tiny] * 20_000) / 20_001
    assert rs.evaluate(qrels, run, "CG", threads=threads)["CG"] == expected


CUT = """
import os
import numpy as np
path = {path!r}
np.save(path, np.ones((100_000, 4)))
mapped = np.load(path, mmap_mode="r")
{act}
value = []
for given in (mapped, mapped[5:, 1:], np.asarray(mapped), memoryview(mapped), list(mapped[-2:])):
    for call in (
        lambda: rs.Rankings.from_arrays(given, given),
        lambda: rs.Rankings.from_lists(given),
        lambda: rs.ndcg_score(given, given),
    ):
        try:
            call()
            value.append("accepted")
        except rs.errors.FormatError as error:
            value.append(error.code)
value = sorted(set(value))
"""


@pytest.mark.parametrize(
    ("act", "code"),
    [("os.truncate(path, 4096)", "changed_while_reading"), ("os.unlink(path)", "accepted")],
)
def test_an_array_is_read_from_a_deleted_file_but_not_from_a_cut_one(act, code, tmp_path):
    """To read beyond the end of the file would end the process."""
    found = measure(CUT.format(path=str(tmp_path / "a.npy"), act=act))
    assert (found.code, found.value) == ("", [code])


class Bomb:
    """Something that runs when it is unpickled."""

    def __reduce__(self):
        return pytest.fail, ("it was unpickled",)


def test_files_of_numpy_are_not_unpickled(tmp_path):
    """Nor are they anything else that is read here."""
    path = tmp_path / "bomb.npy"
    np.save(path, np.array([Bomb()], dtype=object), allow_pickle=True)
    packed = tmp_path / "bomb.npz"
    np.savez(packed, allow_pickle=True, bomb=np.array([Bomb()], dtype=object))
    for odd, code in (
        (path, "encoding"),
        (packed, "not_text"),
        (path.read_bytes(), "encoding"),
        (pickle.dumps(Bomb()), "encoding"),
    ):
        is_refused(lambda odd=odd: rs.evaluate(odd, RUN, "AP"), code)
        is_refused(lambda odd=odd: rs.evaluate(QRELS, odd, "AP"), code)
    is_refused(lambda: Rankings.from_arrays(str(path), SCORES), "not_numeric")
