"""The names of other tools, both ways."""

from __future__ import annotations

import pytest
import rankscope
from rankscope.measures import (
    AP,
    CG,
    INST,
    RBP,
    RR,
    F,
    IPrec,
    Measure,
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
from rankscope.measures.compat import TOOLS, name_in, translations

TYPE_CHECKING = False
if TYPE_CHECKING:
    from rankscope.measures.compat import Tool

PARSED: tuple[Tool, ...] = ("trec_eval", "ir_measures", "ranx")


@pytest.mark.parametrize("tool", PARSED)
def test_every_name_of_a_tool_is_read_as_its_translation(tool: Tool) -> None:
    lines = translations(tool)
    assert lines
    assert {line.theirs: str(parse(line.theirs)) for line in lines} == {
        line.theirs: line.ours for line in lines
    }


@pytest.mark.parametrize("tool", PARSED)
def test_every_translation_leads_back_to_a_name_of_the_tool(tool: Tool) -> None:
    for line in translations(tool):
        there = name_in(parse(line.ours), tool)
        assert there is not None
        assert parse(there) == parse(line.ours)


@pytest.mark.parametrize("tool", TOOLS)
def test_notes_are_sentences(tool: Tool) -> None:
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
def test_a_measure_has_its_name_in_each_tool(
    measure: Measure,
    trec_eval: str | None,
    ir_measures: str | None,
    ranx: str | None,
    sklearn: str | None,
) -> None:
    assert [name_in(measure, tool) for tool in TOOLS] == [trec_eval, ir_measures, ranx, sklearn]


def test_a_name_that_means_something_else_in_its_tool_is_noted() -> None:
    qrels, run = {"q": {"a": 1}}, {"q": {"a": 1.0}}
    found = rankscope.evaluate(qrels, run, ["hits@10", "ndcg@10", "set_F"])
    assert [(note.code, note.sentence.partition(" ")[0]) for note in found.notes] == [
        ("other_definition", "hits@10"),
        ("other_definition", "set_F"),
    ]
    assert not rankscope.evaluate(qrels, run, ["NumRet(rel=1)@10", "SetF"], strict=True).notes


def test_a_scale_below_the_highest_grade_is_noted() -> None:
    qrels, run = {"q": {"a": 3}}, {"q": {"a": 1.0}}
    found = rankscope.evaluate(qrels, run, ["INST(max_rel=2)", "INST(max_rel=3)"])
    assert [(note.code, note.count) for note in found.notes] == [("grades_clipped", 1)]
    assert found["INST(max_rel=2)"] == found["INST(max_rel=3)"]
