"""A measure is immutable, hashable, picklable, and knows its parameters."""

from __future__ import annotations

import math

import numpy as np
import pytest
from rankscope.errors import MeasureError
from rankscope.measures import (
    AP,
    DCG,
    ERR,
    RBP,
    RR,
    F,
    IPrec,
    NumRelRet,
    NumRet,
    P,
    R,
    SetF,
    domains,
    nDCG,
)
from rankscope.measures.domains import _complete, _is_complete, literal
from rankscope.measures.parse import parse


def square(grade):
    return grade * grade


@pytest.mark.parametrize(
    ("measure", "name", "plain_name"),
    [
        (nDCG @ 10, "nDCG@10", "ndcg_at_10"),
        (nDCG, "nDCG", "ndcg"),
        (nDCG(gain="exp2") @ 10, "nDCG(dcg='exp-log2')@10", "ndcg_at_10_gain_exp2"),
        (nDCG(gain={1: 3, 0: 0}) @ 10, "nDCG(gains={0: 0, 1: 3})@10", "ndcg_at_10_gain_0_0_1_3"),
        (nDCG(gain=[0, 3]) @ 10, "nDCG(gains={0: 0, 1: 3})@10", "ndcg_at_10_gain_0_0_1_3"),
        (
            nDCG(gain="exp2", discount="log", base=3),
            "nDCG(gain='exp2', discount='log', base=3)",
            "ndcg_gain_exp2_discount_log_base_3",
        ),
        (DCG(gain="exp2") @ 5, "DCG(gain='exp2')@5", "dcg_at_5_gain_exp2"),
        (nDCG(ideal="retrieved") @ 3, "nDCG(ideal='retrieved')@3", "ndcg_at_3_ideal_retrieved"),
        (nDCG(discount=[1, 0.5]) @ 2, "nDCG(discount=[1, 0.5])@2", "ndcg_at_2_discount_1_0p5"),
        (nDCG(gain=square) @ 2, "nDCG(gain=<square>)@2", "ndcg_at_2_gain_function_square"),
        (P(rel=2) @ 5, "P(rel=2)@5", "p_at_5_rel_2"),
        (nDCG(gain="binary") @ 5, "nDCG(gain='binary')@5", "ndcg_at_5_gain_binary"),
        (AP(denominator="found") @ 5, "AP(denominator='found')@5", "ap_at_5_denominator_found"),
        (RBP(p=0.9), "RBP(p=0.9)", "rbp_p_0p9"),
        (RBP(p=0.8), "RBP", "rbp"),
        (IPrec @ 0.1, "IPrec@0.1", "iprec_at_0p1"),
        (SetF(beta=0.5), "SetF(beta=0.5)", "setf_beta_0p5"),
        (AP(judged_only=True) @ 100, "AP(judged_only=True)@100", "ap_at_100_judged_only"),
        (NumRelRet, "NumRet(rel=1)", "numret_rel_1"),
        (RR @ np.int64(10), "RR@10", "rr_at_10"),
        (P(rel=np.float32(2)) @ 5, "P(rel=2)@5", "p_at_5_rel_2"),
        (nDCG @ 10**20, "nDCG@100000000000000000000", "ndcg_at_100000000000000000000"),
    ],
)
def test_a_measure_is_printed_with_what_is_not_the_default(measure, name, plain_name):
    assert (measure.name, str(measure), repr(measure)) == (name, name, name)
    assert measure.plain_name == plain_name


def test_what_one_tool_says_two_ways_is_one_measure():
    assert nDCG(dcg="exp-log2") @ 10 == nDCG(gain="exp2") @ 10 == nDCG(gain="exp2", cutoff=10)
    assert nDCG(gains={0: 0, 1: 1}) == nDCG(gain=[0, 1])
    assert NumRet(rel=1) == NumRelRet
    assert len({nDCG @ 10, nDCG(k=10), nDCG @ 10 @ 10}) == 1
    assert nDCG(gain="linear", discount="log2", ideal="judged") == nDCG
    assert P(rel=1) == P


def test_a_measure_is_not_equal_to_its_name():
    assert nDCG @ 10 != "nDCG@10"
    assert nDCG != nDCG @ 10
    assert AP != RR


def test_a_measure_cannot_be_changed():
    with pytest.raises(AttributeError):
        nDCG.values = ()


def test_properties_say_what_was_given():
    measure = nDCG(gain="exp2", judged_only=True) @ 10
    assert measure.k == 10
    assert measure.judged_only
    assert measure.row.name == "nDCG"
    assert measure.parameters["gain"] == "exp2"
    assert measure.settings == {"k": 10, "gain": "exp2", "judged_only": True}
    assert (IPrec @ 0.5).k is None


@pytest.mark.parametrize("k", [0, -1, 2.5, 10.0, True, np.True_, "10", "all", None, [10], b"1"])
def test_a_cutoff_is_a_positive_integer(k):
    with pytest.raises(MeasureError, match="expected k to be a positive integer") as caught:
        nDCG @ k
    assert caught.value.code == "bad_parameter"
    assert "nDCG@10" in caught.value.hint


@pytest.mark.parametrize(
    ("make", "expected", "hint"),
    [
        (lambda: nDCG(gain="exp"), "expected gain to be", "did you mean 'exp2'?"),
        (lambda: P(denominator="found"), '"cutoff" or "retrieved", found', ""),
        (lambda: R(denominator="reach"), '"relevant" or "reachable"', "did you mean 'reachable'?"),
        (lambda: nDCG(discount="logg"), "expected discount to be", "did you mean 'log'?"),
        (lambda: nDCG(idael="judged"), "no parameter 'idael'", "did you mean 'ideal'?"),
        (lambda: nDCG(ideal="perfect"), "'judged' or 'retrieved'|\"judged\"", ""),
        (lambda: nDCG(base=3), "base belongs to discount='log'", "discount='log'"),
        (lambda: nDCG(discount="zipf", base=3), "base belongs to", "remove base"),
        (lambda: nDCG(discount="log", s=2), "s belongs to discount='zipf'", ""),
        (lambda: nDCG(discount="log", base=1), "a number above 1", ""),
        (lambda: nDCG(discount=[]), "expected discount", ""),
        (lambda: nDCG(discount=[1, -1]), "expected discount", ""),
        (lambda: nDCG(gain={}), "expected gain", ""),
        (lambda: nDCG(gain=[0, float("nan")]), "expected gain", ""),
        (lambda: nDCG(gain={1, 2}), "expected gain", ""),
        (lambda: nDCG(dcg="log"), "dcg to be 'log2' or 'exp-log2'", ""),
        (lambda: nDCG(dcg="log2", gain="exp2"), "gain is set twice", ""),
        (lambda: nDCG(rel=2), "nDCG has no parameter 'rel'", "its parameters are"),
        (lambda: nDCG(top_k=5), "nDCG has no parameter 'top_k'", "write nDCG@10 or nDCG(k=10)"),
        (lambda: P(rel=-1), "a number, 0 or more", ""),
        (lambda: P(rel="2"), "a number, 0 or more", ""),
        (lambda: P(rel=True), "a number, 0 or more", ""),
        (lambda: P(rel=float("inf")), "a number, 0 or more", ""),
        (lambda: AP(judged_only=1), "True or False", ""),
        (lambda: RBP(p=1), "between 0 and 1, both excluded", ""),
        (lambda: RBP(max_grade=3), "max_grade belongs to graded=True", "graded=True"),
        (lambda: RBP(graded=True, rel=2), "rel belongs to graded=False", ""),
        (lambda: ERR(max_grade=0), "a positive number up to 1023", ""),
        (lambda: F(beta=0), "a positive number", ""),
        (lambda: IPrec @ 1.1, "expected recall to be a number from 0 to 1", ""),
        (lambda: SetF @ 10, "SetF takes no cutoff, found @10", "write SetF"),
        (lambda: nDCG @ 10**5000, "found a very large int", ""),
        (lambda: nDCG(gain="x" * 1000), "…", ""),
    ],
)
def test_a_parameter_outside_its_domain_is_refused(make, expected, hint):
    assert callable(make)
    with pytest.raises(MeasureError, match=expected) as caught:
        make()
    assert caught.value.code == "bad_parameter"
    assert hint in caught.value.hint


@pytest.mark.parametrize(
    ("domain", "limit"),
    [
        (domains.CUTOFF, 10**100),
        (domains.DIVISOR, 2**53),
        (domains.DEPTH, 1_000_000),
        (domains.COUNT, 2**53),
        (domains.TOP_GRADE, 1023),
        (domains.SCALE, 1023),
    ],
    ids=["cutoff", "divisor", "depth", "count", "top grade", "scale"],
)
def test_a_whole_number_has_a_limit(domain, limit):
    for number in (limit - 1, limit):
        assert domain.read(number) == number
    # 2**53 + 1 is no double.
    for number in (limit + 1, limit + 2):
        if domain is domains.COUNT and float(number) == limit:
            continue
        with pytest.raises(ValueError, match=r"^$"):
            domain.read(number)


@pytest.mark.parametrize(
    ("write", "most", "said"),
    [
        ("P@10".ljust, 100_000, "at most 100,000 characters, found 100,001"),
        (lambda digits: f"P@{'10'.zfill(digits)}", 200, "found one of 201 digits"),
    ],
)
def test_a_measure_is_written_in_so_many_characters_at_most(write, most, said):
    for length in (most - 1, most):
        assert parse(write(length)).name == "P@10"
    with pytest.raises(MeasureError, match=said):
        parse(write(most + 1))


def test_a_persistence_is_at_most_9999_of_10_000():
    assert domains.PERSISTENCE.read(0.9999) == 0.9999
    with pytest.raises(ValueError, match=r"^$"):
        domains.PERSISTENCE.read(0.999_901)


def test_integers_below_2_to_the_53_are_written_without_a_point():
    assert literal(2.0**53 - 1) == "9007199254740991"
    assert literal(2.0**53) == "9007199254740992.0"


@pytest.mark.parametrize("highest", [9, 10, 11])
def test_the_level_of_ranx_gives_grades_up_to_10_a_gain(highest):
    gains = dict(parse("ndcg-l2").settings["gain"])
    assert gains.get(float(highest)) == (highest if highest <= 10 else None)


@pytest.mark.parametrize(
    ("domain", "ends", "are_in"),
    [
        (domains.PROBABILITY, (0.0, 1.0), False),
        (domains.FRACTION, (0.0, 1.0), True),
        (domains.POSITIVE, (0.0,), False),
        (domains.PERSISTENCE, (0.0,), False),
        (domains.TOP_GRADE, (0.0,), False),
        (domains.BASE, (1.0,), False),
    ],
    ids=["probability", "fraction", "positive", "persistence", "top grade", "base"],
)
def test_a_number_has_ends(domain, ends, *, are_in):
    for end, inside in zip(ends, (math.inf, -math.inf), strict=False):
        near = math.nextafter(end, inside)
        assert domain.read(near) == near
        beyond = math.nextafter(end, -inside)
        for number in (beyond,) if are_in else (beyond, end):
            with pytest.raises(ValueError, match=r"^$"):
                domain.read(number)
        if are_in:
            assert domain.read(end) == end


def test_a_plain_name_has_120_characters_at_most():
    made = "nDCG(gain='exp2', ideal='retrieved')@1"
    rest = parse(made).plain_name.removeprefix("ndcg_at_1")
    for length in (119, 120):
        name = parse(made + "0" * (length - len(f"ndcg_at_1{rest}"))).plain_name
        assert len(name) == length
        assert name.endswith(f"0{rest}")
    # What would be longer ends in a checksum.
    name = parse(made + "0" * (121 - len(f"ndcg_at_1{rest}"))).plain_name
    assert len(name) == 120
    assert not name.endswith(rest)


@pytest.mark.parametrize(("highest", "count"), [(99, 100), (100, 101), (101, 1)])
def test_a_table_of_gains_up_to_grade_100_is_completed(highest, count):
    gains = _complete({highest: 5.0})
    assert isinstance(gains, dict)
    assert len(gains) == count
    assert _is_complete(((float(highest), 5.0),)) == (highest > 100)


@pytest.mark.parametrize(
    ("name", "hint"),
    [
        # Twice the number of letters in common, divided by that of all: 2 * 3 / 8 = 0.75.
        ("nxcg", "did you mean 'nDCG'?"),
        # 2 * 13 / 35 = 0.743
        ("personalizatixxxxxxx", "`rankscope measures` lists them"),
    ],
)
def test_a_name_is_suggested_if_three_quarters_are_alike(name, hint):
    with pytest.raises(MeasureError) as caught:
        parse(name)
    assert caught.value.hint == hint
