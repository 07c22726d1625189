from __future__ import annotations

import re
from dataclasses import replace
from datetime import timedelta
from html import unescape

import pytest
from rankscope.errors import UsageError
from rankscope.monitor.definition.calendar import Calendar, Period
from rankscope.monitor.definition.configuration import BaselineChoice, Configuration
from rankscope.monitor.definition.definition import define
from rankscope.monitor.definition.document import split_words, write_configuration, write_word
from rankscope.monitor.events.limits import DAY
from rankscope.monitor.events.times import to_datetime
from rankscope.monitor.monitor import Monitor
from rankscope.monitor.server.pages.settings import fill_form, read_form

from tests.monitor.server.pages.site import (
    CONFIGURATION,
    HOSTILE,
    PROJECT,
    as_json,
    check_page,
    check_texts,
    find_links,
    get,
    open_monitor,
    send,
)
from tests.monitor.server.service import NOW

PATH = "/settings"
FIELDS = {
    "positive": "click=1 favourite=2, buy=5",
    "window": "24h",
    "measures": "nDCG@1, nDCG@5 F(beta=0.5, rel=2)@10",
    "combine": "max",
    "repeats": "once",
    "slices": "device country",
    "baseline": "version",
    "grace": "2h",
    "calendar": "2026-12-24 2026-12-26 last-year Christmas\n\n2027-01-01 New <b>Year",
}
MADE = Configuration(
    definition=define(
        positive={"click": 1, "favourite": 2, "buy": 5},
        window=86_400,
        measures=["nDCG@1", "nDCG@5", "F(beta=0.5, rel=2)@10"],
        combine="max",
        repeats="once",
    ),
    attributes=("device", "country"),
    baseline=BaselineChoice(kind="version"),
    grace="2h",
    calendar=Calendar(
        (
            Period(name="New <b>Year", first="2027-01-01"),
            Period(name="Christmas", first="2026-12-24", last="2026-12-26", baseline="last-year"),
        )
    ),
)
UNUSUAL = Configuration(
    definition=define(
        positive={"click": 0.1, "add to basket": 1e300, "a=b": -1, '"': 2, "two\nlines": 3},
        window=100_000_001,
        measures=["nDCG(dcg='exp-log2')@10"],
        unlabelled=None,
        max_grade=7,
        policy="empty=zero",
    ),
    attributes=("device", "a, b", "\u202e"),
    bins={"a, b": (-0.5, 1e300)},
    pairs=(("device", "a, b"),),
    most=7,
    baseline=BaselineChoice(kind="period", since=to_datetime(0), until=to_datetime(DAY), model="m"),
    grace=timedelta(microseconds=1_500_001),
)
"""With all that the form does not offer, or that nobody could type."""


def fill_texts(configuration):
    """What stands in the fields of a form that is filled."""
    return {name: text for name, (text,) in fill_form(configuration).values.items()}


def read_fields(page):
    """What stands in the fields of a page, as a browser would send it."""
    reader = check_page(page)
    fields = {
        str(each["name"]): each["value"] or ""
        for each in reader.all("input")
        if each.get("name") != "csrf"
    }
    select = ""
    for tag, attrs in reader.elements:
        if tag == "select":
            select = str(attrs["name"])
        if tag == "option" and "selected" in attrs:
            fields[select] = attrs["value"] or ""
    [fields["calendar"]] = re.findall(
        r"<textarea[^>]*>\n(.*?)</textarea>", unescape(page), re.DOTALL
    )
    return fields


def sign_in(site, *scopes):
    """The page, as who has a key with these scopes sees it."""
    browser = site.browser()
    browser.sign_in(site.make_key("default", *scopes))
    return check_page(browser.get(PATH).text)


def test_it_is_a_place_that_one_can_always_go_to(site):
    for path in ("/", "/incidents", PATH):
        assert PATH in find_links(check_page(get(site, path)))
    [here] = [each for each in check_page(get(site, PATH)).all("a") if "aria-current" in each]
    assert here["href"] == PATH


def test_where_nothing_is_measured_pages_lead_to_the_form(site):
    assert "rankscope monitor configure STORE --positive" in get(site, "/")
    for path in ("/", "/trace", "/incidents", "/rules", "/slices", "/quality", "/comparison"):
        page = get(site, path)
        assert "This project isn’t set up yet" in page
        assert f'class="button" href="{PATH}"' in page
    assert f'under <a href="{PATH}">' in get(site, "/rules/new", 409)


def test_the_form_of_a_new_project_needs_no_more_than_labels(site):
    fields = read_fields(get(site, PATH))
    assert fields.pop("positive") == ""
    assert fields["measures"] == "nDCG@1 nDCG@5 nDCG@10"
    answer = send(site, PATH, fields | {"positive": "click buy=5"})
    assert (answer.status_code, answer.headers["location"]) == (303, PATH)
    assert Monitor(site.store).configuration == Configuration(
        definition=define(positive={"click": 1, "buy": 5}, window=86_400)
    )
    assert "No rankings yet" in get(site, "/")


def test_labels_are_never_guessed(site):
    fields = read_fields(get(site, PATH))
    assert send(site, PATH, fields).status_code == 422
    assert not Monitor(site.store).is_configured


def test_who_may_only_read_sees_it_without_a_form(site):
    unknown = sign_in(site, "read")
    assert "An admin of the project sets it up" in unknown.text
    open_monitor(site.store, UNUSUAL)
    for reader in (unknown, sign_in(site, "read")):
        assert [form["action"] for form in reader.all("form")] == ["/sign-out"]
    assert UNUSUAL.definition.hash in reader.text
    assert UNUSUAL.digest.hex() in reader.text
    assert str(UNUSUAL.definition.policy).replace(",", ", ") in reader.text
    for said in (
        "click 0.1",
        "add to basket 1e+300",
        "Unjudged",
        "1,157 days 9 h 46 min 41 s after the ranking",
        "Highest grade 7",
        "nDCG(dcg='exp-log2')@10",
        "device × a, b",
        "At most 7",
        "1 Jan 1970 to 2 Jan 1970 of m",
    ):
        assert said in reader.text


def test_who_may_change_things_sees_what_is_measured_above_the_form(site):
    open_monitor(site.store)
    reader = sign_in(site, "read", "admin")
    assert f"{PROJECT}{PATH}" in [form["action"] for form in reader.all("form")]
    assert reader.all("textarea")
    assert "buy 3, click 1" in reader.text
    assert "recomputes every value" in reader.text


def test_what_is_saved_is_what_is_measured(site):
    monitor = open_monitor(site.store)
    answer = send(site, PATH, FIELDS)
    assert (answer.status_code, answer.headers["location"]) == (303, PATH)
    entry = monitor.store.audit("default")[-1]
    assert (entry.actor, entry.action) == ("local", "configuration.set")
    assert read_fields(get(site, PATH)) == fill_texts(MADE)
    key = site.make_key("default", "read")
    assert site.ask("GET", "/v1/configuration", key=key).json() == write_configuration(MADE)


def test_values_are_made_anew(story):
    monitor = open_monitor(story.store)
    before = monitor.series("nDCG@5", every="day").values
    changed = fill_texts(CONFIGURATION) | {"repeats": "once", "measures": "nDCG@5 nDCG@3"}
    assert send(story, PATH, changed).status_code == 303
    again = Monitor(story.store, clock=lambda: NOW)
    assert len(again.series("nDCG@5", every="day")) == 0
    again.evaluate()
    assert again.measures == ("nDCG@5", "nDCG@3")
    assert again.series("nDCG@5", every="day").values == before


@pytest.mark.parametrize(
    ("changed", "expected"),
    [
        ({}, {}),
        ({"grace": "3h"}, {"grace": timedelta(hours=3)}),
        ({"baseline": "none"}, {"baseline": None}),
        ({"baseline": "training"}, {"baseline": BaselineChoice(environment="training")}),
    ],
)
def test_what_the_form_does_not_offer_stays(site, changed, expected):
    open_monitor(site.store, UNUSUAL)
    fields = read_fields(get(site, PATH))
    assert fields["baseline"] == "kept"
    assert send(site, PATH, fields | changed).status_code == 303
    made = Monitor(site.store).configuration
    assert made.definition.hash == UNUSUAL.definition.hash
    for name in ("attributes", "pairs", "most", "baseline", "grace"):
        assert getattr(made, name) == expected.get(name, getattr(UNUSUAL, name))


WRONG = [
    ("calendar", "2026-12-24 A\n2026-13-01 B", "Line 2: first: expected a day"),
    ("positive", "", "List at least one label with its weight"),
    ("positive", "click=much", "Expected a label and its weight"),
    ("positive", "click=nan", "finite weights"),
    ("positive", "click=1 click=2", "The label click is listed twice."),
    ("positive", 'click="1', "Expected quotes around"),
    ("positive", f"{'x' * 129}=1", "labels as events have them"),
    ("window", "a day", "Expected a duration such as 90s"),
    ("window", "0h", "1 or more"),
    ("window", "", "Expected a duration such as 90s"),
    ("measures", "", "at least one measure"),
    ("measures", "nDGC@10", "did you mean 'nDCG@10'?"),
    ("measures", "nDCG", "with a cutoff"),
    ("combine", "mean", "sum"),
    ("repeats", "twice", "each"),
    ("slices", "device device", "different attributes"),
    ("slices", "a b c d e f g", "6 at most"),
    ("bins", "device", "an attribute and the edges of its bins"),
    ("bins", "device=2:1", "ascending numbers"),
    ("bins", "age=1:2", "bins of the attributes"),
    ("baseline", "yesterday", "Choose one of validation"),
    ("baseline", "kept", "Choose one of validation"),
    ("grace", "-1h", "Expected a duration such as 90s"),
    ("grace", "31d", "from 0 to 30 days"),
]


def test_what_is_wrong_is_said_beside_its_field_and_nothing_is_lost(site):
    monitor = open_monitor(site.store)
    for field, value, said in WRONG:
        sent = FIELDS | {field: value}
        answer = send(site, PATH, sent)
        assert answer.status_code == 422
        reader = check_page(answer.text)
        assert said.lower() in reader.text.lower()
        wrong = [str(each["id"]) for each in reader.all("span") if each.get("class") == "wrong"]
        assert wrong == [f"{field}-wrong"]
        assert "Nothing has been saved" in reader.text
        # A choice that there isn't can't be shown.
        kept = FIELDS.keys() - ({field} & {"combine", "repeats", "baseline"})
        shown = read_fields(answer.text)
        assert {name: shown[name] for name in kept} == {name: sent[name] for name in kept}
    assert Monitor(site.store).configuration == monitor.configuration == CONFIGURATION


def test_all_that_is_wrong_is_said_at_once(site):
    answer = send(site, PATH, dict.fromkeys(FIELDS, "?"))
    wrong = [each for each in check_page(answer.text).all("span") if each.get("class") == "wrong"]
    assert {each["id"] for each in wrong} == {f"{name}-wrong" for name in set(FIELDS)} - {
        "positive-wrong",
        "slices-wrong",
    }


def test_a_pair_of_what_is_sliced_no_more_is_not_dropped_in_silence(site):
    open_monitor(site.store, UNUSUAL)
    fields = read_fields(get(site, PATH))
    answer = send(site, PATH, fields | {"slices": "device"})
    assert answer.status_code == 422
    assert "Expected pairs of two of the attributes" in check_page(answer.text).text


def test_who_changes_it_is_told_what_is_lost_with_events_that_were_deleted(story):
    monitor = open_monitor(story.store)
    assert "were deleted" not in get(story, PATH)
    monitor.delete_before(to_datetime(NOW // DAY * DAY - 5 * DAY))
    assert "Events before 16 Nov 2026 were deleted" in check_page(get(story, PATH)).text


@pytest.mark.parametrize("text", [each for each in HOSTILE if len(each) < 100])
def test_any_name_is_shown_as_text(site, text):
    configured = Configuration(
        definition=define(positive={text: 2.0, "click": 1}, window=3600),
        attributes=(text, "device"),
        baseline=BaselineChoice(model=text),
    )
    open_monitor(site.store, configured)
    page = get(site, PATH)
    check_texts(page)
    told = as_json(site.browser().get("/v1/configuration"))
    assert told == write_configuration(configured)
    fields = read_fields(page)
    assert send(site, PATH, fields).status_code == 303
    assert Monitor(site.store).configuration == configured
    answer = send(site, PATH, fields | {"window": text, "measures": text, "baseline": text})
    assert answer.status_code == 422
    assert not check_page(answer.text).all("img")


@pytest.mark.parametrize("configuration", [CONFIGURATION, MADE, UNUSUAL])
def test_a_form_is_read_as_it_was_filled(configuration):
    form = fill_form(configuration)
    read, again = read_form(form.values, configuration)
    assert read is not None
    assert read.to_json() == configuration.to_json()
    assert again == form


@pytest.mark.parametrize("word", [*HOSTILE, "add to basket", "a,b", "\\", "two\nlines", "日本"])
def test_any_word_is_read_as_it_was_written(word):
    line = f"one {write_word(word)}, two"
    assert split_words(line) == ["one", word, "two"]
    assert line.isprintable()


@pytest.mark.parametrize(
    "text",
    [
        *('"', 'a "b', '"a\\"', '"\\x"', 'a"b'),
        *('"' + '\\"' * 32_000, '"\\"' * 20_000 + "\\", '"' * 65_535),
    ],
)
def test_a_quote_without_an_end_is_refused(text):
    with pytest.raises(UsageError, match="expected quotes"):
        split_words(text)


def test_how_long_events_are_kept_is_shown_and_stays_when_the_form_is_sent(site):
    kept = replace(CONFIGURATION, retention="90d")
    open_monitor(site.store, kept)
    reader = check_page(get(site, PATH))
    assert "Events are deleted after 90 days; values stay" in reader.text
    fields = read_fields(get(site, PATH))
    assert send(site, PATH, fields | {"grace": "2h"}).status_code == 303
    changed = Monitor(site.store).configuration
    assert (changed.retention, changed.grace) == (kept.retention, timedelta(hours=2))
