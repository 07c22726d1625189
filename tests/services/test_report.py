"""The report in a real browser: it works offline, by mouse and by keyboard, wide and narrow."""

from __future__ import annotations

import pytest
import rankscope as rs

from tests.services.conftest import PHONE, RUNS, take_picture, watch_pages
from tests.services.contrast import find_faint_texts


@pytest.fixture
def opened(browser):
    """Opens a page offline; at the end nothing may have been asked for, said or refused."""
    own = set()
    with watch_pages(browser, own.__contains__) as make:

        def open_page(path, **settings):
            page = make(**settings)
            page.context.set_offline(True)
            own.add(path.as_uri())
            page.goto(path.as_uri())
            return page

        yield open_page


def column(page, table, number):
    """The texts of a column of a table, from top to bottom, of the rows that are shown."""
    cells = page.locator(f"{table} tbody tr:visible > :nth-child({number})")
    return cells.all_inner_texts()


def unfold(page):
    """Open all that is folded."""
    page.evaluate("for (const each of document.querySelectorAll('details')) each.open = true")


def head(page, table, name):
    """The head of a column."""
    return page.locator(f"{table} thead th").filter(has_text=name).first


def test_ids_that_look_like_markup_do_nothing(opened, hostile):
    page = opened(hostile)
    assert page.locator("img, iframe, object, body script ~ script").count() == 0
    unfold(page)
    page.mouse.move(400, 400)
    assert page.locator("bdi", has_text="<img/src=x/onerror=alert(1)>").count() > 0


def test_a_click_sorts_and_another_turns_the_order_round(opened, report):
    page = opened(report)
    table = "#table-1"
    before = column(page, table, 1)
    button = head(page, table, RUNS[0]).get_by_role("button")
    button.click()
    values = list(map(float, column(page, table, 3)))
    assert values == sorted(values)
    assert head(page, table, RUNS[0]).get_attribute("aria-sort") == "ascending"
    button.click()
    values = list(map(float, column(page, table, 3)))
    assert values == sorted(values, reverse=True)
    assert head(page, table, RUNS[0]).get_attribute("aria-sort") == "descending"
    assert page.locator(f"{table} [aria-sort]").count() == 1
    head(page, table, "Query").get_by_role("button").click()
    assert column(page, table, 1) == before
    assert page.locator(f"{table} [aria-sort]").count() == 1


@pytest.mark.parametrize("key", ["Enter", "Space"])
def test_the_keyboard_sorts(opened, report, key):
    page = opened(report)
    table = "#table-summary"
    page.locator(f"{table} >> button").first.focus()
    page.keyboard.press("Tab")
    page.keyboard.press(key)
    values = [float(text.split("\n")[0]) for text in column(page, table, 2)]
    assert values == sorted(values)
    page.keyboard.press(key)
    values = [float(text.split("\n")[0]) for text in column(page, table, 2)]
    assert values == sorted(values, reverse=True)


def test_the_field_above_a_table_keeps_the_rows_that_have_a_text(opened, report):
    page = opened(report)
    field = page.get_by_label("Filter queries").first
    field.fill("Q5")
    shown = [f"q{at}" for at in range(60) if str(at).startswith("5")]
    assert column(page, "#table-1", 1) == shown
    assert page.locator("#table-1-filter ~ output").inner_text() == f"{len(shown)} of 60"
    head(page, "#table-1", "Query").get_by_role("button").click()
    assert column(page, "#table-1", 1) == shown
    field.fill("nothing is called so")
    assert column(page, "#table-1", 1) == []
    field.fill("")
    assert len(column(page, "#table-1", 1)) == 60
    assert page.locator("#table-1-filter ~ output").inner_text() == ""


def test_the_first_stop_of_the_keyboard_skips_to_the_content(opened, report):
    page = opened(report)
    page.keyboard.press("Tab")
    link = page.locator(".skip")
    assert link.evaluate("link => link === document.activeElement")
    box = link.bounding_box()
    assert box is not None
    assert box["x"] >= 0
    page.keyboard.press("Enter")
    assert page.evaluate("document.activeElement.id") == "content"


def test_every_stop_of_the_keyboard_is_seen(opened, report):
    page = opened(report)
    seen = set()
    for _ in range(60):
        page.keyboard.press("Tab")
        name, style, width = page.evaluate(
            """() => {
              const style = getComputedStyle(document.activeElement);
              const name = document.activeElement.localName;
              return [name, style.outlineStyle, parseFloat(style.outlineWidth)];
            }"""
        )
        assert style == "solid", name
        assert width >= 2, name
        seen.add(name)
    assert {"a", "button", "div", "summary"} <= seen


@pytest.mark.parametrize("width", [390, 320])
def test_a_narrow_page_does_not_scroll_sideways(opened, report, hostile, width):
    for path in (report, hostile):
        page = opened(path, viewport={"width": width, "height": 800})
        unfold(page)
        assert page.evaluate("document.documentElement.scrollWidth") <= width


def test_a_table_wider_than_the_page_scrolls_by_itself(opened, report):
    page = opened(report, viewport=PHONE)
    region = page.get_by_role("region", name="Summary table")
    width, inner = region.evaluate("each => [each.clientWidth, each.scrollWidth]")
    assert width < PHONE["width"] < inner
    region.focus()
    page.keyboard.press("ArrowRight")
    page.wait_for_function("() => document.querySelector('.scroll').scrollLeft > 0")


def test_links_of_a_report_in_a_notebook_stay_in_its_frame(opened, tmp_path):
    qrels = {f"q{at}": {"a": 1, "b": 0} for at in range(9)}
    report = rs.report(qrels, {"one": {query: {"b": 2.0, "a": 1.0} for query in qrels}})
    notebook = tmp_path / "notebook.html"
    shown = report._repr_html_()
    notebook.write_text(f"<!doctype html><title>notebook</title>{shown}", encoding="utf-8")
    page = opened(notebook)
    frame = page.frame_locator("iframe")
    assert page.locator("iframe").get_attribute("title") == "one against qrels"
    frame.get_by_role("link", name="Reproduce").click()
    frame.locator("#reproduce").wait_for()
    inner = page.frames[1]
    assert inner.url == "about:srcdoc"
    inner.wait_for_function("scrollY > 0")  # it scrolls smoothly
    assert inner.evaluate("origin") == "null"
    # The tables sort there, too.
    frame.locator("#table-1 thead button").first.click()
    assert frame.locator("#table-1 [aria-sort]").count() == 1


def test_a_narrow_page_shows_the_verdict_at_once(opened, report):
    page = opened(report, viewport=PHONE)
    box = page.locator(".verdict").bounding_box()
    assert box is not None
    assert box["x"] >= 0
    assert box["x"] + box["width"] <= PHONE["width"]
    assert box["y"] + box["height"] <= PHONE["height"]


def test_only_a_table_wider_than_the_page_says_that_it_scrolls(opened, report):
    page = opened(report, viewport=PHONE)
    hint = page.locator(".sideways").first
    hint.wait_for(state="visible")
    assert hint.inner_text() == "Scroll the table sideways to see all columns."
    page.set_viewport_size({"width": 1600, "height": 900})
    hint.wait_for(state="hidden")


@pytest.mark.parametrize("scheme", ["light", "dark"])
def test_every_text_stands_out_from_what_is_behind_it(opened, report, scheme):
    page = opened(report, color_scheme=scheme)
    unfold(page)
    assert find_faint_texts(page) == []
    dark = page.evaluate("matchMedia('(prefers-color-scheme: dark)').matches")
    assert dark == (scheme == "dark")
    take_picture(page, f"report-{scheme}")


def test_everything_is_read_without_a_script(opened, report):
    page = opened(report, java_script_enabled=False)
    assert page.locator("button:visible, input:visible").count() == 0
    assert page.locator("#table-summary tbody th .name").all_inner_texts() == list(RUNS)
    assert len(column(page, "#table-1", 1)) == 60
    first = page.locator("details.query:has(table)").first
    first.locator("summary").click()
    assert first.locator("table").first.is_visible()


def test_print_shows_all_rows_of_what_is_unfolded_and_no_controls(opened, report):
    page = opened(report)
    region = page.locator(".tall").first
    assert region.evaluate("each => each.scrollHeight > each.clientHeight")
    page.emulate_media(media="print")
    assert region.evaluate("each => each.scrollHeight <= each.clientHeight")
    for name in ("nav", ".filter", ".skip"):
        assert not page.locator(name).first.is_visible()
