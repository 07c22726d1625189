"""The HTML of a leaderboard in a browser without JavaScript: it sorts, and names do nothing."""

from __future__ import annotations

import rankscope as rs

from tests.report.test_page import HOSTILE

QRELS = {f"q{number}": {"a": 2, "b": 1, "c": 0} for number in range(12)}
ORDERS = ("abc", "acb", "bac", "bca", "cab", "cba")
RUNS = {
    name: {query: [*order] for query in QRELS}
    for name, order in zip([text[:60] for text in HOSTILE.values()], ORDERS, strict=False)
}


def test_a_click_on_a_measure_sorts_by_it_without_scripts(browser, tmp_path):
    board = rs.leaderboard(QRELS, RUNS, ["nDCG@2", "OrderingLoss@3", "RR(rel=2)"])
    path = tmp_path / "board.html"
    # Two tables on a page are sorted on their own.
    path.write_text(board.to_html() + rs.leaderboard(QRELS, RUNS, "RR").to_html())
    context = browser.new_context(java_script_enabled=False)
    page = context.new_page()
    page.goto(path.as_uri())
    first = page.locator("form").first
    assert first.locator("input:checked").count() == 1
    for measure in ("OrderingLoss@3", "RR(rel=2)", "nDCG@2"):
        first.get_by_label(measure).check()
        at = [each.name for each in board.measures].index(measure)
        rows = first.locator("tbody tr").all()
        tops = [(row.bounding_box() or {"y": 0.0})["y"] for row in rows]
        seen = [
            float(rows[row].locator("td").nth(3 + at).inner_text().rstrip("†‡▼"))
            for row in sorted(range(len(rows)), key=tops.__getitem__)
        ]
        assert seen == sorted(seen, reverse=measure != "OrderingLoss@3")
    assert page.locator("form").nth(1).locator("input:checked").count() == 1
    context.close()


def test_hostile_names_are_text_and_ask_for_nothing(browser, tmp_path):
    path = tmp_path / "board.html"
    path.write_text(rs.leaderboard(QRELS, RUNS, "RR(rel=2)").to_html())
    context = browser.new_context()
    page = context.new_page()
    asked = []
    page.on("request", lambda request: asked.append(request.url))
    page.on("dialog", lambda dialog: asked.append(dialog.message))
    page.goto(path.as_uri())
    assert asked == [path.as_uri()]
    assert page.locator("img, script").count() == 0
    names = page.locator("tbody td:nth-child(2)").all_inner_texts()
    assert "<img/src=x/onerror=alert(1)>" in names
    context.close()
