"""Measures are read from text: our names and those of other tools."""

from __future__ import annotations

import pytest
import rankscope as rs
from rankscope import evaluate
from rankscope._cli import main
from rankscope.errors import MeasureError
from rankscope.measures import nDCG, parse
from rankscope.measures.parse import split_measures

from tests.refusals import refused

ABOVE_3 = "0: 0, 1: 0, 2: 0, 3: 3, 4: 4, 5: 5, 6: 6, 7: 7, 8: 8, 9: 9, 10: 10"
"""What `-l3` of ranx leaves of the grades."""

SAME = {
    # ir_measures
    " nDCG @ 10 ": "nDCG@10",
    "NDCG@10": "nDCG@10",
    "nDCG(cutoff=10)": "nDCG@10",
    "nDCG(dcg='log2')@10": "nDCG@10",
    'nDCG(dcg="exp-log2",judged_only=True)@10': "nDCG(dcg='exp-log2', judged_only=True)@10",
    "nDCG(gains={0:0,1:3,})@10": "nDCG(gains={0: 0, 1: 3})@10",
    "nDCG(gains={3: 9})@10": "nDCG(gains={0: 0, 1: 1, 2: 2, 3: 9})@10",
    "nDCG(gain=[0, 1, 3,])@10": "nDCG(gains={0: 0, 1: 1, 2: 3})@10",
    "nDCG()": "nDCG",
    "MAP@100": "AP@100",
    "MRR@10": "RR@10",
    "Precision@5": "P@5",
    "Recall@1000": "R@1000",
    "RPrec(rel=2)": "Rprec(rel=2)",
    "IPrec(rel=2)@.5": "IPrec(rel=2)@0.5",
    "IPrec(recall=0.2)": "IPrec@0.2",
    "BPref(rel=2)": "Bpref(rel=2)",
    "RBP(p=0.8, rel=1)": "RBP",
    "SDCG(dcg='log2', max_rel=3)@5": "SDCG(max_rel=3)@5",
    "NumRet(rel=None)": "NumRet",
    "NumRelRet": "NumRet(rel=1)",
    # trec_eval
    "ndcg_cut.10": "nDCG@10",
    "map": "AP",
    "map_cut_10": "AP@10",
    "gm_map": "GMAP",
    "gm_bpref": "GMBpref",
    "P_5": "P@5",
    "P.5": "P@5",
    "recall_100": "R@100",
    "iprec_at_recall.0.10": "IPrec@0.1",
    "Rprec ": "Rprec",
    "set_P": "SetP",
    "set_recall": "SetR",
    "set_map": "SetAP",
    "success_5": "Success@5",
    "bpref": "Bpref",
    "num_ret": "NumRet",
    "num_rel": "NumRel",
    "num_q": "NumQ",
    "dcg": "DCG",
    "ideal_dcg": "IDCG",
    "rbp_resid": "RBPResidual(p=0.9)",
    # ranx
    "ndcg_burges": "nDCG(dcg='exp-log2')",
    "dcg@10": "DCG@10",
    "dcg_burges@10": "DCG(gain='exp2')@10",
    "mrr@10": "RR@10",
    "map@100": "AP@100",
    "precision": "SetP",
    "precision@5": "P@5",
    "recall": "SetR",
    "recall@5": "R@5",
    "hit_rate@10": "Success@10",
    "hits@10": "NumRet(rel=1)@10",
    "hits@10-l2": "NumRet(rel=2)@10",
    "hit_rate": "Success",
    "hit_rate-l2": "Success(rel=2)",
    "precision-l2@5": "P(rel=2)@5",
    "ndcg@10-l3": f"nDCG(gains={{{ABOVE_3}}})@10",
    "ndcg-l3": f"nDCG(gains={{{ABOVE_3}}})",
    "dcg-l3@5": f"DCG(gain={{{ABOVE_3}}})@5",
    "dcg_burges-l8": "DCG(gain={0: 0, 1: 0, 2: 0, 3: 0, 4: 0, 5: 0, 6: 0, 7: 0, 8: 255, 9: 511, "
    "10: 1023})",
    "hr@5": "Success@5",
    "hit_rate@5-l2": "Success(rel=2)@5",
    "r-precision": "Rprec",
    "rbp.80": "RBP(graded=True, max_grade=None)",
    "rbp.95": "RBP(p=0.95, graded=True, max_grade=None)",
    "precision@5-l2": "P(rel=2)@5",
    "map-l2": "AP(rel=2)",
    "r-precision-l2": "Rprec(rel=2)",
    # any case, where it does not matter
    "p@5": "P@5",
    "NDCG_CUT_10": "nDCG@10",
    "infap": "infAP",
    "PRECISION@5": "P@5",
    "err@20": "ERR@20",
    "HitRate@10": "Success@10",
    "setf(beta=2)": "SetF(beta=2.0)",  # which ir_measures refuses as 2
}


@pytest.mark.parametrize("text", SAME)
def test_a_name_is_read(text):
    measure = parse(text)
    assert str(measure) == SAME[text]
    assert parse(str(measure)) == measure


def test_a_measure_is_returned_as_it_is():
    assert parse(nDCG @ 10) == nDCG @ 10


@pytest.mark.parametrize(
    ("text", "expected", "hint"),
    [
        ("ndcg@", "expected a number after '@', found ''", "nDCG@10"),
        ("ndcg@-1", "expected k to be a positive integer, found -1", "nDCG@10"),
        ("ndcg@0", "expected k to be a positive integer, found 0", "nDCG@10"),
        ("ndcg@1e3", "expected k to be a positive integer, found 1000.0", "nDCG@10"),
        ("ndcg@ten", "expected a number after '@', found 'ten'", ""),
        ("nDCG@10@5", "expected a number after '@', found '10@5'", ""),
        ("P_2.5", r"expected k to be a positive integer up to 2\*\*53, found 2.5", "P@10"),
        ("P_5@10", "k is set twice", ""),
        ("nDCG(k=5)x", "expected '\\(', '@' or the end, found 'x'", ""),
        ("nDCG(", "expected the name of a parameter, found ''", ""),
        ("nDCG(10)", "expected the name of a parameter, found '10\\)'", ""),
        ("nDCG(k)", "expected '=', found '\\)'", ""),
        ("nDCG(k=", "expected a value, found ''", ""),
        ("nDCG(k=5", "expected '\\)', found ''", ""),
        ("nDCG(k=5 gain='exp2')", "expected '\\)', found", ""),
        ("nDCG(k=5, k=6)", "k is set twice", ""),
        ("nDCG(gain=exp2)", "expected a value, found 'exp2'", "put it in quotes: 'exp2'"),
        ("nDCG(gain='exp2)", "expected a value", ""),
        ("nDCG(gain=<square>)", "functions can't be written as text", "table"),
        ("nDCG(gains={0: 0, 0: 1})", "0 is set twice", ""),
        ("nDCG(gains={'a': 0})", "expected a grade", ""),
        ("nDCG(gains={0 0})", "expected ':', found", ""),
        ("nDCG(discount=[1 2])", "expected '\\]', found", ""),
        ("nDCG(x=__import__('os'))", "expected a value", ""),
        ("rbp.95-l2", "the grades below a level have no gain", "RBP(p=0.95, rel=2)"),
        ("nDCG@" + "9" * 5000, "expected a number, found one of 5000 digits", ""),
    ],
)
def test_text_that_is_no_measure_says_where(text, expected, hint):
    with pytest.raises(MeasureError, match=expected) as caught:
        parse(text)
    assert caught.value.code == "bad_parameter"
    assert hint in caught.value.hint


@pytest.mark.parametrize(
    ("text", "hint"),
    [
        ("ndgc@10", "did you mean 'nDCG@10'?"),
        ("nDGC", "did you mean 'nDCG'?"),
        ("recip_rnak", "did you mean 'RR'?"),
        ("aggregated_loss", "`rankscope measures` lists them"),
        ("ndcg_ct_10", "did you mean 'nDCG'?"),
        ("Sucess@5", "did you mean 'Success@5'?"),
        ("", "`rankscope measures` lists them"),
        ("3pt_mean", "`rankscope measures` lists them"),
        ("🙂", "`rankscope measures` lists them"),
    ],
)
def test_an_unknown_name_says_what_was_meant(text, hint):
    with pytest.raises(MeasureError, match="unknown measure") as caught:
        parse(text)
    assert caught.value.code == "unknown_measure"
    assert caught.value.hint == hint


@pytest.mark.parametrize(
    ("text", "hint"),
    [
        ("rbp@95", "RBP@95 has this cutoff; ranx's rbp@95 has p=0.95, which is rbp.95 here"),
        ("Hits@5", "Success@5 is 1 for a query with a hit, and NumRet(rel=1)@5 counts hits"),
        (
            "context_precision@5",
            "AP(denominator='found')@5 is that of Ragas, P@5 the ID-based one",
        ),
        ("context_recall", "R@k is the ID-based one; that of Ragas compares texts"),
    ],
)
def test_a_name_of_several_measures_says_which(text, hint):
    with pytest.raises(MeasureError, match="unknown measure") as caught:
        parse(text)
    assert caught.value.hint == hint


@pytest.mark.parametrize("text", ["PRECISION", "RECALL"])
def test_letters_of_any_case_are_refused_where_they_would_be_a_guess(text):
    with pytest.raises(MeasureError, match=r"can mean .* or ") as caught:
        parse(text)
    assert caught.value.hint == "this name is case-sensitive"


@pytest.mark.parametrize("value", [10, [10], b"nDCG"])
def test_what_is_no_measure_is_not_evaluated(value):
    with pytest.raises(MeasureError, match="expected a measure or its name, found"):
        evaluate({"q": {"a": 1}}, {"q": {"a": 1}}, value)


QRELS = {"q1": {"d1": 3, "d2": 0, "d3": 1}, "q2": {"d4": 1}}
RUN = {"q1": {"d2": 0.9, "d1": 0.8, "d3": 0.4}, "q2": {"d5": 0.7, "d4": 0.6}}


@pytest.mark.parametrize(
    ("text", "names"),
    [
        ("nDCG@1,5,10", ["nDCG@1", "nDCG@5", "nDCG@10"]),
        ("nDCG @ 1, 5", ["nDCG@1", "nDCG@5"]),
        ("P@5,10,AP,R@3", ["P@5", "P@10", "AP", "R@3"]),
        ("RBP(p=0.5)@1,2", ["RBP(p=0.5)@1", "RBP(p=0.5)@2"]),
        ("nDCG(gain=[0, 1, 2, 7])@1,2", ["nDCG(gain=[0, 1, 2, 7])@1", "nDCG(gain=[0, 1, 2, 7])@2"]),
        ("P_5,10", ["P_5", "P_10"]),
        ("ndcg_cut.5,10", ["ndcg_cut.5", "ndcg_cut.10"]),
        ("IPrec@0.1,0.2", ["IPrec@0.1", "IPrec@0.2"]),
    ],
)
def test_a_number_after_a_comma_is_one_more_cutoff(text, names):
    assert split_measures([text]) == names
    expected = rs.evaluate(QRELS, RUN, names)
    assert dict(rs.evaluate(QRELS, RUN, text)) == dict(expected)
    assert dict(rs.evaluate(QRELS, RUN, [text])) == dict(expected)
    assert dict(rs.Rankings.from_run(QRELS, RUN).evaluate([text])) == dict(expected)


def test_one_measure_is_expected_where_one_is_taken():
    error = refused(lambda: rs.Rankings.from_run(QRELS, RUN).losses("nDCG@1,5"), "bad_parameter")
    assert "found 2" in error.message
    refused(lambda: rs.parse("nDCG@1,5"), "bad_parameter", "a number after '@'")


@pytest.mark.parametrize("text", ["AP,10", "10", "10,nDCG@5", ",5"])
def test_a_number_without_a_cutoff_before_it_is_refused(text):
    with pytest.raises(MeasureError, match="found a number alone") as caught:
        rs.evaluate(QRELS, RUN, [text])
    assert "nDCG@1,5,10" in caught.value.hint


@pytest.mark.parametrize(
    "words",
    [
        "qrels.txt a.run -m nDCG@3 AP",
        "qrels.txt -m nDCG@3 AP a.run",
        "-m nDCG@3 AP qrels.txt a.run",
        "-m nDCG@3, AP qrels.txt a.run",
        "-m nDCG@3 -m AP qrels.txt a.run",
        "qrels.txt a.run --measure=nDCG@3 AP",
        "qrels.txt a.run -m nDCG@3,AP",
    ],
)
def test_measures_can_follow_the_option_in_any_order(words, tmp_path, monkeypatch, capsys):
    monkeypatch.chdir(tmp_path)
    (tmp_path / "qrels.txt").write_text("q1 0 d1 1\nq1 0 d2 1\n")
    (tmp_path / "a.run").write_text("q1 Q0 d2 1 2.0 a\n")
    assert main(["eval", *words.split()]) == 0
    assert capsys.readouterr().out == "nDCG@3\t0.6131\nAP\t0.5000\n"


def test_a_file_is_a_file_even_if_it_is_called_as_a_measure(tmp_path, monkeypatch, capsys):
    monkeypatch.chdir(tmp_path)
    (tmp_path / "AP").write_text("q1 0 d1 1\n")
    (tmp_path / "r").write_text("q1 Q0 d1 1 2.0 a\n")
    assert main(["eval", "-m", "P@1", "AP", "r"]) == 0
    assert capsys.readouterr().out == "P@1\t1.0000\n"


def test_a_word_after_the_measures_that_is_no_file_is_an_unknown_measure(capsys):
    assert main(["eval", "q.txt", "r.run", "-m", "AP", "nDGC@3"]) == 2
    assert "unknown measure 'nDGC@3' [unknown_measure]" in capsys.readouterr().err
