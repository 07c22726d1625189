from __future__ import annotations

import json
from dataclasses import replace

import pytest
from hypothesis import HealthCheck, example, given, settings
from hypothesis import strategies as st
from rankscope.monitor.events.batch import pack_reading
from rankscope.monitor.events.decoding import EventDecoder
from rankscope.monitor.events.limits import Limits
from rankscope.monitor.events.names import COLUMN_NAMES, ITEM_NAMES, LABEL_NAMES, RANKING_NAMES
from rankscope.monitor.events.reader import EventReader
from rankscope.monitor.server.http.body import parse_events
from rankscope.monitor.server.http.problems import RefusedRequestError

from tests.monitor.collecting import ingest

NOW = 1_795_284_000_000_000
MOST = 30
SMALL = Limits(
    items=4, id_bytes=8, attributes=3, name_bytes=6, value_bytes=9, labels=2, rank=6, depth=7
)

IDS = ["r", "a", "b", "é", "\U0001f600", 'quo"te\\', "nine byte", "tab\t", "1", "\x7f"]
NUMBERS = [
    "0",
    "1",
    "2",
    "3",
    "7",
    "-1",
    "-0",
    "-0.0",
    "1.0",
    "0.1",
    "1e2",
    "1.5E+1",
    "2e-7",
    "1e22",
]
ODD = [
    *(
        "null",
        "true",
        "false",
        "[]",
        "{}",
        "[1]",
        '{"a": 1}',
        '{"a": 1, "a": 2}',
        "[[[[[[[1]]]]]]]",
    ),
    *('""', "NaN", "-Infinity", "1e400", "01", "1.", "9007199254740993", "9223372036854775808"),
    *("123456789012345678901234567890", '"\\ud800"', '"\\ud83d\\ude00"', '"\\u0000"', '"\\u0041"'),
    *('"\\/\\b\\f\\n\\r\\t"', '"\\x"', '"open', '"a\tb"', '"\x0b"', "'a'", "nul", ""),
]
TIMES = [
    *("2026-11-21T18:00:00Z", "2026-11-21t17:59:59.123456789z", "2026-11-21 18:00:00.5+01:00"),
    *("2026-11-21T18:00:00", "2026-11-21T17:59:60Z", "2026-11-21T17:00:00-00:30"),
    *("2026-02-30T00:00:00Z", "2026-11-21T24:00:00Z", "2026-11-21T18:00:00+24:00"),
    *("2026-11-21T18:00:00+01:60", "0999-01-01T00:00:00Z", "2020-02-29T23:59:59.9999999Z"),
    *("2026-11-21T18:00:00.Z", "9999-12-31T23:59:59-23:59", "soon", "", "٢٠٢٦"),
]

OTHERS = ["color", "size", "time", "items", "rank", "a\\u0062", "<other>"]
DAMAGE = [b"", b"\xff", b"\xc3", b'"', b"\\", b",", b"]", b"}", b"\x00", b"\x0c"]

texts = st.sampled_from([json.dumps(text) for text in IDS] + [f'"{text}"' for text in IDS[:6]])
numbers = st.sampled_from(NUMBERS)
odd = st.sampled_from(ODD)
others = st.tuples(st.sampled_from(OTHERS), st.one_of(odd, texts, numbers))
times = st.sampled_from(['"2026-11-21T17:00:00.5Z"', f"{NOW // 1000}", f"{NOW // 1000 - 1}.0005"])
odd_times = st.one_of(
    st.sampled_from([json.dumps(text) for text in TIMES]),
    st.sampled_from(["1500", "-1", "1e15", "1e12", "true"]),
)


def usually(usual, rare=odd):
    """Values of which one in thirty is another."""
    return st.integers(0, 29).flatmap(lambda number: rare if number == 7 else usual)


def listed(values, most=3):
    return st.lists(values, max_size=most).map(lambda some: f"[{', '.join(some)}]")


def members(names, values, needed):
    """Objects with fields of some roles, by any of their names, in any order, and others."""

    @st.composite
    def draw_object(draw):
        roles = {role for role in needed if draw(st.integers(0, 60)) != 7}
        roles |= set(draw(st.lists(st.sampled_from(sorted(values)), max_size=3)))
        # Most objects are written with the first name of each role.
        pairs = [
            (draw(st.sampled_from([names[role][0]] * 20 + list(names[role]))), draw(values[role]))
            for role in sorted(roles)
        ]
        pairs += [draw(others) for _ in range(draw(st.sampled_from([0] * 8 + [1, 2])))]
        pairs = draw(st.permutations(pairs))
        blank = draw(st.sampled_from(["", "", " ", "\n", "\r\n\t"]))
        return "{" + f",{blank}".join(f'"{name}"{blank}:{value}' for name, value in pairs) + "}"

    return draw_object()


names_of_labels = st.one_of(texts, listed(texts))
attributes = st.lists(st.tuples(texts, usually(st.one_of(texts, numbers))), max_size=4).map(
    lambda pairs: "{" + ",".join(f"{name}:{value}" for name, value in pairs) + "}"
)
documents = members(
    ITEM_NAMES,
    {
        "doc_id": usually(st.one_of(texts, st.integers(0, 99).map(str))),
        "rank": usually(numbers, st.one_of(odd, st.integers(-1, 9).map(str))),
        "score": usually(numbers),
        "relevance": usually(numbers),
        "labels": usually(names_of_labels),
    },
    ("doc_id",),
)


@st.composite
def even_documents(draw):
    """Lists of documents with the same fields, most of them in order."""
    count = draw(st.integers(0, 5))
    ids = draw(st.permutations([f'"d{at}"' for at in range(count)]))
    ranks = draw(st.one_of(st.just(range(1, count + 1)), st.permutations(range(count))))
    has = draw(st.sampled_from(["", "rank", "score", "rank score", "rank relevance labels"]))
    said = []
    for doc_id, rank in zip(ids, ranks, strict=True):
        pairs = {"doc_id": doc_id, "rank": str(rank)}
        pairs |= {"score": draw(numbers), "relevance": draw(usually(numbers, st.just("null")))}
        pairs |= {"labels": draw(names_of_labels)}
        kept = {name: text for name, text in pairs.items() if name == "doc_id" or name in has}
        said.append("{" + ",".join(f'"{name}":{text}' for name, text in kept.items()) + "}")
    return f"[{', '.join(said)}]"


HEAD = {
    "event_id": usually(texts),
    "ranking_id": usually(texts),
    "time": usually(times, odd_times),
    "query_key": usually(texts),
    "user_id": usually(st.one_of(texts, numbers)),
    "model": usually(texts),
    "version": usually(st.one_of(texts, numbers)),
    "environment": usually(st.sampled_from(['"production"', '"VALIDATION"', '"training"', '""'])),
    "attributes": usually(attributes),
    "features": usually(attributes),
    "tags": usually(attributes),
}
ITEMS = usually(st.one_of(even_documents(), even_documents(), listed(documents), listed(texts)))
COLUMNS = {
    "doc_id": usually(listed(st.one_of(texts, numbers))),
    "rank": usually(listed(numbers)),
    "score": usually(listed(st.one_of(numbers, odd))),
    "relevance": usually(listed(numbers)),
    "labels": usually(listed(names_of_labels)),
}
rankings = st.one_of(
    members(RANKING_NAMES, HEAD | {"items": ITEMS}, ("ranking_id", "time", "items")),
    members(COLUMN_NAMES, HEAD | COLUMNS, ("ranking_id", "time", "doc_id")),
)
LABEL = {
    "event_id": usually(texts),
    "ranking_id": usually(texts),
    "doc_id": usually(texts),
    "time": usually(times, odd_times),
    "labels": usually(names_of_labels),
    "value": usually(numbers),
    "kind": usually(st.sampled_from(['"label"', '"correction"', '"retraction"', '"else"'])),
}
UBI = st.one_of(
    usually(texts).map(lambda text: f'{{"object_id": {text}}}'),
    usually(texts).map(lambda text: f'{{"sizes": [{{}}], "object_id": {text}, "name": "x"}}'),
    odd,
).map(lambda text: f'{{"position": {{"ordinal": 1}}, "object": {text}}}')
labels = st.one_of(
    members(LABEL_NAMES, LABEL, ("ranking_id", "doc_id", "time", "labels")),
    members(
        LABEL_NAMES | {"inside": ("event_attributes",), "doc_id": ("object_id", "doc_id")},
        LABEL | {"inside": usually(UBI)},
        ("ranking_id", "inside", "time", "labels"),
    ),
)


@st.composite
def bodies(draw, objects):
    """A body, and whether it has an object on each line; some of them are damaged."""
    some = draw(st.lists(usually(objects), max_size=4))
    shape = draw(st.sampled_from(["list", "lines", "one"]))
    if shape == "lines":
        body = "\n".join(one.replace("\n", " ") for one in some)
    else:
        body = f" [{' , '.join(some)}]\n" if shape == "list" else "".join(some[:1])
    content = bytearray(body.encode())
    if content and draw(st.integers(0, 19)) == 7:
        at = draw(st.integers(0, len(content) - 1))
        content[at : at + draw(st.integers(0, 1))] = draw(st.sampled_from(DAMAGE))
    return bytes(content), shape == "lines"


def read(body, kind, limits, *, is_lines):
    try:
        objects = parse_events(body, MOST, is_lines=is_lines)
    except RefusedRequestError as error:
        return f"{error}"
    reader = EventReader(limits=limits)
    reading = (reader.read_labels if kind == "labels" else reader.read_rankings)(objects, now=NOW)
    return pack_reading(reading)


def check(body, kind, limits, *, is_lines):
    decoder = EventDecoder(EventReader(limits=limits))
    decoded = decoder.decode_body(body, kind, is_lines=is_lines, most=MOST, now=NOW)
    expected = read(body, kind, limits, is_lines=is_lines)
    # What is refused as a whole is read again, for the reason.
    if decoded is not None:
        assert decoded == expected
    plain = decoder.decode_body(body, kind, is_lines=is_lines, most=MOST, now=NOW, is_plain=True)
    if plain is not None:
        assert plain == expected
        assert not plain.rejections


@settings(max_examples=250, deadline=None)
@given(bodies(rankings), st.sampled_from([Limits(), SMALL]))
@example((b'[{"ranking_id": "r", "time": 0, "items": []}, [1, 2}]', False), Limits())
@example((b'[{"ranking_id": "r", "time": 1795284000000, "items": ["a", 1]} ]', False), Limits())
def test_rankings_are_decoded_as_the_reference_reads_them(body, limits):
    check(body[0], "rankings", limits, is_lines=body[1])


@settings(max_examples=150, deadline=None)
@given(bodies(labels), st.sampled_from([Limits(), SMALL]))
def test_labels_are_decoded_as_the_reference_reads_them(body, limits):
    check(body[0], "labels", limits, is_lines=body[1])


LONG = "1" * 5000


@pytest.mark.parametrize("kind", ["rankings", "labels"])
def test_a_long_number_changes_nothing_about_other_objects(kind):
    others = [
        f'{{"ranking_id": "r", "time": 0, "items": [], "color": {"9" * 30}}}',
        f'{{"ranking_id": {"9" * 30}, "time": 0, "items": []}}',
        f'{{"ranking_id": "r", "doc_id": "a", "time": {NOW // 1000}, "value": {"9" * 30}}}',
    ]

    def judge(texts):
        body = f"[{','.join(texts)}]".encode()
        reading = read(body, kind, Limits(), is_lines=False)
        assert (
            EventDecoder(EventReader()).decode_body(body, kind, is_lines=False, most=MOST, now=NOW)
            == reading
        )
        rejected = {one.index: replace(one, index=0) for one in reading.rejections}
        batch, events = reading.batch, iter(range(MOST))
        return [
            rejected[at] if at in rejected else batch.cut(place := next(events), place + 1)
            for at in range(batch.objects)
        ]

    alone = [judge([one])[0] for one in others]
    together = judge([f'{{"ranking_id": {LONG}}}', *others, f"[{LONG}]"])
    assert together[1:-1] == alone
    assert together[0].code == "integer_range"


def test_a_body_is_plain_if_the_core_decodes_all_of_it():
    good = f'{{"ranking_id": "r", "time": {NOW // 1000}, "items": ["a"]}}'
    fields = ",".join(f'"field {number}": 1' for number in range(101))

    def is_plain(*objects, most=MOST):
        body = f"[{','.join(objects)}]".encode()
        decode = EventDecoder(EventReader()).decode_body
        found = decode(body, "rankings", is_lines=False, most=most, now=NOW, is_plain=True)
        return found is not None

    assert is_plain(good)
    assert is_plain(good, f'{good[:-1]}, "field": 1}}')
    assert not is_plain(good, "{}")
    assert not is_plain(good, "{")
    assert not is_plain()
    assert not is_plain(good, good, most=1)
    # Which of their names are counted depends on their order.
    assert not is_plain(f"{good[:-1]}, {fields}}}")


@pytest.mark.slow
@settings(
    max_examples=150, deadline=None, suppress_health_check=[HealthCheck.function_scoped_fixture]
)
@given(
    st.lists(usually(rankings), max_size=4),
    st.permutations(['"de"', "1", "null", "[]"]),
    st.lists(st.sampled_from(["country", "size", "time", "country", "rank"]), max_size=2),
    st.booleans(),
)
def test_files_are_decoded_as_the_reference_reads_them(
    tmp_path, objects, countries, attributes, lines
):
    some = [
        f'{one[:-1]}, "country": {country}}}' if len(one) > 2 and one.endswith("}") else one
        for one, country in zip(objects, countries, strict=False)
    ]
    path = tmp_path / ("events.jsonl" if lines else "events.json")
    text = "\n".join(one.replace("\n", " ") for one in some) if lines else f"[{','.join(some)}]"
    path.write_text(text)
    done = [
        ingest(path, "rankings", attributes, now=NOW, takes_prepared=one) for one in (True, False)
    ]
    assert done[0] == done[1]


def test_the_core_decodes_events_of_user_behavior_insights():
    body = (
        '{"query_id": "r", "action_name": "click", "object_id": "other", "event_attributes": '
        '{"object": {"object_id": "a", "name": "A"}, "position": {"ordinal": 1}}, '
        f'"timestamp": {NOW // 1000}}}'
    ).encode()
    decoder = EventDecoder(EventReader())
    decoded = decoder.decode_body(body, "labels", is_lines=False, most=1, now=NOW, is_plain=True)
    assert decoded.batch.first_labels(1) == [("r", "a")]
    assert not decoded.unknown
