"""A measure under every convention, a number that was asked about, and what makes a difference."""

from __future__ import annotations

import io
import json
import math
import shlex
from contextlib import nullcontext, redirect_stderr, redirect_stdout
from itertools import pairwise
from unittest.mock import patch

import numpy as np
import pytest
import rankscope as rs
from rankscope import AP, P, RankscopeError, nDCG
from rankscope._cli import main
from rankscope._conventions import TABLE, adapt
from rankscope._conventions.spec import Rules
from rankscope._reconcile.causes import list_cutoffs, list_levels
from rankscope._reconcile.target import Target

from tests.refusals import refuses
from tests.trec import write_qrels, write_run

QRELS = {"q1": {"a": 3, "b": 2, "c": 1, "d": 0}, "q2": {"x": 0, "y": 0}, "q3": {"m": 1}}
RUN = {"q1": {"c": 2.0, "d": 2.0, "a": 1.0, "b": 0.5, "e": 0.2}, "q2": {"x": 2.0, "y": 1.0}}


@pytest.fixture(scope="module")
def found():
    return rs.reconcile(QRELS, RUN, nDCG @ 3)


@pytest.fixture
def files(tmp_path):
    return write_qrels(tmp_path / "qrels", QRELS), write_run(tmp_path / "run", RUN)


@pytest.mark.parametrize("row", TABLE, ids=lambda row: row.address)
def test_a_value_is_that_of_evaluate(row, found):
    (each,) = (
        each
        for each in found.reckonings
        if not each.option and (each.name.split("@")[0], each.version) == (row.name, row.version)
    )
    with nullcontext() if not each.refusal else pytest.raises(RankscopeError) as caught:
        expected = rs.evaluate(QRELS, RUN, nDCG @ 3, convention=row)
    if caught:
        assert (each.refusal, math.isnan(each.value)) == (caught.value.message, True)
    else:
        assert (each.value, each.policy) == (expected["nDCG@3"], str(expected.policy))
        assert {each.measure: each.queries} == expected.denominators


def test_options_and_our_defaults_have_values_of_their_own(found):
    chosen = rs.evaluate(QRELS, RUN, nDCG @ 3, convention="trec_eval", policy="missing=zero")
    assert found["trec_eval missing=zero"] == chosen["nDCG@3"] != found["trec_eval"]
    assert found["rankscope"] == rs.evaluate(QRELS, RUN, nDCG @ 3)["nDCG@3"]


def test_equal_values_are_one_group_and_different_ones_are_not(found):
    values = [[each.value for each in group] for group in found.groups]
    assert sum(map(len, values)) == sum(not each.refusal for each in found.reckonings)
    assert all(max(group) - min(group) < 1e-12 for group in values)
    assert all(above[0] - below[0] > 1e-9 for above, below in pairwise(values))


@pytest.mark.parametrize(
    ("got", "value", "half"),
    [
        ("0.4863", 0.4863, 0.00005),
        ("0.4860", 0.486, 0.00005),
        (" 0.486 ", 0.486, 0.0005),
        (0.4863, 0.4863, 0.00005),
        (np.float64(0.4863), 0.4863, 0.00005),
        ("4.863e-1", 0.4863, 0.00005),
        (1, 1.0, 0.5),
        ("1.0", 1.0, 0.05),
    ],
)
def test_a_number_has_so_many_digits(got, value, half):
    wanted = Target.read(got, highest=1.0)
    assert (wanted.value, wanted.half) == (value, half)
    assert wanted.is_near(value + half)
    assert wanted.is_near(value - half)
    assert not wanted.is_near(value + half * 1.001)


@pytest.mark.parametrize("got", ["high", "nan", "inf", "", None.__class__, True, {}, {"q1": ""}])
def test_what_is_no_number_is_refused(got):
    with refuses(rs.UsageError, "bad_parameter"):
        rs.reconcile(QRELS, RUN, nDCG @ 3, got=got)


@pytest.mark.parametrize("name", ["trec_eval", "lightgbm", "catboost_exp_position", "rectools"])
@pytest.mark.parametrize("places", [3, 4, 6, 15])
def test_the_convention_of_a_number_is_named(name, places):
    value = rs.evaluate(QRELS, RUN, nDCG @ 3, convention=name)["nDCG@3"]
    found = rs.reconcile(QRELS, RUN, nDCG @ 3, got=f"{value:.{places}f}")
    assert name in found.matches
    assert found.deviations == ()
    near = {each.name for each in found.reckonings if abs(each.value - value) <= 10.0**-places}
    assert set(found.matches) <= near


def rules_of(name):
    adapted = adapt(name, [nDCG @ 3])
    return Rules(adapted.measures[0], adapted.policy, adapted.score_type)


@pytest.mark.parametrize(
    ("convention", "rule", "setting"),
    [
        ("catboost", {"empty": "skip"}, "skip"),
        ("lightgbm", {"ties": "average"}, "average"),
        ("sklearn", {"discount": "jk", "base": 2.0, "s": 1.0}, "jk, base=2"),
        ("lenskit", {"aggregate": "median"}, "median"),
        ("lightgbm", {"missing": "zero"}, "zero"),
        ("quepid", {"gain": "linear"}, "linear"),
    ],
)
def test_a_single_other_rule_is_found(convention, rule, setting):
    changed = rules_of(convention).take(rule)
    value = rs.evaluate(QRELS, RUN, changed.measure, policy=changed.policy)[changed.measure]
    found = rs.reconcile(QRELS, RUN, nDCG @ 3, got=repr(value))
    if found.matches:
        # Another convention differs from this one in this rule alone.
        assert any(abs(found[name] - value) < 1e-12 for name in found.matches)
    else:
        named = [(each.rule, each.setting) for each in found.deviations if convention in each.names]
        assert (next(iter(rule)), setting) in named
        assert all(abs(each.value - value) < 1e-12 for each in found.deviations)


def test_the_rules_that_differ_are_named_each_with_the_value_of_its_exchange(found):
    difference = found.differ("trec_eval", "lightgbm")
    assert [(each.rule, each.one, each.other) for each in difference.rules] == [
        ("ties", "doc_id", "input"),
        ("empty", "zero", "one"),
        ("unretrieved", "count", "ignore"),
        ("negative", "nonrelevant", "error"),
        ("score_type", "float32", "float64"),
        ("gain", "linear", "exp2"),
        ("ideal", "judged", "retrieved"),
    ]
    assert difference.values == (found["trec_eval"], found["lightgbm"])
    rules, others = rules_of("trec_eval"), rules_of("lightgbm").to_dict()
    for each in difference.rules:
        changed = rules.take(others[each.rule])
        evaluation = rs.evaluate(QRELS, RUN, changed.measure, policy=changed.policy)
        assert each.value == evaluation[changed.measure]


def test_queries_with_two_values_have_the_rules_that_make_them(found):
    difference = found.differ("trec_eval missing=zero", "lightgbm")
    assert [(each.query_id, each.rules) for each in difference.queries] == [
        ("q3", ("missing",)),  # left out by one, then by size
        ("q2", ("empty",)),
        ("q1", ("ties", "gain")),
    ]
    assert math.isnan(difference.queries[0].other)


ALIKE = {"q": {"a": 1, "b": 1, "c": 1}}, {"q": {"x": 4.0, "a": 3.0, "b": 2.0, "c": 1.0}}
EXPLAINED = {
    "nDCG@3 trec_eval sklearn": (
        (QRELS, RUN),
        "ties: c (grade 1): rank 2 / any of ranks 1 to 2",
        "ties: d (grade 0): rank 1 / any of ranks 1 to 2",
    ),
    "nDCG@3 trec_eval ranx_burges": (
        ({"q": QRELS["q1"]}, {"q": {"c": 3.0, "d": 2.0, "a": 1.0}}),
        "gain: a (grade 3): gain 3 / gain 7",
        "gain: b (grade 2): gain 2 / gain 3",
    ),
    # Those below the cutoff, and tied documents of one grade, are not shown.
    "nDCG@3 trec_eval ranx": (
        ({"q": {"a": 1, "b": 1, "y": 2}}, {"q": {"a": 3.0, "b": 2.0, "x": 1.0, "y": 1.0}}),
        "ties: y (grade 2): rank 3 / rank 4",
        "ties: x (unjudged): rank 4 / rank 3",
    ),
    "nDCG@4 trec_eval ranx": (
        ({"q": {"a": 1, "b": 2}}, {"q": {"x": 2.0, "y": 2.0, "a": 1.0, "b": 1.0}}),
        "ties: b (grade 2): rank 3 / rank 4",
        "ties: a (grade 1): rank 4 / rank 3",
    ),
    "nDCG@2 ranx xgboost_linear": (
        ({"q": {"a": 1, "b": 2, "c": 3}}, {"q": {"x": 2.0, "a": 1.0}}),
        "ideal: the gains of the ideal list are 3 2 / 1",
        "unretrieved: c (grade 3): count / ignore",
        "unretrieved: b (grade 2): count / ignore",
        "ideal: c (grade 3): in the ideal list / not in it",
        "ideal: b (grade 2): in the ideal list / not in it",
        "ideal: a (grade 1): not in it / in the ideal list",
    ),
    "nDCG@3 spark lenskit": (
        ALIKE,
        "discount: a (grade 1): rank 2 weighs 0.6309 / rank 2 weighs 1.0000",
        "discount: b (grade 1): rank 3 weighs 0.5000 / rank 3 weighs 0.6309",
    ),
    "AP@2 trec_eval spark": (
        ALIKE,
        "denominator: relevant / reachable; 3 relevant, 4 retrieved, cutoff 2",
    ),
    "nDCG@3 spark rectools": (
        ({"q": {"a": 1, "b": 0}}, {"q": {"b": 2.0, "a": 1.0}}),
        "ideal: the gains of the ideal list are 1 / 1 1 1",
    ),
    "nDCG@3 trec_eval jk2002": (
        ({"q": {"c": 1}, "r": {"a": 1}}, {"r": {"a": 1.0}}),
        "missing: it is not in the run: skip / zero",
    ),
}


@pytest.mark.parametrize("names", EXPLAINED)
def test_documents_and_sentences_say_what_a_rule_does(names):
    measure, one, other = names.split()
    inputs, *expected = EXPLAINED[names]
    difference = rs.reconcile(*inputs, measure).differ(one, other)
    (query,) = difference.queries
    assert str(difference).splitlines()[-len(expected) :] == [f"  {line}" for line in expected]
    assert len(query.documents) + len(query.remarks) == len(expected)


def test_ties_below_the_cutoff_make_no_difference():
    qrels, run = EXPLAINED["nDCG@3 trec_eval ranx"][0]
    assert rs.reconcile(qrels, run, nDCG @ 2).differ("trec_eval", "ranx").queries == ()


def test_a_limit_explains_the_largest_differences_only():
    qrels = {f"q{n}": {"a": 2, "b": 1, "z": n % 3} for n in range(30)}
    run = {query: {"b": 2.0, "a": 1.0} for query in qrels}
    difference = rs.reconcile(qrels, run, nDCG @ 3).differ("ranx", "ranx_burges", limit=4)
    assert [bool(each.documents) for each in difference.queries] == [True] * 4 + [False] * 26
    sizes = [abs(each.one - each.other) for each in difference.queries]
    assert sizes == sorted(sizes, reverse=True)
    assert str(difference).endswith("and 26 more queries")
    assert "and 26 more queries" in difference._repr_html_()


@pytest.mark.parametrize("one", ["lightgmb", "trec_eval missing=error", "trec_eval@11"])
def test_a_convention_that_is_not_there_cannot_be_compared(one, found):
    with pytest.raises(rs.UsageError):
        found.differ(one, "sklearn")
    with pytest.raises(rs.UsageError):
        found[one]


def test_a_convention_without_a_value_says_why(found):
    with refuses(rs.errors.PolicyError, "missing_query"):
        found.differ("trec_eval@10.0", "sklearn")
    text = " ".join(str(rs.reconcile(QRELS, RUN, "ERR@3")).split())
    assert text.count("no ERR@3 there, as far as we know") == 1


def test_conventions_may_be_chosen_and_several_measures_and_bad_input_are_refused():
    found = rs.reconcile(QRELS, RUN, nDCG @ 3, conventions=["sklearn", "trec_eval@10.0"])
    names = ["rankscope", "sklearn", "trec_eval@10.0 missing=zero", "trec_eval@10.0"]
    assert [each.name for each in found.reckonings] == names
    with pytest.raises(rs.errors.MeasureError, match="expected one measure, found 2"):
        rs.reconcile(QRELS, RUN, [nDCG @ 3, AP])
    with pytest.raises(rs.errors.FormatError):
        rs.reconcile(QRELS, {"q1": {"a": math.nan}}, nDCG @ 3)


def test_every_way_in_gives_the_same(files, monkeypatch, found):
    judged, rows = (
        [(query, doc, value) for query, docs in lists.items() for doc, value in docs.items()]
        for lists in (QRELS, RUN)
    )
    with open(files[1], "rb") as file:  # noqa: PTH123 - a path as text
        text = file.read()
    monkeypatch.setattr("sys.stdin", io.TextIOWrapper(io.BytesIO(text)))
    inputs = [(QRELS, run) for run in (text, files[1], rows, iter(rows), "-")]
    difference = found.differ("trec_eval", "sklearn")
    for qrels, run in [*inputs, (judged, RUN), (files[0], RUN)]:
        again = rs.reconcile(qrels, run, nDCG @ 3)
        assert str(again) == str(found)
        assert again.differ("trec_eval", "sklearn").queries == difference.queries


def test_the_four_ways_out_agree(found):
    rows = found.to_dict()
    assert [*rows] == [each.name for each in found.reckonings]
    assert rows["sklearn"]["value"] == found["sklearn"]
    difference = found.differ("trec_eval", "sklearn")
    assert difference.to_dict()["queries"][0]["query_id"] == "q1"
    for result, name, cells in ((found, "name", [*rows]), (difference, "rules", ["ties"])):
        for frame in (result.to_pandas(), result.to_polars()):
            assert list(frame[name]) == cells
        assert result.to_arrow().column(name).to_pylist() == cells


def command(*words, stdin=""):
    given = io.TextIOWrapper(io.BytesIO(stdin.encode()))
    out, err = io.StringIO(), io.StringIO()
    with patch("sys.stdin", given), redirect_stdout(out), redirect_stderr(err):
        status = main(["conventions", *words])
    return status, out.getvalue(), err.getvalue()


def test_the_command_lists_and_explains():
    status, listed, _ = command()
    assert status == 0
    assert [line.split()[0] for line in listed.splitlines()] == [row.address for row in TABLE]
    _, explained, _ = command("torchmetrics")
    assert explained.startswith("torchmetrics@")
    assert "with a score of 0 or below" in " ".join(explained.split())
    assert [*json.loads(command("--json")[1])] == [row.address for row in TABLE]
    assert command("sklearn", "--csv")[1].splitlines()[1].startswith("sklearn,")


def test_the_command_prints_what_the_call_gives(files):
    found = rs.reconcile(QRELS, RUN, nDCG @ 3, got="0.2431")
    assert command(*files, "-m", "nDCG@3", "--got", "0.2431") == (0, f"{found}\n", "")
    words = (*files, "-m", "ndcg_cut_3", "--between", "trec_eval", "sklearn")
    assert command(*words) == (0, f"{found.differ('trec_eval', 'sklearn')}\n", "")
    document = json.loads(command(*words, "--json")[1])
    assert document["conventions"]["sklearn"]["value"] == found["sklearn"]
    assert document["conventions"]["trec_eval@10.0"]["value"] is None
    assert document["between"]["queries"][0]["rules"] == ["ties"]
    assert command(*words, "--csv")[1].splitlines()[0] == "query_id,trec_eval,sklearn,rules"


def test_a_number_that_no_convention_gives_is_status_1(files):
    assert command(*files, "-m", "nDCG@3", "--got", "0.9")[0] == 1
    with open(files[1], encoding="utf-8") as file:  # noqa: PTH123 - a path as text
        words = (files[0], "-", "-m", "nDCG@3", "--got", "0.2431")
        status, printed, _ = command(*words, stdin=file.read())
    assert (status, printed.split(" matches ")[0]) == (0, "0.2431")


@pytest.mark.parametrize(
    ("words", "code"),
    [
        (("a", "b", "c"), "usage"),
        (("lightgmb",), "unknown_convention"),
        (("-m", "nDCG@3"), "usage"),
        (("sklearn", "--got", "1"), "usage"),
        (("sklearn", "-m", "nDCG@3"), "usage"),
        (("--json", "--csv"), "usage"),
        (("-", "-"), "stdin_twice"),
    ],
)
def test_a_command_that_cannot_be_meant_is_refused(words, code):
    status, printed, errors = command(*words)
    assert status == 2
    assert f"[{code}]" in errors
    assert (printed == "") == ("--json" not in words)


QUERIES = 40
# Every ninth query has no relevant document, three are not retrieved, and two are not judged.
JUDGED = {
    f"q{q}": {f"d{d}": 0 if q % 9 == 8 else (q * 7 + d * d * 3 + q * d) % 11 % 4 for d in range(40)}
    for q in range(QUERIES)
}
SCORED = {
    f"q{q}": {f"d{(d * 11 + q) % 40}": 100.0 - d for d in range(30)}
    for q in range(QUERIES + 2)
    if q not in {39, 17, 30}
}
CUT = {query: dict(list(docs.items())[:20]) for query, docs in SCORED.items()}


def causes(measure, value):
    """The causes found for a number of seven digits."""
    found = rs.reconcile(JUDGED, SCORED, measure, got=f"{value:.7f}")
    assert found.matches == ()
    return found.causes


LEVEL = "documents are relevant from grade 2"


@pytest.mark.parametrize(
    ("asked", "given", "changes", "options"),
    [
        (AP, {"measures": AP(rel=2)}, {LEVEL}, "-m 'AP(rel=2)'"),
        (P @ 10, {"measures": P @ 15}, {"the cutoff is 15 instead of 10"}, "-m P@15"),
        (AP @ 10, {"measures": AP}, {"the measure has no cutoff, instead of 10"}, "-m AP"),
        (nDCG, {"run": CUT}, {"the run ends after 20 documents for each query"}, ""),
        (AP, {"measures": AP(rel=2) @ 20}, {LEVEL, "the cutoff is 20"}, "-m 'AP(rel=2)@20'"),
        (
            AP,
            {"measures": AP(rel=2), "policy": "missing=skip"},
            {LEVEL, "the mean is over the 37 judged queries of the run"},
            "-m 'AP(rel=2)' --policy missing=skip",
        ),
    ],
)
def test_what_else_was_evaluated_is_found_with_its_command(asked, given, changes, options):
    evaluation = rs.evaluate(JUDGED, **{"run": SCORED, "measures": asked, **given})
    ((measure, value),) = evaluation.items()
    first = causes(asked, value)[0]
    assert (first.measure, {*first.changes}) == (measure, changes)
    assert first.command == (options and f"rankscope eval QRELS RUN {options}")
    assert first.by_chance < 0.01


@pytest.mark.parametrize(
    ("count", "says"),
    [
        (QUERIES + 2, "the mean is over the 42 queries of the judgments or the run"),
        (QUERIES - 3 + 2, "the mean is over the 39 queries of the run, judged or not"),
        (QUERIES + 5, "the sum of 40 queries is divided by 45"),
    ],
)
def test_another_number_of_queries_is_found(count, says):
    total = rs.evaluate(JUDGED, SCORED, nDCG @ 10)[nDCG @ 10] * QUERIES
    (each,) = (each for each in causes(nDCG @ 10, total / count) if each.changes == (says,))
    assert (each.queries, each.command) == (count, "")


def regrade(change):
    """Return the judgments with other grades."""
    return {query: {doc: change(docs[doc]) for doc in docs} for query, docs in JUDGED.items()}


OTHERWISE = {
    "scores are reversed: the lowest ranks first": (
        JUDGED,
        {query: {doc: -score for doc, score in docs.items()} for query, docs in SCORED.items()},
    ),
    "grades are lower by 1": (regrade(lambda grade: max(grade - 1, 0)), SCORED),
    "grades are higher by 1": (regrade(lambda grade: grade + 1), SCORED),
    "grades are 1 from grade 2 on, and 0 below": (regrade(lambda grade: int(grade >= 2)), SCORED),
}


@pytest.mark.parametrize("says", OTHERWISE)
def test_other_grades_and_reversed_scores_are_found(says):
    value = rs.evaluate(*OTHERWISE[says], nDCG @ 10)[nDCG @ 10]
    assert causes(nDCG @ 10, value)[0].changes == (says,)
    inverse = rs.evaluate(*OTHERWISE[says], nDCG @ 10, convention="lightgbm")["nDCG@10"]
    changes, convention = causes(nDCG @ 10, inverse)[0].changes
    assert (changes, convention[:26]) == (says, "the convention is that of ")


def tabulate(judged, scored, *, has_docs=True):
    rows = [
        (query, doc, score, judged[query].get(doc))
        for query in judged
        for doc, score in scored.get(query, {}).items()
    ]
    names = ("query_id", "doc_id", "score", "relevance")
    columns = dict(zip(names, map(list, zip(*rows, strict=True)), strict=True))
    return columns if has_docs else {name: columns[name] for name in names if name != "doc_id"}


@pytest.mark.parametrize("says", OTHERWISE)
@pytest.mark.parametrize("has_docs", [False, True])
def test_other_grades_and_scores_of_a_table_are_found(says, *, has_docs):
    value = rs.evaluate(tabulate(*OTHERWISE[says], has_docs=has_docs), nDCG @ 3)[nDCG @ 3]
    table = tabulate(JUDGED, SCORED, has_docs=has_docs)
    found = rs.reconcile(table, {nDCG @ 3: f"{value:.7f}"})
    assert found.causes[0].changes == (says,)
    found = rs.reconcile(table, P @ 10, got=f"{rs.evaluate(table, P @ 15)[P @ 15]:.7f}")
    assert found.causes[0].changes == ("the cutoff is 15 instead of 10",)
    assert found.causes[0].command == "rankscope eval TABLE -m P@15"


def test_a_number_in_percent_is_found():
    evaluation = rs.evaluate(JUDGED, SCORED, [nDCG @ 10, "NumRet"])
    value = evaluation[nDCG @ 10]
    found = rs.reconcile(JUDGED, SCORED, nDCG @ 10, got=f"{100 * value:.2f}")
    assert "rankscope" in found.matches
    assert str(found).startswith(f"{100 * value:.2f} % matches rankscope")
    fewer = rs.reconcile(JUDGED, SCORED, nDCG @ 10, got=f"{100 * value + 0.02:.2f}")
    assert "rankscope" not in fewer.matches
    values = evaluation.to_dict().items()
    by_query = {query: f"{100 * of['nDCG@10']:.3f}" for query, of in values}
    assert "rankscope" in rs.reconcile(JUDGED, SCORED, nDCG @ 10, got=by_query).matches
    # 100 documents are a number of them.
    counted = rs.reconcile(JUDGED, SCORED, "NumRet", got=evaluation["NumRet"])
    assert "rankscope" in counted.matches


def test_a_mapping_is_a_measure_with_its_number():
    value = round(rs.evaluate(JUDGED, SCORED, nDCG @ 10)[nDCG @ 10], 4)
    found = rs.reconcile(JUDGED, SCORED, {"nDCG@10": value})
    assert found.to_dict() == rs.reconcile(JUDGED, SCORED, "nDCG@10", got=value).to_dict()
    assert "rankscope" in found.matches
    for reported, got in (({"nDCG@10": 0.3, "AP": 0.2}, None), ({"AP": 0.2}, 0.2), ({}, None)):
        with pytest.raises(rs.UsageError, match="expected the number of one measure"):
            rs.reconcile(JUDGED, SCORED, reported, got=got)


def test_the_answer_stands_before_the_table_and_html_wraps_nothing():
    nothing = "no convention matches 0.0000001, even with one setting changed, or with another"
    for got, says in (("0.0000001", nothing), (None, "nDCG@10 has")):
        found = rs.reconcile(JUDGED, SCORED, nDCG @ 10, got=got)
        assert (found.matches, found.deviations, found.causes) == ((), (), ())
        assert " ".join(str(found).split()).startswith(says)
        html = found._repr_html_()
        assert html.index(says) < html.index("<table")
        assert r"\n" not in html


def test_later_causes_tried_more_and_fewer_digits_match_more_often_by_chance():
    value = rs.evaluate(JUDGED, SCORED, AP(rel=2))[AP(rel=2)]
    by_places = [
        rs.reconcile(JUDGED, SCORED, AP, got=f"{value:.{places}f}").causes for places in (3, 4, 6)
    ]
    tried = [each.tried for each in by_places[0]]
    assert len(tried) > 1
    assert tried == sorted(tried)
    chances = [found[0].by_chance for found in by_places]
    assert chances == sorted({*chances}, reverse=True)
    assert len(chances) == 3


def test_conventions_without_a_mean_are_none_of_the_values_tried():
    # With lower grades nothing is relevant, and some conventions leave out all queries.
    qrels, run = {"q": {"a": 1}, "r": {"a": 1}}, {"q": {"x": 3, "a": 1}, "r": {"a": 2, "x": 1}}
    found = rs.reconcile(qrels, {**run, "q": {"x": 3, "y": 2, "a": 1}}, AP @ 2, got="1.0000")
    assert [each.tried for each in found.causes] == [7]


def test_the_value_of_each_query_decides():
    measure = AP(rel=2)
    evaluation = rs.evaluate(JUDGED, SCORED, measure)
    values = dict(zip(evaluation.query_ids, evaluation.per_query(measure).tolist(), strict=True))
    printed = {query: f"{value:.4f}" for query, value in values.items()}
    found = rs.reconcile(JUDGED, SCORED, AP, got=printed)
    assert found.got == "the values of 40 queries"
    assert {each.measure for each in found.causes} == {"AP(rel=2)"}
    assert found.causes[0].by_chance == 0
    printed["q0"] = "0.9999"
    assert rs.reconcile(JUDGED, SCORED, AP, got=printed).causes == ()
    assert "rankscope" in rs.reconcile(JUDGED, SCORED, measure, got={"q0": values["q0"]}).matches


def test_levels_and_cutoffs_are_those_that_the_measure_has():
    grades = [0, 1, 2, 3]
    assert [list_levels(each, grades) for each in (AP, AP(rel=2), nDCG)] == [[2, 3], [1, 3], []]
    assert list_cutoffs(P @ 10)[:3] == [9, 11, 5]
    assert list_cutoffs(nDCG @ 1)[:2] == [None, 2]
    assert None not in list_cutoffs(P @ 10)
    assert 0 not in list_cutoffs(nDCG @ 1)
    assert list_cutoffs(rs.Rprec) == []


def test_a_printed_command_gives_the_number(tmp_path, capsys):
    qrels, run = write_qrels(tmp_path / "the qrels", JUDGED), write_run(tmp_path / "run", SCORED)
    value = rs.evaluate(qrels, run, AP(rel=3))[AP(rel=3)]
    found = rs.reconcile(qrels, run, AP, got=f"{value:.6f}")
    assert found.causes[0].command in str(found)
    program, *words = shlex.split(found.causes[0].command)
    assert program == "rankscope"
    assert main(words) == 0
    assert f"{value:.4f}" in capsys.readouterr().out
