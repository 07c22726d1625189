"""A measure under every convention, a number that was asked about, and what makes a difference."""

from __future__ import annotations

import io
import json
import math
import shlex
from contextlib import redirect_stderr, redirect_stdout
from itertools import pairwise
from unittest.mock import patch

import pytest
import rankscope as rs
from rankscope import AP, P, RankscopeError, nDCG
from rankscope.cli import main
from rankscope.conventions import TABLE, adapt
from rankscope.conventions.rules import Rules, write
from rankscope.reconciliation.causes import list_cutoffs, list_levels
from rankscope.reconciliation.target import TargetNumber

from tests.refusals import refuses
from tests.trec import write_qrels, write_run

QRELS = {"q1": {"a": 3, "b": 2, "c": 1, "d": 0}, "q2": {"x": 0, "y": 0}, "q3": {"m": 1}}
RUN = {
    "q1": {"c": 2.0, "d": 2.0, "a": 1.0, "b": 0.5, "e": 0.2},
    "q2": {"x": 2.0, "y": 1.0},
}


@pytest.fixture(scope="module")
def found():
    return rs.reconcile(QRELS, RUN, nDCG @ 3)


@pytest.mark.parametrize("row", TABLE, ids=lambda row: row.address)
def test_a_value_is_that_of_evaluate(row, found):
    (each,) = (
        each
        for each in found.reckonings
        if each.name.partition(" ")[2] == ""
        and each.name.partition("@")[0] == row.name
        and each.version == row.version
    )
    if each.refusal:
        with pytest.raises(RankscopeError) as caught:
            rs.evaluate(QRELS, RUN, nDCG @ 3, convention=row)
        assert each.refusal == caught.value.message
        assert math.isnan(each.value)
        return
    expected = rs.evaluate(QRELS, RUN, nDCG @ 3, convention=row)
    assert each.value == expected["nDCG@3"]
    assert each.measure == next(iter(expected))
    assert each.policy == str(expected.policy)
    assert each.queries == next(iter(expected.denominators.values()))


def test_options_have_values_of_their_own(found):
    chosen = rs.evaluate(QRELS, RUN, nDCG @ 3, convention="trec_eval", policy="missing=zero")
    assert found["trec_eval missing=zero"] == chosen["nDCG@3"]
    assert found["trec_eval missing=zero"] != found["trec_eval"]


def test_ours_is_the_measure_as_it_was_asked_for(found):
    assert found["rankscope"] == rs.evaluate(QRELS, RUN, nDCG @ 3)["nDCG@3"]


def test_equal_values_are_one_group_and_different_ones_are_not(found):
    values = [[each.value for each in group] for group in found.groups]
    assert sum(map(len, values)) == sum(not each.refusal for each in found.reckonings)
    assert all(max(group) - min(group) < 1e-12 for group in values)
    means = [group[0] for group in values]
    assert all(above - below > 1e-9 for above, below in pairwise(means))


@pytest.mark.parametrize(
    ("got", "value", "half"),
    [
        ("0.4863", 0.4863, 0.00005),
        ("0.4860", 0.486, 0.00005),
        (" 0.486 ", 0.486, 0.0005),
        (0.4863, 0.4863, 0.00005),
        ("4.863e-1", 0.4863, 0.00005),
        (1, 1.0, 0.5),
        ("1.0", 1.0, 0.05),
    ],
)
def test_a_number_has_so_many_digits(got, value, half):
    wanted = TargetNumber.read(got)
    assert (wanted.value, wanted.half) == (value, half)
    assert wanted.is_near(value + half)
    assert wanted.is_near(value - half)
    assert not wanted.is_near(value + half * 1.001)


@pytest.mark.parametrize("got", ["high", "nan", "inf", "", None.__class__, True])
def test_what_is_no_number_is_refused(got):
    with refuses(rs.UsageError, "bad_parameter"):
        rs.reconcile(QRELS, RUN, nDCG @ 3, got=got)


def test_numpy_numbers_are_numbers():
    numpy = pytest.importorskip("numpy", reason="NumPy is not installed")
    assert TargetNumber.read(numpy.float64(0.4863)) == TargetNumber.read(0.4863)


@pytest.mark.parametrize("name", ["trec_eval", "lightgbm", "catboost_exp_position", "rectools"])
@pytest.mark.parametrize("places", [3, 4, 6, 15])
def test_the_convention_of_a_number_is_named(name, places):
    value = rs.evaluate(QRELS, RUN, nDCG @ 3, convention=name)["nDCG@3"]
    found = rs.reconcile(QRELS, RUN, nDCG @ 3, got=f"{value:.{places}f}")
    assert name in found.matches
    assert found.deviations == ()
    near = {each.name for each in found.reckonings if abs(each.value - value) <= 10.0**-places}
    assert set(found.matches) <= near


@pytest.mark.parametrize(
    ("convention", "rule", "setting"),
    [
        ("catboost", "empty", "skip"),
        ("lightgbm", "ties", "average"),
        ("sklearn", "discount", "jk, base=2"),
        ("lenskit", "aggregate", "median"),
        ("lightgbm", "missing", "zero"),
        ("quepid", "gain", "linear"),
    ],
)
def test_a_single_other_rule_is_found(convention, rule, setting):
    rules = rules_of(convention)
    word, _, base = setting.partition(", base=")
    settings = ((rule, word),)
    if rule == "discount":
        settings += (("base", float(base)), ("s", 1.0))
    changed = rules.take(rule, settings)
    value = rs.evaluate(QRELS, RUN, changed.measure, policy=changed.policy)[changed.measure]
    found = rs.reconcile(QRELS, RUN, nDCG @ 3, got=repr(value))
    if not found.matches:
        named = [(each.rule, each.setting) for each in found.deviations if convention in each.names]
        assert (rule, setting) in named
        assert all(TargetNumber.read(value).is_near(each.value) for each in found.deviations)
    else:
        # Another convention differs from this one in this rule alone.
        assert any(abs(found[name] - value) < 1e-12 for name in found.matches)


def test_a_number_that_nothing_gives_is_said_to_be_none():
    found = rs.reconcile(QRELS, RUN, nDCG @ 3, got="0.123456789")
    assert found.matches == ()
    assert found.deviations == ()
    assert "no convention matches 0.123456789, even with one setting changed" in str(found)


def rules_of(name):
    adapted = adapt(name, [nDCG @ 3])
    return Rules(adapted.measures[0], adapted.policy, adapted.score_type)


def test_the_rules_that_differ_are_named(found):
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


def test_a_rule_alone_has_the_value_of_its_exchange(found):
    difference = found.differ("trec_eval", "lightgbm")
    rules, others = rules_of("trec_eval"), rules_of("lightgbm")
    for each in difference.rules:
        changed = rules.take(each.rule, others.to_dict()[each.rule])
        evaluation = rs.evaluate(QRELS, RUN, changed.measure, policy=changed.policy)
        assert each.value == evaluation[changed.measure]


def test_queries_with_two_values_have_the_rules_that_make_them(found):
    difference = found.differ("trec_eval missing=zero", "lightgbm")
    by_query = {each.query_id: each for each in difference.queries}
    assert [*by_query] == ["q3", "q2", "q1"]  # left out by one, then by size
    assert by_query["q3"].rules == ("missing",)
    assert math.isnan(by_query["q3"].other)
    assert by_query["q2"].rules == ("empty",)
    assert by_query["q1"].rules == ("ties", "gain")


def test_documents_say_what_a_rule_does_to_them(found):
    (query,) = found.differ("trec_eval", "sklearn").queries
    assert [(each.doc_id, each.one, each.other) for each in query.documents] == [
        ("c", "rank 2", "any of ranks 1 to 2"),
        ("d", "rank 1", "any of ranks 1 to 2"),
    ]
    by_query = {
        each.query_id: each
        for each in found.differ("trec_eval", "ranx_burges missing=zero").queries
    }
    gains = [each for each in by_query["q1"].documents if each.rule == "gain"]
    assert [(each.doc_id, each.grade, each.one, each.other) for each in gains] == [
        ("a", 3.0, "gain 3", "gain 7"),
        ("b", 2.0, "gain 2", "gain 3"),
    ]


def test_documents_below_the_cutoff_and_alike_are_not_shown():
    qrels = {"q": {"a": 1, "b": 1, "y": 2}}
    run = {"q": {"a": 3.0, "b": 2.0, "x": 1.0, "y": 1.0}}
    two = rs.reconcile(qrels, run, nDCG @ 2).differ("trec_eval", "ranx")
    assert two.queries == ()
    (query,) = rs.reconcile(qrels, run, nDCG @ 3).differ("trec_eval", "ranx").queries
    assert {each.doc_id for each in query.documents} == {"x", "y"}


@pytest.mark.parametrize(
    ("one", "other", "says"),
    [
        ("spark", "rectools", "ideal: the gains of the ideal list are 1 / 1 1 1"),
        ("trec_eval", "jk2002", "missing: it is not in the run: skip / zero"),
    ],
)
def test_what_has_no_document_is_said_in_a_sentence(one, other, says):
    qrels = {"q1": {"a": 1, "b": 0}, "q2": {"c": 1}}
    run = {"q1": {"b": 2.0, "a": 1.0}, "q0": {"c": 1.0}}
    difference = rs.reconcile(qrels, run, nDCG @ 3).differ(one, other)
    assert says in [remark for query in difference.queries for remark in query.remarks]


def test_documents_of_one_ideal_list_only_are_named():
    qrels = {"q": {"a": 1, "b": 2, "c": 3}}
    found = rs.reconcile(qrels, {"q": {"x": 2.0, "a": 1.0}}, nDCG @ 2)
    (query,) = found.differ("ranx", "xgboost_linear").queries
    assert [(each.rule, each.doc_id, each.one, each.other) for each in query.documents] == [
        ("unretrieved", "c", "count", "ignore"),
        ("unretrieved", "b", "count", "ignore"),
        ("ideal", "c", "in the ideal list", "not in it"),
        ("ideal", "b", "in the ideal list", "not in it"),
        ("ideal", "a", "not in it", "in the ideal list"),
    ]
    assert query.remarks == ("ideal: the gains of the ideal list are 3 2 / 1",)


def test_tied_documents_of_one_grade_are_not_shown():
    qrels = {"q": {"a": 1, "b": 2}}
    run = {"q": {"x": 2.0, "y": 2.0, "a": 1.0, "b": 1.0}}
    (query,) = rs.reconcile(qrels, run, nDCG @ 4).differ("trec_eval", "ranx").queries
    assert [each.doc_id for each in query.documents] == ["b", "a"]


def test_discounts_and_denominators_are_explained():
    qrels = {"q": {"a": 1, "b": 1, "c": 1}}
    run = {"q": {"x": 4.0, "a": 3.0, "b": 2.0, "c": 1.0}}
    (query,) = rs.reconcile(qrels, run, nDCG @ 3).differ("spark", "lenskit").queries
    assert query.rules == ("discount",)
    assert [(each.doc_id, each.one, each.other) for each in query.documents] == [
        ("a", "rank 2 weighs 0.6309", "rank 2 weighs 1.0000"),
        ("b", "rank 3 weighs 0.5000", "rank 3 weighs 0.6309"),
    ]
    (query,) = rs.reconcile(qrels, run, AP @ 2).differ("trec_eval", "spark").queries
    assert query.remarks == (
        "denominator: relevant / reachable; 3 relevant, 4 retrieved, cutoff 2",
    )


def test_a_limit_explains_the_largest_differences_only():
    qrels = {f"q{n}": {"a": 2, "b": 1, "z": n % 3} for n in range(30)}
    run = {query: {"b": 2.0, "a": 1.0} for query in qrels}
    difference = rs.reconcile(qrels, run, nDCG @ 3).differ("ranx", "ranx_burges", limit=4)
    assert len(difference.queries) == 30
    assert [bool(each.documents) for each in difference.queries] == [True] * 4 + [False] * 26
    sizes = [abs(each.one - each.other) for each in difference.queries]
    assert sizes == sorted(sizes, reverse=True)
    assert str(difference).endswith("and 26 more queries")


@pytest.mark.parametrize("one", ["lightgmb", "trec_eval missing=error", "trec_eval@11"])
def test_a_convention_that_is_not_there_cannot_be_compared(one, found):
    with pytest.raises(rs.UsageError):
        found.differ(one, "sklearn")
    with pytest.raises(rs.UsageError):
        found[one]


def test_a_convention_without_a_value_says_why(found):
    with refuses(rs.PolicyError, "missing_query"):
        found.differ("trec_eval@10.0", "sklearn")


def test_some_conventions_may_be_chosen():
    found = rs.reconcile(QRELS, RUN, nDCG @ 3, conventions=["sklearn", "trec_eval@10.0"])
    assert [each.name for each in found.reckonings] == [
        "rankscope",
        "sklearn",
        "trec_eval@10.0 missing=zero",
        "trec_eval@10.0",
    ]


def test_measures_that_a_library_lacks_are_said_in_one_line():
    text = " ".join(str(rs.reconcile(QRELS, RUN, "ERR@3")).split())
    assert text.count("no ERR@3 there, as far as we know") == 1


def test_several_measures_are_refused():
    with pytest.raises(rs.MeasureError, match="expected one measure, found 2"):
        rs.reconcile(QRELS, RUN, [nDCG @ 3, AP])


def test_errors_of_the_input_are_raised():
    with pytest.raises(rs.FormatError):
        rs.reconcile(QRELS, {"q1": {"a": math.nan}}, nDCG @ 3)


def test_every_way_in_gives_the_same(tmp_path, monkeypatch, found):
    judged, rows = (
        [(query, doc, value) for query, docs in lists.items() for doc, value in docs.items()]
        for lists in (QRELS, RUN)
    )
    write_qrels(tmp_path / "qrels.txt", QRELS)
    write_run(tmp_path / "run.txt", RUN)
    text = (tmp_path / "run.txt").read_bytes()
    stdin = io.TextIOWrapper(io.BytesIO(text))
    monkeypatch.setattr("sys.stdin", stdin)
    given = [(QRELS, run) for run in (text, tmp_path / "run.txt", rows, iter(rows), "-")]
    given += [(qrels, RUN) for qrels in (judged, tmp_path / "qrels.txt")]
    for qrels, run in given:
        again = rs.reconcile(qrels, run, nDCG @ 3)
        assert str(again) == str(found)
        assert (
            again.differ("trec_eval", "sklearn").queries
            == found.differ("trec_eval", "sklearn").queries
        )


def test_the_four_ways_out_agree(found):
    rows = found.to_dict()
    assert [*rows] == [each.name for each in found.reckonings]
    assert rows["sklearn"]["value"] == found["sklearn"]
    for frame in (found.to_pandas(), found.to_polars()):
        assert list(frame["name"]) == [*rows]
    assert found.to_arrow().column("name").to_pylist() == [*rows]
    difference = found.differ("trec_eval", "sklearn")
    assert difference.to_dict()["queries"][0]["query_id"] == "q1"
    for table in (difference.to_pandas(), difference.to_polars()):
        assert list(table["query_id"]) == ["q1"]
    assert difference.to_arrow().column("rules").to_pylist() == ["ties"]


def test_html_escapes_what_it_shows():
    found = rs.reconcile({"<q>": {"<a>": 1, "b": 0}}, {"<q>": {"<a>": 1.0, "b": 1.0}}, nDCG)
    html = found._repr_html_() + found.differ("trec_eval", "ranx")._repr_html_()
    assert "&lt;a&gt;" in html
    assert "<a>" not in html


def test_the_value_of_a_rule_is_written_shortly():
    assert write((("discount", "jk"), ("base", 10.0), ("s", 1.0))) == "jk, base=10"
    assert write((("gain", ((0.0, 0.0), (1.0, 3.0))),)) == "{0: 0, 1: 3}"


def command(*words, stdin=""):
    given = io.TextIOWrapper(io.BytesIO(stdin.encode()))
    out, err = io.StringIO(), io.StringIO()
    with patch("sys.stdin", given), redirect_stdout(out), redirect_stderr(err):
        status = main(["conventions", *words])
    return status, out.getvalue(), err.getvalue()


@pytest.fixture
def files(tmp_path):
    return write_qrels(tmp_path / "qrels", QRELS), write_run(tmp_path / "run", RUN)


def test_the_command_lists_and_explains():
    status, listed, _ = command()
    assert status == 0
    assert [line.split()[0] for line in listed.splitlines()] == [row.address for row in TABLE]
    _, explained, _ = command("torchmetrics")
    assert explained.startswith("torchmetrics@")
    assert "with a score of 0 or below" in " ".join(explained.split())
    document = json.loads(command("--json")[1])
    assert [*document] == [row.address for row in TABLE]
    assert command("sklearn", "--csv")[1].splitlines()[1].startswith("sklearn,")


def test_the_command_prints_what_the_call_gives(files):
    found = rs.reconcile(QRELS, RUN, nDCG @ 3, got="0.2431")
    assert command(*files, "-m", "nDCG@3", "--got", "0.2431") == (0, f"{found}\n", "")
    between = found.differ("trec_eval", "sklearn")
    words = (*files, "-m", "ndcg_cut_3", "--between", "trec_eval", "sklearn")
    assert command(*words) == (0, f"{between}\n", "")
    document = json.loads(command(*words, "--json")[1])
    assert document["conventions"]["sklearn"]["value"] == found["sklearn"]
    assert document["conventions"]["trec_eval@10.0"]["value"] is None
    assert document["between"]["queries"][0]["rules"] == ["ties"]
    assert command(*words, "--csv")[1].splitlines()[0] == "query_id,trec_eval,sklearn,rules"


def test_a_number_that_no_convention_gives_is_status_1(files):
    assert command(*files, "-m", "nDCG@3", "--got", "0.9")[0] == 1
    with open(files[1], encoding="utf-8") as file:  # noqa: PTH123 - a path as text
        status, printed, _ = command(
            files[0], "-", "-m", "nDCG@3", "--got", "0.2431", stdin=file.read()
        )
    assert (status, printed.split(" matches ")[0]) == (0, "0.2431")


@pytest.mark.parametrize(
    ("words", "code"),
    [
        (("a", "b", "c"), "usage"),
        (("lightgmb",), "unknown_convention"),
        (("-m", "nDCG@3"), "usage"),
        (("sklearn", "--got", "1"), "usage"),
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


def judgments():
    """Grades 0 to 3; every ninth query has no relevant document, and query 39 is not retrieved."""
    return {
        f"q{q}": {
            f"d{d}": 0 if q % 9 == 8 else (q * 7 + d * d * 3 + q * d) % 11 % 4 for d in range(40)
        }
        for q in range(QUERIES)
    }


def retrieved():
    """Lists of 30 documents; two queries of the run are not judged."""
    queries = [q for q in range(QUERIES + 2) if q not in {39, 17, 30}]
    return {f"q{q}": {f"d{(d * 11 + q) % 40}": 100.0 - d for d in range(30)} for q in queries}


JUDGED, SCORED = judgments(), retrieved()


def causes(measure, value):
    """The causes found for a number of seven digits."""
    found = rs.reconcile(JUDGED, SCORED, measure, got=f"{value:.7f}")
    assert found.matches == ()
    return found.causes


def test_another_level_is_found_first_with_its_command():
    first = causes(AP, rs.evaluate(JUDGED, SCORED, AP(rel=2))[AP(rel=2)])[0]
    assert first.changes == ("documents are relevant from grade 2",)
    assert first.measure == "AP(rel=2)"
    assert first.command == "rankscope eval QRELS RUN -m 'AP(rel=2)'"
    assert first.by_chance < 0.01


def test_a_cutoff_under_the_name_of_another_is_found():
    first = causes(P @ 10, rs.evaluate(JUDGED, SCORED, P @ 15)[P @ 15])[0]
    assert first.changes == ("the cutoff is 15 instead of 10",)
    whole = causes(AP @ 10, rs.evaluate(JUDGED, SCORED, AP)[AP])[0]
    assert whole.changes == ("the measure has no cutoff, instead of 10",)


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
    found = causes(nDCG @ 10, total / count)
    assert (says,) in [each.changes for each in found]
    (each,) = (each for each in found if each.changes == (says,))
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


@pytest.mark.parametrize("says", OTHERWISE)
@pytest.mark.parametrize("has_docs", [False, True])
def test_other_grades_and_scores_of_a_table_are_found(says, *, has_docs):
    def tabulate(judged, scored):
        rows = [
            (query, doc, score, judged[query][doc])
            for query in judged
            for doc, score in scored.get(query, {}).items()
        ]
        names = ("query_id", "doc_id", "score", "relevance")
        columns = dict(zip(names, map(list, zip(*rows, strict=True)), strict=True))
        return columns if has_docs else {name: columns[name] for name in names if name != "doc_id"}

    value = rs.evaluate(tabulate(*OTHERWISE[says]), nDCG @ 3)[nDCG @ 3]
    found = rs.reconcile(tabulate(JUDGED, SCORED), {nDCG @ 3: f"{value:.7f}"})
    assert found.causes[0].changes == (says,)


def test_a_number_in_percent_is_found():
    value = rs.evaluate(JUDGED, SCORED, nDCG @ 10)[nDCG @ 10]
    found = rs.reconcile(JUDGED, SCORED, nDCG @ 10, got=f"{100 * value:.2f}")
    assert "rankscope" in found.matches
    assert str(found).startswith(f"{100 * value:.2f} % matches rankscope")
    fewer = rs.reconcile(JUDGED, SCORED, nDCG @ 10, got=f"{100 * value + 0.02:.2f}")
    assert "rankscope" not in fewer.matches
    values = rs.evaluate(JUDGED, SCORED, nDCG @ 10).to_dict()
    by_query = {query: f"{100 * of['nDCG@10']:.3f}" for query, of in values.items()}
    assert "rankscope" in rs.reconcile(JUDGED, SCORED, nDCG @ 10, got=by_query).matches
    # 100 documents are a number of them.
    counted = rs.reconcile(
        JUDGED, SCORED, "NumRet", got=rs.evaluate(JUDGED, SCORED, "NumRet")["NumRet"]
    )
    assert "rankscope" in counted.matches


def test_a_mapping_is_a_measure_with_its_number():
    value = rs.evaluate(JUDGED, SCORED, nDCG @ 10)[nDCG @ 10]
    found = rs.reconcile(JUDGED, SCORED, {"nDCG@10": round(value, 4)})
    assert found.to_dict() == rs.reconcile(JUDGED, SCORED, "nDCG@10", got=round(value, 4)).to_dict()
    assert "rankscope" in found.matches
    for reported, got in (({"nDCG@10": 0.3, "AP": 0.2}, None), ({"AP": 0.2}, 0.2), ({}, None)):
        with pytest.raises(rs.UsageError, match="expected the number of one measure"):
            rs.reconcile(JUDGED, SCORED, reported, got=got)


def test_the_answer_stands_before_the_table():
    for got, says in (("0.0000001", "no convention matches"), (None, "nDCG@10 has")):
        found = rs.reconcile(JUDGED, SCORED, nDCG @ 10, got=got)
        assert str(found).startswith(says)
        text = found._repr_html_()
        assert text.index(says) < text.index("<table")


def test_a_run_that_was_cut_is_found():
    cut = {query: dict(list(docs.items())[:20]) for query, docs in SCORED.items()}
    value = rs.evaluate(JUDGED, cut, nDCG)[nDCG]
    assert causes(nDCG, value)[0].changes == ("the run ends after 20 documents for each query",)


def test_two_causes_together_are_found():
    measure = AP(rel=2) @ 20
    both = causes(AP, rs.evaluate(JUDGED, SCORED, measure)[measure])
    assert [set(each.changes) for each in both] == [
        {"documents are relevant from grade 2", "the cutoff is 20"}
    ]
    value = rs.evaluate(JUDGED, SCORED, AP(rel=2), policy="missing=skip")[AP(rel=2)]
    found = [each for each in causes(AP, value) if each.measure == "AP(rel=2)"]
    assert [each.changes[1] for each in found] == [
        "the mean is over the 37 judged queries of the run"
    ]
    assert found[0].command.endswith("-m 'AP(rel=2)' --policy missing=skip")


def test_simpler_causes_come_first_and_later_ones_tried_more():
    value = rs.evaluate(JUDGED, SCORED, AP(rel=2))[AP(rel=2)]
    found = rs.reconcile(JUDGED, SCORED, AP, got=f"{value:.3f}").causes
    tried = [each.tried for each in found]
    assert len(tried) > 1
    assert tried == sorted(tried)


def test_fewer_digits_match_more_often_by_chance():
    value = rs.evaluate(JUDGED, SCORED, AP(rel=2))[AP(rel=2)]
    chances = [
        found[0].by_chance
        for places in (3, 4, 6)
        if (found := rs.reconcile(JUDGED, SCORED, AP, got=f"{value:.{places}f}").causes)
    ]
    assert chances == sorted(chances, reverse=True)
    assert len(set(chances)) == len(chances)


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


def test_no_value_of_any_query_is_refused():
    with pytest.raises(rs.UsageError) as caught:
        rs.reconcile(JUDGED, SCORED, AP, got={})
    assert caught.value.code == "bad_parameter"


def test_levels_and_cutoffs_are_those_that_the_measure_has():
    assert list_levels(AP, [0, 1, 2, 3]) == [2, 3]
    assert list_levels(AP(rel=2), [0, 1, 2, 3]) == [1, 3]
    assert list_levels(nDCG, [0, 1, 2, 3]) == []
    assert list_cutoffs(P @ 10)[:3] == [9, 11, 5]
    assert None not in list_cutoffs(P @ 10)
    assert list_cutoffs(nDCG @ 1)[:2] == [None, 2]
    assert 0 not in list_cutoffs(nDCG @ 1)
    assert list_cutoffs(rs.Rprec) == []


def test_a_table_has_causes_too():
    rows = [
        (q, d, SCORED[q][d], JUDGED[q].get(d)) for q in JUDGED if q in SCORED for d in SCORED[q]
    ]
    columns = zip(*rows, strict=True)
    table = dict(zip(("qid", "doc", "score", "label"), map(list, columns), strict=True))
    value = rs.evaluate(table, P @ 15)[P @ 15]
    found = rs.reconcile(table, P @ 10, got=f"{value:.7f}")
    assert found.causes[0].changes == ("the cutoff is 15 instead of 10",)
    assert found.causes[0].command == "rankscope eval TABLE -m P@15"


def test_a_printed_command_gives_the_number(tmp_path, capsys):
    from rankscope.cli import main  # noqa: PLC0415 - of this test only

    qrels, run = write_qrels(tmp_path / "the qrels", JUDGED), write_run(tmp_path / "run", SCORED)
    value = rs.evaluate(qrels, run, AP(rel=3))[AP(rel=3)]
    found = rs.reconcile(qrels, run, AP, got=f"{value:.6f}")
    assert found.causes[0].command in str(found)
    program, *words = shlex.split(found.causes[0].command)
    assert program == "rankscope"
    assert main(words) == 0
    assert f"{value:.4f}" in capsys.readouterr().out
