"""Early warnings as pages: what changed, its signals over time, and how good warnings were."""

from __future__ import annotations

from datetime import UTC, datetime, timedelta

from rankscope.monitor.events.limits import DAY
from rankscope.monitor.incidents.warnings import WarningRecord
from rankscope.monitor.server.pages.early import describe_record

from tests.monitor.server.pages.incidents import make_incident, put_incidents
from tests.monitor.server.pages.site import check_page, get, open_monitor
from tests.monitor.server.service import NOW, Service

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
    charts = [str(each["id"]) for each in reader.all("svg") if each.get("role") == "img"]
    assert sum(each.startswith("signal-") for each in charts) == 1
    assert "usual: mean of the 7 days before" in reader.text
    marks = [each["class"] for each in reader.all("rect") if "episode early" in str(each["class"])]
    # Once in the legend, and once in the chart.
    assert len(marks) == 2
    for path in ("/", "/incidents"):
        text = check_page(get(story, path)).text
        assert "1 active incident and 1 early warning" in text


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
