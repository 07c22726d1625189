"""How far the lists of two versions differ that serve at the same time."""

from __future__ import annotations

import math
from typing import TYPE_CHECKING, Any

import pytest
import rankscope
from rankscope.monitor.ask import compared_lists
from rankscope.monitor.ask.compared_lists import ListDistance, compare_lists
from rankscope.monitor.events.event import Items, Ranking
from rankscope.monitor.events.limits import DAY, HOUR
from rankscope.monitor.events.times import to_micros
from rankscope.monitor.plain import make_plain
from rankscope.monitor.store.sqlite.store import SQLiteStore
from rankscope.records import replace

from tests.monitor.served import START, make_served, open_served

if TYPE_CHECKING:
    from collections.abc import Iterator
    from pathlib import Path

    from rankscope.monitor.monitor import Monitor


@pytest.fixture(scope="module")
def served(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Monitor]:
    with open_served(tmp_path_factory.mktemp("lists"), fall=0.3) as monitor:
        yield monitor


def list_by_query(version: str, since: int) -> dict[str, list[tuple[str, ...]]]:
    """Return the lists of a version by query key, in the order of time."""
    shown: dict[str, list[tuple[str, ...]]] = {}
    for each in make_served(fall=0.3):
        if isinstance(each, Ranking) and each.version == version and each.time >= since:
            shown.setdefault(each.query_key, []).append(each.items.doc_ids)
    return shown


@pytest.mark.slow
def test_lists_are_compared_query_by_query(served: Monitor) -> None:
    found = served.compare()
    since = to_micros(found.since)
    old, new = list_by_query("3", since), list_by_query("4", since)
    apart = [(new[query][-1], lists[-1]) for query, lists in old.items() if query in new]
    assert found.lists.queries == len(apart) == 50
    overlaps = [rankscope.rbo([*one], [*other], p=0.9) for one, other in apart]
    assert found.lists.overlap == pytest.approx(sum(overlaps) / 50)
    assert found.lists.reordered == pytest.approx(sum(one != other for one, other in apart) / 50)
    assert found.lists.missing == 0.0
    alone = [lists[-2:] for lists in old.values() if len(lists) > 1]
    mine = [rankscope.rbo([*one], [*other], p=0.9) for one, other in alone]
    assert found.old_lists.overlap == pytest.approx(sum(mine) / len(mine))
    assert found.lists_sentence == (
        f"For the same 50 queries, lists of version 4 overlap {found.lists.overlap:.0%} with those "
        f"of version 3; those of version 3 overlap {found.old_lists.overlap:.0%} with its own "
        "earlier ones."
    )
    said = found.to_dict()
    assert said["lists"]["queries"] == 50
    assert said["lists_sentence"] == found.lists_sentence


def test_documents_gone_and_versions_without_a_name_are_told(served: Monitor) -> None:
    apart = ListDistance(queries=1, overlap=0.5, reordered=0.0, missing=0.3)
    found = replace(served.compare(), old="", lists=apart, old_lists=None)
    assert found.lists_sentence == (
        "For the same 1 query, lists of version 4 overlap 50% with those of the version without a "
        "name. Of the first 10 documents of the version without a name, 30% are missing."
    )
    assert found.sentence.startswith("Version 4 is worse than the version without a name: ")
    assert replace(found, lists=None).lists_sentence == ""


def test_only_the_newest_lists_are_read(served: Monitor, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(compared_lists, "MOST", 1)
    found = served.compare().lists
    # 16 or 17 rankings of both versions are in the last hour.
    assert 1 <= found.queries <= 8


def compare(folder: Path, *shown: tuple[str, str, str]) -> tuple[Any, Any]:
    """How far lists differ, each of a version for a query key, one after the other."""
    rankings = [
        Ranking(
            f"r{at}",
            f"r{at}",
            at,
            Items(tuple(docs), tuple(range(1, len(docs) + 1))),
            query_key=key,
            version=version,
        )
        for at, (version, key, docs) in enumerate(shown)
    ]
    with SQLiteStore(folder / "events.db", group_seconds=0) as store:
        store.append("music", rankings)
        contexts = store.contexts("music")
        return compare_lists(store, "music", contexts, ("1", "2"), since=0, until=HOUR)


def test_lists_without_a_query_in_common_are_not_compared(tmp_path: Path) -> None:
    shown = [("1", "", "abc"), ("2", "", "abc"), ("1", "a", "abc"), ("2", "b", "abc")]
    assert compare(tmp_path, *shown) == (None, None)


def test_an_empty_list_overlaps_with_nothing_and_has_no_order(tmp_path: Path) -> None:
    found, alone = compare(tmp_path, ("1", "a", "abcd"), ("2", "a", ""))
    assert (found.queries, found.overlap, found.missing) == (1, 0.0, 1.0)
    assert math.isnan(found.reordered)
    assert make_plain(found)["reordered"] is None
    assert alone is None


def test_the_last_list_of_each_version_counts(tmp_path: Path) -> None:
    shown = [("1", "a", "dcba"), ("2", "a", "dcba"), ("1", "a", "abcd"), ("2", "a", "abcd")]
    found, alone = compare(tmp_path, *shown)
    assert (found.overlap, found.reordered) == (pytest.approx(1), 0.0)
    assert alone.reordered == 1.0


def test_a_span_without_rankings_has_no_lists(served: Monitor) -> None:
    contexts = served.store.contexts(served.project)
    span = {"since": START - 9 * DAY, "until": START}
    assert compare_lists(served.store, served.project, contexts, ("3", "4"), **span) == (None, None)
