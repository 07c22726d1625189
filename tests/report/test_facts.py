"""What a report says is what the evaluation, the comparison and the audits of its runs say."""

from __future__ import annotations

import hashlib
import math
import subprocess

import pandas as pd
import pytest
import rankscope as rs
from rankscope import _core
from rankscope._compare.report import report
from rankscope._web.charts import choose_axis

from tests.cli.command import run as start
from tests.inputs.entry import QRELS, RUN, lines
from tests.refusals import refuses
from tests.report.page import read_page, read_rows

MEASURES = ["nDCG@10", "AP", "P@1"]
GRADED = {"q1": {"a": 1, "b": 3, "c": 2, "e": 3}, "q2": {"a": 1}, "q3": {"a": 0}, "q4": {"b": 1}}
ONE = {"q1": {"x": 6.0, "a": 5.0, "b": 4.0, "c": 3.0}, "q3": {"a": 1.0}, "q9": {"a": 1.0}}
OTHER = {"q1": {"b": 2.0, "a": 2.0, "y": 1.0}, "q2": {"a": 1.0}, "q3": {"x": 1.0}}
LOG = {
    "qid": [1, 1, 2, 3, 4],
    "label": [1, 0, 1, 0, 1],
    "score": [0.1, 0.9, 0.5, 0.4, 0.3],
    "country": ["de", "de", "at", "de", "de"],
}


def show(value):
    return "–" if math.isnan(value) else f"{value:.4f}"


@pytest.mark.parametrize("policy", [None, "empty=skip,missing=skip"])
def test_values_and_notes_are_those_of_the_evaluation(policy):
    runs = {"one": ONE, "other": OTHER}
    expected = rs.evaluate(GRADED, runs, MEASURES, policy=policy, interval=0.9)
    report = rs.report(GRADED, runs, MEASURES, policy=policy, interval=0.9)
    for name, run in report.runs.items():
        found, wanted = run.evaluation, expected[name]
        assert found.to_json(per_query=True) == wanted.to_json(per_query=True)
        assert found.intervals == wanted.intervals
    page = read_page(report.to_html())
    for row, (name, wanted) in zip(
        read_rows(page, "table-summary")[1:], expected.items(), strict=True
    ):
        intervals = wanted.intervals.values()
        assert row[0].split()[1] == name
        assert row[1:-1] == [
            f"{show(mean)}{show(lower)} to {show(upper)}"
            for mean, (lower, upper) in zip(wanted.values(), intervals, strict=True)
        ]
        judged = rs.evaluate(GRADED, runs[name], "Judged@10", policy=policy)["Judged@10"]
        assert row[-1] == f"{judged:.1%}"
    for at, measure in enumerate(MEASURES, start=1):
        values = zip(*(each.per_query_list(measure) for each in expected.values()), strict=True)
        assert read_rows(page, f"table-{at}")[1:] == [
            [query, str(sum(grade > 0 for grade in grades.values())), *map(show, row),
             show(abs(row[0] - row[1]))]
            for (query, grades), row in zip(GRADED.items(), values, strict=True)
        ]  # fmt: skip
    notes = [each.text for each in page.find("ul", **{"class": "remarks"})[0].find("li")]
    missing = "skip" if policy else "zero"
    absent = f"judged queries that are not in the run: 1 to 2 (missing={missing}) [n_missing]"
    assert f"{absent} one, other" in notes
    assert "one, other: " + absent in [*map(str, report.notes)]
    assert "queries of the run without judgments, not evaluated: 1 [n_run_only] one" in notes


def test_one_run_has_one_table_of_all_measures_and_no_comparison():
    report = rs.report({"q1": {"d": 1}}, {"only": {"q1": {"d": 1.0}}}, MEASURES)
    rows = read_rows(read_page(report.to_html()), "queries")
    head = ["Query", "Relevant", *MEASURES]
    assert rows == [head, ["q1", "1", "1.0000", "1.0000", "1.0000"]]
    assert report.comparison is None
    assert "Comparison" not in report.to_html()


def test_the_worst_queries_are_those_that_could_be_better():
    judged = {name: {"a": 1} for name in ("good", "missing", "half")}
    judged |= {"empty": {"a": 0}, "many": {"a": 1, "b": 1, "c": 1}}
    lists = {"good": {"a": 1.0}, "empty": {"a": 1.0}}
    lists |= {"many": {"x": 2.0, "y": 1.0}, "half": {"x": 2.0, "a": 1.0}}
    (run,) = rs.report(judged, {"run": lists}, "RR", worst=3).runs.values()
    assert [
        (each.query_id, each.value, each.relevant, each.retrieved, str(each.documents))
        for each in run.worst
    ] == [
        ("many", 0.0, 3, 0, "(('x', nan), ('y', nan))"),
        ("missing", 0.0, 1, 0, "()"),
        ("half", 0.5, 1, 1, "(('x', nan), ('a', 1.0))"),
    ]
    (run,) = rs.report(judged, {"run": lists}, worst=0).runs.values()
    assert run.worst == ()
    with refuses(rs.UsageError, "bad_parameter"):
        rs.report(judged, {"run": lists}, worst=-1)


@pytest.mark.parametrize(("measure", "shown"), [("P@19", 19), ("P@20", 20), ("P@21", 20)])
def test_a_page_shows_20_documents_of_a_list_at_most(measure, shown):
    lists = {"q": {f"d{at:02}": float(-at) for at in range(30)}}
    (run,) = rs.report({"q": {"d29": 1}}, {"run": lists}, measure).runs.values()
    assert [doc for doc, _ in run.worst[0].documents] == [*lists["q"]][:shown]


@pytest.mark.parametrize(("measures", "explained"), [(["RR", "nDCG@10"], "nDCG@10"), ("RR", "")])
def test_worst_queries_are_explained_as_the_rankings_explain_them(measures, explained):
    rankings = rs.Rankings.from_run(GRADED, ONE)
    (run,) = rs.report(GRADED, {"run": ONE}, measures).runs.values()
    assert len(run.worst) == 3
    for query in run.worst:
        expected = rankings.explain(query.query_id, explained, limit=20) if explained else None
        assert str(query.explanation) == str(expected)


def test_losses_are_those_of_the_rankings_and_their_bar_is_as_long_as_1():
    report = rs.report(GRADED, {"run": ONE}, ["AP", "nDCG@3"])
    expected = rs.Rankings.from_run(GRADED, ONE).losses("nDCG@3")
    ((losses,),) = report.losses.values()
    assert losses.to_dict() == expected.to_dict()
    (section,) = read_page(report.to_html()).find("section", **{"aria-labelledby": "losses"})
    bar, *cells = section.find("td")
    names = ["value", "ordering", "truncation", "retrieval", "undefined"]
    assert [cell.text for cell in cells] == [show(expected.means[name]) for name in names]
    largest = [name for name, cell in zip(names, cells, strict=True) if "most" in str(cell)]
    assert largest == [max(names[1:], key=expected.means.__getitem__)]
    widths = [float(each.attributes["width"].rstrip("%")) for each in bar.find("rect")]
    assert sum(widths) == pytest.approx(100, abs=0.01)


def test_slices_are_those_of_the_evaluation_and_the_losses():
    slices = rs.evaluate(LOG, "nDCG@1", by="country", interval=0.95).slices.to_dict()
    page = read_page(rs.report(LOG, "nDCG@1", by="country").to_html())
    names = ["nDCG@1", "nDCG@1 lower", "nDCG@1 upper"]
    for (name, *cells), (value, row) in zip(
        read_rows(page, "table-slices")[1:], slices.items(), strict=True
    ):
        mean, lower, upper = (show(row[name]) for name in names)
        assert (name, *cells) == (value, str(row["queries"]), f"{mean}{lower} to {upper}")
    losses = rs.losses(LOG, "nDCG@1", by="country").slices.to_dict()
    # What is not observable is not 0.
    assert [row[2:] for row in read_rows(page, "losses")[-2:]] == [
        [*(show(row[name]) for name in ("value", "ordering", "truncation")), "not observable",
         show(row["undefined"])]
        for row in losses.values()
    ]  # fmt: skip


def test_the_audit_is_that_of_the_rankings():
    runs = {"one": ONE, "other": OTHER}
    report = rs.report(GRADED, runs, ["nDCG@2", "Bpref"])
    rows = read_rows(read_page(report.to_html()), "audit")
    ranked = {name: rs.Rankings.from_run(GRADED, run) for name, run in runs.items()}
    for (name, rankings), found in zip(ranked.items(), report.bounds, strict=True):
        expected = rankings.bounds("nDCG@2")
        assert (found.mean, found.openness) == (expected.mean, expected.openness)
        mean, openness = expected.mean, expected.openness
        assert [name, show(mean.value), "", show(mean.lower), show(mean.upper),
                *map(str, (openness.unjudged, openness.open, openness.certain))
        ] in [[cell.strip() for cell in row] for row in rows]  # fmt: skip
    for measure, audits in report.ties.items():
        for (name, rankings), found in zip(ranked.items(), audits, strict=True):
            tie = rankings.ties(measure).summary
            assert str(found.summary) == str(tie)
            shown = map(show, (tie.value, tie.expected, tie.lower, tie.upper))
            assert [name, *shown, str(tie.tied), str(tie.touched), tie.precision] in rows


@pytest.mark.parametrize(
    ("settings", "part", "why", "shown"),
    [
        ({"policy": "aggregate=median"}, "losses", "aggregate", "cannot be split here"),
        ({"policy": "aggregate=median"}, "comparison", "median", "aren't compared:"),
        ({"measures": "NumRet"}, "comparison", "no measure has a mean", "aren't compared:"),
        ({"measures": "Bpref"}, "bounds", "Bpref", "There are no bounds"),
    ],
)
def test_what_cannot_be_computed_is_a_reason(settings, part, why, shown):
    report = rs.report(GRADED, {"one": ONE, "other": OTHER}, **settings)
    reason = getattr(report, part)
    assert why in (reason["nDCG@10"] if part == "losses" else reason)
    assert shown in report.to_html()


def test_the_report_says_what_the_policy_means():
    policy = rs.Policy(unjudged=0.5, missing_gain=-1, aggregate="quantile(0.1)")
    rows = read_rows(
        read_page(rs.report(GRADED, {"run": ONE}, policy=policy).to_html()), "reproduce"
    )
    for field, value, meaning in (
        ("aggregate", "quantile(0.1)", _core.POLICY["aggregate"]["quantile"]),
        ("empty", "zero", _core.POLICY["empty"]["zero"]),
        ("unjudged", "0.5", "A retrieved document without a judgment has the gain 0.5."),
    ):
        assert [field, value, meaning] in rows
    assert any(row[0] == "missing_gain" and row[2].endswith("has the gain -1.") for row in rows)


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
    before = rs.report(rs.read_qrels(QRELS), {"it's\ta run": RUN})
    assert [each.name for each in before.inputs] == ["qrels (in memory)", "it's\ta run"]
    assert str(before).partition("\n")[2] == str(report).partition("\n")[2]


def test_a_file_that_changes_meanwhile_is_refused(files):
    def change(*_):
        files[1].write_bytes(RUN + lines("q1 Q0 d5 9 0.1 t"))

    with refuses(rs.FileError, "changed_while_reading"):
        rs.report(files[0], [files[1]], progress=change)


def test_the_command_gives_the_numbers_again(files):
    report = rs.report(
        files[0],
        [files[1]],
        MEASURES,
        policy=rs.Policy(ties="worst", empty="skip", unjudged=0.25),
        interval=rs.Interval(0.9, seed=7),
        score_type="float32",
        ignore_same=True,
        worst=1,
    )
    numbers, page = map(split_words, report.commands.values())
    assert (numbers[:2], page[:2]) == (["rankscope", "eval"], ["rankscope", "report"])
    rows = [row.split("\t") for row in start(*numbers[1:]).stdout.decode().splitlines()]
    (run,) = report.runs.values()
    assert rows[1:] == [
        [measure, *map(show, (mean, *run.evaluation.intervals[measure]))]
        for measure, mean in run.evaluation.items()
    ]
    assert start(*page[1:], "-o", "-").stdout.decode() == report.to_html()
    without = rs.report(*files, interval=None)
    assert [*without.commands] == ["Compute these values"]


def split_words(command):
    """Return the words of a command line, as Bash splits it."""
    words = ["bash", "-c", f"printf '%s\\0' {command}"]
    return subprocess.run(words, capture_output=True, check=True).stdout.decode().split("\0")[:-1]


@pytest.mark.parametrize(
    ("inputs", "settings", "call"),
    [
        ((QRELS, {"run": RUN}), {"policy": "empty=skip"}, "qrels, run, {}, policy='empty=skip'"),
        ((LOG,), {"by": "country"}, "table, {}, by='country'"),
        ((LOG,), {"by": {1: "de"}, "query": "qid"}, "table, {}, by=by, query='qid'"),
    ],
)
def test_what_no_command_line_can_say_is_a_call(inputs, settings, call):
    report = rs.report(*inputs, measures="RR", interval=None, **settings)
    assert [*report.commands.values()] == [f"rs.evaluate({call.format(['RR'])})"]


def test_a_convention_reaches_every_part():
    report = rs.report(GRADED, {"run": OTHER}, "nDCG@10", convention="lightgbm")
    expected = rs.evaluate(GRADED, OTHER, "nDCG@10", convention="lightgbm")
    (run,) = report.runs.values()
    assert dict(run.evaluation) == dict(expected)
    ((losses,),), ((ties,),) = report.losses.values(), report.ties.values()
    assert losses.means["value"] == ties.summary.value == expected["nDCG@10"]
    worst = run.worst[0]
    assert worst.explanation.value == expected.per_query("nDCG@10")[worst.row]
    assert expected.convention.address in report.commands["Compute these values"]
    page = report.to_html()
    assert f"<code>{expected.convention.address} (" in page
    assert ["empty", "one"] in [row[:2] for row in read_rows(read_page(page), "reproduce")]


@pytest.mark.parametrize("queries", [19, 20, 21])
def test_of_very_many_queries_the_lowest_are_listed(queries, monkeypatch):
    monkeypatch.setattr(report, "MOST_VALUES", 40)
    judged = {f"q{at:02}": {"d": 1} for at in range(queries)}
    lists = {query: {"d": 1.0} for query in judged} | {"q07": {"x": 1.0}, "q18": {"x": 1.0}}
    for runs, measures in (({"run": lists}, ["RR", "P@1"]), ({"one": lists, "two": lists}, "RR")):
        html = rs.report(judged, runs, measures).to_html()
        listed = [row[0] for row in read_rows(read_page(html), "table-1")[1:]]
        assert len(listed) == min(queries, 20)
        assert {"q07", "q18"} <= {*listed}
        assert listed == sorted(listed)
        said = f"the 20 queries with the lowest RR in the first run, of {queries}"
        assert (said in " ".join(html.split())) is (queries > 20)


@pytest.mark.parametrize("count", [1000, 1001])
def test_a_page_shows_1_000_slices_at_most(count):
    log = {"qid": [*range(count)], "label": [1] * count, "score": [1.0] * count}
    log["part"] = [f"part {at}" for at in range(count)]
    html = rs.report(log, "P@1", by="part", worst=0).to_html()
    assert len(read_rows(read_page(html), "table-slices")[1:]) == 1000
    assert ("1 smaller slices are not shown" in html) is (count > 1000)


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
    """Return a run whose relevant document is at these ranks, query by query, in turn."""
    run = {}
    for at, query in enumerate(QUERIES):
        docs = ["b", "c", "d"]
        docs.insert(places[at % len(places)] - 1, "a")
        run[query] = {doc: float(len(docs) - rank) for rank, doc in enumerate(docs)}
    return run


TWO = {"low": make_run([4, 3, 4, 2]), "high": make_run([1, 2, 1, 1])}
THREE = TWO | {"higher": make_run([1, 1, 2, 1, 1])}
"""The last two don't differ significantly; both differ from the first."""


@pytest.mark.parametrize(("runs", "interval"), [(THREE, 0.9), (TWO, None)])
def test_the_page_has_all_that_the_comparison_says(runs, interval):
    report = rs.report(JUDGED, runs, ["NumRet", "RR", "P@1"], interval=interval)
    expected = rs.compare(JUDGED, runs, ["RR", "P@1"], interval=interval or 0.95)
    assert report.comparison.to_dict() == expected.to_dict()
    page = read_page(report.to_html())
    text = " ".join(page.find("main")[0].text.split())
    blocks = expected.table("markdown").replace("\\", "").split("\n\n")
    for sentence in (*blocks[:2], *expected.small_print[:-1]):
        assert " ".join(sentence.split()) in text
    means, *tables = (
        [line.strip("|").strip().split(" | ") for line in block.splitlines()]
        for block in blocks
        if block.startswith("|")
    )
    (summary,) = page.find("table", id="table-summary")
    for row, (letter, name, *cells) in zip(summary.find("tr")[1:], means[2:], strict=True):
        assert row.children[0].text.split() == [letter, name]
        for found, cell in zip(row.children[2:4], cells, strict=True):
            shown = "".join(each.text for each in found.find("span")[:1] + found.find("sup"))
            assert shown == cell.replace("*", "").replace("<sup>", "").removesuffix("</sup>")
            assert ("best" in found.attributes["class"].split()) is cell.startswith("**")
    for at, ((head, _, *rows), measure) in enumerate(
        zip(tables, expected.measures, strict=True), 1
    ):
        heads, *found = read_rows(page, f"table-comparison-{at}")
        assert [each.casefold() for each in [heads[0], *heads[2:]]] == [*map(str.casefold, head)]
        assert [[" ".join(cell.split()) for cell in row[2:]] for row in found] == [
            row[1:] for row in rows
        ]
        pairs = expected.over_all(measure)
        assert [row[0] for row in found] == [f"{each.run}minus {each.baseline}" for each in pairs]
        (table,) = page.find("table", id=f"table-comparison-{at}")
        for svg, each in zip(table.find("tbody")[0].find("svg"), pairs, strict=True):
            assert len(svg.find("circle")) == 1
            assert ("open" in svg.attributes["class"]) is not each.is_significant


def test_of_many_runs_pairs_can_be_filtered():
    runs = {f"run {n}": make_run([1 + n % 4, 2, 1]) for n in range(9)}
    page = read_page(rs.report(JUDGED, runs, "RR").to_html())
    assert len(read_rows(page, "table-comparison-1")) == 1 + 9 * 8 / 2
    assert page.find("input", id="table-comparison-1-filter")


def test_a_table_of_two_runs_is_reported_as_it_is_compared():
    rows = [(query, doc, query // 2) for query in range(60) for doc in range(6)]
    wide = pd.DataFrame(rows, columns=["query_id", "doc_id", "user"])
    wide["relevance"] = ((wide["query_id"] + wide["doc_id"]) % 3 == 0).astype(int)
    wide["old"] = 1.0 * wide["doc_id"]
    wide["new"] = 1.0 * ((5 * wide["doc_id"] + wide["query_id"]) % 7)
    long = pd.concat([wide.assign(model=name, score=wide[name]) for name in ("old", "new")])
    long = long.drop(columns=["old", "new"])
    (expected,) = rs.compare(wide, "nDCG@3", scores=["old", "new"], cluster="user")
    assert expected.clusters == 30
    for inputs, scores, said in (
        ((wide,), ["old", "new"], "scores=['old', 'new']"),
        ((long, "model"), None, "runs='model'"),
    ):
        report = rs.report(*inputs, measures="nDCG@3", scores=scores, cluster="user")
        assert [*report.runs] == ["old", "new"]
        assert report.comparison["nDCG@3", "new"] == expected
        command = report.commands["Compute these values"]
        assert said in command
        assert "cluster='user'" in command
