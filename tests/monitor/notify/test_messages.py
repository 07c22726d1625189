from __future__ import annotations

import json
import re
from dataclasses import replace
from functools import cache
from html.parser import HTMLParser
from urllib.parse import quote

import pytest
from apprise import NotifyFormat
from apprise.conversion import convert_between
from hypothesis import example, given
from hypothesis import strategies as st
from linkify_it import LinkifyIt
from linkify_it.tlds import TLDS
from markdown_it import MarkdownIt
from rankscope.monitor.incidents.incident import EVENTS, make_notice
from rankscope.monitor.notify import markup
from rankscope.monitor.notify.message import WORDS, write_message, write_test
from rankscope.monitor.rules.kinds import PROBLEMS

from tests.monitor.notify.notices import BEGAN, HOSTILE, NOW, make, make_incident

URL = "https://rankscope.example.com"
PAGES = f"{URL}/projects/music"
CAUSE = {"sentence": "All of it is version 42 on televisions.", "share": 1.0}


def test_one_incident_is_described_in_plain_text():
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
        f"Open the incident: {PAGES}/incidents/incident_1"
    )


def test_what_else_changed_is_one_line_after_the_cause():
    facts = [{"sentence": f"Lists overlap {share}%; 92% is usual."} for share in (41, 50)]
    notice = make(("opened", make_incident(cause=CAUSE | {"facts": facts})))
    text = write_message([notice.to_json()], URL).text
    assert text.count("Changed at the same time") == 1
    assert (
        "- Cause: All of it is version 42 on televisions.\n"
        "- Changed at the same time: Lists overlap 41%; 92% is usual.\n"
    ) in text


@pytest.mark.parametrize(
    ("said", "title"),
    [
        ({"measure": "empty"}, "empty rose for device=tv, gbdt 42"),
        ({"version": "<all>"}, "nDCG@5 fell for device=tv, gbdt"),
        ({"slice": (), "model": "", "version": "<all>"}, "nDCG@5 fell for all rankings"),
        ({"slice": (), "model": "", "version": ""}, "nDCG@5 fell for all rankings"),
        ({"slice": ()}, "nDCG@5 fell for gbdt 42"),
        (
            {"slice": (("device", "tv"), ("country", "jp"))},
            "nDCG@5 fell for device=tv, country=jp, gbdt 42",
        ),
    ],
)
def test_a_title_names_the_problem_and_whom_it_is_about(said, title):
    message = write_message([make(("opened", make_incident(**said))).to_json()])
    assert message.title == f"New incident: {title} (music)"


def test_formats_say_the_same_and_have_a_link_where_there_is_a_public_address():
    message = write_message([make(("opened", make_incident(cause=CAUSE))).to_json()], URL)
    assert "- **Cause**: All of it is version 42 on televisions." in message.markdown
    assert f"[Open the incident](<{PAGES}/incidents/incident_1>)" in message.markdown
    assert "<li><strong>For</strong>: <code>device = tv</code>, model " in message.html
    assert f'<a href="{PAGES}/incidents/incident_1">Open the incident</a>' in message.html
    message = write_message([make(("opened", make_incident())).to_json()])
    assert "http" not in message.text + message.markdown + message.html


def test_a_group_is_one_message_with_its_parts_and_one_cause():
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
    assert lines[-1] == f"Open the incident with its group: {PAGES}/incidents/incident_0"


def test_missing_data_decide_what_to_do_about_a_group():
    notice = make(
        ("opened", make_incident()),
        ("opened", make_incident(incident_id="incident_2", kind="labels", reason="Labels fell.")),
    )
    message = write_message([notice.to_json()], URL)
    assert PROBLEMS["labels"].step in message.text
    assert PROBLEMS["quality"].step not in message.text


def test_a_recovery_says_how_long_it_lasted_and_asks_for_nothing():
    incident = make_incident(state="recovered", recovered=NOW, reason="nDCG@5 is 0.81 again.")
    message = write_message([make(("recovered", incident)).to_json()], URL)
    assert message.title == "Recovered: nDCG@5 fell for device=tv, gbdt 42 (music)"
    assert message.urgency == "success"
    assert "- From: 6 Nov 2026, 11:30 UTC to 8 Nov 2026, 15:30 UTC (2 days 4 h)" in message.text
    assert "What to do" not in message.text


def test_reminders_are_a_digest():
    parts = [make_incident(incident_id=name, slice=(("device", name),)) for name in ("a", "b")]
    notice = make(*(("reminded", part) for part in parts), group="")
    message = write_message([notice.to_json()], URL)
    assert message.title == "Reminder: 2 incidents are still open (music)"
    assert message.text.splitlines()[0].startswith("- Still open: device = a, model gbdt")
    assert message.text.endswith(f"Open the incidents: {PAGES}/incidents")


def test_what_is_collected_is_one_message_as_urgent_as_the_worst():
    recovered = make(("recovered", make_incident(state="recovered", recovered=NOW)))
    opened = make(("opened", make_incident(began=BEGAN)))
    message = write_message([recovered.to_json(), opened.to_json()], URL)
    assert message.title.startswith("2 notifications: Recovered: ")
    assert message.urgency == "warning"
    assert message.text.count("Open the incident: ") == 2


def test_lost_notifications_are_counted():
    body = {"type": "notifications.lost", "id": "x", "project": "music", "time": "", "count": 7}
    message = write_message([json.dumps(body)], URL)
    assert message.title == "7 notifications were not delivered (music)"
    assert "after three days" in message.text


@pytest.mark.parametrize("event", EVENTS)
@pytest.mark.parametrize("kind", PROBLEMS)
def test_every_event_of_every_kind_has_words(kind, event):
    incident = make_incident(kind=kind, measure="", reason="", slice=(), model="", version="")
    message = write_message([make((event, incident)).to_json()], URL)
    assert message.title.startswith(WORDS[event])
    assert f"{PROBLEMS[kind].name} for all rankings" in message.title


def test_texts_of_messages_are_cut_behind_their_last_character():
    for most, write in (
        (200, markup.write_title),
        (100, lambda text: markup.write_text([markup.Paragraph((markup.Name(text),))])),
        (600, lambda text: markup.write_text([markup.Paragraph((markup.Text(text),))])),
    ):
        for length in (most - 1, most):
            assert write("x" * length) == "x" * length
        assert write("x" * (most + 1)) == "x" * (most - 1) + "…"


@pytest.mark.parametrize(("count", "more"), [(9, 0), (10, 0), (11, 1)])
def test_a_message_describes_ten_incidents(count, more):
    parts = [("opened", make_incident(incident_id=f"incident_{at}")) for at in range(count)]
    text = write_message([make(*parts).to_json()]).text
    assert text.count("- New incident: ") == min(count, 10)
    assert (f"… and {more} more" in text) == (more > 0)


LINK = f"{PAGES}/incidents/incident_1"
CALL = re.compile(r"(?<!\w)@(?:channel|here|everyone|all|_all)|<[@#!]|<&|<[a-z]+:")
ADDRESS = re.compile(r"\w://|www\.\w|\w\.example", re.IGNORECASE)

LINKIFIER = LinkifyIt(options={"fuzzy_ip": True}).tlds(TLDS)
"""What a client that links bare domains does: an implementation that knows nothing of ours."""
DOMAINS = (
    *("evil1.com/login", "login-2024.com", "123.com", "evil.com", "a.evil.co.uk", "EVIL.COM"),
    *("my_app.evil.com", "-evil-.com", "1.2.3.4", "1.2.3.4:8080/x?y=1#z", "1.2.com", "3.14.com"),
    *(
        "xn--e1afmkfd.xn--p1ai",
        "münchen.de",
        "пример.com",
        "例え。com",
        "例え．com",
        "💩.la",
        "évil.fr/ü",
    ),
    *("0.evil.com", "0.7 evil.com", "(1.2.3.4)", "+1.2.3.4", "evil.com.", "evil.com, evil2.com"),
    *(
        "evil.com:443",
        "http://evil1.com",
        "ftp://1.2.3.4",
        "//evil.com",
        "//localhost/x",
        "http:////e.io",
    ),
    *(
        "a@evil1.com",
        "mailto:a@1.2.3.4",
        "a\u200devil.com",
        "evil.c\u00adom",
        "[x](evil1.com)",
        "`evil1.com`",
    ),
)
"""Names that are addresses without a scheme, or with one."""

NAMES = st.one_of(
    st.tuples(
        st.text(alphabet="ab1-_éй例.", min_size=1, max_size=12),
        st.sampled_from(sorted({one for one in TLDS if one.isascii() or len(one) > 2})),
        st.sampled_from(["", "/login", ":80", "."]),
    ).map(lambda parts: f"{parts[0]}.{parts[1]}{parts[2]}"),
    st.text(min_size=1, max_size=60),
    st.lists(st.sampled_from(HOSTILE), min_size=2, max_size=3).map("".join),
    st.text(alphabet="<>@!#&|[]()`*_~\\:/.-+=\"' \n\r\tab1", min_size=1, max_size=40),
)


@cache
def write(name):
    """A message about an incident in which everything that has a name has this one."""
    incident = make_incident(
        rule=name,
        measure=name,
        model=name,
        version=name,
        slice=(("device", name), (name, "x")),
        reason=f"The mean of {name} fell.",
        cause={"sentence": f"Most of it is {name}."},
    )
    notice = make_notice(name, NOW, "group_1", [("opened", incident)])
    message = write_message([notice.to_json()], URL)
    escaped = quote(name, safe="").replace("..", "%2E%2E")
    address = f"{URL}/projects/{escaped}/incidents/incident_1"
    # The link has the name, too, and is a whole link all the same.
    assert list_links(message.text) == [address]
    text, markdown, html = (
        said.replace(address, LINK) for said in (message.text, message.markdown, message.html)
    )
    return replace(message, text=text, markdown=markdown, html=html)


class Tags(HTMLParser):
    def __init__(self, text):
        super().__init__()
        self.tags = []
        self.comments = []
        self.text = ""
        self.feed(text)
        self.close()

    def handle_starttag(self, tag, attrs):
        self.tags.append((tag, tuple(attrs)))

    def handle_data(self, data):
        self.text += data

    def handle_comment(self, data):
        self.comments.append(data)


@cache
def kinds(markdown):
    found = []
    for token in MarkdownIt("commonmark").enable(["table", "strikethrough"]).parse(markdown):
        found.append(token.type)
        found += [
            f"{child.type} {child.attrs.get('href', '')}".strip() for child in token.children or ()
        ]
    return [kind for kind in found if kind != "text"]


def list_links(text):
    return [link.url for link in LINKIFIER.match(text) or ()]


def find_texts(message):
    """What each format of a message has beside our own link, as clients get or show it."""
    rendered = MarkdownIt("commonmark").render(message.markdown)
    as_mail = convert_between(NotifyFormat.MARKDOWN, NotifyFormat.HTML, message.markdown)
    return {
        "title": message.title,
        "text": message.text.replace(LINK, ""),
        "markdown": message.markdown.replace(f"(<{LINK}>)", ""),
        "html": Tags(message.html).text,
        "rendered markdown": Tags(rendered).text,
        "converted markdown": Tags(as_mail).text,
    }


def check(name):
    plain, hostile = write("tv"), write(name)
    # HTML has the tags of any other message.
    tags = Tags(hostile.html)
    assert tags.tags == Tags(plain.html).tags
    assert not tags.comments
    # So has Markdown: the same emphasis, code spans and the one link, except for empty names.
    expected = kinds(plain.markdown)
    assert [kind for kind in kinds(hostile.markdown) if kind != "code_inline"] == [
        kind for kind in expected if kind != "code_inline"
    ]
    assert [kind for kind in expected if kind.startswith("link_open")] == [f"link_open {LINK}"]
    # A text has the lines of any other.
    assert hostile.text.count("\n") == plain.text.count("\n")
    assert hostile.markdown.count("\n") == plain.markdown.count("\n")
    for text in (hostile.title, hostile.text, hostile.markdown, hostile.html):
        assert text.replace("\n", "").replace(markup.BREAK, "").isprintable()
        assert not CALL.search(text.replace(f"]({LINK})", "").replace(f"(<{LINK}>)", ""))
    assert "\n" not in hostile.title
    assert len(hostile.title.replace(markup.BREAK, "")) <= markup.MOST_TITLE
    without_link = hostile.text.replace(LINK, "")
    assert not ADDRESS.search(without_link)
    assert not ADDRESS.search(hostile.title)
    for form, text in find_texts(hostile).items():
        assert not list_links(text), form


@pytest.mark.parametrize("name", [*HOSTILE, *DOMAINS], ids=ascii)
def test_a_hostile_name_means_nothing_and_a_domain_is_no_link_in_any_format(name):
    check(name)


def test_messages_about_no_incident_make_no_link_of_a_name():
    body = {"type": "notifications.lost", "id": "x", "project": "evil1.com", "time": "", "count": 7}
    lost = write_message([json.dumps(body)] * 2)
    for message in (write_test("evil1.com"), lost):
        texts = message.title, message.text, message.markdown, Tags(message.html).text
        assert not any(map(list_links, texts))
        assert message is not lost or all("evil1" in text for text in texts)


@given(NAMES)
@example(".._.AAA")
def test_no_name_means_anything_in_any_format(name):
    check(name)


def test_texts_are_shown_as_they_are_but_for_what_would_act():
    paragraph = [
        markup.Paragraph(
            (markup.Text("For "), markup.Name("top_queries[de] v1.2"), markup.Strong(" now"))
        )
    ]
    name = f"top_queries[de] v1.{markup.BREAK}2"
    assert markup.write_text(paragraph) == f"For {name} now"
    assert markup.write_markdown(paragraph) == f"For `{name}`** now**"
    assert markup.write_html(paragraph) == f"<p>For <code>{name}</code><strong> now</strong></p>"
    said = "nDCG@5 is 0.7045, below the floor of 0.7976 (-0.1). It was 1.5%."
    assert markup.write_text([markup.Paragraph((markup.Text(said),))]) == said
    assert markup.write_title("nDCG@5 fell") == "nDCG@5 fell"
    assert markup.write_title("mail me@example") == f"mail me@{markup.BREAK}example"


def test_a_list_is_one():
    paragraphs = [
        markup.Paragraph((markup.Text("a"),)),
        markup.Paragraph((markup.Text("b"),), is_item=True),
        markup.Paragraph((markup.Text("c"),), is_item=True),
        markup.Paragraph((markup.Link("d", URL),)),
    ]
    assert markup.write_text(paragraphs) == f"a\n\n- b\n- c\n\nd: {URL}"
    assert markup.write_markdown(paragraphs) == f"a\n\n- b\n- c\n\n[d](<{URL}>)"
    assert markup.write_html(paragraphs) == (
        f'<p>a</p>\n<ul>\n<li>b</li>\n<li>c</li>\n</ul>\n<p><a href="{URL}">d</a></p>'
    )
