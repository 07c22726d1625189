"""Every public result and record can be pickled, copied and saved, and is the same afterwards."""

from __future__ import annotations

import copy
import dataclasses
import inspect
import math
import multiprocessing
import pickle
import zlib
from collections import Counter
from collections.abc import Mapping
from concurrent.futures import ProcessPoolExecutor
from contextlib import suppress

import numpy as np
import pandas as pd
import pytest
import rankscope
import rankscope as rs
import rankscope.monitor
from rankscope import Policy, _core, errors
from rankscope._core import Judgments
from rankscope._evaluate.settings import Settings
from rankscope._inputs.reading import Queries
from rankscope.errors import FormatError, RankscopeError, UsageError

from tests.refusals import refused, refuses
from tests.results.samples import NEW, OLD, QRELS, SAMPLES, rank

CORE = (_core.Judgments, _core.Rankings, _core.Evaluation)
WAYS = {
    "pickle": lambda made: pickle.loads(pickle.dumps(made)),  # noqa: S301 - dumped here
    "the oldest pickle": lambda made: pickle.loads(pickle.dumps(made, 2)),  # noqa: S301 - as above
    "copy": copy.copy,
    "deepcopy": copy.deepcopy,
}


def parts_of(made):
    """What an object of rankscope consists of; nothing for others."""
    if isinstance(made, Queries):
        return {"name": made.name, "ids": made.read_ids(), "notes": made.notes}
    if type(made).__module__.split(".")[0] != "rankscope" or isinstance(made, (type, tuple, *CORE)):
        return None
    if isinstance(made, _core.Run):
        return {"lines": made.lines(0, len(made), "run")}
    if isinstance(made, rs.Items):
        return {"parts": made.parts, "arguments": made.arguments, "attributes": made.attributes}
    if isinstance(made, rs.Measure):
        return {"name": made.name, "parameters": made.parameters}
    if isinstance(made, rs.Table):
        return {**made.__getstate__()}
    if hasattr(made, "__dict__"):
        return made.__getstate__() if hasattr(type(made), "__getstate__") else made.__dict__
    parts = {field.name: getattr(made, field.name) for field in dataclasses.fields(made)}
    # A function of the input stays behind.
    return {
        name: part
        for name, part in parts.items()
        if part is not None and not inspect.isfunction(part)
    }


def differ(one, other, place=""):
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
        parts, others = dict(enumerate(one)), dict(enumerate(other))
    if parts is not None and others is not None:
        if [*parts] != [*others]:
            return f"{place}: {[*parts]} and {[*others]}"
        found = (differ(parts[name], others[name], f"{place}.{name}") for name in parts)
        return next(filter(None, found), "")
    return "" if one == other else f"{place}: {one!r} and {other!r}"


def collect(made, seen):
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
def test_a_result_is_the_same_after_it_has_traveled(name, way):
    made = SAMPLES[name]()
    again = WAYS[way](made)
    assert differ(made, again, name) == ""
    assert str(again) == str(made)
    if hasattr(made, "_repr_html_"):
        assert again._repr_html_() == made._repr_html_()


def test_every_public_class_is_among_the_samples():
    seen = set()
    for sample in SAMPLES.values():
        collect(sample(), seen)
    modules = (rs, rs.judges, rs.clicks, rs.sql)
    found = {getattr(module, name) for module in modules for name in module.__all__}
    classes = {value for value in found if inspect.isclass(value)}
    missing = {found.__name__ for found in classes - seen if not issubclass(found, Exception)}
    assert not missing


def test_a_result_that_has_traveled_answers_as_before():
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
    found = rs.diff(QRELS, OLD, NEW, "nDCG@2")
    refound = WAYS["pickle"](found)
    assert str(refound.explain("q5")) == str(found.explain("q5"))
    assert str(refound.bound(None)) == str(found.bound(None))


def test_judgments_that_have_traveled_evaluate_runs_of_every_form():
    qrels = WAYS["pickle"](rs.read_qrels(QRELS))
    expected = dict(rs.evaluate(QRELS, OLD, ["nDCG@2", "AP"]))
    rows = [(query, doc, score) for query, docs in OLD.items() for doc, score in docs.items()]
    lines = "".join(f"{query} Q0 {doc} 1 {score!r} x\n" for query, doc, score in rows).encode()
    frame = pd.DataFrame(rows, columns=["query_id", "doc_id", "score"])
    for run in (OLD, rows, lines, frame):
        assert dict(rs.evaluate(qrels, run, ["nDCG@2", "AP"])) == expected


def test_an_evaluation_travels_without_the_documents():
    wide = {"q": {f"document-{n}": 1 for n in range(5000)}}
    made = rs.evaluate(wide, {"q": {"document-1": 1.0}}, "AP")
    assert len(pickle.dumps(made)) < 5000


def evaluate_in_worker(qrels):
    return rs.evaluate(qrels, OLD, ["nDCG@2"], interval=0.9)


def fail_in_worker(measure):
    rs.evaluate(QRELS, OLD, measure)


def test_results_and_errors_go_through_processes():
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
def test_every_error_travels_with_its_message_code_and_hint(name):
    made = getattr(errors, name)("expected a, found b", hint="say a", code="odd")
    again = WAYS["pickle"](made)
    assert type(again) is type(made)
    assert (str(again), again.code, again.hint) == (str(made), "odd", "say a")


def test_errors_of_results_travel():
    found = rs.evaluate(QRELS, {"old": OLD}, "AP")
    for key, of in (("new", found), ("RR", found["old"])):
        with pytest.raises(KeyError) as raised:
            of[key]
        again = WAYS["pickle"](raised.value)
        assert (type(again), str(again)) == (type(raised.value), str(raised.value))


def test_a_reconciliation_leaves_its_input_behind():
    made = rs.reconcile(QRELS, OLD, "nDCG@2", got=0.3)
    assert copy.deepcopy(made).differ("trec_eval", "lightgbm") is not None
    refused(lambda: WAYS["pickle"](made).differ("trec_eval", "lightgbm"), "input_left_behind")


SAVED_QRELS = {"q1": {"a": 3, "b": 0, "c": 1}, "q2": {"a": 1, "d": 0.5}}
SAVED_RUN = {"q1": {"a": 0.5, "b": 0.55, "x": 0.2}, "q2": {"d": 1.0, "a": 1.0}}
TABLE = {
    "query_id": [7, 7, 9],
    "doc_id": [1, 2, 1],
    "score": [0.5, 0.5, 2.0],
    "relevance": [1, 0, 2],
    "country": ["de", "de", "fr"],
}


def save():
    """Objects of the core that are saved."""
    rankings = rs.Rankings.from_run(SAVED_QRELS, SAVED_RUN)
    return {
        "judgments": rs.read_qrels(SAVED_QRELS).judgments,
        "rankings": rankings._core,
        "rankings of a table": rs.Rankings.from_table(TABLE, attributes=["country"])._core,
        "evaluation": rankings.evaluate(["AP", "nDCG@2"], weights=[1.0, 2.0])._answer,
    }


def seal(content):
    """Write the checksum as the core computes it, so that it doesn't tell what was changed."""
    checksum = zlib.crc32(content[16:], zlib.crc32(content[:12]))
    return content[:12] + checksum.to_bytes(4, "little") + content[16:]


@pytest.mark.parametrize("name", save())
def test_damaged_and_foreign_bytes_are_an_error(name):
    restore, (saved,) = save()[name].__reduce__()
    restore(saved)
    for at in range(len(saved)):
        flipped = bytearray(saved)
        flipped[at] ^= 64
        for damaged in (saved[:at], bytes(flipped)):
            with refuses(FormatError, "saved_state") as raised:
                restore(damaged)
    assert "damaged" in raised.value.message  # the last byte is one of the checksum
    others = {_core.restore_judgments, _core.restore_rankings, _core.restore_evaluation} - {restore}
    for other in others:
        with pytest.raises(FormatError):
            other(saved)


def test_bytes_of_another_version_say_so():
    _, (saved,) = save()["rankings"].__reduce__()
    newer = saved[:8] + (99).to_bytes(4, "little") + saved[12:]
    with pytest.raises(FormatError, match="another version of rankscope"):
        _core.restore_rankings(newer)


@pytest.mark.parametrize("name", save())
def test_bytes_with_a_right_checksum_but_wrong_contents_never_crash(name):
    restore, (saved,) = save()[name].__reduce__()
    assert seal(saved) == saved
    for at in range(16, len(saved)):
        for change in (1, 0x80, 0xFF):
            odd = bytearray(saved)
            odd[at] ^= change
            try:
                restored = restore(seal(bytes(odd)))
            except FormatError:
                continue
            use(restored)


def use(restored):
    """Read everything of a restored object."""
    if isinstance(restored, _core.Judgments):
        restored.query_ids()
        for query in range(len(restored.query_ids())):
            restored.documents(query)
        with suppress(RankscopeError):
            _core.evaluate_dict(restored, plan(), SAVED_RUN)
    elif isinstance(restored, _core.Rankings):
        for query in range(len(restored.query_ids())):
            restored.doc_ids(query)
        with suppress(RankscopeError):
            restored.evaluate(plan(), 1)
    else:
        restored.reweigh([1.0] * len(restored.is_present()))


def plan():
    grades = [0.0, 1.0, 2.0, 3.0]
    settings = Settings(measures=["nDCG@2", "AP"], policy="ties=doc_id")
    return settings.request(grades=grades).plan()


@pytest.mark.parametrize(
    ("args", "given"),
    [((None,) * 9, {}), (("best",), {"ties": "best"}), ((), {"tie": "best"})],
)
def test_what_is_too_much_twice_or_unknown_is_refused(args, given):
    with pytest.raises(TypeError, match="Policy"):
        Policy(*args, **given)


def test_a_record_cannot_change():
    policy = Policy()
    with pytest.raises(dataclasses.FrozenInstanceError):
        policy.ties = "best"
    with pytest.raises(dataclasses.FrozenInstanceError):
        del policy.ties
    with pytest.raises((AttributeError, TypeError)):
        policy.tie = "best"


def test_equal_records_hash_alike_and_are_copied_and_pickled():
    policy = Policy(ties="best")
    assert len({policy, Policy(ties="best"), Policy()}) == 2
    assert copy.deepcopy(policy) == pickle.loads(pickle.dumps(policy)) == policy  # noqa: S301 - ours


PUBLIC = {
    f"{module.__name__}.{name}": found
    for module in (rankscope, rankscope.monitor)
    for name in module.__all__
    if dataclasses.is_dataclass(found := getattr(module, name))
}


@pytest.mark.parametrize("name", PUBLIC)
def test_every_public_record_has_a_signature_with_names_types_and_defaults(name):
    found = PUBLIC[name]
    parameters = inspect.signature(found).parameters
    types = {field.name: field.type for field in dataclasses.fields(found)}
    assert tuple(parameters) == tuple(types)
    for field, parameter in parameters.items():
        assert parameter.annotation == types[field]
        assert parameter.kind in {parameter.POSITIONAL_OR_KEYWORD, parameter.KEYWORD_ONLY}


def test_no_document_is_judged_twice_whatever_byte_is_changed():
    made = Judgments.from_dict({"q": {"a": 1, "b": 2, "c": 0}, "p": {"b": 3}}, "error")
    restore, (saved,) = made.__reduce__()
    assert seal(saved) == saved
    outcomes = Counter()
    for at in range(len(saved)):
        for value in range(4):
            changed = bytearray(saved)
            changed[at] = value
            try:
                found = restore(seal(bytes(changed)))
            except RankscopeError:
                outcomes["refused"] += 1
                continue
            outcomes["read"] += 1
            for query in range(len(found.query_ids())):
                docs = [doc for doc, _ in found.documents(query)]
                assert len(set(docs)) == len(docs), (at, value)
    assert min(outcomes["refused"], outcomes["read"]) > 20
