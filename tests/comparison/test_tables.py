"""How a comparison prints: letters, best values, notes, and the four formats."""

from __future__ import annotations

import math
import re
from xml.etree import ElementTree as ET

import pytest
import rankscope as rs
from rankscope._compare.layout import name_letters
from rankscope._compare.notes import decide, format_p
from rankscope._compare.ranges import Reach
from rankscope._compare.result import Comparison, Settings

from tests.comparison.pairs import make_pair

RUNS = ("old", "new", "a|b<c>&_%")


def compared(baseline, run, difference, p, **others):
    fields = {
        "measure": "nDCG@10",
        "n": 20,
        "smallest_p": 1e-5,
        "wins": 15,
        "ties": 1,
        "losses": 4,
        "minimum_detectable": 0.02,
        "bounded_lower": difference - 0.05,
        "bounded_upper": difference + 0.05,
    }
    return make_pair(baseline, run, difference, reach=0.01, p=p, **fields | others)


def compare(*rows, runs=RUNS, baseline=None):
    means = {run: {"nDCG@10": 0.5 + 0.1 * at} for at, run in enumerate(runs)}
    return Comparison(
        runs=runs,
        measures=("nDCG@10",),
        means=means,
        comparisons=rows,
        baseline=baseline,
        by="",
        settings=Settings(permutations=99_999),
        policy=rs.Policy(ties="doc_id"),
    )


PAIRS = (
    compared("old", "new", 0.1, 0.001),
    compared("old", RUNS[2], 0.2, 0.0001),
    compared("new", RUNS[2], 0.1, 0.3),
)
UNJUDGED = Reach(
    lowest=-0.1234,
    highest=0.2345,
    documents=9,
    scale=(0, 1),
    is_exact=True,
)


def test_letters_mark_the_runs_that_a_run_is_significantly_better_than():
    lines = compare(*PAIRS).table().splitlines()
    rows = {line.split()[1]: line.split()[2:] for line in lines if line[:2] in {"a ", "b ", "c "}}
    assert rows["old"] == ["0.5000"]
    assert rows["new"] == ["0.6000", "a"]
    assert rows[RUNS[2]] == ["0.7000", "a"]


def test_a_mean_is_bold_only_if_its_run_is_better_than_all_others():
    assert "**" not in compare(*PAIRS).table("markdown").partition("differences")[0].replace(
        "**nDCG@10", ""
    )
    certain = (*PAIRS[:2], compared("new", RUNS[2], 0.1, 0.04))
    assert compare(*certain).find_best("nDCG@10") == RUNS[2]
    assert "**0.7000**<sup>ab</sup>" in compare(*certain).table("markdown")
    assert r"\textbf{0.7000} & \textsuperscript{ab}" in compare(*certain).table("latex")
    html = compare(*certain).table("html")
    assert re.search(r"<b>0.7000</b><sup [^>]*width:2ch[^>]*>ab</sup>", html)


@pytest.mark.parametrize("form", ["text", "markdown", "html", "latex"])
def test_every_format_states_test_correction_and_number_of_queries(form):
    written = " ".join(compare(*PAIRS).table(form).split())
    test = "paired permutation test, 99,999 random sign flips"
    for text in (test, "20 queries", "3 comparisons"):
        assert text in written
    assert "Holm controls the familywise error rate" in written


def test_html_is_well_formed_and_names_are_escaped():
    html = compare(*PAIRS).table("html")
    tree = ET.fromstring(f"<div>{html}</div>")  # noqa: S314 - our own
    assert RUNS[2] in [cell.text for cell in tree.iter("td")]
    assert "<c>" not in html


def test_names_cannot_be_commands_of_latex_or_markdown():
    assert r"a\textbar{}b\textless{}c\textgreater{}\&\_\%" in compare(*PAIRS).table("latex")
    assert r"a\|b\<c\>&\_%" in compare(*PAIRS).table("markdown")


def test_the_verdict_says_which_run_is_better_and_how_sure_that_is():
    one = compare(compared("old", "new", 0.1, 0.001), runs=RUNS[:2])
    assert decide(one, "nDCG@10").sentence == (
        "new is better than old by 0.1000 nDCG@10 (95% interval 0.0900 to 0.1100; p = 0.001, "
        "paired permutation test)."
    )
    unclear = compare(compared("old", "new", -0.01, 0.4, queries_needed=88), runs=RUNS[:2])
    verdict = decide(unclear, "nDCG@10")
    assert verdict.sentence.startswith(
        "No run is significantly better: old leads new by 0.0100 nDCG@10"
    )
    assert (
        "about 88 queries are needed, if the true one is as large and others differ as much as "
        "these; there are 20." in verdict.power
    )
    assert decide(compare(*PAIRS), "nDCG@10").sentence.startswith(
        "No run is significantly best by nDCG@10. a|b<c>&_% has the highest mean, 0.7000, but its "
        "lead of 0.1000 over new is not significant"
    )


def test_the_verdict_about_a_baseline_lists_the_runs_that_differ():
    rows = (*PAIRS[:1], compared("old", RUNS[2], 0.2, 0.4))
    assert decide(compare(*rows, baseline="old"), "nDCG@10").sentence == (
        "nDCG@10, against old: new is significantly better; a|b<c>&_% is not significantly "
        "different."
    )


def test_one_comparison_is_found_by_measure_and_run():
    found = compare(*PAIRS)
    assert found["nDCG@10", "new"] is PAIRS[0]
    assert found.find("nDCG@10", RUNS[2], "new") is PAIRS[2]
    with pytest.raises(rs.UsageError, match="found 2"):
        found.find("nDCG@10", RUNS[2])
    with pytest.raises(rs.UsageError, match="found 0"):
        found.find("nDCG@10", "old")


def test_a_comparison_has_one_row_per_pair_in_every_export():
    found = compare(*PAIRS)
    frame = found.to_pandas()
    assert frame["difference"].tolist() == [0.1, 0.2, 0.1]
    assert found.to_arrow().num_rows == len(found.to_polars()) == 3


def test_letters_go_on_after_z():
    names = name_letters([f"run {number}" for number in range(28)])
    assert [*names.values()][25:] == ["z", "aa", "ab"]


def test_an_unknown_format_is_refused():
    with pytest.raises(rs.UsageError, match="unknown format 'pdf'"):
        compare(*PAIRS).table("pdf")


@pytest.mark.parametrize("measure", ["nDCG@10", "ndcg_cut_10", "ndcg@10", rs.nDCG @ 10])
def test_a_comparison_is_found_by_any_name_of_its_measure(measure):
    found = compare(*PAIRS)
    assert found[measure, "new"] is PAIRS[0]
    assert found.over_all(measure) == list(PAIRS)


def test_a_key_without_a_run_or_with_another_measure_is_explained():
    found = compare(*PAIRS)
    with pytest.raises(rs.UsageError, match="expected a measure and a run"):
        found["nDCG@10"]
    with pytest.raises(rs.UsageError, match="AP was not compared") as caught:
        found["AP", "new"]
    assert caught.value.hint == "the measures are nDCG@10"


def test_a_table_wider_than_eighty_columns_goes_on_below():
    rows = [
        compared(
            pair.baseline,
            pair.run,
            -0.0123,
            0.04,
            slice=name,
            unjudged=UNJUDGED,
            wins=1234,
            losses=2345,
            margin=0.02,
            p_not_worse=0.3,
            p_equivalent=0.4,
        )
        for name in (None, "Austria")
        for pair in PAIRS
    ]
    text = compare(*rows).table()
    assert max(map(len, text.splitlines())) <= 80
    assert "-0.1234 to +0.2345" in text
    assert "This is not a confidence interval." in " ".join(text.split())
    assert "certain despite unjudged documents in 0 of " in " ".join(text.split())
    assert [line.split()[:3] for line in text.splitlines() if line.startswith("slice")] == [
        ["slice", "n", "pair"]
    ] * 3


def test_a_minus_is_one_in_latex_but_a_hyphen_stays_one():
    pair = compared("e5-small", "e5-base", -0.1, 0.001)
    latex = compare(pair, runs=("e5-small", "e5-base")).table("latex")
    for cell in ("e5-base $-$ e5-small", "$-$0.1000", "$-$0.1100 to $-$0.0900"):
        assert f"{cell} &" in latex


def test_the_range_over_unjudged_documents_is_left_out_where_all_are_judged():
    qrels = {f"q{n}": {"a": 1, "b": 0} for n in range(30)}
    old = {query: {"b": 2.0, "a": 1.0} for query in qrels}
    new = {query: {"a": 2.0, "b": 1.0} for query in qrels}
    assert "if unjudged judged" not in str(rs.compare(qrels, {"old": old, "new": new}, "RR"))
    unjudged = new | {"q3": {"z": 3.0, "a": 2.0}}
    assert "if unjudged judged" in str(rs.compare(qrels, {"old": old, "new": unjudged}, "RR"))


def test_a_print_of_many_pairs_has_the_means_and_says_where_the_rest_is():
    queries = [f"q{n}" for n in range(6)]

    def compare(runs):
        values = {f"r{run}": [(run + n) / 60 for n in range(6)] for run in range(runs)}
        return rs.compare({"query_id": queries} | values, "m", values=True, test="t")

    assert "differences are not shown" not in str(compare(20))  # 190 pairs
    found = compare(21)
    assert "210 differences are not shown: name a baseline, see .table()" in " ".join(
        str(found).split()
    )
    assert len(str(found).splitlines()) < 45
    assert len(found.table().splitlines()) > 210


def test_p_values_have_the_places_that_matter():
    assert [format_p(p) for p in (1.0, 0.0499, 0.0009, math.nan)] == [
        "1.000",
        "0.050",
        "<0.001",
        "–",
    ]
