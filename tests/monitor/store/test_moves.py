"""Between any two transactions that archive, delete or join, every read has each event once."""

from __future__ import annotations

import random
from itertools import count
from typing import NamedTuple

import pytest

pytest.importorskip("sqlalchemy", reason="the store needs SQLAlchemy")

from rankscope.monitor.events.limits import DAY, HOUR, MINUTE
from rankscope.monitor.store.export import export_parquet
from rankscope.monitor.store.log import rewriting
from rankscope.monitor.store.log.blocks import ERASED, MOVED, select_blocks
from rankscope.monitor.store.records import Chosen, Deleted
from rankscope.monitor.store.sqlite.store import SQLiteStore
from rankscope.monitor.store.tables.schema import blocks
from rankscope.records import replace

from tests.monitor.store.conformance.samples import make_label, make_ranking, read_back
from tests.monitor.store.test_history import ask_all, read_rows

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Callable, Iterator
    from pathlib import Path
    from typing import Any

    from rankscope.monitor.events.event import Event, Label
    from rankscope.monitor.store.log.blocks import Block

COUNT = 22
SPANS = ((0, DAY), (HOUR, 2 * HOUR), (HOUR + 7 * MINUTE, DAY))


class StoppedError(Exception):
    """A process ends here."""


class Pair(NamedTuple):
    """Two stores that get the same events; one of them archives."""

    plain: SQLiteStore
    archived: SQLiteStore

    def append(self, events: list[Event]) -> None:
        """Send events to both, which have to say the same about them."""
        one, other = ([seen.status for seen in store.append("music", events)] for store in self)
        assert one == other

    def compare(self, spans: tuple[tuple[int, int], ...] = SPANS) -> None:
        """Compare everything that can be asked."""
        for since, until in spans:
            assert ask_all(self.archived, since, until) == ask_all(self.plain, since, until)
        assert read_back(self.archived, "music", 4) == read_back(self.plain, "music", 4)
        for number in (0, 7, COUNT - 1):
            name = f"ranking-{number}"
            one, other = (store.find_labels("music", name) for store in self)
            assert one == other
            one, other = (store.find_ranking("music", name) for store in self)
            assert one == other
        self.archived.verify()


@pytest.fixture
def pair(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Iterator[Pair]:
    """Two stores with rankings of an hour, some labels, and one of a validation set."""
    monkeypatch.setattr(rewriting, "BLOCKS", 1)
    monkeypatch.setattr(rewriting, "IDS", 5)
    with (
        SQLiteStore(tmp_path / "plain.db", group_seconds=0) as plain,
        SQLiteStore(tmp_path / "archived.db", group_seconds=0) as archived,
    ):
        found = Pair(plain, archived)
        judged = replace(make_ranking(COUNT), environment="validation", time=HOUR + 5)
        found.append([judged, *map(ranking_of, range(COUNT // 2)), label_of(COUNT, "judged")])
        found.append([ranking_of(number) for number in range(COUNT // 2, COUNT)])
        for number in range(0, COUNT, 6):
            found.append([label_of(number, "click")])
        yield found


def ranking_of(number: int) -> Any:  # noqa: ANN401 - a ranking
    """A ranking within the second hour."""
    return replace(make_ranking(number), time=HOUR + number * MINUTE)


def label_of(number: int, name: str) -> Label:
    """A label of one of them."""
    return replace(
        make_label(number, number), event_id=f"{name}-{number}", time=HOUR + number * MINUTE + 1
    )


def call_between(
    store: SQLiteStore, work: Callable[[], object], between: Callable[[int], None]
) -> int:
    """Do some work, call something after each of its transactions, and return their number."""
    transact, done = store.transact, count(1)
    steps = 0

    def transact_and_call(some: Any, size: int = 1) -> Any:  # noqa: ANN401 - as the store has it
        nonlocal steps
        result = transact(some, size)
        result.result()
        steps = next(done)
        store.transact = transact  # type: ignore[method-assign]
        between(steps)
        store.transact = transact_and_call  # type: ignore[method-assign]
        return result

    store.transact = transact_and_call  # type: ignore[method-assign]
    try:
        work()
    finally:
        store.transact = transact  # type: ignore[method-assign]
    return steps


def list_marked(store: SQLiteStore) -> list[Block]:
    """The blocks that are still to be removed."""
    return store.query(lambda one: select_blocks(one, blocks.c.kind.in_((MOVED, ERASED))))


def test_every_moment_of_archiving_has_each_event_once(pair: Pair, tmp_path: Path) -> None:
    drawn = random.Random(4)

    def send_and_compare(step: int) -> None:
        number = drawn.randrange(COUNT)
        # A label of a ranking that is in the file or not, events that are known, and new ones.
        pair.append(
            [label_of(number, f"late{step}"), ranking_of(number), label_of(number, "click")]
        )
        pair.append([replace(ranking_of(step), event_id=f"n{step}", ranking_id=f"n{step}")])
        pair.append([replace(ranking_of(step), query_key="another")])
        pair.compare((SPANS[step % len(SPANS)],))

    def archive() -> object:
        return pair.archived.archive("music", DAY)

    # The file takes the place of one block of rankings; the other, and four of labels, are removed.
    assert call_between(pair.archived, archive, send_and_compare) == 1 + 1 + 4
    pair.compare()
    archive()
    for folder, store in (("one", pair.plain), ("other", pair.archived)):
        export_parquet(store, "music", tmp_path / folder)
    for name in ("rankings.parquet", "labels.parquet"):
        one, other = (read_rows(tmp_path / folder / name) for folder in ("one", "other"))
        assert one == other


DELETIONS: dict[str, Callable[[SQLiteStore], Deleted]] = {
    "what is old": lambda store: store.delete_before("music", HOUR + 12 * MINUTE),
    "a whole hour": lambda store: store.delete_before("music", DAY),
    "some rankings": lambda store: store.erase(
        "music", Chosen(ranking_ids=("ranking-3", "ranking-20"))
    ),
    "a span": lambda store: store.erase("music", Chosen(since=HOUR + 10 * MINUTE)),
}


@pytest.mark.parametrize("name", DELETIONS)
@pytest.mark.parametrize("when", [1, 4])
def test_what_is_deleted_while_an_hour_is_archived_is_deleted_once(
    pair: Pair, name: str, when: int
) -> None:
    told: list[Deleted] = []

    def delete_then(step: int) -> None:
        if step == when:
            told.extend(DELETIONS[name](store) for store in pair)

    call_between(pair.archived, lambda: pair.archived.archive("music", DAY), delete_then)
    assert told[0] == told[1]
    assert told[0].rankings > 0
    pair.compare()
    assert pair.plain.counters("music") == pair.archived.counters("music")


@pytest.mark.parametrize("stop", [1, 3, 6])
def test_archiving_that_was_interrupted_is_finished_later(pair: Pair, stop: int) -> None:
    def end(step: int) -> None:
        if step == stop:
            raise StoppedError

    with pytest.raises(StoppedError):
        call_between(pair.archived, lambda: pair.archived.archive("music", DAY), end)
    assert len(list_marked(pair.archived)) == 6 - stop
    pair.compare()
    assert pair.archived.archive("films", DAY).hours == 0
    assert pair.archived.archive("music", DAY).hours == 0
    assert not list_marked(pair.archived)
    pair.compare()


@pytest.mark.parametrize("name", DELETIONS)
def test_a_deletion_that_was_interrupted_anywhere_is_finished_later(pair: Pair, name: str) -> None:
    store = pair.archived
    store.archive("music", DAY)
    pair.append([label_of(number, "late") for number in range(3)])
    DELETIONS[name](pair.plain)

    def end(step: int) -> None:
        if step == stop:
            store.verify()
            raise StoppedError

    for stop in count(1):
        try:
            call_between(store, lambda: DELETIONS[name](store), end)
        except StoppedError:
            assert stop < 100
        else:
            break
    assert stop >= 2
    assert not list_marked(store)
    pair.compare()
    assert pair.plain.counters("music") == store.counters("music")
