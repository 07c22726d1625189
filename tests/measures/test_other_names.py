"""The names of other tools, both ways, and names that are refused with what to use."""

from __future__ import annotations

import re
from pathlib import Path
from string import Formatter

import pytest
import rankscope
from rankscope._conventions import adapt, find
from rankscope.errors import MeasureError
from rankscope.measures import (
    AP,
    CG,
    INST,
    RBP,
    RR,
    TABLE,
    F,
    IPrec,
    NumRelRet,
    P,
    R,
    Rprec,
    SetF,
    SetRelP,
    Unjudged,
    nDCG,
    parse,
)
from rankscope.measures.compat import TOOLS, find_difference, name_in, spellings, translations
from rankscope.measures.other_names import OTHER_NAMES

MEANT = [other for other in OTHER_NAMES if other.means]
REFUSED = [other for other in OTHER_NAMES if other.instead]
NUMBERS = {"k": "10", "p": "0.8", "T": "2", "H": "22.4", "L": "50", "b": "0.9", "R": "10"} | {
    "A": "0.2",
    "c": "0.8",
    "S": "5",
    "r": "0.25",
    "h": "1",
}
MEASURE = re.compile(r"[A-Za-z]\w*\([^()…]*=[^()…]*\)(?:@\d+)?|[A-Z]\w*@\d+")


def fill(name):
    """Return a name with numbers where it takes some."""
    return name.format(**NUMBERS)


def places(text):
    return {field for _, field, _, _ in Formatter().parse(text) if field}


@pytest.mark.parametrize("other", OTHER_NAMES, ids=lambda other: other.names[0])
def test_a_name_means_a_measure_or_is_refused(other):
    assert bool(other.means) != bool(other.instead)
    assert other.note == "" or other.note.endswith(".")
    assert len({bool(places(name)) for name in other.names}) == 1
    for name in other.names:
        assert places(other.means) <= places(name)
        assert places(other.instead) <= places(name) | {"at"}


@pytest.mark.parametrize("other", MEANT, ids=lambda other: other.names[0])
def test_a_name_is_read_as_the_measure_it_means(other):
    for name in other.names:
        assert parse(fill(name)) == parse(fill(other.means)), name


@pytest.mark.parametrize("other", REFUSED, ids=lambda other: other.names[0])
def test_a_refusal_names_what_to_use_instead(other):
    for name in other.names:
        text = fill(name)
        text = f"{text}@7" if "{at}" in other.instead else text
        with pytest.raises(MeasureError, match=r"unknown measure .*, a name of ") as caught:
            parse(text)
        assert caught.value.hint == other.instead.format(**NUMBERS | {"at": "7"})


@pytest.mark.parametrize("other", REFUSED, ids=lambda other: other.names[0])
def test_what_to_use_instead_exists(other):
    hint = other.instead.format(**NUMBERS | {"at": "7"})
    for found in MEASURE.findall(hint):
        assert parse(found).kernel_spec()
    for convention in re.findall(r"convention (\w+)", hint):
        assert find(convention).name == convention
    for function in re.findall(r"\brs\.(\w+)", hint):
        assert hasattr(rankscope, function)


def test_no_name_has_two_meanings():
    names = [name.casefold() for other in OTHER_NAMES for name in other.names]
    assert sorted(names) == sorted(set(names))
    known = {way.text.casefold(): way.measure for way in spellings() if not way.takes}
    for other in MEANT:
        for name in other.names:
            assert known.get(name.casefold(), parse(fill(other.means))) == parse(fill(other.means))


def test_a_refused_name_is_no_other_name():
    known = {way.text.casefold() for way in spellings()}
    assert not known & {name.casefold() for other in REFUSED for name in other.names}


@pytest.mark.parametrize("other", MEANT, ids=lambda other: other.names[0])
def test_a_measure_that_differs_in_its_library_is_noted(other):
    own = {name.casefold() for name in TABLE}
    for name in other.names:
        is_noted = bool(other.note) and name.casefold() not in own
        expected = (other.libraries, other.note) if is_noted else None
        assert find_difference(fill(name)) == expected


@pytest.mark.parametrize(
    ("text", "meant"),
    [
        ("inst-t=2", "INST(T=2.0, max_rel=1)"),
        ("RBP@0.95", "RBP_CWL(p=0.95, max_rel=1)"),
        ("RetrievalNormalizedDCG@10", "nDCG(ideal='retrieved')@10"),
        ("RetrievalMAP(rel=2)@10", "AP(rel=2, denominator='found')@10"),
        ("ndcg_score(k=10)", "nDCG(ideal='retrieved')@10"),
        ("CatalogCoverage@10", "Coverage(normalize=False)@10"),
        ("alpha-nDCG@20", "alpha_nDCG@20"),
    ],
)
def test_cutoffs_and_parameters_of_a_name_are_read(text, meant):
    assert str(parse(text)) == meant


def test_a_number_that_no_name_has_is_still_an_error():
    with pytest.raises(MeasureError, match=r"expected k to be a positive integer, found 1\.5"):
        parse("RBP@1.5")


@pytest.mark.parametrize(
    ("text", "convention", "base"),
    [
        ("RetrievalMAP@10", "torchmetrics", "AP@10"),
        ("RetrievalMRR@10", "torchmetrics", "RR@10"),
        ("RetrievalPrecision@10", "torchmetrics", "P@10"),
        ("RetrievalRecall@10", "torchmetrics", "R@10"),
        ("RetrievalHitRate@10", "torchmetrics", "Success@10"),
        ("RetrievalNormalizedDCG@10", "torchmetrics", "nDCG@10"),
        ("ndcg_metric@10", "rax", "nDCG@10"),
        ("dcg_metric@10", "rax", "DCG@10"),
        ("ap_metric@10", "rax", "AP@10"),
        ("precision_metric@10", "rax", "P@10"),
        ("NDCG:top=10", "catboost", "nDCG@10"),
        ("MAP:top=10", "catboost", "AP@10"),
        ("PrecisionAt:top=10", "catboost", "P@10"),
        ("ndcg@10-", "xgboost", "nDCG@10"),
        ("map@10-", "xgboost", "AP@10"),
        ("pre@10", "xgboost", "P@10"),
        ("ndcgAt@10", "spark", "nDCG@10"),
        ("meanAveragePrecision", "spark", "AP"),
        ("meanAveragePrecisionAt@10", "spark", "AP@10"),
        ("NDCGKMetric@10", "evidently", "nDCG@10"),
        ("RecipRank@10", "lenskit", "RR@10"),
        ("ndcg_score(k=10)", "sklearn", "nDCG@10"),
    ],
)
def test_a_name_means_what_the_convention_of_its_library_computes(text, convention, base):
    assert adapt(convention, [parse(base)]).measures == (parse(text),)


def test_names_on_the_page_come_from_the_tables():
    page = (Path(__file__).parents[2] / "docs" / "coming-from.md").read_text(encoding="utf-8")
    page = re.sub(r"<!-- table: .*?<!-- end", "", page, flags=re.DOTALL)
    page = re.sub(r"^## scikit-learn$.*?^## ", "## ", page, flags=re.MULTILINE | re.DOTALL)
    cells = [row.split("|")[1] for row in re.findall(r"^\|.*\|$", page, flags=re.MULTILINE)]
    written = [text for cell in cells for text in re.findall(r"`([^`]+)`", cell)]
    assert written
    assert [text for text in written if is_measure(text)] == []


def is_measure(text):
    try:
        parse(text)
    except MeasureError:
        return False
    return True


PARSED = ("trec_eval", "ir_measures", "ranx")


@pytest.mark.parametrize("tool", PARSED)
def test_every_name_of_a_tool_is_read_as_its_translation(tool):
    lines = translations(tool)
    assert lines
    assert {line.theirs: str(parse(line.theirs)) for line in lines} == {
        line.theirs: line.ours for line in lines
    }


@pytest.mark.parametrize("tool", PARSED)
def test_every_translation_leads_back_to_a_name_of_the_tool(tool):
    for line in translations(tool):
        there = name_in(parse(line.ours), tool)
        assert parse(there) == parse(line.ours)


@pytest.mark.parametrize("tool", TOOLS)
def test_notes_are_sentences(tool):
    assert all(line.note == "" or line.note.endswith(".") for line in translations(tool))


@pytest.mark.parametrize(
    ("measure", "trec_eval", "ir_measures", "ranx", "sklearn"),
    [
        (nDCG, "ndcg", "nDCG", "ndcg", None),
        (nDCG @ 10, "ndcg_cut_10", "nDCG@10", "ndcg@10", None),
        (nDCG(gain="exp2") @ 10, None, "nDCG(dcg='exp-log2')@10", "ndcg_burges@10", None),
        (nDCG(gain=[0, 3]) @ 10, None, "nDCG(gains={0: 0, 1: 3})@10", None, None),
        (nDCG(gain=lambda grade: grade) @ 10, None, None, None, None),
        (nDCG(discount="jk") @ 10, None, None, None, None),
        (nDCG(ideal="retrieved") @ 10, None, None, None, "ndcg_score(k=10)"),
        (nDCG(ideal="retrieved"), None, None, None, "ndcg_score"),
        (AP(rel=2) @ 5, None, "AP(rel=2)@5", "map@5-l2", None),
        (P @ 5, "P_5", "P@5", "precision@5", None),
        (RR, "recip_rank", "RR", "mrr", None),
        (IPrec @ 0.1, "iprec_at_recall_0.10", "IPrec@0.1", None, None),
        (RBP(p=0.9), None, "RBP(p=0.9)", None, None),
        (RBP(p=0.9, graded=True, max_grade="query"), "rbp", None, None, None),
        (Rprec(multiple=0.2), "Rprec_mult_0.20", None, None, None),
        (R(denominator="reachable") @ 5, "relative_P_5", None, None, None),
        (Unjudged @ 10, "unj_10", None, None, None),
        (RBP(p=0.9, graded=True, max_grade=None), None, None, "rbp.9", None),
        (SetRelP, "set_relative_P", "SetP(relative=True)", None, None),
        (INST(T=2, max_rel=3), None, "INST(T=2.0, max_rel=3)", None, None),
        (NumRelRet @ 5, None, None, "hits@5", None),
        (SetF, "set_F", "SetF", "f1", None),
        (F @ 10, None, None, "f1@10", None),
        (NumRelRet, "num_rel_ret", "NumRet(rel=1)", "hits", None),
        (CG @ 3, None, None, None, None),
    ],
)
def test_a_measure_has_its_name_in_each_tool(measure, trec_eval, ir_measures, ranx, sklearn):
    assert [name_in(measure, tool) for tool in TOOLS] == [trec_eval, ir_measures, ranx, sklearn]


def test_a_name_that_means_something_else_in_its_tool_is_noted():
    qrels, run = {"q": {"a": 1}}, {"q": {"a": 1.0}}
    found = rankscope.evaluate(qrels, run, ["hits@10", "ndcg@10", "set_F"])
    assert [(note.code, note.sentence.partition(" ")[0]) for note in found.notes] == [
        ("other_definition", "hits@10"),
        ("other_definition", "set_F"),
    ]
    assert not rankscope.evaluate(qrels, run, ["NumRet(rel=1)@10", "SetF"], strict=True).notes


def test_a_scale_below_the_highest_grade_is_noted():
    qrels, run = {"q": {"a": 3}}, {"q": {"a": 1.0}}
    found = rankscope.evaluate(qrels, run, ["INST(max_rel=2)", "INST(max_rel=3)"])
    assert [(note.code, note.count) for note in found.notes] == [("grades_clipped", 1)]
    assert found["INST(max_rel=2)"] == found["INST(max_rel=3)"]
