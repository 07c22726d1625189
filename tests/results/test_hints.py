"""Unknown arguments are errors that name the nearest one."""

from __future__ import annotations

import inspect
import pickle
import re

import pytest
import rankscope as rs
from rankscope.errors import ArgumentError

QRELS = {"q1": {"d1": 1}, "q2": {"d2": 1}}
RUN = {"q1": {"d1": 2.0, "d2": 1.0}, "q2": {"d1": 2.0, "d2": 1.0}}
RUNS = {"old": RUN, "new": QRELS}
TABLE = {"query_id": ["q1"], "doc_id": ["d1"], "relevance": [1], "score": [1.0]}


def copied(value):
    return pickle.loads(pickle.dumps(value))  # noqa: S301 - made here


EVALUATION = rs.evaluate(QRELS, RUN, "RR")

ARGUMENTS = {
    "evaluate(mesures)": (lambda: rs.evaluate(QRELS, RUN, mesures="RR"), "'measures'?"),
    "evaluate(intervall)": (lambda: rs.evaluate(QRELS, RUN, "RR", intervall=1), "'interval'?"),
    "evaluate(thread)": (lambda: rs.evaluate(QRELS, RUN, "RR", thread=2), "'threads'?"),
    "evaluate(labls)": (lambda: rs.evaluate(TABLE, "RR", labls="x"), "'labels'?"),
    "evaluate(combin)": (lambda: rs.evaluate(TABLE, "RR", combin="sum"), "'combine'?"),
    "report(pathh)": (lambda: rs.report(QRELS, RUN, pathh="x.html"), "its arguments are judgments"),
    "compare(attribute)": (lambda: rs.compare(QRELS, RUNS, "RR", attribute=1), "'attributes'?"),
    "fuse(zzz)": (lambda: rs.fuse([RUN, RUN], zzz=1), "its arguments are runs, method, weights"),
    "evaluate(ci)": (lambda: rs.evaluate(QRELS, RUN, "RR", ci=0.9), "'interval'?"),
    "evaluate(rel)": (lambda: rs.evaluate(QRELS, RUN, "AP", rel=2), "'AP(rel=2)'"),
    "evaluate(qid)": (lambda: rs.evaluate(TABLE, "RR", qid="topic"), "'query'?"),
    "from_table(combin)": (
        lambda: rs.Rankings.from_table(TABLE, labels="x", combin="sum"),
        "'combine'?",
    ),
    "Written.to_latex(lable)": (lambda: EVALUATION.to_latex(lable="tab:x"), "'label'?"),
}


@pytest.mark.parametrize("name", ARGUMENTS)
def test_an_unknown_argument_is_an_error_with_a_hint(name):
    call, hint = ARGUMENTS[name]
    called, _, argument = name.rstrip(")").partition("(")
    said = f"{called}() got an unexpected keyword argument '{argument}'"
    with pytest.raises(ArgumentError, match=re.escape(said)) as caught:
        call()
    assert hint in caught.value.hint
    assert caught.value.code == "unknown_argument"
    assert isinstance(caught.value, TypeError)
    assert isinstance(caught.value, rs.UsageError)
    assert str(copied(caught.value)) == str(caught.value)


@pytest.mark.parametrize(
    "values", [(EVALUATION, "RR"), (EVALUATION, EVALUATION), (["a"], ["b"]), (EVALUATION,)]
)
def test_power_is_told_that_it_takes_values(values):
    with pytest.raises(rs.UsageError, match="expected the value") as caught:
        rs.power(*values)
    assert "power(a.per_query('AP'), b.per_query('AP'))" in caught.value.hint


@pytest.mark.parametrize("settings", [{}, {"query": "q1"}])
def test_a_run_in_explain_says_how_to_explain_a_query(settings):
    with pytest.raises(rs.UsageError) as caught:
        rs.explain(QRELS, RUN, "nDCG", **settings)
    assert "query_id='q1'" in caught.value.hint
    assert rs.explain(QRELS, RUN, "nDCG", query_id="q1").query_id == "q1"


def test_a_type_error_of_a_users_function_stays_as_it_is():
    def gain(grade, *, k):
        return grade * k

    with pytest.raises(TypeError, match="missing 1 required keyword-only argument: 'k'") as caught:
        rs.evaluate(QRELS, RUN, rs.nDCG(gain=gain))
    assert not isinstance(caught.value, rs.UsageError)


def test_a_type_error_about_an_argument_inside_of_a_function_stays_as_it_is():
    def inner():
        return None

    def gain(grade):
        inner(threads=1)
        return grade

    with pytest.raises(TypeError, match=r"inner\(\) got an unexpected keyword") as caught:
        rs.evaluate(QRELS, RUN, rs.nDCG(gain=gain), threads=1)
    assert not isinstance(caught.value, rs.UsageError)


def test_other_mistakes_of_a_call_stay_as_they_are():
    with pytest.raises(TypeError) as caught:
        rs.evaluate()
    assert not isinstance(caught.value, rs.UsageError)


FUNCTIONS = [name for name in rs.__all__ if inspect.isfunction(getattr(rs, name))]


@pytest.mark.parametrize("name", FUNCTIONS)
def test_functions_keep_their_signature_and_can_be_pickled(name):
    function = getattr(rs, name)
    assert inspect.signature(function) == inspect.signature(inspect.unwrap(function))
    assert inspect.getdoc(function)
    assert function.__name__ == name
    assert copied(function) is function
