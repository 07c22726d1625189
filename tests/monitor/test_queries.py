"""What is traced: mature rankings with a value, by user, query and attribute."""

from __future__ import annotations

from typing import Any

import pytest
import rankscope as rs
from rankscope import EmptyError, UsageError
from rankscope.monitor.ask.document_costs import CostCollector
from rankscope.monitor.ask.queries import QueryCollector
from rankscope.monitor.definition.definition import define
from rankscope.monitor.events.event import Items, Label, Ranking
from rankscope.monitor.events.limits import HOUR

from tests.monitor.chunks import make_chunk
from tests.refusals import refuses

MEASURES = ["nDCG@2", "RR@2", "DCG@2"]
RULE: dict[str, Any] = {"measures": MEASURES, "positive": "click", "window": 3600}
ITEMS = Items(("a", "b", "c"), (1, 2, 3))
TV = (("device", "tv"),)
SHOWN = [
    Ranking("1", "1", 0, ITEMS, "jazz", "ann", "m", "3", attributes=TV),
    Ranking("2", "2", 0, ITEMS, "jazz", "", "m", "4"),
    Ranking("3", "3", 0, ITEMS, "", "", "m", "4", attributes=TV),
    Ranking("4", "4", 9 * HOUR, ITEMS, "new", "bob", "m", "4", attributes=TV),
]
LABELS = [Label(f"l{id_}", id_, doc_id, 1, ("click",)) for id_, doc_id in (("1", "b"), ("2", "c"))]


def collect(*labels: Label, version: str = "", measure: str = "nDCG@2", **rule: Any) -> Any:  # noqa: ANN401 - of `define`
    """The queries of a version, or of all."""
    chunk, contexts = make_chunk(SHOWN, *labels)
    wanted = {
        number: one for number, one in contexts.items() if not version or one.version == version
    }
    definition = define(**RULE | rule)
    costs = CostCollector(definition.only(measure), {}, None)
    collector = QueryCollector(wanted, definition, measure, costs=costs)
    collector.read([chunk], now=9 * HOUR, threads=1)
    return collector.finish(["device", "version"])


def texts(column: Any) -> list[str | None]:  # noqa: ANN401 - a column of texts
    return [None if code < 0 else column.texts[code] for code in column.codes]


def test_rankings_are_as_the_policy_averages_them() -> None:
    skipping, counting = collect(*LABELS), collect(*LABELS, policy="empty=zero")
    second, third = rs.ndcg([0, 1, 0], 2), 0.0
    assert skipping.value.tolist() == [second, third]
    assert counting.value.tolist() == [second, third, 0.0]
    assert counting.ordering.tolist() == [1 - second, 0.0, 0.0]
    assert counting.truncation.tolist() == [0.0, 1.0, 0.0]
    assert counting.undefined.tolist() == [0.0, 0.0, 1.0]
    assert counting.ideal.tolist() == [1.0, 1.0, 0.0]
    assert counting.relevant.tolist() == [1.0, 1.0, 0.0]
    assert counting.retrieval is None


def test_each_ranking_has_its_texts() -> None:
    found = collect(*LABELS, policy="empty=zero")
    assert texts(found.key) == ["jazz", "jazz", None]
    assert texts(found.cluster) == ["user ann", "query jazz", None]
    assert texts(found.attributes["device"]) == ["tv", None, "tv"]
    assert texts(found.attributes["version"]) == ["3", "4", "4"]


def test_other_versions_are_left_out() -> None:
    assert texts(collect(*LABELS, version="4").attributes["version"]) == ["4"]


def test_nothing_is_no_window() -> None:
    with refuses(EmptyError, "empty_input"):
        collect()


@pytest.mark.parametrize(
    ("measure", "code"),
    [("RR@2", "losses_unavailable"), ("DCG@2", "losses_unavailable"), ("nDCG@3", "bad_definition")],
)
def test_a_measure_has_losses_and_is_defined(measure: str, code: str) -> None:
    with refuses(UsageError, code):
        collect(*LABELS, measure=measure)
