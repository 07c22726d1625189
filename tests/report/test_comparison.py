"""The report says which run is better, and how sure that is, as the comparison of runs says."""

from __future__ import annotations

import math
from statistics import stdev
from typing import TYPE_CHECKING

import pytest
import rankscope as rs
from rankscope.comparison.notes import round_plan
from rankscope.comparison.verdict import decide
from rankscope.stats.estimate.power import queries_needed

from tests.report.page import Element, read_page

if TYPE_CHECKING:
    from rankscope.report.comparison import RunComparison

QUERIES = [f"q{n}" for n in range(24)]
QRELS = {query: {"a": 1, "b": 0, "c": 0, "d": 0} for query in QUERIES}


def make_run(places: list[int]) -> dict[str, dict[str, float]]:
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


def compare(runs: dict[str, dict[str, dict[str, float]]], measures: str = "RR") -> RunComparison:
    found = rs.report(QRELS, runs, measures).comparison
    assert found is not None
    return found


def values(run: dict[str, dict[str, float]]) -> list[float]:
    return rs.evaluate(QRELS, run, "RR").per_query_list("RR")


def cells(page: Element, table: str) -> list[list[Element]]:
    (found,) = page.find("table", id=table)
    (body,) = found.find("tbody")
    return [row.children for row in body.find("tr")]


def test_the_verdict_is_that_of_the_comparison() -> None:
    for runs in ({"high": HIGH, "low": LOW}, {"low": LOW, "middle": MIDDLE, "high": HIGH}):
        assert compare(runs).verdict == decide(rs.compare(QRELS, runs, "RR"), "RR")


def test_without_a_significant_difference_the_verdict_says_how_many_queries_it_takes() -> None:
    found = compare({"high": HIGH, "higher": HIGHER})
    ours, theirs = values(HIGHER), values(HIGH)
    differences = [one - other for one, other in zip(ours, theirs, strict=True)]
    mean = math.fsum(differences) / len(differences)
    start = f"No run is significantly better: higher leads high by {mean:.4f} RR (95% interval"
    assert str(found.verdict).startswith(start)
    assert found.verdict is not None
    needed = queries_needed(mean, (stdev(differences),))
    assert (
        f"in a single t test, about {round_plan(needed):,} queries are needed if others differ as "
        "much as these; there are 24." in found.verdict.power
    )


def test_with_too_few_queries_the_verdict_says_that_none_can_be_significant() -> None:
    few = [{query: run[query] for query in QUERIES[:3]} for run in (LOW, HIGH)]
    judged = {query: QRELS[query] for query in QUERIES[:3]}
    found = rs.report(judged, {"low": few[0], "high": few[1]}, "RR").comparison
    assert found is not None
    assert found.verdict is not None
    # Of the 8 ways to flip the signs of 3 differences, 2 are as extreme as any.
    assert found.verdict.power == (
        "With 3 queries, no difference can be significant: the smallest possible p-value is 0.250."
    )


def test_many_runs_that_do_not_differ_are_counted() -> None:
    runs = {f"run {n}": make_run([1, 2, 1, 1] * n + [1, 2]) for n in range(1, 6)}
    sentence = str(compare(runs).verdict)
    assert "and 2 others are not significant. The smallest is " in sentence


def test_runs_with_the_same_values_are_the_same() -> None:
    found = compare({"one": HIGH, "other": HIGH})
    assert str(found.verdict).startswith("one and other have the same RR for all 24 queries. Other")
    assert found.verdict is not None
    assert found.verdict.power == ""


def test_bold_and_letters_are_for_what_the_data_say() -> None:
    html = rs.report(QRELS, {"low": LOW, "high": HIGH, "higher": HIGHER}, ["RR", "P@1"]).to_html()
    page = read_page(html)
    rows = cells(page, "table-summary")
    assert [row[0].text.split() for row in rows] == [["a", "low"], ["b", "high"], ["c", "higher"]]
    marks = [[each.text for each in row[1].find("sup")] for row in rows]
    assert marks == [[], ["a"], ["a"]]
    # The highest mean is not bold, since it isn't significantly higher.
    assert not any("best" in row[1].attributes["class"].split() for row in rows)
    two = read_page(rs.report(QRELS, {"low": LOW, "high": HIGH}, "RR").to_html())
    is_best = ["best" in row[1].attributes["class"].split() for row in cells(two, "table-summary")]
    assert is_best == [False, True]


def test_the_table_and_the_chart_have_all_pairs() -> None:
    runs = {"low": LOW, "high": HIGH, "higher": HIGHER}
    report = rs.report(QRELS, runs, ["RR", "P@1"])
    expected = rs.compare(QRELS, runs, ["RR", "P@1"])
    assert report.comparison is not None
    assert report.comparison.result is not None
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


def test_the_methods_are_stated() -> None:
    found = compare({"low": LOW, "high": HIGH, "higher": HIGHER})
    text = " ".join(found.notes)
    assert "two-sided paired permutation test" in text
    assert "Holm controls the familywise error rate over 3 comparisons." in text
    assert found.measures["RR"].queries == 24
    assert found.p_name == "p (Holm)"
    assert compare({"low": LOW, "high": HIGH}).p_name == "p"


def test_unjudged_documents_and_ties_are_ranges_of_the_deciding_difference() -> None:
    judged = {query: {"a": 2, "b": 1} for query in QUERIES}
    tied = {query: {"a": 2.0, "b": 1.0, "x": 1.0} for query in QUERIES}
    other = {query: {"x": 2.0, "b": 1.0} for query in QUERIES}
    found = rs.report(judged, {"other": other, "tied": tied}, "nDCG@2").comparison
    assert found is not None
    assert found.verdict is not None
    (row,) = found.measures["nDCG@2"].differences
    unjudged, ties = row.compared.unjudged, row.compared.tied
    assert unjudged is not None
    assert ties is not None
    sentences = ["".join(part.text for part in each) for each in found.verdict.ranges]
    assert sentences[0].startswith(
        "If all unjudged documents were judged, the difference tied minus other could be from "
        f"{unjudged.if_unjudged_lowest:.4f} to {unjudged.if_unjudged_highest:.4f}"
    )
    assert sentences[1].startswith("With other orders of tied documents, the difference tied ")


def test_one_run_is_not_compared() -> None:
    log = {"qid": [1, 1, 2], "label": [1, 0, 1], "score": [0.1, 0.9, 0.5], "country": [*"aab"]}
    for report in (rs.report(QRELS, {"low": LOW}, "RR"), rs.report(log, "RR", by="country")):
        assert report.comparison is None
        assert "Comparison" not in report.to_html()


def test_what_is_no_mean_is_not_compared() -> None:
    for policy, measures, why in (
        ("aggregate=median", ["RR"], "only means can be compared"),
        (None, ["NumRet"], "no measure has a mean"),
    ):
        report = rs.report(QRELS, {"low": LOW, "high": HIGH}, measures, policy=policy)
        assert report.comparison is not None
        assert report.comparison.verdict is None
        assert why in report.comparison.refusal
        assert "The runs aren't compared:" in report.to_html()
    mixed = rs.report(QRELS, {"low": LOW, "high": HIGH}, ["NumRet", "RR"])
    assert mixed.comparison is not None
    assert [*mixed.comparison.measures] == ["RR"]


def test_the_means_of_a_comparison_use_the_interval_that_was_asked_for() -> None:
    runs = {"low": LOW, "high": HIGH}
    for interval, level in ((0.9, 0.9), (None, 0.95)):
        found = rs.report(QRELS, runs, "RR", interval=interval).comparison
        assert found is not None
        assert found.result is not None
        assert found.result.settings.level == level


def test_of_many_runs_pairs_can_be_filtered() -> None:
    runs = {f"run {n}": make_run([1 + n % 4, 2, 1]) for n in range(9)}
    report = rs.report(QRELS, runs, "RR")
    assert report.comparison is not None
    assert len(report.comparison.measures["RR"].differences) == 9 * 8 / 2
    page = read_page(report.to_html())
    assert page.find("input", id="table-comparison-1-filter")
