"""However blocks overlap in time, reading a span is filtering and sorting all events."""

from __future__ import annotations

from collections.abc import Sequence
from unittest import mock

import pytest
from hypothesis import given
from hypothesis import strategies as st
from rankscope.monitor.events.event import Label, Ranking
from rankscope.monitor.events.limits import DAY, HOUR
from rankscope.monitor.store.log import spans, writer
from rankscope.monitor.store.sqlite.store import SQLiteStore
from rankscope.records import replace

from tests.generated import examples
from tests.monitor.store.conformance.samples import make_label, make_ranking, texts_of

TIMES = st.integers(0, 3) | st.integers(HOUR - 2, HOUR + 2) | st.integers(2 * HOUR, 2 * HOUR + 9)


def read_model(
    rankings: Sequence[Ranking], labels: Sequence[Label], since: int, until: int
) -> list[tuple[str, list[str]]]:
    """The rankings of a span by time and id, with their labels by time and id."""
    shown = [one for one in rankings if since <= one.time < until]
    return [
        (
            ranking.ranking_id,
            [
                label.event_id
                for label in sorted(labels, key=lambda one: (one.time, one.event_id))
                if label.ranking_id == ranking.ranking_id
            ],
        )
        for ranking in sorted(shown, key=lambda one: (one.time, one.ranking_id))
    ]


def read_store(store: SQLiteStore, since: int, until: int) -> list[tuple[str, list[str]]]:
    found: list[tuple[str, list[str]]] = []
    for chunk in store.read("music", since, until, 3, event_ids=True):
        labels = chunk.labels
        assert labels.event_ids is not None
        told = list(zip(labels.rankings.tolist(), texts_of(labels.event_ids), strict=True))
        for place, name in enumerate(texts_of(chunk.ranking_ids)):
            found.append((name, [label for at, label in told if at == place]))
    return found


@examples(8)
@given(
    st.lists(st.lists(TIMES, min_size=1, max_size=5), min_size=1, max_size=5),
    st.lists(st.integers(0, 24), max_size=9),
    st.tuples(TIMES, TIMES),
    st.sampled_from([1, 2, 5, 100]),
)
def test_spans_are_those_of_a_plain_model(
    tmp_path_factory: pytest.TempPathFactory,
    batches: list[list[int]],
    told: list[int],
    span: tuple[int, int],
    at_once: int,
) -> None:
    path = tmp_path_factory.mktemp("overlaps") / "events.db"
    rankings: list[Ranking] = []
    labels: list[Label] = []
    with (
        mock.patch.object(spans, "AT_ONCE", at_once),
        mock.patch.object(writer, "ALIKE", 3),
        SQLiteStore(path, group_seconds=0) as store,
    ):
        for number, times in enumerate(batches):
            some = [
                replace(make_ranking(len(rankings) + at), time=time)
                for at, time in enumerate(times)
            ]
            rankings += some
            more = [
                make_label(len(labels) + at, ranking)
                for at, ranking in enumerate(told[2 * number : 2 * number + 2])
            ]
            labels += more
            store.append("music", [*some, *more])
        for since, until in (sorted(span), (0, DAY)):
            assert read_store(store, since, until) == read_model(rankings, labels, since, until)
