from __future__ import annotations

import math
import random
from datetime import UTC, datetime, timedelta

import numpy as np
import pytest
import rankscope
from hypothesis import given
from hypothesis import strategies as st
from rankscope import Interval
from rankscope.errors import UsageError
from rankscope.monitor.definition.configuration import BaselineChoice, Configuration
from rankscope.monitor.definition.definition import define
from rankscope.monitor.definition.slices import Slicing
from rankscope.monitor.evaluate.means import estimate_mean
from rankscope.monitor.events.event import Items, Ranking
from rankscope.monitor.monitor import Monitor
from rankscope.monitor.signals.kinds import NAMES
from rankscope.monitor.signals.kinds import NAMES as SIGNALED
from rankscope.monitor.signals.lists import ContextCodes, read_lists
from rankscope.monitor.signals.reference import make_reference
from rankscope.monitor.signals.values import measure_lists

from tests.generated import examples
from tests.monitor.chunks import make_chunk
from tests.monitor.signals.plain import measure

NAN = math.nan
SIGNAL_NAMES = ("country", "device")
SLICING = Slicing(
    (("country", ("de", "us")), ("device", ("phone", "tv"))), (("country", "device"),)
)
DIMENSIONS = SLICING.dimensions()


def show(docs, scores=(), *, ranks=(), key="", model="m", **attributes):
    """A ranking; each letter is a document."""
    show.number += 1
    items = Items(tuple(docs), tuple(ranks) or tuple(range(1, len(docs) + 1)), tuple(scores))
    name = f"r{show.number}"
    return Ranking(
        name,
        name,
        show.number,
        items,
        query_key=key,
        model=model,
        attributes=tuple(sorted(attributes.items())),
    )


show.number = 0


def values_of(rankings, before=(), *, is_full=True):
    """The signals of rankings by the attributes of slices, after others."""
    chunk, contexts = make_chunk([*before, *rankings])
    codes = ContextCodes(contexts, SLICING)
    lists = read_lists(chunk, np.arange(len(chunk.seqs)))
    early = lists.take(np.arange(len(before)))
    references = {
        model: make_reference(early.take(rows), codes, is_full=is_full)
        for model, rows in codes.group_models(early.contexts)
    }
    late = lists.take(np.arange(len(before), len(lists)))
    measured = measure_lists(late, codes, references, DIMENSIONS)
    return {
        attributes: [
            dict(zip(SIGNALED, row, strict=True))
            for row in np.array(measured.list_columns(attributes)).T.tolist()
        ]
        for attributes in DIMENSIONS
    }


def value(name, ranking, *before, of=()):
    return values_of([ranking], before)[of][0][name]


@pytest.mark.parametrize(
    ("scores", "expected"),
    [
        ((3, 2, 2, 1), (1 / 3, 0, 0)),
        ((2, 2, 2), (1, 1, 0)),
        ((1, 2, 3, 3), (1 / 3, 0, 2 / 3)),
        ((0.0, -0.0), (1, 1, 0)),
        # Neighbors without a score are no pair.
        ((3, None, 3, 2), (0, 0, 0)),
        ((3, None, 3), (NAN, 1, NAN)),
        ((3, None), (NAN, NAN, NAN)),
        ((3,), (NAN, NAN, NAN)),
        ((), (NAN, NAN, NAN)),
    ],
)
def test_scores_tell_how_a_list_was_ordered(scores, expected):
    docs = "abcd"[: len(scores)] or "abcd"
    # Lists beside it make no difference.
    [_, found, _] = values_of([show("ab", (1, 1)), show(docs, scores), show("ab", (1, 2))])[()]
    for name, wanted in zip(("tied", "constant", "ascending"), expected, strict=True):
        assert found[name] == pytest.approx(wanted, nan_ok=True), name


def test_length_and_the_level_of_scores_are_relative_to_the_lists_before():
    before = [show(""), show(""), show("abcd"), show("abc"), show("abcde")]
    assert value("length", show("ab"), *before) == 2 / 4
    assert value("length", show("abcdefgh"), *before) == 1
    assert (value("length", show(""), *before), value("no_results", show(""), *before)) == (0, 1)
    assert math.isnan(value("length", show("a"), show("")))
    assert math.isnan(value("length", show("a")))
    before = [show("abc", (4, 2, 2)), show("a", (None,)), show("a", (1,))]
    # 2 has one of four scores below it, and two like it; 5 has all four.
    assert value("score_rank", show("ab", (5, 2)), *before) == (1 + 2 / 4) / 2
    assert math.isnan(value("score_rank", show("ab"), *before))
    assert math.isnan(value("score_rank", show("ab", (5, 2)), show("ab")))


def test_documents_are_new_to_a_slice():
    before = [show("abc", country="de", device="tv"), show("xyz", country="us", device="phone")]
    now = show("abxq", country="de", device="phone")
    found = {of: value("unseen", now, *before, of=of) for of in DIMENSIONS}
    # q is new; x is new in de; a and b are new on phones.
    assert found == {(): 1 / 4, ("country",): 2 / 4, ("device",): 3 / 4, SIGNAL_NAMES: 4 / 4}
    # Nothing was shown before in a slice that is new, or with other documents below the tenth.
    elsewhere = show("ab", country="fr", device="tv")
    assert math.isnan(value("unseen", elsewhere, *before, of=("country",)))
    assert value("unseen", elsewhere, *before, of=("device",)) == 0
    assert value("unseen", show("abcxyzabcx"[:6] + "1234567"), *before) == 4 / 10
    assert math.isnan(value("unseen", show(""), *before))


def test_what_is_new_is_unknown_until_all_days_are():
    now, before = show("ab", key="jazz"), show("ab", key="jazz")
    [found] = values_of([now], [before], is_full=False)[()]
    assert math.isnan(found["unseen"])
    assert found["overlap"] == pytest.approx(1)


def test_a_list_is_compared_with_the_last_one_of_its_query_key():
    jazz = [show("wxyz", key="jazz"), show("abcd", key="jazz"), show("", key="jazz")]
    before = [*jazz, show("dcba", key="rock"), show("abcd")]
    now = show("badx", key="jazz")
    overlap = rankscope.correlation.rbo([*"badx"], [*"abcd"], p=0.9)
    assert value("overlap", now, *before) == pytest.approx(overlap)
    for other in (show("badx"), show("badx", key="blues"), show("badx", key="jazz", model="n")):
        assert math.isnan(value("overlap", other, *before))
    assert value("overlap", show("", key="jazz"), *before) == 0


def test_lists_of_one_key_on_one_day_have_the_same_earlier_list():
    before, changed = show("abc", key="jazz"), [show("cba", key="jazz") for _ in range(3)]
    found = values_of(changed, [before])[()]
    expected = rankscope.correlation.rbo([*"cba"], [*"abc"], p=0.9)
    assert [one["overlap"] for one in found] == pytest.approx([expected] * 3)


@pytest.mark.parametrize("sizes", [(100, 100), (101, 100), (300, 7), (7, 300), (250, 250), (1, 1)])
def test_long_lists_count_down_to_the_hundredth_document(sizes):
    docs = [f"d{number}" for number in range(400)]
    shuffled = random.Random(sum(sizes)).sample(docs, 400)
    now, before = show(shuffled[: sizes[0]], key="q"), show(docs[: sizes[1]], key="q")
    expected = measure(now, [before])
    [found] = values_of([now], [before])[()]
    assert found["overlap"] == pytest.approx(expected["overlap"], abs=1e-12)


RANKINGS = st.builds(
    lambda docs, scores, gaps, key, model, values: show(
        "".join(docs),
        scores[: len(docs)],
        ranks=[at + 1 + gaps * (at > 1) for at in range(len(docs))],
        key=key,
        model=model,
        **{name: one for name, one in zip(SIGNAL_NAMES, values, strict=True) if one},
    ),
    st.lists(st.sampled_from("abcdefghijklmnop"), unique=True, max_size=14),
    st.one_of(
        st.just(()),
        st.lists(st.sampled_from([None, -1e300, 0.0, 0.5, 1.0, 1e-300]), min_size=14, max_size=14),
    ),
    st.sampled_from([0, 5]),
    st.sampled_from(["", "jazz", "rock"]),
    st.sampled_from(["m", "n"]),
    st.tuples(st.sampled_from(["", "de", "us"]), st.sampled_from(["tv", "phone"])),
)


@pytest.mark.slow
@examples(100)
@given(st.lists(RANKINGS, max_size=8), st.lists(RANKINGS, min_size=1, max_size=6))
def test_signals_are_what_their_plain_definition_says(before, rankings):
    found = values_of(rankings, before)
    for attributes in DIMENSIONS:
        for ranking, values in zip(rankings, found[attributes], strict=True):
            theirs = [one for one in before if one.model == ranking.model]
            expected = measure(ranking, theirs, attributes)
            assert values.keys() == expected.keys()
            for name in values:
                wanted = pytest.approx(expected[name], abs=1e-12, nan_ok=True)
                assert values[name] == wanted, (name, attributes)
            assert all(0 <= one <= 1 for one in values.values() if one == one)  # noqa: PLR0124


@examples(50)
@given(
    st.lists(RANKINGS, max_size=6),
    st.lists(RANKINGS, min_size=2, max_size=8),
    st.randoms(use_true_random=False),
)
def test_signals_depend_on_nothing_beside_a_ranking(before, rankings, chance):
    def spell(found):
        return [[float.hex(one) for row in rows for one in row.values()] for rows in found.values()]

    places = chance.sample(range(len(rankings)), len(rankings))
    whole = values_of(rankings, before)
    shuffled = values_of([rankings[place] for place in places], before)
    alone = [values_of([ranking], before) for ranking in rankings]
    assert spell(shuffled) == spell(
        {of: [rows[place] for place in places] for of, rows in whole.items()}
    )
    assert spell(whole) == spell({of: [one[of][0] for one in alone] for of in DIMENSIONS})


FIRST = datetime(2026, 11, 1, tzinfo=UTC)
DAYS, A_DAY = 10, 8
LAST = FIRST + timedelta(days=DAYS - 1)
END = LAST + timedelta(days=1)


def show_day(day, number, **said):
    """A ranking: lists have four documents, and on the last day every fourth one has two."""
    is_short = day == DAYS - 1 and number % 4 == 0
    docs = "abcd"[: 2 if is_short else 4]
    return {
        "ranking_id": f"r{day}-{number}",
        "time": (FIRST + timedelta(days=day, hours=3 * number)).isoformat(),
        "user_id": f"u{number % 4}",
        "model": "m",
        "version": "4" if day == DAYS - 1 and number % 2 else "3",
        "attributes": {"device": "tv" if is_short else "phone"},
        "doc_ids": list(docs),
        **said,
    }


@pytest.fixture(scope="module")
def monitor(tmp_path_factory):
    """A project whose lists are shorter on its last day, when there are two versions."""
    now = LAST + timedelta(days=1, hours=2)
    path = tmp_path_factory.mktemp("signals") / "x.db"
    with Monitor.open(str(path), now=lambda: now) as opened:
        opened.configure(
            Configuration(
                definition=define(positive="click", window="1h"),
                attributes=("device",),
                baseline=BaselineChoice(),
            )
        )
        opened.log_rankings(
            [show_day(day, number) for day in range(DAYS) for number in range(A_DAY)]
        )
        # What comes next tells that the last day is complete.
        opened.log_rankings([show_day(DAYS, 0)])
        opened.evaluate()
        yield opened


def test_a_day_is_the_mean_of_its_rankings_and_usual_is_that_of_the_days_before(monitor):
    series = monitor.signals(every="day", until=END)["length"]
    assert series.times[-1] == LAST
    assert series.rankings == (A_DAY,) * DAYS
    assert (series.values[-1], series.usual[-1]) == ((6 + 2 * 0.5) / 8, 1.0)
    # Nothing lies before the first day.
    assert math.isnan(series.values[0])
    assert math.isnan(series.usual[0])
    values = np.array([0.5, 1, 1, 1, 0.5, 1, 1, 1])
    # A user counts once an hour.
    mean = estimate_mean(values, np.arange(A_DAY), Interval(method="t"))
    assert series.lower[-1] == pytest.approx(mean.lower, abs=1e-12)
    assert series.upper[-1] == 1.0 < mean.upper


@pytest.mark.slow
def test_hours_are_compared_with_the_days_before_theirs(monitor):
    series = monitor.signals(every="hour", until=END, since=LAST)["length"]
    assert len(series) == A_DAY
    assert series.values == (0.5, 1, 1, 1, 0.5, 1, 1, 1)
    assert series.usual == (1.0,) * A_DAY
    # Only where there is nothing before the span there is nothing to compare with.
    later = monitor.signals(every="hour", until=END, since=LAST + timedelta(hours=5))["length"]
    assert later.usual == (1.0,) * (A_DAY - 2)


def test_a_version_and_a_slice_are_parts_of_the_same(monitor):
    [whole, old, new] = monitor.all_signals(
        [(None, None), ("m", "3"), ("m", "4")], every="day", until=END
    )
    assert old["length"].values[-1] == (2 + 2 * 0.5) / 4
    assert (new["length"].times, new["length"].values) == ((LAST,), (1.0,))
    # What is usual for a version that is new is what the model showed.
    assert new["length"].usual == (1.0,)
    assert whole["length"].rankings[-1] == sum(part["length"].rankings[-1] for part in (old, new))
    tv = monitor.signals(every="day", until=END, slice=(("device", "tv"),))["length"]
    assert (tv.times, tv.values, tv.rankings) == ((LAST,), (0.5,), (2,))


def test_a_project_without_rankings_has_empty_series(tmp_path):
    with Monitor.open(str(tmp_path / "x.db")) as opened:
        opened.configure(Configuration(definition=define(positive="click", window="1h")))
        for _ in range(2):
            series = opened.signals()
            assert tuple(series) == NAMES
            assert {len(each) for each in series.values()} == {0}
            opened.evaluate()


def test_json_has_no_nan_and_nothing_that_is_not_logged_or_stored(monitor):
    said = monitor.signals(every="day", until=END)["length"].to_dict()
    assert said["label"] == "List length"
    assert said["values"][0] is None
    assert len(said["starts"]) == len(said["usual"]) == DAYS
    for name in ("tied", "score_rank", "overlap"):
        assert monitor.signals(every="day", until=END)[name].find_newest() is None
    with pytest.raises(UsageError, match="expected every='hour' or 'day', found 'week'"):
        monitor.signals(every="week")
