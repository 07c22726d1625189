"""What a report says is what the evaluation and the comparison of runs say."""

from __future__ import annotations

import hashlib
import math
import subprocess

import pandas as pd
import pytest
import rankscope as rs
from rankscope import _core
from rankscope._compare.report import gather
from rankscope._compare.report.source import hold
from rankscope._compare.verdict import decide
from rankscope.web.charts import choose_axis, stack

from tests.cli.command import run as start
from tests.inputs.entry import QRELS, RUN, lines
from tests.refusals import refuses
from tests.report.page import read_page

MEASURES = ["nDCG@10", "AP", "P@1"]
LOG = {
    "qid": [1, 1, 2, 3, 4],
    "label": [1, 0, 1, 0, 1],
    "score": [0.1, 0.9, 0.5, 0.4, 0.3],
    "country": ["de", "de", "at", "de", "de"],
}


def test_means_intervals_counts_and_notes_are_those_of_the_evaluation():
    judged = {"q1": {"d1": 2, "d2": 0}, "q2": {"d3": 1}, "q3": {"d4": 0}, "q4": {"d5": 1}}
    lists = {"q1": {"d2": 2.0, "d1": 1.0, "d9": 0.5}, "q2": {"d3": 1.0}, "q9": {"d1": 1.0}}
    policy = rs.Policy(empty="skip", missing="skip")
    evaluation = rs.evaluate(judged, lists, MEASURES, policy=policy, interval=0.9)
    report = rs.report(judged, {"a": lists, "b": lists}, MEASURES, policy=policy, interval=0.9)
    for run in report.runs:
        for mean in run.means:
            ends = evaluation.intervals[mean.measure]
            assert (mean.value, mean.lower, mean.upper) == (evaluation[mean.measure], *ends)
            assert mean.queries == evaluation.denominators[mean.measure]
        assert run.counts == evaluation.counts
    assert tuple(remark.note for remark in report.remarks) == evaluation.notes
    assert all(remark.runs == () for remark in report.remarks)
    for table, name in zip(report.tables, MEASURES, strict=True):
        assert table.columns == ("a", "b")
        assert list(table.query_ids) == evaluation.query_ids
        for column in table.values:  # noqa: PD011 - of a report
            assert list(column) == pytest.approx(
                evaluation.per_query_list(name), abs=0, nan_ok=True
            )


def test_one_run_has_one_table_of_all_measures():
    (table,) = rs.report({"q1": {"d": 1}}, {"only": {"q1": {"d": 1.0}}}, MEASURES).tables
    assert table.columns == ("nDCG@10", "AP", "P@1")
    assert list(table.rows()) == [("q1", 1, (1.0, 1.0, 1.0))]


@pytest.mark.parametrize("run", [{"q1": {"d2": 2.0, "d1": 1.0}}, {"q1": ["d2", "d1"]}])
def test_a_mapping_of_queries_is_one_run_as_in_evaluate(run):
    judged = {"q1": {"d1": 2, "d2": 0}}
    report = rs.report(judged, run, "nDCG@10")
    (only,) = report.runs
    assert only.means[0].value == rs.evaluate(judged, run, "nDCG@10")["nDCG@10"]


def test_a_note_names_the_runs_that_it_is_about():
    runs = {"all": {"q1": {"d": 1.0}, "q2": {"d": 1.0}}, "half": {"q1": {"d": 1.0}}}
    remarks = rs.report({"q1": {"d": 1}, "q2": {"d": 1}}, runs).remarks
    assert [(remark.note.code, remark.runs) for remark in remarks] == [("n_missing", ("half",))]


def test_the_worst_queries_are_those_that_could_be_better():
    judged = {
        "good": {"a": 1},
        "empty": {"a": 0},
        "missing": {"a": 1},
        "many": {"a": 1, "b": 1, "c": 1},
        "half": {"a": 1},
    }
    lists = {
        "good": {"a": 1.0},
        "empty": {"a": 1.0},
        "many": {"x": 2.0, "y": 1.0},
        "half": {"x": 2.0, "a": 1.0},
    }
    (run,) = rs.report(judged, {"run": lists}, "RR", worst=3).runs
    assert [(query.query_id, query.value, query.relevant) for query in run.worst] == [
        ("many", 0.0, 3), ("missing", 0.0, 1), ("half", 0.5, 1)
    ]  # fmt: skip
    many, missing, half = run.worst
    assert [(each.rank, each.doc_id, each.grade) for each in half.documents] == [
        (1, "x", None), (2, "a", 1.0)
    ]  # fmt: skip
    assert missing.documents == ()
    assert (many.found, many.retrieved, half.found) == (0, 2, 1)


def test_the_ledger_is_that_of_the_rankings_and_adds_up():
    judged = {"q1": {"a": 1, "b": 3, "c": 2, "e": 3}, "q2": {"a": 1}, "q3": {"a": 0}}
    lists = {"q1": {"x": 6.0, "a": 5.0, "b": 4.0, "c": 3.0}, "q3": {"a": 1.0}}
    report = rs.report(judged, {"run": lists}, ["AP", "nDCG@3"])
    (table,) = report.losses
    (ledger,) = table.ledgers
    assert (table.measure, table.k, table.refusal) == ("nDCG@3", 3, "")
    assert table.has_undefined
    assert table.observes_retrieval
    losses = rs.Rankings.from_run(judged, lists).losses("nDCG@3")
    assert {"value": ledger.value, **ledger.losses} == {
        name: losses.means[name]
        for name in ("value", "ordering", "truncation", "retrieval", "undefined")
    }
    assert math.fsum([ledger.value, *ledger.losses.values()]) == pytest.approx(1, abs=1e-15)
    widths = [segment.width for segment in stack(ledger)]
    assert sum(widths) == pytest.approx(100, abs=0.01)
    assert ledger.largest_loss == "retrieval"


def test_what_is_not_observable_is_not_0():
    report = rs.report(LOG, "nDCG@1")
    ((ledger,),) = (table.ledgers for table in report.losses)
    assert ledger.retrieval is None
    assert "retrieval" not in ledger.losses
    assert "not observable" in report.to_html()


def test_a_ledger_that_does_not_add_up_is_refused_in_words():
    report = rs.report({"q1": {"d": 1}}, {"run": {"q1": {"d": 1.0}}}, policy="aggregate=median")
    (table,) = report.losses
    assert table.ledgers == ()
    assert "aggregate" in table.refusal
    assert "cannot be split here" in report.to_html()


def test_the_parts_of_an_attribute_have_ledgers():
    (table,) = rs.report(LOG, "nDCG@1", by="country").losses
    assert {name: ledger.value for name, ledger in table.parts} == {"de": 1 / 3, "at": 1.0}


def test_the_audit_is_that_of_the_rankings():
    judged = {"q1": {"a": 1, "b": 2, "c": 0}, "q2": {"a": 1}}
    runs = {
        "one": {"q1": {"a": 1.5, "b": 1.5, "x": 1.0}, "q2": {"a": 1.0}},
        "other": {"q1": {"x": 2.0, "c": 1.0}, "q2": {"y": 1.0}},
    }
    report = rs.report(judged, runs, ["nDCG@2", "Bpref"])
    ranked = [rs.Rankings.from_run(judged, run) for run in runs.values()]
    for found, rankings in zip(report.bounds.rows, ranked, strict=True):
        bounds = rankings.bounds("nDCG@2")
        for name in ("value", "lower", "upper"):
            assert getattr(found, name) == getattr(bounds.mean, name)
        for name in ("unjudged", "certain"):
            assert getattr(found, name) == getattr(bounds.openness, name)
        assert report.bounds.scale == bounds.scale
    for table in report.ties:
        for tie, rankings in zip(table.rows, ranked, strict=True):
            summary = rankings.ties(table.measure).summary
            for name in ("value", "lower", "upper", "tied", "touched"):
                assert getattr(tie, name) == getattr(summary, name)
    (row,) = report.comparison.measures["nDCG@2"].differences
    apart = ranked[1].bounds("nDCG@2", against=ranked[0])
    assert (row.compared.baseline, row.compared.run) == ("one", "other")
    known = row.compared.unjudged
    ends = (known.lowest, known.highest)
    assert ends == (apart.mean.lower, apart.mean.upper)
    assert row.if_unjudged == " to ".join(f"{end:.4f}" for end in ends)


def test_where_there_are_no_bounds_the_page_says_why():
    report = rs.report({"q1": {"a": 1}}, {"run": {"q1": {"x": 1.0}}}, "Bpref")
    assert report.bounds.rows == ()
    assert "Bpref" in report.bounds.refusal
    assert "There are no bounds" in report.to_html()


def test_worst_queries_are_explained_as_the_rankings_explain_them():
    judged = {"q1": {"a": 2, "b": 1}, "q2": {"a": 1}}
    lists = {"q1": {"b": 2.0, "a": 1.0}}
    rankings = rs.Rankings.from_run(judged, lists)
    (run,) = rs.report(judged, {"run": lists}, ["RR", "nDCG@10"]).runs
    assert [query.explanation for query in run.worst] == [
        rankings.explain(query.query_id, "nDCG@10", limit=20) for query in run.worst
    ]
    (run,) = rs.report(judged, {"run": lists}, "RR").runs
    assert [query.explanation for query in run.worst] == [None, None]


def test_none_of_the_worst_queries_may_be_asked_for():
    (run,) = rs.report({"q1": {"d": 1}}, {"run": {"q1": {"d": 1.0}}}, worst=0).runs
    assert run.worst == ()
    with refuses(rs.UsageError, "bad_parameter"):
        rs.report({"q1": {"d": 1}}, {"run": {"q1": {"d": 1.0}}}, worst=-1)


def test_slices_are_those_of_the_evaluation():
    evaluation = rs.evaluate(LOG, MEASURES, by="country", interval=0.95)
    report = rs.report(LOG, MEASURES, by="country")
    rows = evaluation.slices.to_dict()
    assert [part.name for part in report.slices.parts] == list(rows)
    for part in report.slices.parts:
        assert part.queries == rows[part.name]["queries"]
        assert [mean.value for mean in part.means] == [rows[part.name][name] for name in MEASURES]


def test_the_report_says_what_the_policy_means():
    policy = rs.Policy(unjudged=0.5, missing_gain=-1, aggregate="quantile(0.1)")
    report = rs.report({"q1": {"d": 1}}, {"run": {"q1": {"d": 1.0}}}, policy=policy)
    said = {choice.field: (choice.value, choice.meaning) for choice in report.policy}
    assert said["aggregate"][0] == "quantile(0.1)"
    assert said["empty"] == ("zero", _core.POLICY["empty"]["zero"])
    assert "0.5" in said["unjudged"][1]
    assert "-1" in said["missing_gain"][1]


@pytest.fixture
def files(tmp_path):
    """Judgments and a run, in files with odd names."""
    paths = tmp_path / "the qrels", tmp_path / "it's\ta run"
    for path, content in zip(paths, (QRELS, RUN), strict=True):
        path.write_bytes(content)
    return paths


def test_inputs_are_named_with_their_hashes(files):
    report = rs.report(files[0], [files[1]])
    assert [(each.role, each.name, each.size, each.sha256) for each in report.inputs] == [
        (role, str(path), path.stat().st_size, hashlib.sha256(path.read_bytes()).hexdigest())
        for role, path in zip(("judgments", "run"), files, strict=True)
    ]
    in_memory = rs.report(QRELS, {"bytes": RUN}).inputs
    assert [each.sha256 for each in in_memory] == [each.sha256 for each in report.inputs]


def test_judgments_that_were_read_before_are_taken():
    held = rs.report(rs.read_qrels(QRELS), {"run": RUN})
    assert held.runs[0].means == rs.report(QRELS, {"run": RUN}).runs[0].means
    assert [each.name for each in held.inputs] == ["qrels (in memory)", "run"]


def test_the_command_gives_the_numbers_again(files):
    policy = rs.Policy(ties="worst", empty="skip", unjudged=0.25)
    report = rs.report(
        files[0],
        [files[1]],
        MEASURES,
        policy=policy,
        interval=rs.Interval(0.9, seed=7),
        score_type="float32",
    )
    numbers, page = report.commands
    words = bash_words(numbers.text)
    assert words[:2] == ["rankscope", "eval"]
    rows = [row.split("\t") for row in start(*words[1:]).stdout.decode().splitlines()]
    assert rows[1:] == [
        [mean.measure, *(f"{value:.4f}" for value in (mean.value, mean.lower, mean.upper))]
        for mean in report.runs[0].means
    ]
    words = bash_words(page.text)
    assert words[:2] == ["rankscope", "report"]
    assert start(*words[1:], "-o", "-").stdout.decode() == report.to_html()


def bash_words(command):
    """What Bash makes of a command line."""
    printed = subprocess.run(
        ["bash", "-c", f"printf '%s\\0' {command}"],  # noqa: S607 - whichever bash there is
        capture_output=True,
        check=True,
    )
    return printed.stdout.decode().split("\0")[:-1]


def test_a_convention_reaches_every_part():
    judged = {"q1": {"a": 3, "b": 1}, "q2": {"c": 0}}
    lists = {"q1": {"b": 2.0, "a": 1.0}, "q2": {"c": 1.0}}
    report = rs.report(judged, {"run": lists}, "nDCG@10", convention="lightgbm")
    expected = rs.evaluate(judged, lists, "nDCG@10", convention="lightgbm")
    (mean,) = report.runs[0].means
    assert mean.value == expected["nDCG@10"]
    (table,) = report.losses
    assert table.ledgers[0].value == mean.value
    assert report.ties[0].rows[0].value == mean.value
    assert report.convention.startswith(expected.convention.address)
    assert {choice.field: choice.value for choice in report.policy}["empty"] == "one"
    explained = report.runs[0].worst[0].explanation
    assert explained.value == expected.per_query("nDCG@10")[0]
    assert expected.convention.address in report.commands[0].text


def test_what_no_command_line_can_say_is_a_call():
    report = rs.report(QRELS, {"run": RUN}, "RR", policy="empty=skip", interval=None)
    assert [command.text for command in report.commands] == [
        "rs.evaluate(qrels, run, ['RR'], policy='empty=skip')"
    ]


def test_a_file_that_changes_meanwhile_is_refused(files):
    held = hold(files[1], "run")
    held.check()
    files[1].write_bytes(RUN + lines("q1 Q0 d5 9 0.1 t"))
    with refuses(rs.FileError, "changed_while_reading"):
        held.check()


def test_of_very_many_queries_the_lowest_are_listed(monkeypatch):
    monkeypatch.setattr(gather, "MOST_VALUES", 40)
    queries = 22
    judged = {f"q{at}": {"d": 1} for at in range(queries)}
    lists = {query: {"d": 1.0} for query in judged} | {"q7": {"x": 1.0}, "q9": {"x": 1.0}}
    report = rs.report(judged, {"run": lists}, ["RR", "P@1"])
    (table,) = report.tables
    assert len(table.query_ids) == 20
    assert report.left_out == 2
    assert {"q7", "q9"} <= set(table.query_ids)
    listed = {query: at for at, query in enumerate(judged)}
    assert sorted(table.query_ids, key=listed.__getitem__) == list(table.query_ids)
    assert "the 20 queries with the lowest RR in the first run, of 22" in " ".join(
        report.to_html().split()
    )


def test_an_axis_has_round_numbers_within_its_ends():
    for low, high in ((0.0, 1.0), (0.41, 0.43), (-3.0, 250.0), (1e-9, 2e-9), (0.5, 0.5)):
        axis = choose_axis([low, high, math.nan])
        assert axis.low <= low <= high <= axis.high
        assert 2 <= len(axis.ticks) <= 8
        assert all(axis.low <= tick <= axis.high for tick in axis.ticks)
        assert 0 <= axis.place(low) <= axis.place(high) <= 100


QUERIES = [f"q{n}" for n in range(24)]
JUDGED = {query: {"a": 1, "b": 0, "c": 0, "d": 0} for query in QUERIES}


def make_run(places):
    """A run whose relevant document is at these ranks, query by query, in turn."""
    run = {}
    for at, query in enumerate(QUERIES):
        docs = ["b", "c", "d"]
        docs.insert(places[at % len(places)] - 1, "a")
        run[query] = {doc: float(len(docs) - rank) for rank, doc in enumerate(docs)}
    return run


LOW, MIDDLE = make_run([4, 3, 4, 2]), make_run([2, 2, 3, 2])
HIGH, HIGHER = make_run([1, 2, 1, 1]), make_run([1, 1, 2, 1, 1])
"""The last two don't differ significantly; both differ from the first."""


def compare(runs):
    return rs.report(JUDGED, runs, "RR").comparison


def cells(page, table):
    (found,) = page.find("table", id=table)
    (body,) = found.find("tbody")
    return [row.children for row in body.find("tr")]


def test_the_verdict_is_that_of_the_comparison():
    for runs in ({"high": HIGH, "low": LOW}, {"low": LOW, "middle": MIDDLE, "high": HIGH}):
        assert compare(runs).verdict == decide(rs.compare(JUDGED, runs, "RR"), "RR")


def test_with_too_few_queries_the_verdict_says_that_none_can_be_significant():
    few = [{query: run[query] for query in QUERIES[:3]} for run in (LOW, HIGH)]
    judged = {query: JUDGED[query] for query in QUERIES[:3]}
    found = rs.report(judged, {"low": few[0], "high": few[1]}, "RR").comparison
    # Of the 8 ways to flip the signs of 3 differences, 2 are as extreme as any.
    assert found.verdict.power == (
        "With 3 queries, no difference can be significant: the smallest possible p-value is 0.250."
    )


def test_runs_with_the_same_values_are_the_same():
    found = compare({"one": HIGH, "other": HIGH})
    assert str(found.verdict).startswith("one and other have the same RR for all 24 queries. Other")
    assert found.verdict.power == ""


def test_bold_and_letters_are_for_what_the_data_say():
    html = rs.report(JUDGED, {"low": LOW, "high": HIGH, "higher": HIGHER}, ["RR", "P@1"]).to_html()
    page = read_page(html)
    rows = cells(page, "table-summary")
    assert [row[0].text.split() for row in rows] == [["a", "low"], ["b", "high"], ["c", "higher"]]
    marks = [[each.text for each in row[1].find("sup")] for row in rows]
    assert marks == [[], ["a"], ["a"]]
    # The highest mean is not bold, since it isn't significantly higher.
    assert not any("best" in row[1].attributes["class"].split() for row in rows)
    two = read_page(rs.report(JUDGED, {"low": LOW, "high": HIGH}, "RR").to_html())
    is_best = ["best" in row[1].attributes["class"].split() for row in cells(two, "table-summary")]
    assert is_best == [False, True]


def test_the_table_and_the_chart_have_all_pairs():
    runs = {"low": LOW, "high": HIGH, "higher": HIGHER}
    report = rs.report(JUDGED, runs, ["RR", "P@1"])
    expected = rs.compare(JUDGED, runs, ["RR", "P@1"])
    assert report.comparison.result.to_dict() == expected.to_dict()
    page = read_page(report.to_html())
    for at, measure in enumerate(("RR", "P@1"), start=1):
        rows = cells(page, f"table-comparison-{at}")
        for row, each in zip(rows, expected.over_all(measure), strict=True):
            pair, difference, chart, p, counts, *_ = row
            assert pair.text == f"{each.run}minus {each.baseline}"
            shown = f"{each.difference:.4f}{each.lower:.4f} to {each.upper:.4f}"
            assert difference.text.strip() == shown
            assert float(p.attributes["data-value"]) == pytest.approx(each.p_corrected)
            assert counts.text == f"{each.wins} / {each.ties} / {each.losses}"
            (svg,) = chart.find("svg")
            assert len(svg.find("circle")) == 1
            assert ("open" in svg.attributes.get("class", "")) is not each.is_significant


def test_unjudged_documents_and_ties_are_ranges_of_the_deciding_difference():
    judged = {query: {"a": 2, "b": 1} for query in QUERIES}
    tied = {query: {"a": 2.0, "b": 1.0, "x": 1.0} for query in QUERIES}
    other = {query: {"x": 2.0, "b": 1.0} for query in QUERIES}
    found = rs.report(judged, {"other": other, "tied": tied}, "nDCG@2").comparison
    (row,) = found.measures["nDCG@2"].differences
    unjudged = row.compared.unjudged
    assert row.compared.tied is not None
    sentences = found.verdict.ranges
    assert sentences[0].startswith(
        "If all unjudged documents were judged, the difference tied minus other could be from "
        f"{unjudged.lowest:.4f} to {unjudged.highest:.4f}"
    )
    assert sentences[1].startswith("With other orders of tied documents, the difference tied ")


def test_one_run_is_not_compared():
    for report in (rs.report(JUDGED, {"low": LOW}, "RR"), rs.report(LOG, "RR", by="country")):
        assert report.comparison is None
        assert "Comparison" not in report.to_html()


def test_what_is_no_mean_is_not_compared():
    for policy, measures, why in (
        ("aggregate=median", ["RR"], "only means can be compared"),
        (None, ["NumRet"], "no measure has a mean"),
    ):
        report = rs.report(JUDGED, {"low": LOW, "high": HIGH}, measures, policy=policy)
        assert report.comparison.verdict is None
        assert why in report.comparison.refusal
        assert "The runs aren't compared:" in report.to_html()
    mixed = rs.report(JUDGED, {"low": LOW, "high": HIGH}, ["NumRet", "RR"])
    assert [*mixed.comparison.measures] == ["RR"]


def test_the_means_of_a_comparison_use_the_interval_that_was_asked_for():
    runs = {"low": LOW, "high": HIGH}
    for interval, level in ((0.9, 0.9), (None, 0.95)):
        found = rs.report(JUDGED, runs, "RR", interval=interval).comparison
        assert found.result.settings.level == level


def test_of_many_runs_pairs_can_be_filtered():
    runs = {f"run {n}": make_run([1 + n % 4, 2, 1]) for n in range(9)}
    report = rs.report(JUDGED, runs, "RR")
    assert len(report.comparison.measures["RR"].differences) == 9 * 8 / 2
    page = read_page(report.to_html())
    assert page.find("input", id="table-comparison-1-filter")


def test_a_table_of_two_runs_is_reported_as_it_is_compared():
    rows = [
        (
            f"q{query}",
            f"d{doc}",
            f"u{query // 2}",
            (query + doc) % 3 == 0,
            doc,
            (doc * 5 + query) % 7,
        )
        for query in range(60)
        for doc in range(6)
    ]
    names = ["query_id", "doc_id", "user", "relevance", "old", "new"]
    wide = pd.DataFrame(rows, columns=names).astype({"relevance": int, "old": float, "new": float})
    long = pd.concat([wide.assign(model=name, score=wide[name]) for name in ("old", "new")])
    long = long.drop(columns=["old", "new"])
    (expected,) = rs.compare(wide, "nDCG@3", scores=["old", "new"], cluster="user")
    assert expected.clusters == 30
    reports = (
        rs.report(wide, "nDCG@3", scores=["old", "new"], cluster="user"),
        rs.report(long, "model", "nDCG@3", cluster="user"),
    )
    for report, said in zip(reports, ("scores=['old', 'new']", "runs='model'"), strict=True):
        assert [run.name for run in report.runs] == ["old", "new"]
        assert report.comparison.result["nDCG@3", "new"] == expected
        assert said in report.commands[0].text
        assert "cluster='user'" in report.commands[0].text
