"""What documents cost, by their attributes, adds up to what truncation and ordering add."""

from __future__ import annotations

import math
from collections import defaultdict
from collections.abc import Iterator
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st
from rankscope import FormatError, Interval
from rankscope.measures import Measure, nDCG
from rankscope.monitor.ask.document_costs import BUILT_IN, CostCollector, read_catalogue
from rankscope.monitor.ask.queries import QueryCollector
from rankscope.monitor.definition.definition import define
from rankscope.monitor.events.event import Items, Ranking
from rankscope.monitor.events.limits import HOUR
from rankscope.monitor.why.compute import TraceChoices, trace
from rankscope.monitor.why.query_columns import QueryColumns
from rankscope.monitor.why.result import Trace

from tests.generated import examples
from tests.monitor.chunks import make_chunk
from tests.refusals import refuses

QUICK = TraceChoices(support=1, interval=Interval(resamples=100))
GENRES = {"doc_id": ["a", "b", "c", "d"], "genre": ["jazz", "jazz", "pop", None]}
RULE: dict[str, Any] = {"positive": "click", "window": 3600, "max_grade": 9}


@st.composite
def windows(draw: st.DrawFn) -> list[Ranking]:
    """Rankings with grades, with gaps or without."""
    made = []
    for number in range(draw(st.integers(1, 8))):
        docs = draw(st.lists(st.sampled_from("abcdef"), unique=True, min_size=1, max_size=6))
        count = len(docs)
        ranks = st.lists(st.integers(1, 9), min_size=count, max_size=count, unique=True)
        grades = st.lists(
            st.sampled_from([0.0, 0.0, 1.0, 2.0, 5.0, -1.0]), min_size=count, max_size=count
        )
        placed = sorted(draw(ranks | st.just(list(range(1, count + 1)))))
        items = Items(tuple(docs), tuple(placed), (), tuple(draw(grades)))
        device = ("device", draw(st.sampled_from(["tv", "phone"])))
        name, query = f"r{number}", f"q{number % 3}"
        made.append(Ranking(name, name, 0, items, query, attributes=(device,)))
    return made


def collect(rankings: list[Ranking], costs: CostCollector, rule: Any) -> QueryColumns | None:  # noqa: ANN401 - a definition
    """The queries of a window, `None` where none has a value."""
    chunk, contexts = make_chunk(rankings)
    if rule.policy.empty == "skip" and all(
        max(one.items.relevance, default=0) <= 0
        for one in rankings  # type: ignore[type-var]  # numbers
    ):
        return None
    collector = QueryCollector(contexts, rule, rule.measures[0], costs=costs)
    collector.read([chunk], now=HOUR, threads=1)
    return collector.finish(["device"])


def trace_costs(one: list[Ranking], other: list[Ranking], **rule: Any) -> Trace | None:  # noqa: ANN401 - of `define`
    """The trace of two windows with what their documents cost."""
    definition = define(**RULE | rule)
    catalogue = read_catalogue(GENRES)
    costs = CostCollector(definition, catalogue, None)
    before = collect(one, costs, definition)
    after = collect(other, CostCollector(definition, catalogue, costs.shown), definition)
    return None if before is None or after is None else trace(before, after, QUICK)


@given(
    windows(),
    windows(),
    st.sampled_from([nDCG @ 1, nDCG @ 3, nDCG(gain="exp2") @ 5]),
    st.sampled_from(["empty=skip", "empty=zero", "empty=one"]),
)
@examples(60)
def test_regrets_add_up_to_the_losses(
    one: list[Ranking], other: list[Ranking], measure: Measure, policy: str
) -> None:
    found = trace_costs(one, other, measures=measure, policy=policy)
    if found is None:
        return
    whole = found.decomposition
    parts = {"all": whole.losses} | {each.change.name: each.change.losses for each in found.causes}
    assert {(each.attribute, each.slice) for each in found.regrets} == {
        (attribute, name) for attribute in (*BUILT_IN, "genre") for name in parts
    }
    for each in found.regrets:
        losses = parts[each.slice]
        wanted = (losses["truncation"] or 0.0) + (losses["ordering"] or 0.0)
        assert abs(each.total - wanted) <= 1e-12
        assert abs(math.fsum(each.table.array("adds")) - each.total) <= 1e-15
    for name in ("before", "after"):
        tables = [each.table for each in found.regrets if each.slice == "all"]
        sums = [math.fsum(table.array(f"regret {name}")) for table in tables]
        assert max(sums) - min(sums) <= 1e-12


def terms(ranking: Ranking, k: int) -> Iterator[tuple[str, int, float, float]]:
    """The documents of a ranking that have a gain, said plainly, with what each costs."""
    items = ranking.items
    known = [grade or 0.0 for grade in items.relevance]
    order = sorted(known, reverse=True)
    ideal = [gain / math.log2(rank + 1) for rank, gain in enumerate(order[:k], 1) if gain > 0]
    for doc, rank, gain in zip(items.doc_ids, items.ranks, known, strict=True):
        if gain <= 0:
            continue
        places = [at for at, each in enumerate(order, 1) if each == gain]
        best = sum(gain / math.log2(at + 1) for at in places if at <= k) / len(places)
        there = gain / math.log2(rank + 1) if rank <= k else 0.0
        yield doc, rank, gain, (best - there) / math.fsum(ideal)


@given(windows(), windows())
@examples(60)
def test_regrets_are_those_of_the_definition(one: list[Ranking], other: list[Ranking]) -> None:
    found = trace_costs(one, other, measures="nDCG@3")
    if found is None:
        return
    genre = read_catalogue(GENRES)["genre"]
    shown = {doc for each in one for doc in each.items.doc_ids}
    for at, window in enumerate((one, other)):
        defined = [each for each in window if any(terms(each, 3))]
        sums: dict[tuple[str, str], list[float]] = defaultdict(list)
        for each in defined:
            for doc, rank, gain, cost in terms(each, 3):
                bins = {1: "1", 2: "2", 3: "3", 4: "4-5", 5: "4-5"}
                names = {
                    "genre": genre.get(doc, "<missing>"),
                    "grade": f"{gain:g}",
                    "logged rank": bins.get(rank, "6-10"),
                    "shown before": "yes" if at == 0 or doc in shown else "no",
                }
                for item in names.items():
                    sums[item].append(cost)
        for change in found.regrets:
            if change.slice != "all":
                continue
            names_of = change.table.column("value")
            for column, kind in (("documents", len), ("regret", math.fsum)):
                cells = change.table.column(f"{column} {('before', 'after')[at]}")
                for name, cell in zip(names_of, cells, strict=True):
                    costs = sums[change.attribute, str(name)]
                    size = 1 if column == "documents" else len(defined)
                    assert cell == pytest.approx(kind(costs) / size, abs=1e-12)


@pytest.mark.parametrize(
    ("documents", "code"),
    [
        ({"genre": ["a"]}, "columns"),
        ({"doc_id": ["a"], "item_id": ["a"], "genre": ["b"]}, "columns"),
        ({"doc_id": ["a", "b"], "genre": ["b"]}, "length_mismatch"),
        ({"doc_id": ["a"], "grade": ["b"]}, "bad_parameter"),
    ],
)
def test_a_table_of_documents_that_does_not_fit_is_refused(
    documents: dict[str, list[str]], code: str
) -> None:
    with refuses(FormatError, code):
        read_catalogue(documents)
