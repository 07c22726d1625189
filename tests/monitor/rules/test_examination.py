"""Whether people look less far down, where relevant documents are at other ranks than usual."""

from __future__ import annotations

from math import log2
from types import SimpleNamespace

import numpy as np
import pytest
from rankscope.clicks.harvesting import Shown, compare_places
from rankscope.monitor.definition.definition import define
from rankscope.monitor.definition.slices import Slicing
from rankscope.monitor.evaluate.values import ChunkPlan
from rankscope.monitor.events.event import Items, Label, Ranking
from rankscope.monitor.events.limits import DAY, HOUR
from rankscope.monitor.incidents.incident import Incident
from rankscope.monitor.rules.data.examination import _average, _combine, describe
from rankscope.monitor.rules.data.shown import CLUSTERS, FEWEST_SHOWN, Rankings, pair, read_rankings
from rankscope.monitor.server.pages.groups import describe_evidence
from rankscope.records import replace

from dev.simulate.usage.searches import DrawnSearches, SearchWorld, watch_searches
from tests.monitor.rules.conftest import PROJECT

TYPE_CHECKING = False
if TYPE_CHECKING:
    from typing import Any

    from rankscope.monitor.store.sqlite.store import SQLiteStore

DEFINITION = define(measures=["nDCG@10"], positive="click", window=3600)


def make_lists(*lists: dict[int, float], queries: list[int] | None = None) -> Rankings:
    """Rankings of 3 documents at ranks 1 to 3, with grades by rank."""
    count = len(lists)
    return Rankings(
        queries=np.array(queries or [*range(count)]) << 20,
        has_key=np.ones(count, dtype=np.bool_),
        makers=np.zeros(count, dtype=np.int64),
        offsets=np.arange(count + 1) * 3,
        documents=np.tile(np.arange(3), count),
        ranks=np.tile(np.arange(1, 4), count),
        grades=np.array([[each.get(rank, 0.0) for rank in (1, 2, 3)] for each in lists]).ravel(),
    )


def tell(**said: Any) -> dict[str, Any]:  # noqa: ANN401 - of worlds
    """What is said of three weeks, and of the week after a change."""
    world = SearchWorld(seed=9, days=28, change=21, a_day=1500, **said)
    drawn = DrawnSearches(world)
    told = describe(drawn.read_period(0, 21), drawn.read_period(21, 28), 0.06, DEFINITION)
    return {**told, "truth": drawn.find_truth(21, 28)}


def test_the_same_documents_at_the_same_ranks_compare_two_times() -> None:
    # Three documents, each at one rank: half as many clicks at rank 2 as before, a third at rank 3.
    clicks = [60, 40, 30, 60, 20, 10]
    shown = Shown(
        documents=np.array([0, 1, 2, 0, 1, 2]),
        places=np.arange(6),
        impressions=np.full(6, 100.0),
        clicks=np.array(clicks, dtype=np.float64),
        clusters=np.array([0, 1, 2, 0, 1, 2]),
    )
    places = compare_places(shown, 6)
    ratios = [places.contrast([3 + rank], [rank], 0.95)[0] for rank in range(3)]
    assert ratios == pytest.approx([1, 1 / 2, 1 / 3])
    assert places.contrast([4, 0], [3, 1], 0.95)[0] == pytest.approx(1 / 2)
    # No document links rank 2 with rank 1.
    assert np.isnan(places.contrast([1], [0], 0.95)).all()


def test_weights_of_labels_are_without_bias_for_values_of_lists() -> None:
    # Of documents at ranks 1 and 2, half and a quarter are clicked, independently: in 8 lists.
    first, second, both = {1: 1.0}, {2: 1.0}, {1: 1.0, 2: 1.0}
    lists = make_lists(*[first] * 3, second, both, *[{}] * 3)
    plan = ChunkPlan.of(DEFINITION)
    combined = _combine(lists, plan, 6)
    plain, _ = _average(combined, np.ones(11))
    assert plain == pytest.approx((4 + 1 / log2(3)) / 5)
    # People looked at rank 2 twice as often: half of each are clicked, so all lists are as likely.
    value, influences = _average(combined, np.array([1.0, 2.0, *[1.0] * 9]))
    assert value == pytest.approx((2 + 1 / log2(3)) / 3)
    assert influences.shape == (CLUSTERS,)
    assert influences.sum() == pytest.approx(0)
    # Lists with more labels than are combined count as they are.
    whole, _ = _average(_combine(lists, plan, 0), np.full(11, 5.0))
    assert whole == pytest.approx(plain)


@pytest.mark.parametrize(
    ("before", "after", "verdict"), [(0.6, 1.1, "less far"), (1.1, 0.6, "further")]
)
def test_other_examination_of_the_same_lists_is_named_with_what_it_does(
    before: float, after: float, verdict: str
) -> None:
    told = tell(steep=before, steep_after=after)
    assert told["verdict"] == verdict
    assert told["said"].startswith(f"People look {verdict} down: compared with rank 1, rank 5 is ")
    _, low, high = told["ranks"]["5"]["ratio"]
    assert low < 5 ** (before - after) < high
    # The lists are those of before, so they would have the values of before.
    value, low, high = told["value_with_former"]
    assert low < told["truth"] < high
    assert abs(value - told["value_before"]) < abs(told["value_after"] - told["value_before"]) / 4


def test_documents_that_move_compare_ranks_with_rank_1() -> None:
    told = tell(steep=0.6, steep_after=1.1, daily=0.1)
    ranks = told["ranks"]["5"]
    assert ranks["before"][1] < 5**-0.6 < ranks["before"][2]
    assert ranks["after"][1] < 5**-1.1 < ranks["after"][2]


@pytest.mark.parametrize("more", [{}, {"is_trained": True, "queries": 1500}, {"stop": 0.9}])
def test_a_better_order_is_no_change_of_examination(more: dict[str, Any]) -> None:
    told = tell(noise=0.35, noise_after=0.05, **more)
    assert told["verdict"] in {"as before", "unknown"}
    assert "value_with_former" not in told


def test_lists_by_taste_tell_nothing() -> None:
    told = tell(noise=0.1, noise_after=0.1, tastes=0.6, is_personal=True)
    assert told["verdict"] == "unknown"
    assert "lists of the same query and day differ at" in told["said"]


def test_without_query_keys_it_is_not_known() -> None:
    lists = make_lists({1: 1.0}, {})
    lists = replace(lists, has_key=np.zeros(2, dtype=np.bool_))
    told = describe(lists, lists, -0.1, DEFINITION)
    assert told["said"] == (
        "It isn't known whether people look further down or the order got worse: rankings have no "
        "query key, so it isn't known which lists are of the same query."
    )
    few = describe(Rankings.none(), Rankings.none(), -0.1, DEFINITION)
    assert few["said"].endswith("too few lists are of the same query and day.")


@pytest.mark.parametrize(("shown", "counts"), [(FEWEST_SHOWN - 1, False), (FEWEST_SHOWN, True)])
def test_documents_that_were_shown_rarely_before_do_not_count(shown: int, *, counts: bool) -> None:
    before, after = ([{2: 1.0}] * count for count in (shown, 1))
    of_all, of_first = pair(
        make_lists(*before, queries=[1] * shown), make_lists(*after, queries=[1])
    )
    old = [(0, shown, 0), (1, shown, shown), (2, shown, 0)] if counts else []
    assert list_rows(of_all) == [*old, (10, 1, 0), (11, 1, 1), (12, 1, 0)]
    # Below a click, nothing counts.
    assert list_rows(of_first) == [*old[:2], (10, 1, 0), (11, 1, 1)]


def list_rows(shown: Shown) -> list[tuple[float, ...]]:
    """The place, impressions and clicks of each row, by place."""
    columns = (shown.places, shown.impressions, shown.clicks)
    return sorted(zip(*(column.tolist() for column in columns), strict=True))


def test_rankings_are_read_as_they_were_logged(store: SQLiteStore) -> None:
    start = 20_000 * DAY
    documents = tuple(f"d{rank}" for rank in range(1, 13))
    items = Items(documents, tuple(range(1, 13)))
    rows = [("m", "q", "production"), ("m", "", "production"), ("n", "q", "production")]
    events = [
        event
        for at, (model, query, environment) in enumerate([*rows, ("m", "q", "validation")])
        for event in (
            Ranking(
                f"e{at}",
                f"r{at}",
                start + at,
                items,
                query_key=query,
                model=model,
                version="1",
                environment=environment,
            ),
            Label(f"l{at}", f"r{at}", "d12", start + HOUR // 2, ("click",)),
        )
    ]
    store.append(PROJECT, events)
    scene: Any = SimpleNamespace(
        store=store,
        project=PROJECT,
        configuration=SimpleNamespace(definition=DEFINITION),
        slicing=Slicing(()),
        threads=1,
    )
    read = read_rankings(scene, "m", [start], 1.0, start + DAY)
    assert read.has_key.tolist() == [True, False]
    # Ranks are compared down to 10; relevant documents are kept at all ranks.
    assert read.ranks.tolist() == [*range(1, 11), 12] * 2
    assert read.grades.tolist() == [*[0.0] * 10, 1.0] * 2
    assert len(set(read.documents.tolist())) == 11
    assert len(read_rankings(scene, "", [start], 1.0, start + DAY)) == 3
    assert len(read_rankings(scene, "m", [start], 0.0, start + DAY)) == 0


def test_an_incident_says_it_and_has_the_numbers() -> None:
    drawn = DrawnSearches(SearchWorld(seed=4, days=34, change=31, a_day=1500, steep_after=1.3))
    (_, bad), *_, (_, last) = watch_searches(drawn, 29, 34)
    assert "Relevant documents are higher" in bad.reason
    assert "People look less far down: " in last.reason
    assert last.evidence["examination"]["days"] == 3
    told = last.evidence["examination"]
    incident = Incident(
        incident_id="i",
        project=PROJECT,
        rule="data",
        kind="label_ranks",
        measure="",
        opened=last.began,
        began=last.began,
        updated=last.began,
        evidence=last.evidence,
    )
    rows = dict(describe_evidence(incident))
    value, low, high = told["ranks"]["5"]["ratio"]
    assert rows["Examination of rank 5"] == (
        f"{value:.3f} ({low:.3f} to {high:.3f}) times as often as before, compared with rank 1"
    )
    assert rows["nDCG@10"].startswith(f"{told['value_before']:.3f} before, ")
