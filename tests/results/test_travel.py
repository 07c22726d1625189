"""Every public result can be pickled and copied, and is the same afterwards."""

from __future__ import annotations

import copy
import importlib
import inspect
import math
import multiprocessing
import pickle
from collections.abc import Mapping
from concurrent.futures import ProcessPoolExecutor

import numpy as np
import pandas as pd
import pytest
import rankscope as rs
from rankscope import _core, errors, records
from rankscope._inputs.qrels import Queries
from rankscope.errors import UsageError

from tests.refusals import refused
from tests.results.samples import NEW, OLD, QRELS, SAMPLES, rank

RESULTS = [
    f"rankscope.{name}"
    for name in (
        "agreement.result",
        "bounds.result",
        "clicks.result",
        "comparison.layout",
        "comparison.notes",
        "comparison.ranges",
        "comparison.result",
        "comparison.verdict",
        "difference.result",
        "discounts.result",
        "evaluation.evaluation",
        "evaluation.evaluations",
        "evaluation.tables",
        "fusion.run",
        "judges.agreement",
        "judges.combination",
        "judges.judged_evaluation",
        "judges.model_judged",
        "losses.result",
        "monitor.why.decomposition_result",
        "monitor.why.result",
        "monitor.why.text",
        "output.estimate",
        "output.exports",
        "output.html",
        "output.printed",
        "output.table",
        "output.text",
        "power.compute",
        "reconciliation.difference",
        "reconciliation.result",
        "ties.result",
        "warehouse.result",
    )
]
CORE = (_core.Judgments, _core.Rankings, _core.Evaluation)
WAYS = {
    "pickle": lambda made: pickle.loads(pickle.dumps(made)),  # noqa: S301 - dumped here
    "the oldest pickle": lambda made: pickle.loads(pickle.dumps(made, 2)),  # noqa: S301 - as above
    "copy": copy.copy,
    "deepcopy": copy.deepcopy,
}


def parts_of(made: object) -> Mapping[str, object] | None:
    """What an object of rankscope consists of; nothing for others."""
    if type(made).__module__.split(".")[0] != "rankscope" or isinstance(made, (type, *CORE)):
        return None
    if isinstance(made, _core.Run):
        return {"lines": made.lines(0, len(made), "run")}
    if isinstance(made, Queries):
        return {"name": made.name, "ids": made.read_ids(), "notes": made.notes}
    if isinstance(made, rs.Items):
        return {"parts": made.parts, "given": made.given, "attributes": made.attributes}
    if isinstance(made, rs.Measure):
        return {"name": made.name, "parameters": made.parameters}
    if isinstance(made, rs.Table):
        return {**made.__getstate__()}
    if hasattr(made, "__dict__"):
        return made.__getstate__() if hasattr(type(made), "__getstate__") else made.__dict__  # type: ignore[return-value]  # by name
    parts = {name: getattr(made, name) for name in type(made).__match_args__}
    # A function of the input stays behind.
    return {
        name: part
        for name, part in parts.items()
        if part is not None and not inspect.isfunction(part)
    }


def differ(one: object, other: object, place: str = "") -> str:
    """Where two objects differ first, or nothing."""
    if type(one) is not type(other):
        return f"{place}: {type(one)} and {type(other)}"
    if isinstance(one, CORE):
        return "" if one.__reduce__()[1] == other.__reduce__()[1] else place
    if isinstance(one, np.ndarray):
        is_same = one.dtype == other.dtype and pickle.dumps(one.tolist()) == pickle.dumps(
            other.tolist()
        )
        return "" if is_same else place
    if isinstance(one, float) and math.isnan(one) and math.isnan(other):
        return ""
    if callable(one) and hasattr(one, "__self__") and not isinstance(one, type):
        return differ(one.__self__, other.__self__, f"{place}.{one.__name__}")
    parts, others = parts_of(one), parts_of(other)
    if parts is None and isinstance(one, Mapping):
        parts, others = dict(one), dict(other)
    if parts is None and isinstance(one, list | tuple):
        parts, others = dict(enumerate(one)), dict(enumerate(other))  # type: ignore[arg-type]  # as numbers
    if parts is not None and others is not None:
        if [*parts] != [*others]:
            return f"{place}: {[*parts]} and {[*others]}"
        found = (differ(parts[name], others[name], f"{place}.{name}") for name in parts)
        return next(filter(None, found), "")
    return "" if one == other else f"{place}: {one!r} and {other!r}"


def collect(made: object, seen: set[type]) -> set[type]:
    """The classes of an object and of everything in it."""
    seen.add(type(made))
    parts = parts_of(made)
    if parts is None and isinstance(made, Mapping):
        parts = dict(made)
    values = made if isinstance(made, list | tuple) else [] if parts is None else parts.values()
    for value in values:
        collect(value, seen)
    return seen


@pytest.mark.parametrize("way", WAYS)
@pytest.mark.parametrize("name", SAMPLES)
def test_a_result_is_the_same_after_it_has_traveled(name: str, way: str) -> None:
    made = SAMPLES[name]()
    again = WAYS[way](made)
    assert differ(made, again, name) == ""
    assert str(again) == str(made)
    if hasattr(made, "_repr_html_"):
        assert again._repr_html_() == made._repr_html_()


def test_every_public_class_and_every_class_of_results_is_among_the_samples() -> None:
    seen: set[type] = set()
    for sample in SAMPLES.values():
        collect(sample(), seen)
    public = {getattr(rs, name) for name in rs.__all__}
    for module in RESULTS:
        found = importlib.import_module(module)
        public |= {each for each in vars(found).values() if _is_of(each, module)}
    classes = {each for each in public if inspect.isclass(each)}
    classes -= {each for each in classes if issubclass(each, Exception)}
    missing = {each.__name__ for each in classes - seen if each.__module__ not in ONLY_FIELDS}
    assert missing == set(ABSTRACT)
    for each in classes - seen:
        is_record = each.__reduce__ is records.METHODS["__reduce__"]
        assert is_record or each.__name__ in {*ABSTRACT, "Plain"}, each


ONLY_FIELDS = {
    "rankscope.comparison.layout",
    "rankscope.comparison.verdict",
    "rankscope.monitor.why.decomposition_result",
    "rankscope.monitor.why.result",
}
"""Modules of records that are made while printing, by the monitor, or in rare cases."""
ABSTRACT = ("MeasuredTable", "Printed", "EstimatedMeans", "Tabular")


def _is_of(found: object, module: str) -> bool:
    return inspect.isclass(found) and found.__module__ == module


def test_a_result_that_has_traveled_answers_as_before() -> None:
    made = rank()
    again = WAYS["pickle"](made)
    assert again.query_ids == made.query_ids
    assert again.doc_ids("q3") == made.doc_ids("q3")
    for measure in ("nDCG@2", "AP", "Bpref"):
        one, other = made.evaluate(measure, interval=0.9), again.evaluate(measure, interval=0.9)
        assert differ(one, other) == ""
        assert one.per_query(measure).tolist() == other.per_query(measure).tolist()
    assert str(again.explain("q1", "nDCG@2")) == str(made.explain("q1", "nDCG@2"))
    assert differ(made.bounds("nDCG@2"), again.bounds("nDCG@2", policy="empty=zero")) == ""
    found, refound = rs.diff(QRELS, OLD, NEW, "nDCG@2"), None
    refound = WAYS["pickle"](found)
    assert str(refound.explain("q5")) == str(found.explain("q5"))
    assert str(refound.bound(None)) == str(found.bound(None))


def test_judgments_that_have_traveled_evaluate_runs_of_every_form() -> None:
    qrels = WAYS["pickle"](rs.read_qrels(QRELS))
    expected = dict(rs.evaluate(QRELS, OLD, ["nDCG@2", "AP"]))
    rows = [(query, doc, score) for query, docs in OLD.items() for doc, score in docs.items()]
    lines = "".join(f"{query} Q0 {doc} 1 {score!r} x\n" for query, doc, score in rows).encode()
    frame = pd.DataFrame(rows, columns=["query_id", "doc_id", "score"])
    for run in (OLD, rows, lines, frame):
        assert dict(rs.evaluate(qrels, run, ["nDCG@2", "AP"])) == expected  # type: ignore[arg-type]  # a run


def test_an_evaluation_travels_without_the_documents() -> None:
    wide = {"q": {f"document-{n}": 1 for n in range(5000)}}
    made = rs.evaluate(wide, {"q": {"document-1": 1.0}}, "AP")
    assert len(pickle.dumps(made)) < 5000


def evaluate_in_worker(qrels: rs.Qrels) -> rs.Evaluation:
    """What a worker does."""
    return rs.evaluate(qrels, OLD, ["nDCG@2"], interval=0.9)


def fail_in_worker(measure: str) -> None:
    """A mistake in a worker."""
    rs.evaluate(QRELS, OLD, measure)


def test_results_and_errors_go_through_processes() -> None:
    context = multiprocessing.get_context("spawn")
    qrels = rs.read_qrels(QRELS)
    with ProcessPoolExecutor(1, mp_context=context) as pool:
        found = pool.submit(evaluate_in_worker, qrels).result()
        with pytest.raises(UsageError) as raised:
            pool.submit(fail_in_worker, "nDCG@0").result()
    assert differ(evaluate_in_worker(qrels), found) == ""
    assert raised.value.code == "bad_parameter"
    assert raised.value.hint


@pytest.mark.parametrize("name", [name for name in rs.__all__ if name.endswith("Error")])
def test_every_error_travels_with_its_message_code_and_hint(name: str) -> None:
    made = getattr(errors, name)("expected a, found b", hint="say a", code="odd")
    again = WAYS["pickle"](made)
    assert (type(again), str(again), again.code, again.hint) == (
        type(made),
        str(made),
        "odd",
        "say a",
    )


def test_errors_of_results_travel() -> None:
    found = rs.evaluate(QRELS, {"old": OLD}, "AP")
    for key, of in (("new", found), ("RR", found["old"])):
        with pytest.raises(KeyError) as raised:
            of[key]  # type: ignore[index]  # not there
        again = WAYS["pickle"](raised.value)
        assert (type(again), str(again)) == (type(raised.value), str(raised.value))


def test_a_reconciliation_leaves_its_input_behind() -> None:
    made = rs.reconcile(QRELS, OLD, "nDCG@2", got=0.3)
    assert copy.deepcopy(made).differ("trec_eval", "lightgbm") is not None
    refused(lambda: WAYS["pickle"](made).differ("trec_eval", "lightgbm"), "input_left_behind")
