"""A project with a story of its own, small enough for each test, and its pages."""

from __future__ import annotations

import re
from html.parser import HTMLParser
from itertools import pairwise

from rankscope.monitor.definition.configuration import BaselineChoice, Configuration
from rankscope.monitor.definition.definition import define
from rankscope.monitor.events.event import Items, Label, Ranking
from rankscope.monitor.events.limits import DAY, HOUR
from rankscope.monitor.monitor import Monitor
from rankscope.monitor.rules.kinds import DEFAULTS, Rule

from tests.monitor.server.service import NOW, find_token

WINDOW = 24 * HOUR
DEFINITION = define(
    measures=("nDCG@1", "nDCG@5"), positive={"click": 1, "buy": 3}, window=WINDOW // 1_000_000
)
CONFIGURATION = Configuration(
    definition=DEFINITION, attributes=("device",), baseline=BaselineChoice()
)
HOSTILE = [
    "<img src=x onerror=alert(1)>",
    "\"'><script>alert(1)</script>",
    '=HYPERLINK("x")',
    "a\u202eb\u0007c",
    "{{ 7 * 7 }}{% raw %}",
    "../..",
    "x" * 500,
]
"""Texts that are markup, a formula, unprintable, a template, a way up, or long."""
INLINE = frozenset({"wbr", "bdi", "b", "a", "span", "code", "time"})
VOID = frozenset({"meta", "link", "input", "br", "wbr", "img", "hr"})


def log_story(store, *, device="tv", query="jazz", doc="a", version="4"):
    """Log ten days of two devices; for the last three, lists on one of them end with the best."""
    events = []
    for at in range(240):
        time = NOW // DAY * DAY - 10 * DAY + at * HOUR
        is_new = at >= 168
        for number in range(4):
            is_there = number % 2 == 0
            name = f"{at}-{number}"
            good_last = is_new and is_there
            docs = ("b", "c", doc) if good_last else (doc, "c", "b")
            told = {
                "user_id": f"u{number}-{at % 12}",
                "model": "m",
                "attributes": (("device", device if is_there else "phone"),),
            }
            asked = query if is_there else f"q{number}"
            shown = Items(docs, (1, 2, 3)), asked
            served = told | {"version": version if is_new else "3"}
            events.append(Ranking(f"e{name}", f"r{name}", time, *shown, **served))
            events.append(Label(f"l{name}", f"r{name}", doc, time + HOUR, ("buy",)))
            if at < 60:
                ideal = Items((doc, "c"), (1, 2), relevance=(3.0, 0.0)), f"q{number}"
                judged = told | {"version": "3", "environment": "validation"}
                events.append(Ranking(f"v{name}", f"v{name}", time - 30 * DAY, *ideal, **judged))
    store.append("default", events)


def open_monitor(store, configuration=CONFIGURATION, *, watches_data=False):
    """The monitor of the project, configured and up to date."""
    monitor = Monitor(store, clock=lambda: NOW)
    if configuration is not None:
        monitor.configure(configuration)
        monitor.evaluate()
        for rule in () if watches_data else monitor.rules():
            if rule.name in DEFAULTS:
                monitor.remove_rule(rule.name)
    return monitor


def watch_story(monitor, **parts):
    made = {"name": "quality", "measure": "nDCG@5", "slices": ("device",)}
    monitor.set_rule(Rule(**made | parts))
    monitor.evaluate(is_replay=True)


class Reader(HTMLParser):
    def __init__(self, page):
        super().__init__(convert_charrefs=True)
        self.elements = []
        self.texts = []
        self.open = []
        self.feed(page)
        self.close()

    def handle_starttag(self, tag, attrs):
        assert len({name for name, _ in attrs}) == len(attrs), f"<{tag}> says something twice"
        self.elements.append((tag, dict(attrs)))
        if tag not in INLINE:
            self.texts.append(" ")
        if tag not in VOID:
            self.open.append(tag)

    def handle_startendtag(self, tag, attrs):
        self.elements.append((tag, dict(attrs)))

    def handle_endtag(self, tag):
        assert self.open, f"</{tag}> closes nothing"
        assert self.open.pop() == tag

    def handle_data(self, data):
        self.texts.append(data)

    @property
    def text(self):
        return re.sub(r"\s+", " ", "".join(self.texts))

    def all(self, tag):
        return [attrs for name, attrs in self.elements if name == tag]


def check_page(page):
    reader = Reader(page)
    assert page.startswith("<!doctype html>")
    assert reader.open == []
    assert len(reader.all("h1")) == 1
    assert len(reader.all("main")) == 1
    levels = [int(tag[1]) for tag, _ in reader.elements if re.fullmatch("h[1-6]", tag)]
    assert levels[0] == 1
    assert all(after <= before + 1 for before, after in pairwise(levels))
    ids = [attrs["id"] for _, attrs in reader.elements if attrs.get("id")]
    assert len(ids) == len(set(ids)), sorted(each for each in ids if ids.count(each) > 1)
    for tag, attrs in reader.elements:
        assert "style" not in attrs, f"<{tag}> has a style of its own"
        assert not any(name.startswith("on") for name in attrs), f"<{tag}> has a script of its own"
        assert tag not in {"style", "iframe", "object", "embed", "base"}
        for name in ("aria-labelledby", "aria-describedby"):
            assert all(each in ids for each in (attrs.get(name) or "").split()), attrs
        for name in ("href", "src", "action"):
            where = attrs.get(name)
            assert where is None or where.startswith(("/", "#", "data:,")), where
            assert where is None or not where.startswith("//")
    for script in reader.all("script"):
        assert (script["src"] or "").startswith("/static/")
    labelled = {each["for"] for each in reader.all("label") if each.get("for")}
    for tag in ("input", "select", "textarea"):
        for field in reader.all(tag):
            is_unseen = field.get("type") in {"hidden", "checkbox", "radio"}
            assert is_unseen or field.get("id") in labelled, field
    for chart in reader.all("svg"):
        is_named = chart.get("role") == "img" and chart.get("aria-labelledby")
        is_inside = "viewbox" in chart or chart.get("width") == "1"
        assert is_named or chart.get("aria-hidden") == "true" or is_inside, chart
    for table in reader.all("th"):
        assert table.get("scope") in {"col", "row"}
    return reader


def check_texts(page):
    reader = check_page(page)
    assert not reader.all("img")
    assert len(reader.all("script")) == 1
    # A field has what was typed, or stored.
    shown = re.sub(r'value="[^"]*"', "", page)
    assert "\u202e" not in shown
    assert "\u0007" not in shown
    return reader


PROJECT = "/projects/default"


def get(site, path, status=200):
    """A page of the project, asked for by this machine; its addresses are paths of the project."""
    answer = site.browser().get(f"{PROJECT}{path}")
    assert answer.status_code == status, answer.text
    assert answer.headers["content-type"].startswith("text/html")
    return str(answer.text).replace(f'="{PROJECT}/', '="/')


def find_links(reader):
    return [str(each["href"]) for each in reader.all("a") if each.get("href")]


def as_json(response):
    """The body of an answer, in which no number is none."""
    assert response.headers["content-type"] == "application/json"
    assert "NaN" not in response.text
    assert "Infinity" not in response.text
    return response.json()


def send(site, path, fields, page=""):
    """Send the form of a page of the project; it goes on to a path of the project."""
    browser = site.browser()
    token = find_token(browser.get(f"{PROJECT}{page or path}").text)
    answer = browser.send(f"{PROJECT}{path}", {**fields, "csrf": token})
    if answer.status_code == 303:
        answer.headers["location"] = answer.headers["location"].removeprefix(PROJECT)
    return answer
