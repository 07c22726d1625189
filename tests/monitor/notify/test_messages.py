"""Messages: what is wrong, for whom, since when, why, and what to do."""

from __future__ import annotations

import json

import pytest
from rankscope.monitor.incidents.incident import EVENTS
from rankscope.monitor.notify.markup import Name, Paragraph, Text, write_text, write_title
from rankscope.monitor.notify.message import WORDS, write_message
from rankscope.monitor.rules.kinds import PROBLEMS

from tests.monitor.notify.notices import BEGAN, NOW, make, make_incident

TYPE_CHECKING = False
if TYPE_CHECKING:
    from typing import Any

URL = "https://rankscope.example.com"
CAUSE = {"sentence": "All of it is version 42 on televisions.", "share": 1.0}


def test_one_incident_is_described_in_plain_text() -> None:
    notice = make(("opened", make_incident(cause=CAUSE, severity="critical")))
    message = write_message([notice.to_json()], URL)
    assert message.title == "CRITICAL: New incident: nDCG@5 fell for device=tv, gbdt 42 (music)"
    assert message.urgency == "failure"
    assert message.text == (
        "New incident: nDCG@5 is 0.7045, below the floor of 0.7976.\n"
        "\n"
        "- For: device = tv, model gbdt, version 42\n"
        "- Since: 6 Nov 2026, 11:30 UTC (2 days 4 h)\n"
        "- Cause: All of it is version 42 on televisions.\n"
        "- Rule: quality (critical)\n"
        "- What to do: Open the incident for the queries that fell most. If a release caused it, "
        "roll it back. Then acknowledge the incident.\n"
        "\n"
        f"Open the incident: {URL}/incidents/incident_1"
    )


@pytest.mark.parametrize(
    ("said", "title"),
    [
        ({"measure": "empty"}, "empty rose for device=tv, gbdt 42"),
        ({"version": "<all>"}, "nDCG@5 fell for device=tv, gbdt"),
        ({"slice": (), "model": "", "version": "<all>"}, "nDCG@5 fell for all rankings"),
    ],
)
def test_a_title_names_the_problem_and_whom_it_is_about(said: dict[str, Any], title: str) -> None:
    message = write_message([make(("opened", make_incident(**said))).to_json()])
    assert message.title == f"New incident: {title} (music)"


def test_formats_say_the_same() -> None:
    message = write_message([make(("opened", make_incident(cause=CAUSE))).to_json()], URL)
    assert "- **Cause**: All of it is version 42 on televisions." in message.markdown
    assert f"[Open the incident](<{URL}/incidents/incident_1>)" in message.markdown
    assert "<li><strong>For</strong>: <code>device = tv</code>, model " in message.html
    assert f'<a href="{URL}/incidents/incident_1">Open the incident</a>' in message.html


def test_without_a_public_address_there_is_no_link() -> None:
    message = write_message([make(("opened", make_incident())).to_json()])
    assert "http" not in message.text + message.markdown + message.html


def test_a_group_is_one_message_with_its_parts_and_one_cause() -> None:
    parts = [
        make_incident(incident_id=f"incident_{at}", slice=(("device", f"d{at}"),), cause=CAUSE)
        for at in range(12)
    ]
    notice = make(*(("opened", part) for part in parts))
    message = write_message([notice.to_json()], URL)
    assert message.title == "New incident: nDCG@5 fell for device=d0, gbdt 42 and 11 more (music)"
    lines = message.text.splitlines()
    assert lines[0] == "Cause: All of it is version 42 on televisions."
    assert sum(line.startswith("- New incident: device = d") for line in lines) == 10
    assert "- … and 2 more" in lines
    assert lines[-1] == f"Open the incident with its group: {URL}/incidents/incident_0"


def test_missing_data_decide_what_to_do_about_a_group() -> None:
    notice = make(
        ("opened", make_incident()),
        ("opened", make_incident(incident_id="incident_2", kind="labels", reason="Labels fell.")),
    )
    message = write_message([notice.to_json()], URL)
    assert PROBLEMS["labels"].step in message.text
    assert PROBLEMS["quality"].step not in message.text


def test_a_recovery_says_how_long_it_lasted_and_asks_for_nothing() -> None:
    incident = make_incident(state="recovered", recovered=NOW, reason="nDCG@5 is 0.81 again.")
    message = write_message([make(("recovered", incident)).to_json()], URL)
    assert message.title == "Recovered: nDCG@5 fell for device=tv, gbdt 42 (music)"
    assert message.urgency == "success"
    assert "- From: 6 Nov 2026, 11:30 UTC to 8 Nov 2026, 15:30 UTC (2 days 4 h)" in message.text
    assert "What to do" not in message.text


def test_reminders_are_a_digest() -> None:
    parts = [make_incident(incident_id=name, slice=(("device", name),)) for name in ("a", "b")]
    notice = make(*(("reminded", part) for part in parts), group="")
    message = write_message([notice.to_json()], URL)
    assert message.title == "Reminder: 2 incidents are still open (music)"
    assert message.text.splitlines()[0].startswith("- Still open: device = a, model gbdt")
    assert message.text.endswith(f"Open the incidents: {URL}/incidents")


def test_what_is_collected_is_one_message_as_urgent_as_the_worst() -> None:
    recovered = make(("recovered", make_incident(state="recovered", recovered=NOW)))
    opened = make(("opened", make_incident(began=BEGAN)))
    message = write_message([recovered.to_json(), opened.to_json()], URL)
    assert message.title.startswith("2 notifications: Recovered: ")
    assert message.urgency == "warning"
    assert message.text.count("Open the incident: ") == 2


def test_lost_notifications_are_counted() -> None:
    body = {"type": "notifications.lost", "id": "x", "project": "music", "time": "", "count": 7}
    message = write_message([json.dumps(body)], URL)
    assert message.title == "7 notifications were not delivered (music)"
    assert "after three days" in message.text


@pytest.mark.parametrize("event", EVENTS)
@pytest.mark.parametrize("kind", PROBLEMS)
def test_every_event_of_every_kind_has_words(kind: str, event: str) -> None:
    incident = make_incident(kind=kind, measure="", reason="", slice=(), model="", version="")
    message = write_message([make((event, incident)).to_json()], URL)
    assert message.title.startswith(WORDS[event])
    assert f"{PROBLEMS[kind].name} for all rankings" in message.title


def test_texts_of_messages_are_cut_behind_their_last_character() -> None:
    for most, write in (
        (200, write_title),
        (100, lambda text: write_text([Paragraph((Name(text),))])),
        (600, lambda text: write_text([Paragraph((Text(text),))])),
    ):
        for length in (most - 1, most):
            assert write("x" * length) == "x" * length
        assert write("x" * (most + 1)) == "x" * (most - 1) + "…"


@pytest.mark.parametrize(("count", "more"), [(9, 0), (10, 0), (11, 1)])
def test_a_message_describes_ten_incidents(count: int, more: int) -> None:
    parts = [("opened", make_incident(incident_id=f"incident_{at}")) for at in range(count)]
    text = write_message([make(*parts).to_json()]).text  # type: ignore[arg-type]
    assert text.count("- New incident: ") == min(count, 10)
    assert (f"… and {more} more" in text) == (more > 0)
