"""Every page can be used with the keyboard alone, and read without JavaScript."""

from __future__ import annotations

import re

import pytest
from rankscope.monitor.rules.kinds import Rule
from rankscope.monitor.server.http.settings import Settings
from rankscope.monitor.server.pages.pages import find_pages

from tests.monitor.server.pages.incidents import make_incident, put_incidents
from tests.monitor.server.pages.site import log_story, open_monitor
from tests.monitor.server.service import NOW, Service
from tests.services.conftest import DESKTOP
from tests.services.production import serve

pytestmark = pytest.mark.timeout(300)

PARTS = {"incident_id": "incident_1", "name": "quality"}
QUERIES = {
    "/": "range=30d&every=day",
    "/trace": "measure=nDCG@5",
    "/slice": "slice=device%3Dtv&range=30d",
    "/slices": "range=30d",
    "/rankings": "id=r200-0",
}
"""With what pages show most."""
PATHS = sorted(
    {
        re.sub(r"{(\w+)}", lambda part: PARTS[part[1]], page.path)
        + (f"?{QUERIES[page.path]}" if page.path in QUERIES else "")
        for page in find_pages()
    }
    | {"/channels", "/nothing"}
)
FOCUSABLE = """() => [...document.querySelectorAll(
  "a[href], button, input:not([type=hidden]), select, textarea, summary, [tabindex]")]
  .filter((each) => each.tabIndex >= 0 && !each.disabled && each.checkVisibility())
  .map((each, at) => { each.dataset.at = at; return each.tabIndex; })"""
FOCUSED = """async () => {
  await new Promise((done) => requestAnimationFrame(() => requestAnimationFrame(done)));
  const each = document.activeElement;
  if (each === null || each === document.body || each === document.documentElement) return null;
  const box = each.getBoundingClientRect();
  const style = getComputedStyle(each);
  return {
    at: Number(each.dataset.at),
    outlined: style.outlineStyle !== "none" && parseFloat(style.outlineWidth) >= 2,
    visible: box.width > 0 && box.height > 0 && box.right > 0 && box.left < innerWidth
      && box.bottom > 0 && box.top < innerHeight,
    html: each.outerHTML.slice(0, 120),
  };
}"""
CHARTS = """() => [...document.querySelectorAll("svg[role=img]")].map((each) => ({
  name: document.getElementById(each.getAttribute("aria-labelledby"))?.textContent ?? "",
  text: document.getElementById(each.getAttribute("aria-describedby"))?.textContent ?? "",
  table: document.querySelector(`table[data-for="${each.id}"]`) !== null,
}))"""


@pytest.fixture(scope="module")
def url(tmp_path_factory):
    """Where a service with the story, an incident and a rule is."""
    folder = tmp_path_factory.mktemp("walk")
    made = Service(folder, Settings(open_project="default"), has_key=False)
    log_story(made.store)
    monitor = open_monitor(made.store)
    monitor.set_rule(Rule(name="quality", measure="nDCG@5", slices=("device",)))
    put_incidents(made, make_incident(group="a"), make_incident(2, group="a", slice=()))
    assert monitor.clock() == NOW
    with serve(made.app, made.store) as address:
        yield address
    made.store.close()


@pytest.fixture(scope="module")
def pages(browser):
    """A page, and one without JavaScript, for all tests."""
    settings = {"viewport": DESKTOP, "timezone_id": "UTC", "reduced_motion": "reduce"}
    contexts = [
        browser.new_context(**settings, java_script_enabled=is_on) for is_on in (True, False)
    ]
    scripted, plain = (each.new_page() for each in contexts)
    for each in (scripted, plain):
        each.set_default_timeout(60_000)
    yield scripted, plain
    for context in contexts:
        context.close()


def list_nameless(page):
    """The roles of what can be focused and has no name for a screen reader."""
    session = page.context.new_cdp_session(page)
    nameless = []
    for node in session.send("Accessibility.getFullAXTree")["nodes"]:
        said = {each["name"]: each["value"].get("value") for each in node.get("properties", ())}
        role = node.get("role", {}).get("value")
        name = node.get("name", {}).get("value", "").strip()
        is_page = role in {"RootWebArea", "main"}
        if said.get("focusable") and not (node["ignored"] or is_page or name):
            nameless.append(role)
    session.detach()
    return nameless


@pytest.mark.parametrize("path", PATHS)
def test_a_page_is_used_by_keyboard_and_read_without_javascript(pages, url, path):
    page, plain = pages
    page.goto(url + path)
    assert list_nameless(page) == []
    indexes = page.evaluate(FOCUSABLE)
    assert set(indexes) == {0}  # in the order of the page
    seen = [-1]
    while seen[-1] < len(indexes) - 1:
        page.keyboard.press("Tab")
        found = page.evaluate(FOCUSED)
        assert found is not None
        # The parts of a time are stops of their own.
        assert found["at"] in {seen[-1], seen[-1] + 1}, found["html"]
        assert found["outlined"] or found["at"] == seen[-1], found["html"]
        assert found["visible"], found["html"]
        seen.append(found["at"])
    for chart in page.evaluate(CHARTS):
        assert chart["name"].strip()
        assert chart["table"] or re.search(r"\d|table", chart["text"]), chart
    plain.goto(url + path)
    headings = page.locator("main :is(h1, h2, h3)").all_inner_texts()
    assert plain.locator("main :is(h1, h2, h3)").all_inner_texts() == headings
    for said in (page, plain):
        assert len(said.locator("main").inner_text()) > 20
    charts = "main svg[role=img], main table, main form"
    assert plain.locator(charts).count() == page.locator(charts).count()


def test_the_first_link_of_a_page_skips_to_its_content(pages, url):
    for page in pages:
        page.goto(f"{url}/rules")
        page.keyboard.press("Tab")
        link = page.locator(":focus")
        assert link.inner_text() == "Skip to the content"
        page.keyboard.press("Enter")
        page.keyboard.press("Tab")
        assert page.locator("main :focus").count() == 1
