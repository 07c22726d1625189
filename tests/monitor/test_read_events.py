from __future__ import annotations

import math
from datetime import UTC, datetime

import numpy as np
import pytest
from rankscope.errors import FormatError
from rankscope.monitor.events.event import Item, Label, Ranking
from rankscope.monitor.events.limits import DAY, MINUTE, Limits
from rankscope.monitor.events.reader import EventReader

from tests.refusals import refuses

NOW = 1_795_284_000_000_000
TIME = "2026-11-21T18:00:00Z"
ITEMS = [{"doc_id": "a", "rank": 1, "score": 2.5}, {"doc_id": "b", "rank": 2, "score": 1}]
SHOWN = {"event_id": "e", "ranking_id": "r", "time": TIME, "items": ITEMS}
IDS = {"event_id": "e", "ranking_id": "r", "doc_id": "a"}
LABEL = IDS | {"time": TIME, "labels": ["click"]}


def read_ranking(given, **choices):
    answer = EventReader(**choices).read_rankings([given], now=NOW).answers[0]
    return answer[0] if isinstance(answer, tuple) else answer


def read_label(given, **choices):
    answer = EventReader(**choices).read_labels([given], now=NOW).answers[0]
    return answer[0] if isinstance(answer, tuple) else answer


def test_a_ranking_has_all_its_fields():
    given = SHOWN | {
        "query_key": "jazz",
        "user_id": 7,
        "model": "m",
        "version": 4,
        "environment": "VALIDATION",
        "attributes": {"device": "tv", "country": "de", "new": True, "age": None, "share": 0.5},
    }
    ranking = read_ranking(given)
    told = ("e", "r", NOW, ranking.items, "jazz", "7", "m", "4", "validation")
    where = (("country", "de"), ("device", "tv"), ("new", "true"), ("share", "0.5"))
    assert ranking == Ranking(*told, where)
    assert list(ranking.items) == [Item("a", 1, 2.5), Item("b", 2, 1.0)]


DIALECTS = {
    "ours": {
        "ranking_id": "r",
        "time": TIME,
        "items": [{"doc_id": "a", "rank": 1, "relevance": 3}, {"doc_id": "b", "rank": 2}],
        "model": "m",
        "version": "4",
        "attributes": {"tv": "yes", "age": "9"},
    },
    "arize": {
        "prediction_group_id": "r",
        "timestamp": NOW // 1000,
        "items": [
            {"prediction_id": "a", "rank": 1, "relevance_score": 3},
            {"prediction_id": "b", "rank": 2, "relevance_score": None},
        ],
        "model_id": "m",
        "model_version": "4",
        "environment": "PRODUCTION",
        "features": {"age": 9},
        "tags": {"tv": "yes"},
    },
    "search groups": {
        "search_group_id": "r",
        "ts": TIME,
        "items": [{"item_id": "b", "rank": 2}, {"item_id": "a", "rank": 1, "gains": 3.0}],
        "model": "m",
        "version": "4",
        "attributes": {"tv": "yes", "age": "9"},
    },
    "lists": {
        "search_group_id": "r",
        "timestamp": TIME,
        "item_id": ["a", "b"],
        "target": [3, None],
        "model": "m",
        "version": "4",
        "tags": {"tv": "yes", "age": "9"},
    },
}


@pytest.mark.parametrize("dialect", DIALECTS)
def test_names_of_other_logs_mean_the_same(dialect):
    assert read_ranking(DIALECTS[dialect]) == read_ranking(DIALECTS["ours"])


def test_queries_and_events_of_user_behavior_insights_are_rankings_and_labels():
    given = {
        "query_id": "r",
        "client_id": "u",
        "user_query": "jazz",
        "timestamp": TIME,
        "query_attributes": {"device": "tv"},
        "query_response_hit_ids": ["a", "b"],
        "session_id": "s",
    }
    reading = EventReader().read_rankings([given], now=NOW)
    ranking = reading.events[0]
    assert (ranking.ranking_id, ranking.user_id, ranking.query_key) == ("r", "u", "jazz")
    assert list(ranking.items) == [Item("a", 1), Item("b", 2)]
    assert reading.unknown == {"session_id": 1}
    inside = {"object": {"object_id": "a"}, "position": {"ordinal": 1}}
    given = {"query_id": "r", "action_name": "click", "timestamp": TIME}
    label = read_label(given | {"event_attributes": inside})
    assert label == Label(label.event_id, "r", "a", NOW, ("click",))


def test_documents_may_be_ids_alone_and_their_labels_follow_the_ranking():
    ranking = read_ranking(SHOWN | {"items": ["a", 7]})
    assert list(ranking.items) == [Item("a", 1), Item("7", 2)]
    items = [{"doc_id": "a", "relevance_labels": ["click", "buy"]}, {"doc_id": "b"}]
    reader = EventReader()
    ranking, label = reader.read_rankings([SHOWN | {"items": items}], now=NOW).events
    assert label == Label(label.event_id, "r", "a", NOW, ("click", "buy"))
    again = reader.read_rankings([SHOWN | {"items": items}], now=NOW).events
    assert again == [ranking, label]


def test_an_event_without_an_id_is_known_by_what_it_says():
    without = {name: value for name, value in SHOWN.items() if name != "event_id"}
    assert read_ranking(without).event_id == "r"
    same = {name: value for name, value in LABEL.items() if name != "event_id"}
    assert read_label(same) == read_label(dict(reversed(same.items())))
    assert read_label(same).event_id != read_label(same | {"labels": ["buy"]}).event_id


def test_labels_may_say_labels_or_a_value_and_a_retraction_nothing_else():
    graded = {name: value for name, value in LABEL.items() if name != "labels"} | {"gains": 2}
    assert read_label(LABEL) == Label("e", "r", "a", NOW, ("click",))
    assert read_label(LABEL | {"labels": "click"}) == read_label(LABEL)
    assert read_label(LABEL | {"labels": []}) == Label("e", "r", "a", NOW)
    assert read_label(graded) == Label("e", "r", "a", NOW, (), 2.0)
    assert read_label(graded | {"kind": "correction"}).kind == "correction"
    taken_back = LABEL | {"kind": "retraction"}
    assert read_label(taken_back).code == "label_kind"
    del taken_back["labels"]
    assert read_label(taken_back) == Label("e", "r", "a", NOW, kind="retraction")


@pytest.mark.parametrize(
    ("items", "ranks", "note"),
    [
        ([{"doc_id": "a", "rank": 0}, {"doc_id": "b", "rank": 1}], (1, 2), "zero_based_ranks"),
        ([{"doc_id": "a", "rank": 11}, {"doc_id": "b", "rank": 12}], (11, 12), "rank_gaps"),
        ([{"doc_id": "a", "rank": 1}, {"doc_id": "b", "rank": 4}], (1, 4), "rank_gaps"),
        (
            [{"doc_id": "a", "rank": 1, "score": 1}, {"doc_id": "b", "rank": 2, "score": 2}],
            (1, 2),
            "rank_score_disagree",
        ),
        ([1, 2], (1, 2), "int_ids"),
        ([], (), "empty_ranking"),
    ],
)
def test_what_is_suspicious_is_noted(items, ranks, note):
    reading = EventReader().read_rankings([SHOWN | {"items": items}], now=NOW)
    ranking = reading.events[0]
    assert ranking.items.ranks == ranks
    assert reading.notes == {note: 1}


def test_notes_of_what_is_refused_do_not_count():
    reading = EventReader().read_rankings([SHOWN | {"items": [1, 1], "color": 1}], now=NOW)
    assert (reading.notes, reading.unknown) == ({}, {})
    assert [rejection.code for rejection in reading.rejections] == ["duplicate_doc"]


@pytest.mark.parametrize(
    ("text", "time"),
    [
        ("1970-01-02T00:00:00Z", DAY),
        ("1970-01-02t01:00:00.25+01:00", DAY + 250_000),
        ("1970-01-02 00:00:00.1234567Z", DAY + 123_456),
        ("1970-01-01T23:59:60Z", DAY - 1_000_000),
        (86_400_000, DAY),
        (86_400_000.001, DAY + 1),
    ],
)
def test_times_are_of_rfc_3339_or_milliseconds(text, time):
    reading = EventReader().read_rankings([SHOWN | {"time": text}], now=DAY)
    ranking = reading.events[0]
    assert ranking.time == time
    assert reading.notes == ({"leap_second": 1} if "60" in str(text)[-4:] else {})


def test_a_clock_may_be_five_minutes_ahead_and_what_is_old_is_refused():
    shown = SHOWN | {"time": (NOW + 5 * MINUTE) // 1000}
    assert read_ranking(shown).time == NOW + 5 * MINUTE
    assert read_ranking(shown | {"time": NOW // 1000 + 5 * 60_000 + 1}).code == "future_time"
    limits = Limits(age=DAY)
    assert read_ranking(SHOWN | {"time": (NOW - DAY) // 1000}, limits=limits).time == NOW - DAY
    refused = read_ranking(SHOWN | {"time": NOW // 1000 - 86_400_001}, limits=limits)
    assert refused.code == "too_old"
    assert read_ranking(SHOWN | {"time": NOW // 1_000_000}).code == "too_old"  # seconds


A, B = {"doc_id": "a"}, {"doc_id": "b"}
REFUSED_ITEMS = {
    "items of another type": ("ab", "json_type", "items"),
    "no items": (None, "json_type", "items"),
    "an item of another type": ([A, 1], "json_type", "items[1]"),
    "no ids": ([{"rank": 1}], "missing_field", "items[0].doc_id"),
    "one without id": ([A, {"rank": 2}], "id_type", "items[1].doc_id"),
    "a document twice": (["a", "b", "a"], "duplicate_doc", "items[2].doc_id"),
    "an id as number and text": ([7, "7"], "duplicate_doc", "items[1].doc_id"),
    "two names in items": ([A, {"item_id": "b"}], "ambiguous_field", ""),
    "a rank twice": ([A | {"rank": 1}, B | {"rank": 1}], "duplicate_rank", "items[1].rank"),
    "a rank between": ([A | {"rank": 1.5}], "bad_rank", "items[0].rank"),
    "a negative rank": ([A | {"rank": -1}], "bad_rank", "items[0].rank"),
    "a truth value as rank": ([A | {"rank": True}], "bad_rank", "items[0].rank"),
    "one without rank": ([A | {"rank": 1}, B], "bad_rank", "items[1].rank"),
    "NaN as score": ([A | {"score": math.nan}], "score_not_number", "items[0].score"),
    "infinite score": ([A | {"score": math.inf}], "score_not_number", "items[0].score"),
    "a score beyond double": ([A | {"score": 10**400}], "score_not_number", "items[0].score"),
    "a score with many digits": ([A | {"score": 2**53 + 1}], "inexact_number", "items[0].score"),
    "text as grade": ([A | {"relevance": "high"}], "rel_not_number", "items[0].relevance"),
    "too many documents": (list(range(1001)), "max_group", "items"),
}
TWICE = {"tags": {"tv": "a"}, "features": {"tv": "b"}}
MANY = {f"a{number}": 1 for number in range(101)}
REFUSED = {
    "no ranking": ({"ranking_id": None}, "missing_field", "ranking_id"),
    "empty id": ({"ranking_id": ""}, "missing_id", "ranking_id"),
    "id of another type": ({"ranking_id": 1.5}, "id_type", "ranking_id"),
    "truth value as id": ({"ranking_id": True}, "id_type", "ranking_id"),
    "object as id": ({"ranking_id": {}}, "id_type", "ranking_id"),
    "long id": ({"ranking_id": "x" * 513}, "id_length", "ranking_id"),
    "long id of wide characters": ({"ranking_id": "ü" * 257}, "id_length", "ranking_id"),
    "half a character": ({"ranking_id": "\ud800"}, "surrogate", "ranking_id"),
    "an integer of 70 bits": ({"ranking_id": 2**70}, "integer_range", "ranking_id"),
    "an integer of many digits": ({"time": 10**9000}, "time_format", "time"),
    "NUL": ({"ranking_id": "a\0b"}, "nul_byte", "ranking_id"),
    "two names": ({"search_group_id": "s"}, "ambiguous_field", ""),
    "no time": ({"time": None}, "missing_field", "time"),
    "no zone": ({"time": "2026-11-21T18:00:00"}, "time_zone", "time"),
    "no time of day": ({"time": "2026-11-21"}, "time_format", "time"),
    "no such day": ({"time": "2026-02-30T18:00:00Z"}, "time_format", "time"),
    "year 0": ({"time": "0000-01-01T00:00:00Z"}, "time_format", "time"),
    "before the first year": ({"time": "0001-01-01T00:00:00+01:00"}, "time_format", "time"),
    "a year of three digits": ({"time": "0999-12-31T23:59:59Z"}, "time_format", "time"),
    "the end of all years": ({"time": "9999-12-31T23:59:59Z"}, "time_format", "time"),
    "NaN as time": ({"time": math.nan}, "time_format", "time"),
    "far beyond": ({"time": 10**30}, "time_format", "time"),
    "a time of 10,000 digits": ({"time": "1" * 10_000}, "time_format", "time"),
    "deep": ({"other": [[[[]]]]}, "depth", "other"),
    "another environment": ({"environment": "staging"}, "environment", "environment"),
    "attributes of another type": ({"attributes": ["tv"]}, "attribute_type", "attributes"),
    "an attribute of a list": ({"attributes": {"tv": [1]}}, "attribute_type", "attributes.tv"),
    "an attribute said twice": (TWICE, "attribute_conflict", "tags.tv"),
    "101 attributes": ({"attributes": MANY}, "attribute_count", "attributes"),
    "a long name": ({"attributes": {"x" * 300: 1}}, "id_length", f"attributes.{'x' * 40}"),
    "a long value": ({"attributes": {"x": "y" * 2000}}, "id_length", "attributes.x"),
    **{name: ({"items": items}, *rest) for name, (items, *rest) in REFUSED_ITEMS.items()},
}


@pytest.mark.parametrize("case", REFUSED)
def test_what_cannot_be_meant_is_refused_alone(case):
    change, code, where = REFUSED[case]
    reader = EventReader(limits=Limits(depth=4))
    reading = reader.read_rankings([SHOWN, SHOWN | change, SHOWN], now=NOW)
    (rejection,) = reading.rejections
    assert (rejection.index, rejection.code, rejection.where) == (1, code, where)
    assert len(reading.events) == 2
    assert str(rejection).isascii()
    assert len(str(rejection)) < 600


REFUSED_LABELS = {
    "no label": ({"labels": None}, "missing_field"),
    "a label and a value": ({"value": 1}, "missing_field"),
    "a number as label": ({"labels": 1}, "label_type"),
    "a number among labels": ({"labels": ["a", 1]}, "label_type"),
    "an empty label": ({"labels": [""]}, "missing_id"),
    "too many labels": ({"labels": ["x"] * 101}, "label_count"),
    "another kind": ({"kind": "other"}, "label_kind"),
    "a list as kind": ({"kind": []}, "label_kind"),
    "no document": ({"doc_id": None}, "missing_field"),
    "text as value": ({"labels": None, "value": "high"}, "rel_not_number"),
}


@pytest.mark.parametrize("case", REFUSED_LABELS)
def test_labels_that_cannot_be_meant_are_refused(case):
    change, code = REFUSED_LABELS[case]
    assert read_label(LABEL | change).code == code


LINES = [
    (b"{", "json_syntax"),
    (b"{'a': 1}", "json_syntax"),
    (b'{"a": 1,}', "json_syntax"),
    (b'{"a": 1} // x', "json_syntax"),
    (b'{"ranking_id": "r', "json_syntax"),
    (b'{"ranking_id": NaN}', "json_syntax"),
    (b'{"x": [{"y": -Infinity}]}', "json_syntax"),
    (b"\0", "json_syntax"),
    (b"[{}]", "json_type"),
    (b"null", "json_type"),
    (b'{"ranking_id": "a"}', "missing_field"),
    (b"\xff\xfe", "not_utf8"),
    (b'{"ranking_id": "\xff"}', "not_utf8"),
    (b'{"ranking_id": "a", "ranking_id": "b"}', "duplicate_key"),
    (b'{"a": {"b": 1, "b": 1}}', "duplicate_key"),
    (b'{"ranking_id": ' + b"9" * 10_000 + b"}", "integer_range"),
    (b'{"ranking_id": 18446744073709551616}', "integer_range"),
    (b"[" * 100_000, "depth"),
    (b'{"ranking_id": "r", "x": ' + b"[" * 40 + b"]" * 40 + b"}", "depth"),
    (b'{"ranking_id": "\\ud800", "time": 0}', "surrogate"),
]
"""Lines that are no events; files and requests have them between others."""


@pytest.mark.parametrize("given", [None, [], "x", 1, {1: 2}])
def test_what_is_no_object_is_refused(given):
    assert read_ranking(given).code == "json_type"
    assert read_label(given).code == "json_type"


def test_lists_of_one_ranking_are_of_one_length():
    given = {"ranking_id": "r", "time": TIME, "doc_id": ["a", "b"], "score": [1.0]}
    assert read_ranking(given).code == "length_mismatch"
    assert read_ranking(given | {"score": 1.0}).code == "json_type"
    assert read_ranking({"ranking_id": "r", "time": TIME}).code == "missing_field"


def test_a_name_that_is_given_wins_also_that_of_the_list_of_documents():
    items = [{"prediction_id": "x", "item_id": "a"}]
    assert read_ranking(SHOWN | {"items": items}).code == "ambiguous_field"
    ranking = read_ranking(SHOWN | {"items": items}, names={"doc_id": "item_id"})
    assert ranking.items.doc_ids == ("a",)
    named = {"event_id": "e", "user_id": "u", "time": TIME, "items": ["a"]}
    assert read_ranking(named, names={"ranking_id": "user_id"}).ranking_id == "u"
    named = {key: value for key, value in SHOWN.items() if key != "items"} | {"docs": ITEMS}
    assert read_ranking(named, names={"items": "docs"}) == read_ranking(SHOWN)
    both = EventReader(names={"items": "docs"}).read_rankings([SHOWN | {"docs": ITEMS}], now=NOW)
    assert both.unknown == {"items": 1}
    refused = read_ranking(SHOWN, names={"items": "docs"})
    assert (refused.code, refused.where) == ("missing_field", "items")


@pytest.mark.parametrize(
    "doc_id",
    ["<script>alert(1)</script>", "=HYPERLINK()", "{{7*7}}", "a\nb\x1b[31m", "__proto__", "日本"],
)
def test_ids_are_kept_as_they_are(doc_id):
    assert read_ranking(SHOWN | {"items": [doc_id]}).items.doc_ids == (doc_id,)


def test_rejections_show_no_control_characters():
    rejection = read_ranking(SHOWN | {"environment": "\x1b[31m\n" + "x" * 500})
    assert "\x1b" not in str(rejection)
    assert "\n" not in str(rejection)
    assert len(rejection.found) < 130


MOMENT = datetime(2026, 11, 21, 18, tzinfo=UTC)
ROWS = {
    "prediction_group_id": ["r1", "r2", "r1"],
    "prediction_id": ["b", "x", "a"],
    "timestamp": [MOMENT, MOMENT, MOMENT],
    "rank": [2, 1, 1],
    "prediction_score": [0.25, 0.5, 0.75],
    "relevance_score": [None, 2.0, 1.0],
    "model_version": ["4", "4", "4"],
    "country": ["de", "fr", "de"],
}


def test_rows_are_ranked_by_score_then_by_document_if_they_have_one_and_a_zone():
    rows = {
        "qid": [1, 1, 1],
        "docno": ["a", "c", "b"],
        "score": [0.5, 0.5, 2],
        "time": [MOMENT] * 3,
    }
    for order in ([0, 1, 2], [2, 1, 0], [1, 0, 2]):
        shuffled = {name: [values[at] for at in order] for name, values in rows.items()}
        (ranking,) = EventReader().read_ranking_rows(shuffled, now=NOW).events
        assert (ranking.ranking_id, ranking.items.doc_ids) == ("1", ("b", "c", "a"))
    times = np.array(["2026-11-21T18:00:00"] * 3, dtype="datetime64[ns]")
    reading = EventReader().read_ranking_rows(ROWS | {"timestamp": times}, now=NOW)
    assert [rejection.code for rejection in reading.rejections] == ["time_zone"] * 2
    rows = {"qid": [1], "docno": ["a"], "score": [float("nan")], "time": [MOMENT]}
    (rejection,) = EventReader().read_ranking_rows(rows, now=NOW).rejections
    assert rejection.code == "missing_score"


@pytest.mark.parametrize(
    ("change", "code"),
    [
        ({"timestamp": [MOMENT, MOMENT, MOMENT.replace(hour=17)]}, "attribute_conflict"),
        ({"country": ["de", "fr", "at"]}, "attribute_conflict"),
        ({"prediction_id": ["a", "x", "a"]}, "duplicate_doc"),
        ({"rank": [1, 1, 1]}, "duplicate_rank"),
        ({"rank": [None, 1, 1]}, "bad_rank"),
        ({"prediction_score": [float("inf"), 0.5, 0.75]}, "score_not_number"),
        ({"timestamp": [MOMENT.replace(tzinfo=None)] * 3}, "time_zone"),
    ],
)
def test_a_ranking_whose_rows_cannot_be_meant_is_refused(change, code):
    reading = EventReader().read_ranking_rows(ROWS | change, now=NOW, attributes=["country"])
    assert reading.rejections[0].index == 0
    assert reading.rejections[0].code == code


@pytest.mark.parametrize("missing", ["prediction_group_id", "prediction_id", "timestamp"])
def test_a_table_without_a_column_is_refused(missing):
    rows = {name: values for name, values in ROWS.items() if name != missing}
    with refuses(FormatError, "columns"):
        EventReader().read_ranking_rows(rows, now=NOW)
