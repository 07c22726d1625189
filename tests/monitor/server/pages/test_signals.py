"""The signals page: charts of what is known before labels, and what has to be logged for them."""

from __future__ import annotations

import re
from datetime import UTC, datetime, timedelta

import pytest
from rankscope.monitor.ask.mix import Mix
from rankscope.monitor.definition.configuration import Configuration
from rankscope.monitor.events.event import Items, Ranking
from rankscope.monitor.events.limits import DAY, HOUR
from rankscope.monitor.incidents.warnings import WarningRecord
from rankscope.monitor.server.pages.charts.lines import draw_lines
from rankscope.monitor.server.pages.early import describe_record
from rankscope.monitor.server.pages.signal_view import MixView
from rankscope.monitor.signals.kinds import SIGNALS

from tests.monitor.server.pages.incidents import make_incident, put_incidents
from tests.monitor.server.pages.site import (
    CONFIGURATION,
    DEFINITION,
    HOSTILE,
    check_page,
    find_links,
    get,
    log_story,
    open_monitor,
)
from tests.monitor.server.service import NOW, Service

WHOLE = "/signals?range=30d&every=day"
SCORES = "No scores are known in this range."
KEYS = "Log a query_key with each ranking"


def test_signals_that_are_known_are_charts_and_others_say_what_to_log(told_story: Service) -> None:
    reader = check_page(get(told_story, WHOLE))
    titles = [signal.label for signal in SIGNALS if signal.needs != "scores"]
    charts = [each for each in reader.all("svg") if each.get("role") == "img"]
    mixes = [each for each in charts if str(each["id"]).startswith("mix-")]
    assert len(charts) - len(mixes) == len(titles)
    assert len(mixes) == len(CONFIGURATION.attributes)
    assert all(title in reader.text for title in titles)
    assert SCORES in reader.text
    assert KEYS not in reader.text
    assert "usual: mean of the 7 days before" in reader.text
    # Version 4 turns the lists on one device: of four lists an hour, two.
    assert "Change of order" in reader.text


def test_the_mix_of_an_attribute_is_in_a_chart_its_legend_and_a_table(told_story: Service) -> None:
    page = get(told_story, WHOLE)
    reader = check_page(page)
    [table] = [each for each in reader.all("table") if each.get("data-for") == "mix-1"]
    [title, description] = (f"mix-1-{part}" for part in ("title", "description"))
    [chart] = [each for each in reader.all("svg") if each.get("id") == table["data-for"]]
    assert (chart["aria-labelledby"], chart["aria-describedby"]) == (title, description)
    rows = page.split('data-for="mix-1"')[1].split("</table>")[0].split("<tr data-x")[1:]
    assert rows
    for row in rows:
        shares = [float(share) for share in re.findall(r">(\d+\.\d)%<", row)]
        assert sum(shares) == pytest.approx(100, abs=0.05 * len(shares))
    assert "Mix of attributes" in reader.text
    # Of a slice, all rankings have one value.
    assert "Mix of attributes" not in get(told_story, f"{WHOLE}&slice=device%3Dtv")


@pytest.mark.parametrize(
    ("values", "lacks"),
    [
        (("1", "2.5", "30", "<missing>", "<other>"), True),
        (("1", "2.5", "car"), False),
        (("0", "1"), False),
        (("below 2", "2 or more", "<missing>"), False),
    ],
)
def test_values_that_are_many_numbers_lack_bins(values: tuple[str, ...], lacks: bool) -> None:
    mix = Mix(
        attribute="price", every="day", values=values, times=(), shares=(), usual=(), rankings=()
    )
    chart = draw_lines([], since=0, until=DAY, length=DAY)
    assert MixView(mix=mix, chart=chart).lacks_bins is lacks


def test_a_slice_and_a_version_can_be_chosen_and_stay_chosen(told_story: Service) -> None:
    reader = check_page(get(told_story, f"{WHOLE}&slice=device%3Dtv&model=m&version=4"))
    assert "Signals of device=tv" in reader.text
    assert "Concentration of exposure" not in reader.text
    [chosen] = [each for each in reader.all("option") if "selected" in each]
    assert chosen["value"] == "device=tv"
    hidden = {each["name"]: each["value"] for each in reader.all("input") if "name" in each}
    assert hidden == {"range": "30d", "every": "day", "model": "m", "version": "4"}
    kept = [link for link in find_links(reader) if link.startswith("/signals?")]
    assert kept
    assert all("slice=device%3Dtv" in link for link in kept)
    # A form sends an empty text for all rankings.
    assert "Concentration of exposure" in get(told_story, f"{WHOLE}&slice=")
    refused = get(told_story, f"{WHOLE}&slice=tv", 422)
    assert "device=tv" in refused


def test_nothing_is_broken_before_there_is_anything(site: Service) -> None:
    assert "isn’t set up yet" in check_page(get(site, "/signals")).text
    open_monitor(site.store)
    assert "No rankings yet" in check_page(get(site, "/signals")).text


@pytest.mark.parametrize("hours", [1, 24])
def test_the_first_hour_and_the_first_day_make_no_broken_chart(site: Service, hours: int) -> None:
    events = [
        Ranking(f"e{at}", f"r{at}", NOW - (at + 3) * HOUR, Items(("a", "b"), (1, 2), (0.5, 0.5)))
        for at in range(hours)
    ]
    site.store.append("default", events)
    open_monitor(site.store)
    for query in ("", "?every=hour", "?every=day", "?range=all"):
        page = get(site, f"/signals{query}")
        reader = check_page(page)
        assert "NaN" not in page
        assert "nan" not in re.findall(r'd="([^"]*)"', page)
        assert "known once there are such days" in reader.text
        assert "Tied scores" in reader.text
        assert KEYS in reader.text


@pytest.mark.parametrize("text", HOSTILE)
def test_no_name_gets_out_of_its_place(hostile: Service) -> None:
    page = get(hostile, WHOLE)
    check_page(page)
    assert "<script>alert" not in page
    assert "<img src" not in page


def test_the_validation_set_stands_beside_production(site: Service) -> None:
    log_story(site.store)
    mean = open_monitor(site.store).baseline_signals()["length"]
    page = get(site, WHOLE)
    assert "Production beside the validation set" in check_page(page).text
    # Its value, and then that of production, whose lists all are of the usual length.
    row = f'List length</th><td class="n">{100 * mean.value:.1f}%</td><td class="n">100.0%</td>'
    assert row in page


def test_without_a_set_there_is_no_line_of_one(site: Service) -> None:
    log_story(site.store)
    open_monitor(
        site.store, Configuration(definition=DEFINITION, attributes=("device",), baseline=None)
    )
    assert CONFIGURATION.baseline is not None
    assert "validation set" not in check_page(get(site, WHOLE)).text


FACTS = [
    {
        "signal": "overlap",
        "rankings": 40,
        "sentence": "Lists of version <b>4</b> overlap 41% with those of the same queries before.",
    },
    {"signal": "constant", "rankings": 1240, "sentence": "All scores are the same."},
]
WARNED = {
    "kind": "early",
    "rule": "early",
    "measure": "",
    "severity": "info",
    "model": "m",
    "version": "4",
    "slice": (("device", "tv"),),
    "began": datetime.fromtimestamp((NOW - 2 * DAY) / 1e6, UTC),
    "evidence": {
        "facts": FACTS,
        "outcome": "confirmed",
        "outcome_sentence": "Labels confirm it: nDCG@5 was 0.4; 0.9 is usual.",
    },
}


def test_an_early_warning_lists_its_facts_and_what_labels_say(story: Service) -> None:
    open_monitor(story.store)
    warning, fall = make_incident(1, **WARNED), make_incident(2)
    put_incidents(story, warning, fall)
    page = get(story, warning.link)
    reader = check_page(page)
    assert all(fact["sentence"] in reader.text for fact in FACTS)
    assert "<b>4</b>" not in page
    assert "Labels confirm it: nDCG@5 was 0.4; 0.9 is usual." in reader.text
    assert "1,240" in reader.text
    # Scores aren't logged: only the chart of overlap is there, and it has a sentence.
    assert "Overlap with the earlier list over time" in reader.text
    assert "/signals?model=m&slice=device%3Dtv" in find_links(reader)
    for path in ("/", "/incidents"):
        text = check_page(get(story, path)).text
        assert "1 active incident and 1 early warning" in text
    marked = check_page(get(story, f"{WHOLE}&slice=device%3Dtv"))
    marks = [each["class"] for each in marked.all("rect") if "episode early" in str(each["class"])]
    # Once in the legend, and once in the chart of the one signal that is drawn.
    assert len(marks) == 2


def test_an_early_warning_without_facts_is_a_page_like_others(story: Service) -> None:
    open_monitor(story.store)
    warning = make_incident(1, **WARNED | {"evidence": {"facts": ["odd", {"signal": 7}]}})
    put_incidents(story, warning)
    assert "What changed" not in check_page(get(story, warning.link)).text


def test_precision_is_told_from_five_warnings_on() -> None:
    def tell(confirmed: int, refuted: int, unknown: int = 0) -> str:
        return describe_record(
            WarningRecord(
                warnings=confirmed + refuted + unknown,
                confirmed=confirmed,
                not_confirmed=refuted,
                unknown=unknown,
                lead=timedelta(hours=30, seconds=7) if confirmed else None,
            )
        )

    assert tell(0, 0) == ""
    assert "too few" in tell(3, 1, unknown=8)
    # Wilson's interval of 4 of 5 is 37.6% to 96.4%.
    assert "Precision: 80% (95% interval: 38% to 96%)." in tell(4, 1)
    assert "labels confirmed 4, and didn't confirm 1." in tell(4, 1)
    assert tell(0, 5).endswith("Precision: 0% (95% interval: 0% to 43%).")
    assert tell(0, 0, unknown=1) == (
        "1 in the last 90 days: labels don't tell of 1. That is too few to tell how often warnings "
        "are right."
    )
    assert tell(1, 0).endswith("one came 1 day 6 h before labels would have shown it.")
    ending = "Confirmed ones came 1 day 6 h before labels would have shown them, on average."
    assert tell(2, 0).endswith(ending)
    assert tell(4, 1).endswith(ending)
