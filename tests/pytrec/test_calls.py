"""Programs that call pytrec_eval get what they are used to from `rankscope.pytrec_eval`."""

from __future__ import annotations

import struct
import subprocess
import sys
from collections import defaultdict
from types import MappingProxyType

import ir_measures
import numpy as np
import pytest
import pytrec_eval as theirs
import rankscope as rs
from hypothesis import given, strategies
from rankscope import pytrec_eval
from rankscope.errors import (
    DuplicateError,
    FormatError,
    InputTypeError,
    MeasureError,
    UsageError,
)

from tests.generated import examples
from tests.parity import cases, real
from tests.refusals import refused

QRELS = {"q1": {"d1": 0, "d2": 1, "d3": 0}, "q2": {"d2": 1, "d3": 1}}
RUN = {"q1": {"d1": 1.0, "d2": 0.0, "d3": 1.5}, "q2": {"d1": 1.5, "d2": 0.2, "d3": 0.5}}


def evaluate(measures=("map", "ndcg"), qrels=QRELS, run=RUN, **settings):
    return pytrec_eval.RelevanceEvaluator(qrels, measures, **settings).evaluate(run)


def test_values_are_those_that_the_readme_of_pytrec_eval_shows():
    assert evaluate({"map", "ndcg"}) == {
        "q1": {"map": 0.3333333333333333, "ndcg": 0.5},
        "q2": {"map": 0.5833333333333333, "ndcg": 0.6934264036172708},
    }


def test_one_evaluator_evaluates_many_runs():
    evaluator = pytrec_eval.RelevanceEvaluator(QRELS, {"ndcg", "ndcg_cut.1,2"})
    second = 1 / np.log2(3)
    for scores, rank, ndcg in [((1.0, 0.0), 3, 0.5), ((1.0, 2.0), 1, 1.0), ((4.0, 2.0), 2, second)]:
        for more in ({}, {"q2": {}}):
            found = evaluator.evaluate(
                {"q1": dict(zip(["d1", "d2"], scores, strict=True), d3=1.5), **more}
            )
            assert list(found) == ["q1", *more]
            assert found["q1"] == {
                "ndcg": ndcg,
                "ndcg_cut_1": float(rank == 1),
                "ndcg_cut_2": ndcg if rank <= 2 else 0.0,
            }
            assert set(found.get("q2", {"": 0.0}).values()) == {0.0}


def test_keys_come_in_the_order_of_trec_eval_with_ascending_cutoffs():
    measures = ["ndcg_cut", "ndcg_cut.4,1", "ndcg_cut_20,4", "recall.1000", "P_15", "runid", "map"]
    assert list(evaluate(measures)["q1"]) == [
        *("runid", "map", "P_15", "recall_1000"),
        *("ndcg_cut_1", "ndcg_cut_4", "ndcg_cut_20"),
    ]


def test_queries_come_in_the_order_of_the_run_without_those_that_are_not_judged():
    run = {"x": {"d1": 1.0}, "q2": {"d2": 1.0}, "q1": {}}
    found = evaluate(["num_ret"], {**QRELS, "q0": {}, "q3": {"d1": 1}}, {**run, "q0": {"d1": 1.0}})
    assert found == {"q2": {"num_ret": 1.0}, "q1": {"num_ret": 0.0}}
    assert list(found) == ["q2", "q1"]


@pytest.mark.parametrize("measures", [["map"], []])
@pytest.mark.parametrize("qrels", [QRELS, {}, {"q1": {}}])
@pytest.mark.parametrize("run", [RUN, {}, None, [], {"other": {"d1": 1.0}}])
def test_empty_arguments_have_empty_results(measures, qrels, run):
    expected = theirs.RelevanceEvaluator(qrels, measures).evaluate(run)
    assert evaluate(measures, qrels, run) == expected
    if run is not RUN or qrels is not QRELS:
        assert expected == {}


def test_judgments_are_those_of_the_time_when_the_evaluator_was_made():
    qrels = {"q1": {"d1": 1}}
    evaluator = pytrec_eval.RelevanceEvaluator(qrels, ["map"])
    qrels["q1"]["d1"] = 0
    qrels["q2"] = {"d1": 1}
    assert evaluator.evaluate({"q1": {"d1": 1.0}, "q2": {"d1": 1.0}}) == {"q1": {"map": 1.0}}


def test_evaluating_a_few_of_many_queries_gives_the_same_values():
    qrels = {f"q{n}": {"a": n % 3, "b": 1} for n in range(20)}
    run = {f"q{n}": {"a": 1.0, "b": float(n % 2)} for n in range(20)}
    evaluator = pytrec_eval.RelevanceEvaluator(qrels, ["all_trec"])
    values = evaluator.evaluate(run)
    for _ in range(2):
        for query, scores in run.items():
            assert evaluator.evaluate({query: scores}) == {query: values[query]}
    assert evaluator.evaluate(run) == values


@pytest.mark.parametrize(
    ("score", "kind"),
    [
        (float("inf"), "the largest"),
        (1e300, "the largest"),
        (10**400, "the largest"),
        (2**60 + 1, "larger"),
        (True, "larger"),
        (np.float64(1), "larger"),
        (-1e300, "smallest"),
        (float("-inf"), "smallest"),
    ],
)
def test_scores_of_all_sizes_compare_in_single_precision(score, kind):
    # b and the score are equal if both are infinite in single precision; the larger ID comes first.
    others = {"b": 1e39, "c": 0.5, "d": -1e39}
    rank = {"the largest": 2, "larger": 2, "smallest": 4}[kind]
    values = evaluate(["recip_rank"], {"q": {"a": 1}}, {"q": {"a": score, **others}})
    assert values == {"q": {"recip_rank": 1 / rank}}
    tied = evaluate(["recip_rank"], {"q": {"b": 1}}, {"q": {"a": score, **others}})
    assert tied == {"q": {"recip_rank": 1.0}}


def test_dictionaries_of_other_classes_are_dictionaries():
    run = defaultdict(dict, {query: defaultdict(float, docs) for query, docs in RUN.items()})
    assert evaluate(qrels=MappingProxyType(QRELS), run=run) == evaluate()


UNKNOWN = [
    ("ndcg@10", "write ndcg_cut_10"),
    ("nDCG@10", "write ndcg_cut_10"),
    ("dcg", "pytrec_eval doesn't have it, but rankscope.evaluate does"),
    ("recal_10", "did you mean recall?"),
    ("P_5_10", "supported_measures and supported_nicknames list the names"),
    ("ndcg_cut.-1", "did you mean ndcg_cut?"),
    ("", "supported_measures and supported_nicknames list the names"),
]


@pytest.mark.parametrize(("name", "hint"), UNKNOWN)
def test_an_unknown_measure_is_a_value_error_that_names_another(name, hint):
    error = refused(lambda: evaluate([name]), "unknown_measure", "unsupported measure")
    assert isinstance(error, MeasureError)
    assert isinstance(error, ValueError)
    assert error.hint == hint


@pytest.mark.parametrize("nickname", ["prefs", "all_prefs", "qrels_jg"])
def test_a_nickname_for_other_judgments_is_unsupported(nickname):
    refused(lambda: evaluate({nickname}), "unknown_measure", "unsupported measure")
    with pytest.raises(ValueError, match="unsupported measure"):
        theirs.RelevanceEvaluator(QRELS, {nickname})


@pytest.mark.parametrize(
    ("names", "message"),
    [
        (["ndcg_10"], "ndcg takes no parameters, found 'ndcg_10'"),
        (["utility.1,2,3,4"], "utility takes no parameters, found 'utility.1,2,3,4'"),
        (["P.0"], "expected a cutoff from 1 to 2**53 after P, found '0'"),
        (["P_5", "P.5.0"], "expected different numbers after P, found '5,5.0'"),
        (["iprec_at_recall_1.1"], "expected recall to be a number from 0 to 1, found 1.1"),
    ],
)
def test_parameters_that_end_the_process_in_pytrec_eval_are_errors(names, message):
    assert isinstance(refused(lambda: evaluate(names), "bad_parameter", message), MeasureError)


WRONG = [
    ({"qrels": {"q1": {"d1": 1.0}}}, "query_relevance['q1']['d1']", "a whole number, found float"),
    ({"qrels": {"q1": {"d1": np.int64(1)}}}, "query_relevance['q1']['d1']", "found int64"),
    ({"qrels": {"q1": {"d1": "1"}}}, "query_relevance['q1']['d1']", "found str"),
    ({"qrels": {"q1": {1: 1}}}, "query_relevance['q1']", "IDs of documents as text, found int"),
    ({"qrels": {1: {"d1": 1}}}, "query_relevance", "IDs of queries as text, found int"),
    ({"qrels": {"q1": ["d1"]}}, "query_relevance['q1']", "a dictionary by document, found list"),
    ({"run": {"q1": {"d1": np.float32(1)}}}, "scores['q1']['d1']", "found float32"),
    ({"run": {"q1": {"d1": None}}}, "scores['q1']['d1']", "a float or an int, found NoneType"),
    ({"run": {"other": {1: 1.0}}}, "scores['other']", "IDs of documents as text, found int"),
    ({"run": {2: {"d1": 1.0}}}, "scores", "IDs of queries as text, found int"),
    ({"run": {"q1": ["d1"]}}, "scores['q1']", "a dictionary by document, found list"),
    ({"run": [("q1", "d1", 1.0)]}, "scores", "a dictionary of dictionaries by query, found list"),
    ({"relevance_level": 1.0}, "relevance_level", "a whole number, found float"),
    ({"relevance_level": None}, "relevance_level", "a whole number, found NoneType"),
    ({"judged_docs_only_flag": "yes"}, "judged_docs_only_flag", "a whole number, found str"),
    ({"measures": [1]}, "measures", "the names of measures, found int"),
    ({"measures": None}, "measures", "the names of measures, found NoneType"),
]


@pytest.mark.parametrize(("arguments", "place", "message"), WRONG)
def test_what_is_a_type_error_in_pytrec_eval_is_one_here_with_its_place(arguments, place, message):
    given = {"qrels": QRELS, "run": RUN, "measures": ["map"], **arguments}
    error = refused(lambda: evaluate(**given), "input_type", message)
    assert isinstance(error, InputTypeError)
    assert error.file == place
    qrels, run, measures = given.pop("qrels"), given.pop("run"), given.pop("measures")
    with pytest.raises(TypeError):
        theirs.RelevanceEvaluator(qrels, measures, **given).evaluate(run)


def test_a_list_of_measures_may_be_a_single_name():
    assert evaluate("map") == evaluate(["map"])


def test_judgments_that_are_no_dictionary_are_a_type_error():
    for qrels in (None, [("q1", "d1", 1)]):
        refused(lambda: evaluate(qrels=qrels), "input_type", "a dictionary of dictionaries")  # noqa: B023 - called at once


@pytest.mark.parametrize("level", [0, -1])
def test_the_level_is_1_or_more(level):
    error = refused(lambda: evaluate(relevance_level=level), "bad_parameter", f"found {level}")
    assert isinstance(error, TypeError)


@pytest.mark.parametrize(
    ("qrels", "run", "code"),
    [
        ({"q1": {"d1": 1}}, {"q1": {"d1": float("nan")}}, "score_nan"),
        ({"q1": {"d1": 1}}, {"q1": {"d\ud800": 1.0}}, "surrogate"),
        ({"q1": {"d\ud800": 1}}, {"q1": {"d1": 1.0}}, "surrogate"),
        ({"q1": {"d\0": 1}}, {"q1": {"d1": 1.0}}, "nul_byte"),
        ({"q1": {"": 1}}, {"q1": {"d1": 1.0}}, "missing_id"),
        ({"q1": {"d1": 2**53 + 1}}, {"q1": {"d1": 1.0}}, "inexact_number"),
    ],
)
def test_what_crashes_or_confuses_pytrec_eval_is_an_error(qrels, run, code):
    assert isinstance(refused(lambda: evaluate(["map"], qrels, run), code), FormatError)


def test_lines_of_files_are_read_as_in_pytrec_eval():
    judged = ["q1 0 d1 1\n", "q1\t0\td2  -2\r\n", " q2 0 d1 0"]
    retrieved = ["q1 Q0 d1 1 0.5 mine\n", "q2 Q0 d1 2 1e3 mine", "q1 Q0 d2 1 -inf mine\n"]
    assert pytrec_eval.parse_qrel(judged) == theirs.parse_qrel(judged)
    assert pytrec_eval.parse_run(iter(retrieved)) == theirs.parse_run(retrieved)
    assert pytrec_eval.parse_run([]) == {}


@pytest.mark.parametrize(
    ("parse", "line", "code"),
    [
        (pytrec_eval.parse_qrel, "q1 0 d1", "field_count"),
        (pytrec_eval.parse_qrel, "", "field_count"),
        (pytrec_eval.parse_qrel, "q1 0 d1 1.5", "rel_not_number"),
        (pytrec_eval.parse_run, "q1 Q0 d1 1 0.5", "field_count"),
        (pytrec_eval.parse_run, "q1 Q0 d1 1 0,5 mine", "score_not_number"),
    ],
)
def test_a_malformed_line_is_a_value_error_with_its_number(parse, line, code):
    good = {pytrec_eval.parse_qrel: "q1 0 d2 1", pytrec_eval.parse_run: "q1 Q0 d2 1 1 mine"}[parse]
    error = refused(lambda: parse([good, line]), code)
    assert isinstance(error, ValueError)
    assert error.line == 2


def test_a_repeated_document_is_an_assertion_error_as_in_pytrec_eval():
    for parse, line in (
        (pytrec_eval.parse_qrel, "q1 0 d1 1"),
        (pytrec_eval.parse_run, "q1 Q0 d1 1 1 mine"),
    ):
        error = refused(lambda: parse([line, line]), "duplicate_doc")  # noqa: B023 - called at once
        assert isinstance(error, AssertionError)
        assert isinstance(error, DuplicateError)


def run_code(code):
    done = subprocess.run(
        [sys.executable, "-c", code], capture_output=True, text=True, check=False, timeout=60
    )
    assert done.stderr == ""
    return done.stdout


def test_installed_every_import_of_pytrec_eval_is_ours():
    code = """
import rankscope as rs
rs.install_as_pytrec_eval()
rs.install_as_pytrec_eval()
import pytrec_eval, importlib.util
from pytrec_eval import RelevanceEvaluator, parse_run
print(pytrec_eval is rs.pytrec_eval, RelevanceEvaluator.__module__, pytrec_eval.__version__)
print(importlib.util.find_spec("pytrec_eval").name)
"""
    version = theirs.__version__
    expected = f"True rankscope.pytrec_eval.evaluator {version}\nrankscope.pytrec_eval\n"
    assert run_code(code) == expected


def test_it_is_not_installed_over_the_real_one():
    before = sys.modules["pytrec_eval"]
    error = refused(
        rs.install_as_pytrec_eval, "already_imported", "pytrec_eval is already imported"
    )
    assert isinstance(error, UsageError)
    assert sys.modules["pytrec_eval"] is before


def test_importing_rankscope_does_not_replace_the_real_one():
    code = "import rankscope.pytrec_eval, sys; print('pytrec_eval' in sys.modules)"
    assert run_code(code) == "False\n"


def test_installed_ir_measures_computes_with_it():
    names = ["nDCG@2", "AP(rel=2)", "P(judged_only=True)@1", "IPrec@0.5", "Success@1"]
    code = f"""
import sys
import rankscope as rs
rs.install_as_pytrec_eval()
import ir_measures
measures = [ir_measures.parse_measure(name) for name in {names!r}]
values = ir_measures.calc_aggregate(measures, {QRELS!r}, {RUN!r})
print(ir_measures.pytrec_eval.is_available() and sys.modules["pytrec_eval"].__name__)
print([values[measure] for measure in measures])
"""
    measures = [ir_measures.parse_measure(name) for name in names]
    expected = ir_measures.calc_aggregate(measures, QRELS, RUN)
    values = [expected[measure] for measure in measures]
    assert run_code(code) == f"rankscope.pytrec_eval\n{values}\n"


K_VALUES = [1, 3, 5, 10, 100, 1000]


@pytest.mark.parametrize("stems", [["map_cut", "ndcg_cut", "recall", "P"], ["success", "P"]])
def test_the_calls_of_beir_and_mteb_have_the_values_of_pytrec_eval(stems):
    # They ask for all cutoffs of a measure at once, and look them up with an underscore.
    cutoffs = ",".join(map(str, K_VALUES))
    measures = {f"{stem}.{cutoffs}" for stem in stems}
    values = evaluate(measures)
    assert values == theirs.RelevanceEvaluator(QRELS, measures).evaluate(RUN)
    for row in values.values():
        assert set(row) == {f"{stem}_{k}" for stem in stems for k in K_VALUES}


MEASURES = [
    {"all_trec"},
    {"official", "set", "ndcg"},
    ["ndcg_cut", "ndcg_cut.1,4", "ndcg_cut_20,4", "recall.1000", "P", "map_cut_3,2", "success_2"],
    {"iprec_at_recall_0.25,0.5", "Rprec_mult.0.3,3", "11pt_avg.0.5,0.2", "set_F_4", "set_F.0"},
    ["map_5", "gm_map", "gm_bpref", "num_rel_ret", "relative_P_7", "relstring.5", "recall_5000000"],
]
"""Nicknames, defaults, and parameters in every spelling."""

IDS = strategies.text(
    strategies.characters(exclude_categories=["Cs"], exclude_characters="\0"),
    min_size=1,
    max_size=3,
)
GRADES = strategies.dictionaries(IDS, strategies.integers(-2, 4), min_size=1, max_size=12)
SCORES = strategies.one_of(
    strategies.floats(allow_nan=False),
    strategies.sampled_from([0.0, 0.5, 1.0, 1.0 + 2.0**-30]),
    strategies.integers(-2, 2),
    strategies.booleans(),
)
SIZE = {"min_size": 1, "max_size": 12}


def bits(values):
    """Keys and values in their order; a NaN has no sign."""
    return [
        (query, [(key, struct.pack("d", of) if of == of else "nan") for key, of in row.items()])  # noqa: PLR0124 - as above
        for query, row in values.items()
    ]


def compare(qrels, runs, *arguments):
    """Check that both evaluators return the same for each run, one after the other."""
    mine = pytrec_eval.RelevanceEvaluator(qrels, *arguments)
    other = theirs.RelevanceEvaluator(qrels, *arguments)
    for run in runs:
        assert bits(mine.evaluate(run)) == bits(other.evaluate(run))


def test_the_names_of_measures_are_those_of_pytrec_eval():
    assert pytrec_eval.supported_measures == theirs.supported_measures
    assert pytrec_eval.supported_nicknames == theirs.supported_nicknames
    assert set(theirs.__all__) <= set(pytrec_eval.__all__)


@pytest.mark.parametrize("measures", MEASURES, ids=range(len(MEASURES)))
@pytest.mark.parametrize("level", [1, 2, 3])
@pytest.mark.parametrize("judged_only", [False, True], ids=["all", "judged only"])
def test_values_of_generated_runs_are_those_of_pytrec_eval(measures, level, judged_only):
    for seed in range(3):
        case = cases.make(seed)
        few = dict(list(case.run.items())[:5])
        compare(case.qrels, [case.run, few, case.run, {}], measures, level, judged_only)


@pytest.mark.parametrize("name", [*real.TREC, *real.OTHERS])
def test_values_of_real_runs_are_those_of_pytrec_eval(name):
    qrels, run = real.read(name)
    compare(qrels, [run], {"all_trec"})


@examples(200)
@given(
    qrels=strategies.dictionaries(IDS, GRADES, max_size=4),
    run=strategies.dictionaries(IDS, strategies.dictionaries(IDS, SCORES, **SIZE), max_size=4),
    shared=strategies.data(),
    level=strategies.integers(1, 3),
    judged_only=strategies.booleans(),
)
def test_values_of_any_run_are_those_of_pytrec_eval(qrels, run, shared, level, judged_only):
    for query, grades in qrels.items():
        # If all are negative, or none is ranked, trec_eval 9 reads memory that nobody has written.
        if max(grades.values()) < 0:
            grades["unseen"] = 0
        documents = strategies.one_of(IDS, strategies.sampled_from(sorted(grades)))
        if shared.draw(strategies.booleans()):
            run[query] = shared.draw(strategies.dictionaries(documents, SCORES, **SIZE))
    compare(qrels, [run], ["all_trec"], level, judged_only)


@pytest.mark.parametrize("measure", ["map", "num_ret", "gm_map", "P_5"])
def test_aggregated_measures_are_those_of_pytrec_eval(measure):
    values = [0.1, 0.2, 0.3, 0.7, 1e-9] * 40
    found = pytrec_eval.compute_aggregated_measure(measure, values)
    assert found == theirs.compute_aggregated_measure(measure, values)
    assert type(found) is float
