"""Whatever is logged, in whatever order: the parts of a trace add up, and no bit changes."""

from __future__ import annotations

import math
from itertools import count

from hypothesis import HealthCheck, given
from hypothesis import strategies as st
from rankscope import EmptyError, Interval
from rankscope.monitor.ask.trace import Span, trace_spans
from rankscope.monitor.definition.definition import define
from rankscope.monitor.events.event import Items, Label, Ranking
from rankscope.monitor.events.limits import HOUR
from rankscope.monitor.store.sqlite.store import SQLiteStore
from rankscope.monitor.why.compute import TraceChoices
from rankscope.records import replace

from tests.generated import examples

TYPE_CHECKING = False
if TYPE_CHECKING:
    import random
    from pathlib import Path
    from typing import TypeAlias

    from rankscope.monitor.events.event import Event
    from rankscope.monitor.why.result import Trace

    # Version, device, user, documents, their ranks, and labels: document, when, what.
    Search: TypeAlias = tuple[str, str, str, list[str], list[int], list[tuple[str, int, str]]]

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


def log(searches: list[Search]) -> list[Event]:
    events: list[Event] = []
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


def trace(folder: Path, events: list[Event], policy: str) -> Trace | None:
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
def test_the_parts_of_any_trace_add_up(
    tmp_path: Path, searches: list[Search], policy: str, shuffle: random.Random
) -> None:
    events = log(searches)
    found = trace(tmp_path, events, policy)
    shuffled = [*events, *events[::2]]
    shuffle.shuffle(shuffled)
    other = trace(tmp_path, shuffled, policy)
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
