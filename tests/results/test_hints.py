"""Unknown arguments and attributes are errors that say what to use."""

from __future__ import annotations

import inspect
import pickle
import re
from typing import TYPE_CHECKING, Any

import pytest
import rankscope
from rankscope.errors import ArgumentError, MissingAttributeError

if TYPE_CHECKING:
    from collections.abc import Callable

rs: Any = rankscope  # mypy knows these mistakes, too
QRELS = {"q1": {"d1": 1}, "q2": {"d2": 1}}
RUN = {"q1": {"d1": 2.0, "d2": 1.0}, "q2": {"d1": 2.0, "d2": 1.0}}
RUNS = {"old": RUN, "new": QRELS}
TABLE = {"query_id": ["q1"], "doc_id": ["d1"], "relevance": [1], "score": [1.0]}
VALUES = {"query_id": ["q1", "q2"], "a": [0.1, 0.2], "b": [0.2, 0.3]}


def copied(value: Any) -> Any:  # noqa: ANN401 - of any kind
    return pickle.loads(pickle.dumps(value))  # noqa: S301 - made here


EVALUATION = rs.evaluate(QRELS, RUN, "RR")
COMPARISON = rs.compare(QRELS, RUNS, "RR")
RANKINGS = rs.Rankings.from_run(QRELS, RUN)
REPORT = rs.report(QRELS, RUN, "RR")

ARGUMENTS: dict[str, tuple[Callable[..., object], str]] = {
    "evaluate(k)": (lambda: rs.evaluate(QRELS, RUN, "nDCG", k=10), "nDCG@10"),
    "evaluate(metrics)": (lambda: rs.evaluate(QRELS, RUN, metrics="nDCG"), "'measures'?"),
    "evaluate(qrel)": (lambda: rs.evaluate(qrel=QRELS, run=RUN, measures="RR"), "'judgments'?"),
    "evaluate(intervall)": (lambda: rs.evaluate(QRELS, RUN, "RR", intervall=1), "'interval'?"),
    "evaluate(groupby)": (lambda: rs.evaluate(QRELS, RUN, "RR", groupby="x"), "'by'?"),
    "evaluate(n_jobs)": (lambda: rs.evaluate(QRELS, RUN, "RR", n_jobs=2), "'threads'?"),
    "evaluate(empty)": (lambda: rs.evaluate(QRELS, RUN, "RR", empty="skip"), "policy='empty=…'"),
    "evaluate(rel)": (lambda: rs.evaluate(QRELS, RUN, "AP", rel=2), "'AP(rel=2)'"),
    "report(output)": (lambda: rs.report(QRELS, RUN, output="x.html"), ".write('report.html')"),
    "report(file)": (lambda: rs.report(TABLE, file="x.html"), ".write('report.html')"),
    "compare(cutoff)": (lambda: rs.compare(QRELS, RUNS, "nDCG", cutoff=5), "nDCG@10"),
    "compare(alpha)": (lambda: rs.compare(QRELS, RUNS, "nDCG", alpha=0.05), "'interval'?"),
    "compare(attribute)": (lambda: rs.compare(QRELS, RUNS, "RR", attribute=1), "'attributes'?"),
    "compare(groups)": (lambda: rs.compare(VALUES, values=True, groups="a"), "'by'?"),
    "evaluate(labls)": (lambda: rs.evaluate(TABLE, "RR", labls="x"), "'labels'?"),
    "evaluate(combin)": (lambda: rs.evaluate(TABLE, "RR", combin="sum"), "'combine'?"),
    "fuse(zzz)": (lambda: rs.fuse([RUN, RUN], zzz=1), "its arguments are runs, method, weights"),
    "fuse(out)": (lambda: rs.fuse([RUN, RUN], out="x"), "write('fused.run')"),
    "Rankings.evaluate(k)": (lambda: RANKINGS.evaluate("nDCG", k=3), "nDCG@10"),
    "Rankings.evaluate(groupby)": (lambda: RANKINGS.evaluate("RR", groupby={}), "'by'?"),
    "Rankings.evaluate(seed)": (lambda: RANKINGS.evaluate("RR", seed=1), "interval=Interval(seed"),
    "Rankings.evaluate(metrics)": (lambda: RANKINGS.evaluate(metrics="RR"), "'measures'?"),
    "Rankings.explain(query)": (lambda: RANKINGS.explain("q1", "RR", query="q1"), "'query_id'?"),
    "Rankings.from_run(tie)": (lambda: rs.Rankings.from_run(QRELS, RUN, tie="input"), "'ties'?"),
    "Rankings.from_table(combin)": (
        lambda: rs.Rankings.from_table(TABLE, labels="x", combin="sum"),
        "'combine'?",
    ),
    "Evaluation.means(k)": (lambda: EVALUATION.means(k=3), "its arguments are names"),
    "Evaluation.to_pandas(shap)": (lambda: EVALUATION.to_pandas(shap="long"), "'shape"),
    "Comparison.table(style)": (lambda: COMPARISON.table(style="latex"), "arguments are format"),
    "Comparison.find_best(metric)": (lambda: COMPARISON.find_best(metric="RR"), "'measure'?"),
    "Tabular.to_arrow(path)": (lambda: COMPARISON.to_arrow(path="x"), "it takes no arguments"),
    "Report.write(output)": (lambda: REPORT.write(output="x.html"), "'path'?"),
    "Policy.parse(defaults)": (lambda: rs.Policy.parse("", defaults=None), "'default'?"),
    "Client.flush(timeout)": (
        lambda: rs.monitor.Client.flush(None, timeout=1),
        "its arguments are seconds",
    ),
}


@pytest.mark.parametrize("name", ARGUMENTS)
def test_an_unknown_argument_is_an_error_with_a_hint(name: str) -> None:
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


@pytest.mark.parametrize("settings", [{}, {"query": "q1"}])
def test_a_run_in_explain_says_how_to_explain_a_query(settings: dict[str, Any]) -> None:
    with pytest.raises(rs.UsageError, match="expected the cutoff k as an integer") as caught:
        rs.explain(QRELS, RUN, "nDCG", **settings)
    assert "explain(judgments, run, 'nDCG@10', query_id='q1')" in caught.value.hint
    assert rs.explain(QRELS, RUN, "nDCG", query_id="q1").query_id == "q1"


def test_a_type_error_of_a_users_function_stays_as_it_is() -> None:
    def gain(grade: float, *, k: int) -> float:
        return grade * k

    with pytest.raises(TypeError, match="missing 1 required keyword-only argument: 'k'") as caught:
        rs.evaluate(QRELS, RUN, rs.nDCG(gain=gain))
    assert not isinstance(caught.value, rs.UsageError)


def test_a_type_error_about_an_argument_inside_of_a_function_stays_as_it_is() -> None:
    def inner() -> None:
        return None

    def gain(grade: float) -> float:
        inner(threads=1)  # type: ignore[call-arg]
        return grade

    with pytest.raises(TypeError, match=r"inner\(\) got an unexpected keyword") as caught:
        rs.evaluate(QRELS, RUN, rs.nDCG(gain=gain), threads=1)
    assert not isinstance(caught.value, rs.UsageError)


def test_other_mistakes_of_a_call_stay_as_they_are() -> None:
    for call in (rs.evaluate, lambda: rs.evaluate(QRELS, RUN, "RR", "RR")):
        with pytest.raises(TypeError) as caught:
            call()
        assert not isinstance(caught.value, rs.UsageError)


# A measure explains its settings itself.
CLASSES = [
    name
    for name in rs.__all__
    if inspect.isclass(getattr(rs, name)) and not name.endswith("Error") and name != "Measure"
]


@pytest.mark.parametrize("name", CLASSES)
def test_methods_have_hints_and_keep_their_signatures(name: str) -> None:
    kind = getattr(rs, name)
    of_classes = [each for each in kind.__mro__ if each.__module__.startswith("rankscope")]
    members = [key for each in of_classes for key in vars(each) if not key.startswith("_")]
    for key in members:
        static = inspect.getattr_static(kind, key)
        method = getattr(static, "__func__", static)
        if not inspect.isfunction(method):
            continue
        assert not hasattr(method.__wrapped__, "__wrapped__")  # that would cost twice as much
        signature = inspect.signature(method)
        assert signature == inspect.signature(inspect.unwrap(method))
        assert inspect.getdoc(method)
        assert method.__name__ == key
        assert method.__qualname__.endswith(f".{key}")
        if inspect.Parameter.VAR_KEYWORD not in {
            each.kind for each in signature.parameters.values()
        }:
            with pytest.raises(ArgumentError, match="unexpected keyword argument 'no_such'"):
                getattr(kind, key)(no_such=1)


FUNCTIONS = [name for name in rs.__all__ if inspect.isfunction(getattr(rs, name))]


@pytest.mark.parametrize("name", FUNCTIONS)
def test_functions_keep_their_signature_and_can_be_pickled(name: str) -> None:
    function = getattr(rs, name)
    assert inspect.signature(function) == inspect.signature(inspect.unwrap(function))
    assert inspect.getdoc(function)
    assert function.__name__ == name
    assert copied(function) is function


RESULTS: dict[str, tuple[object, str, str]] = {
    "report.save": (REPORT, "save", "did you mean .write(…)?"),
    "regrets.to_json": (RANKINGS.regrets("nDCG@10"), "to_json", "did you mean .to_dict(…)?"),
    "evaluation.to_df": (EVALUATION, "to_df", "did you mean .to_pandas(…)?"),
    "evaluation.mean": (EVALUATION, "mean", "did you mean .means(…)?"),
    "evaluation.best": (EVALUATION, "best", "did you mean .means(…)?"),
    "evaluation.per_topic": (EVALUATION, "per_topic", "did you mean .per_query(…)?"),
    "evaluation.groups": (EVALUATION, "groups", "did you mean .slices?"),
    "evaluation.conts": (EVALUATION, "conts", "did you mean .counts?"),
    "comparison.best": (COMPARISON, "best", "did you mean .find_best(…)?"),
    "compared.p_value": (COMPARISON.comparisons[0], "p_value", "did you mean .p?"),
    "gate.ok": (rs.gate(QRELS, RUN, RUN, {"RR": 0.1}), "ok", "did you mean .passed?"),
    "fused.save": (rs.fuse([RUN, RUN]), "save", "did you mean .write(…)?"),
    "table.df": (
        RANKINGS.bounds("RR"),
        "df",
        "did you mean .to_pandas(…)?",
    ),
    "rankings.xyz": (RANKINGS, "xyz", "its attributes are attribute, "),
    "explanation.html": (rs.explain([1, 0]), "html", "did you mean .to_html(…)?"),
}


@pytest.mark.parametrize("case", RESULTS)
def test_an_unknown_attribute_is_an_error_with_a_hint(case: str) -> None:
    found, name, hint = RESULTS[case]
    kind = type(found).__name__
    with pytest.raises(
        MissingAttributeError, match=f"'{kind}' object has no attribute '{name}'"
    ) as caught:
        getattr(found, name)
    assert hint in caught.value.hint
    assert caught.value.name == name
    assert not hasattr(found, name)
    assert getattr(found, name, None) is None
    assert not hasattr(found, "__no_such__")
    assert copied(caught.value).hint == caught.value.hint


@pytest.mark.parametrize("case", RESULTS)
def test_a_result_in_the_middle_of_a_copy_lacks_attributes(case: str) -> None:
    bare = object.__new__(type(RESULTS[case][0]))  # whose slots are empty
    with pytest.raises(AttributeError):
        bare.to_no_such_format  # noqa: B018 - it isn't there


def test_an_attribute_error_in_a_property_stays_as_it_is() -> None:
    class Broken(rankscope.Table):
        @property
        def means(self) -> float:
            return self.columns.missing  # type: ignore[attr-defined, no-any-return]

    broken = Broken({"a": [1]})
    with pytest.raises(AttributeError, match="has no attribute 'missing'") as caught:
        broken.means  # noqa: B018 - it is a property
    assert not isinstance(caught.value, MissingAttributeError)
