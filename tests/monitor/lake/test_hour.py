"""Which rankings of an hour of a lake count, and which labels of files are theirs."""

from __future__ import annotations

import pytest

pytest.importorskip("pyarrow", reason="a lake needs PyArrow")
pytest.importorskip("sqlalchemy", reason="the store needs SQLAlchemy")

from rankscope import FileError
from rankscope.monitor.events.batch import pack_events
from rankscope.monitor.events.event import Items, Label, Ranking
from rankscope.monitor.events.limits import HOUR
from rankscope.monitor.store.lake.hour import Settled, settle

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Sequence

    from rankscope.monitor.events.event import Event


def show(ranking_id: str, time: int, version: str = "1", event_id: str = "") -> Ranking:
    items = Items(("a", "b"), (1, 2))
    return Ranking(event_id or ranking_id, ranking_id, time, items, "", "", "", version)


def click(event_id: str, ranking_id: str, time: int = 9) -> Label:
    return Label(event_id, ranking_id, "a", time, ("click",))


def settle_events(own: Sequence[Event], told: Sequence[Event] = ()) -> Settled:
    return settle(0, pack_events(own), pack_events(told), [])


def test_labels_of_a_ranking_that_does_not_count_are_of_none() -> None:
    own: list[Event] = [
        show("r1", 1),
        click("logged 1", "r1"),
        show("r2", 2, event_id="r1"),  # in conflict with the first
        click("logged 2", "r2"),
    ]
    told = [click("1", "r1"), click("1", "r1"), click("1", "r1", time=10), click("2", "r2")]
    settled = settle_events(own, told)
    assert settled.own == {"accepted": 3, "conflict": 1}
    assert settled.labels == {"accepted": 2, "duplicate": 1, "conflict": 1}
    assert settled.count_matched() == 3
    chunk = settled.make_chunk(
        {("", "", "production", ()): 7, ("", "1", "production", ()): 8}, {}, event_ids=True
    )
    assert chunk.contexts.tolist() == [8]
    assert len(chunk.labels.codes) == 2


def test_rankings_of_earlier_hours_are_in_conflict_with_their_ids() -> None:
    earlier = pack_events([show("r1", 1)]).hash_ids(0).settle([], 1).ids()
    again, told = pack_events([show("r1", HOUR + 1)]), pack_events([click("1", "r1")])
    settled = settle(HOUR, again, told, earlier)
    assert settled.own == {"conflict": 1}
    # The label is of the earlier hour.
    assert (settled.labels, settled.count_matched()) == ({"accepted": 1}, 0)
    assert len(settled.make_chunk({}, {}, event_ids=False).seqs) == 0


def test_contexts_come_in_the_order_of_their_first_rankings() -> None:
    shown = [show("r1", 5, "b"), show("r2", 3, "a"), show("r3", 4, "b"), show("r4", 9, "a")]
    spans = settle_events([*shown, show("r5", 1, "c", event_id="r1")]).find_spans({})
    assert list(spans.items()) == [
        (("", "a", "production", ()), (2, 3, 9)),
        (("", "b", "production", ()), (2, 4, 5)),
    ]
    late = [show("r1", 7, "a"), show("r2", 7, "b"), show("r3", 6, "b")]
    assert [content[1] for content in settle_events(late).find_spans({})] == ["b", "a"]


def test_a_context_that_no_scan_has_seen_is_an_error() -> None:
    settled = settle_events([show("r1", 1)])
    with pytest.raises(FileError) as refused:
        settled.make_chunk({("", "2", "production", ()): 1}, {}, event_ids=False)
    assert refused.value.code == "lake_changed"
