from __future__ import annotations

import json
import math
from collections import Counter
from dataclasses import replace
from hashlib import blake2b
from itertools import count

import pytest
from hypothesis import HealthCheck, given
from hypothesis import strategies as st
from rankscope import Interval, UsageError
from rankscope.errors import EmptyError, MeasureError
from rankscope.monitor.ask.trace import Span, find_traced, suggest_spans, trace_spans
from rankscope.monitor.definition.configuration import Configuration
from rankscope.monitor.definition.definition import define
from rankscope.monitor.events.event import Items, Label, Ranking
from rankscope.monitor.events.limits import DAY, HOUR
from rankscope.monitor.events.times import to_datetime, to_micros
from rankscope.monitor.monitor import Monitor
from rankscope.monitor.store.sqlite.store import SQLiteStore
from rankscope.monitor.why.compute import TraceChoices

from tests.generated import examples
from tests.monitor.stories import BAD, COUNT, GOOD, RULE, WEEK, search
from tests.refusals import refuses

NOW = 10 * WEEK
EVENTS = [
    *search(1, COUNT, versions={"3": 1}, environment="validation"),
    *search(2, COUNT, versions={"3": 1}),
    *search(3, COUNT, start=WEEK, versions={"3": 0.5, "4": 0.5}),
    *search(4, COUNT, start=2 * WEEK, versions={"4": 1}),
]
QUICK = TraceChoices(interval=Interval(resamples=199))
FIRST, MIXED, LAST = (Span(to_datetime(at * WEEK), to_datetime((at + 1) * WEEK)) for at in range(3))


@pytest.fixture(scope="module")
def store(tmp_path_factory):
    with SQLiteStore(tmp_path_factory.mktemp("trace") / "events.db") as opened:
        opened.append("music", EVENTS)
        yield opened


def trace(store, before, after, **given):
    chosen = {"measure": "nDCG@5", "now": NOW, "choices": QUICK, "threads": 1}
    return trace_spans(store, "music", RULE, before, after, **chosen | given)


@pytest.mark.parametrize(
    ("before", "after"),
    [
        (Span(version="3"), Span(version="4")),
        (Span(environment="validation"), LAST),
        (Span(environment="validation"), MIXED),
        (FIRST, MIXED),
        (FIRST, LAST),
        (Span(version="3", environment="validation"), Span(MIXED.since, LAST.until)),
        tuple(Span(MIXED.since, MIXED.until, version=version) for version in "34"),
    ],
)
def test_a_release_is_named_with_the_slice_that_it_harmed(store, before, after):
    found = trace(store, before, after)
    (cause,) = found.causes
    assert cause.name == "device=tv, version=4"
    assert cause.main_loss(-1) == "ordering"
    (new,) = cause.arrivals
    weight = sum(cause.change.shares) / 2
    assert cause.contribution == pytest.approx(weight * new.share * (BAD - GOOD), abs=1e-12)
    count = found.decomposition.queries[0]
    assert str(found).splitlines()[1] == f"before: {before.name} ({count} rankings)"
    plain = json.loads(json.dumps(found.to_dict(), allow_nan=False))
    assert [each["name"] for each in plain["between"]] == [before.name, after.name]
    assert plain["definition"] == RULE.hash


def test_the_searches_that_fell_most_can_be_found_again(store):
    found = trace(store, FIRST, LAST)
    names = found.fallen.column("ranking_id")
    assert len(names) == QUICK.most_queries
    for name in names:
        ranking = store.find_ranking("music", str(name))
        assert ("device", "tv") in ranking.attributes
        assert ranking.items.doc_ids[0] == "e"


def test_a_version_that_stayed_harms_nobody(store):
    found = trace(store, Span(environment="validation"), FIRST)
    assert found.causes == ()
    assert "version" not in found.search.attributes
    assert found.search.attributes == ("country", "device")


def test_attributes_are_chosen_and_the_measure_that_sees_most(store):
    for name in ("country", "model"):
        found = trace(store, FIRST, LAST, attributes=[name])
        assert found.search.attributes == (name, "version")
    assert trace(store, FIRST, LAST, measure=None).measure == "nDCG@5"
    assert str(find_traced(RULE, "nDCG@1")) == "nDCG@1"
    with refuses(MeasureError, "losses_unavailable"):
        find_traced(define(measures="RR@5", positive="click", window=60))
    found = trace(store, FIRST, LAST, measure="nDCG@1")
    assert found.causes[0].main_loss(-1) == "truncation"


def test_what_cannot_be_traced_is_refused(store):
    with pytest.raises(EmptyError, match="no rankings with a final value in version 9"):
        trace(store, FIRST, Span(version="9"))
    with pytest.raises(EmptyError, match="1970-01-01 00:00 to 1970"):
        trace(store, FIRST, LAST, now=0)
    with pytest.raises(UsageError, match="at least 1 ranking"):
        trace(store, FIRST, LAST, sample=0)
    with refuses(UsageError, "unknown_attribute"):
        trace(store, FIRST, LAST, attributes=["color"])
    with refuses(UsageError, "bad_period"):
        Span(to_datetime(2), to_datetime(1))
    with pytest.raises(UsageError):
        Span(environment="test")


def choose_users(most):
    """How often the users are halved, and the users of the sample, said plainly."""
    shown = [each for each in EVENTS if isinstance(each, Ranking)]
    sizes = Counter(
        (each.time // WEEK, each.user_id) for each in shown if each.environment == "production"
    )
    numbers = {
        user: int.from_bytes(blake2b(b"u" + user.encode(), digest_size=8).digest(), "big")
        for _, user in sizes
    }
    level, kept = 0, set(numbers)
    while max(sum(sizes[at, user] for user in kept) for at in (0, 2)) > most:
        level += 1
        kept = {user for user, number in numbers.items() if number < 2 ** (64 - level)}
    return level, kept


def test_of_many_rankings_a_sample_of_users_is_traced(store, tmp_path):
    level, kept = choose_users(300)
    assert level > 0
    found = trace(store, FIRST, LAST, sample=300)
    assert found.sampling.rates == (0.5**level, 0.5**level)
    assert found.sampling.rankings == (COUNT, COUNT)
    assert max(found.decomposition.queries) <= 300
    assert f"Sampled: 1 in {2**level} users" in str(found)
    with SQLiteStore(tmp_path / "sampled.db") as other:
        names = {each.ranking_id: each.user_id for each in EVENTS if isinstance(each, Ranking)}
        other.append("music", [each for each in EVENTS if names[each.ranking_id] in kept])
        alone = trace(other, FIRST, LAST).to_dict()
    made = found.to_dict()
    # What was shown before is that of all rankings.
    for each in (alone, made):
        del each["sampling"]
        each["regrets"] = [one for one in each["regrets"] if one["attribute"] != "shown before"]
        each["fallen"] = [{**row, "row": None} for row in each["fallen"]]
    assert made == alone


def test_a_large_enough_sample_changes_nothing_and_an_uploaded_set_is_sampled_by_itself(store):
    found = trace(store, FIRST, LAST, sample=COUNT)
    assert found.sampling is None
    assert found.to_dict() == trace(store, FIRST, LAST).to_dict()
    events = Span(environment="validation")
    found = trace(store, events, Span(MIXED.since, LAST.until), sample=COUNT)
    assert found.sampling.rates[0] == 1 > found.sampling.rates[1]


def test_the_newest_version_is_held_against_the_one_before_or_a_week_before(store):
    versions = store.versions("music")
    before, after = suggest_spans(versions, RULE, NOW) or (None, None)
    assert before == Span(to_datetime(0), to_datetime(WEEK), "ranker", "3")
    assert after == Span(to_datetime(WEEK), to_datetime(3 * WEEK), "ranker", "4")
    assert trace(store, before, after).causes[0].name == "device=tv, version=4"
    old = [each for each in store.versions("music") if each.version == "3"]
    before, after = suggest_spans(old, RULE, NOW) or (None, None)
    last = max(each.last for each in old if each.environment == "production")
    assert (before.until, after.version) == (after.since, None)
    assert to_datetime(0) <= before.since < after.since < after.until
    assert last < to_micros(after.until) <= last + DAY
    assert suggest_spans(old, RULE, 0) is None
    assert suggest_spans([], RULE, NOW) is None


def test_a_monitor_traces_and_explains(store):
    writable = Monitor(store, "music", clock=lambda: NOW, threads=1)
    writable.configure(Configuration(definition=RULE, baseline=None))
    before, after = writable.suggest_spans() or (FIRST, FIRST)
    found = writable.trace(before, after, choices=QUICK)
    assert [each.name for each in found.causes] == ["device=tv, version=4"]
    worst = writable.explain(str(found.fallen.column("ranking_id")[0]))
    assert worst.value == BAD
    assert worst.definition == found.definition


CHOICES = TraceChoices(support=1, interval=Interval(resamples=100))
NUMBERS = count()
LABELS = st.tuples(
    st.sampled_from("abcdz"),
    st.sampled_from([1, 2, HOUR - 1, HOUR]),
    st.sampled_from(["click", "buy", "?", "retraction"]),
)
SEARCHES = st.lists(
    st.tuples(
        st.sampled_from("34"),
        st.sampled_from(["tv", "phone", ""]),
        st.sampled_from(["ann", "bob", ""]),
        st.permutations("abcd"),
        st.lists(st.integers(1, 9), min_size=4, max_size=4, unique=True).map(sorted),
        st.lists(LABELS, max_size=4),
    ),
    min_size=2,
    max_size=14,
)


def log(searches):
    events = []
    for number, (version, device, user, docs, ranks, labels) in enumerate(searches):
        name = f"r{number}"
        attributes = (("device", device),) if device else ()
        items = Items(tuple(docs), tuple(ranks))
        query = f"query {number % 3}"
        events.append(
            Ranking(name, name, number, items, query, user, "m", version, "production", attributes)
        )
        for place, (doc, after, said) in enumerate(labels):
            label = Label(f"{name} {place}", name, doc, number + after, (said,))
            if said == "retraction":
                label = replace(label, labels=(), kind="retraction")
            events.append(label)
    return events


def trace_versions(folder, events, policy):
    """The trace of two versions, `None` where one has no value."""
    rule = define(
        measures=["nDCG@2", "nDCG@4"], positive={"click": 1, "buy": 3}, window=3600, policy=policy
    )
    versions = Span(version="3"), Span(version="4")
    catalogue = {"doc_id": ["a", "b"], "genre": ["jazz", "pop"]}
    asked = {"now": 9 * HOUR, "measure": "nDCG@2", "choices": CHOICES, "threads": 1}
    with SQLiteStore(folder / f"{next(NUMBERS)}.db") as store:
        store.append("music", events)
        try:
            return trace_spans(store, "music", rule, *versions, documents=catalogue, **asked)
        except EmptyError:
            return None


@given(SEARCHES, st.sampled_from(["empty=skip", "empty=zero"]), st.randoms(use_true_random=False))
@examples(12, suppress_health_check=[HealthCheck.function_scoped_fixture, HealthCheck.too_slow])
def test_the_parts_of_any_trace_add_up(tmp_path, searches, policy, shuffle):
    events = log(searches)
    found = trace_versions(tmp_path, events, policy)
    shuffled = [*events, *events[::2]]
    shuffle.shuffle(shuffled)
    other = trace_versions(tmp_path, shuffled, policy)
    assert (found is None) == (other is None)
    if found is None or other is None:
        return
    assert found.to_dict() == other.to_dict()
    assert str(found) == str(other)
    whole = found.decomposition
    for parts in (
        [each.total for each in whole.slices],
        [whole.mix, whole.within, whole.entered, whole.left],
        [whole.mix, *(amount or 0.0 for amount in whole.losses.values())],
        *([float(cell or 0) for cell in row[2:]] for row in found.attributes.rows()),
    ):
        assert abs(math.fsum(parts) - found.change) <= 1e-12
    lost = (whole.losses["truncation"] or 0.0) + (whole.losses["ordering"] or 0.0)
    for each in found.regrets:
        if each.slice == "all":
            assert abs(each.total - lost) <= 1e-12
