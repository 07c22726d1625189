"""While an hour moves to its file, every read has each event once, whatever happens meanwhile."""

from __future__ import annotations

import random
from typing import NamedTuple

import pytest

pytest.importorskip("sqlalchemy", reason="the store needs SQLAlchemy")

from rankscope.monitor.events.limits import DAY, HOUR, MINUTE
from rankscope.monitor.store.export import export_parquet
from rankscope.monitor.store.history.replacing import finish_moves
from rankscope.monitor.store.records import Chosen, Deleted
from rankscope.monitor.store.sqlite.store import SQLiteStore
from rankscope.monitor.store.tables import moves
from rankscope.records import replace
from rankscope.testing.store.samples import make_label, make_ranking, read_back

from tests.monitor.store.test_history import ask_all, read_rows

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Callable, Iterator
    from pathlib import Path
    from typing import Any

    from rankscope.monitor.events.event import Event, Label

COUNT = 22
SPANS = ((0, DAY), (HOUR, 2 * HOUR), (HOUR + 7 * MINUTE, DAY))


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
    monkeypatch.setattr(moves, "AT_ONCE", 4)
    with (
        SQLiteStore(tmp_path / "plain.db", group_seconds=0) as plain,
        SQLiteStore(tmp_path / "archived.db", group_seconds=0) as archived,
    ):
        found = Pair(plain, archived)
        judged = replace(make_ranking(COUNT), environment="validation", time=HOUR + 5)
        found.append([judged, *map(ranking_of, range(COUNT)), label_of(COUNT, "judged")])
        found.append([label_of(number, "click") for number in range(0, COUNT, 2)])
        yield found


def ranking_of(number: int) -> Any:  # noqa: ANN401 - a ranking
    """A ranking within the second hour."""
    return replace(make_ranking(number), time=HOUR + number * MINUTE)


def label_of(number: int, name: str) -> Label:
    """A label of one of them."""
    return replace(
        make_label(number, number), event_id=f"{name}-{number}", time=HOUR + number * MINUTE + 1
    )


def archive_with(store: SQLiteStore, between: Callable[[int], None]) -> None:
    """Archive, and call something between the transactions that follow the first of a move."""
    transact, done = store.transact, [0]

    def transact_and_call(work: Any, size: int = 1) -> Any:  # noqa: ANN401 - as the store has it
        result = transact(work, size)
        result.result()
        if getattr(work, "func", None) is moves.remove_rows:
            done[0] += 1
            store.transact = transact  # type: ignore[method-assign]
            between(done[0])
            store.transact = transact_and_call  # type: ignore[method-assign]
        return result

    store.transact = transact_and_call  # type: ignore[method-assign]
    store.archive("music", DAY)
    store.transact = transact  # type: ignore[method-assign]


def test_every_moment_of_a_move_has_each_event_once(pair: Pair, tmp_path: Path) -> None:
    drawn = random.Random(4)
    seen = []

    def send_and_compare(step: int) -> None:
        seen.append(step)
        number = drawn.randrange(COUNT)
        # A label of a ranking that has left the tables or not, events that are known, and new ones.
        pair.append(
            [label_of(number, f"late{step}"), ranking_of(number), label_of(number, "click")]
        )
        pair.append([replace(ranking_of(step), event_id=f"n{step}", ranking_id=f"n{step}")])
        pair.append([replace(ranking_of(step), query_key="another")])
        pair.compare((SPANS[step % len(SPANS)],))

    archive_with(pair.archived, send_and_compare)
    assert len(seen) > COUNT // moves.AT_ONCE
    pair.compare()
    archive_with(pair.archived, send_and_compare)
    for folder, store in (("one", pair.plain), ("other", pair.archived)):
        export_parquet(store, "music", tmp_path / folder)
    for name in ("rankings.parquet", "labels.parquet"):
        one, other = (read_rows(tmp_path / folder / name) for folder in ("one", "other"))
        assert one == other


@pytest.mark.parametrize(
    "delete",
    [
        lambda store: store.delete_before("music", HOUR + 12 * MINUTE),
        lambda store: store.erase("music", Chosen(ranking_ids=("ranking-3", "ranking-20"))),
        lambda store: store.erase("music", Chosen(since=HOUR + 10 * MINUTE)),
    ],
)
@pytest.mark.parametrize("when", [1, 4])
def test_what_is_deleted_during_a_move_is_deleted_once(
    pair: Pair, delete: Callable[[SQLiteStore], Deleted], when: int
) -> None:
    told = []

    def delete_then(step: int) -> None:
        if step == when:
            told.extend(delete(store) for store in pair)

    archive_with(pair.archived, delete_then)
    assert told[0] == told[1]
    assert told[0].rankings > 0
    pair.compare()
    assert pair.plain.counters("music") == pair.archived.counters("music")


def test_a_move_that_was_interrupted_is_finished_later(pair: Pair) -> None:
    class StoppedError(Exception):
        pass

    def stop(_step: int) -> None:
        raise StoppedError

    transact = pair.archived.transact
    with pytest.raises(StoppedError):
        archive_with(pair.archived, stop)
    pair.archived.transact = transact  # type: ignore[method-assign]
    pair.compare()
    finish_moves(pair.archived, "films")
    pair.compare()
    assert pair.archived.archive("music", DAY).hours == 0
    assert not pair.archived.query(moves.list_all_moves)
    pair.compare()
