from __future__ import annotations

import sys
from collections import Counter
from pathlib import Path
from typing import NamedTuple

import pytest
from rankscope.monitor.evaluate.stored_windows import unpack_cells
from rankscope.monitor.evaluate.windows import Key
from rankscope.monitor.events.event import Label, Ranking
from rankscope.monitor.events.limits import DAY, HOUR
from rankscope.monitor.store.sqlite.store import SQLiteStore

from tests.monitor import plain
from tests.monitor.store import killed_writer
from tests.monitor.store.conformance.samples import texts_of
from tests.monitor.store.processes import run_python
from tests.monitor.test_windows import spell_out

KILLER = Path(__file__).with_name("killed_writer.py")


class Deletion(NamedTuple):
    """A deletion, and the lines between which it was done."""

    kind: str
    first: str
    last: str
    begun: int
    ended: int | None

    def fits(self, number: int) -> bool:
        if self.kind == "user":
            return killed_writer.user_of(number) == self.first
        if self.kind == "span":
            return int(self.first) <= number < int(self.last)
        return number < int(self.first)


class Told:
    """What the killed processes have said, by the numbers of rankings and the lines."""

    def __init__(self, lines: list[str]) -> None:
        self.sent: dict[int, int] = {}
        self.kept: dict[int, int] = {}
        self.late: set[int] = set()
        self.kept_late: set[int] = set()
        self.deletions: list[Deletion] = []
        self.rounds: Counter[str] = Counter()
        self.ends: list[int] = []
        self.stages: Counter[str] = Counter()
        self.there = 0, 0
        self.windows = 0
        stages: set[str] = set()
        for at, line in enumerate(lines):
            word, *rest = line.split()
            if word in {"sent", "acknowledged"}:
                lines_of = self.sent if word == "sent" else self.kept
                lines_of |= dict.fromkeys(
                    range(int(rest[0]), int(rest[0]) + killed_writer.BATCH), at
                )
            elif word == "sent-late":
                self.late.add(int(rest[0]))
            elif word == "acknowledged-late":
                self.kept_late.add(int(rest[0]))
            elif word == "deleting":
                kind, first, last = rest
                self.deletions.append(Deletion(kind, first, last, at, None))
            elif word == "deleted":
                self.deletions[-1] = self.deletions[-1]._replace(ended=at)
            elif word == "stage":
                stages.add(" ".join(rest))
            elif word == "round":
                # Several threads may have reached the last step; one of them was the last.
                self.stages.update(sorted(stages)[:1])
                stages.clear()
                self.rounds[rest[1]] += 1
                self.ends.append(at)
            else:
                pytest.fail(line)

    def must_be_there(self, number: int) -> bool:
        """Whether a ranking was acknowledged, and no deletion may have met it."""
        return number in self.kept and not any(
            one.fits(number) and self._end(one) > self.sent[number] for one in self.deletions
        )

    def must_be_gone(self, number: int) -> bool:
        """Whether a deletion was completed that began after the ranking was acknowledged."""
        return number in self.kept and any(
            one.fits(number) and one.ended is not None and one.begun > self.kept[number]
            for one in self.deletions
        )

    def _end(self, one: Deletion) -> int:
        """The line after which a deletion does nothing any more."""
        if one.ended is not None:
            return one.ended
        return next((end for end in self.ends if end > one.begun), sys.maxsize)

    @property
    def deleted_before(self) -> int:
        """The time before which windows stay as they were before the deletion."""
        numbers = [int(one.first) for one in self.deletions if one.kind == "before"]
        return killed_writer.time_of(max(numbers, default=0))


@pytest.mark.slow
@pytest.mark.parametrize(
    ("rounds", "seed"),
    [
        (6, 5),
        *(
            pytest.param(
                55, seed, marks=pytest.mark.thorough(reason="220 processes take minutes to start")
            )
            for seed in range(7, 11)
        ),
    ],
)
def test_no_event_is_lost_or_there_twice_whenever_the_process_is_killed(
    tmp_path: Path, rounds: int, seed: int
) -> None:
    assert kill_and_check(tmp_path, rounds, seed).rounds["killed"] > rounds // 2


@pytest.mark.slow
def test_nothing_is_half_deleted_whenever_the_process_that_deletes_is_killed(
    tmp_path: Path,
) -> None:
    told = kill_and_check(tmp_path, 4, 6, "deleting")
    assert {stage for stage in told.stages if "deleting" not in stage} == set()
    assert told.rounds["killed"] > 0


def kill_and_check(folder: Path, rounds: int, seed: int, word: str = "") -> Told:
    done = run_python(KILLER, folder, rounds, seed, *filter(None, [word]))
    assert "Traceback" not in done.stderr, done.stderr
    told = Told(done.stdout.splitlines())
    assert told.rounds.total() == rounds
    with SQLiteStore(folder / "events.db") as store:
        store.verify()
        rankings, labels = find_events(store, told)
        compare_windows(store, told, rankings, labels)
        # What is there is known.
        again = store.append("music", [*rankings, *labels])
        assert {one.status for one in again} == {"duplicate"}
        assert find_events(store, told) == (rankings, labels)
        told.windows = compare_windows(store, told, rankings, labels)
        store.verify()
        told.there = len(rankings), len(labels)
    return told


def find_events(store: SQLiteStore, told: Told) -> tuple[list[Ranking], list[Label]]:
    ids = Counter(name for chunk in store.read("music") for name in texts_of(chunk.ranking_ids))
    assert set(ids.values()) == {1}
    rankings, labels = [], []
    for number in sorted(told.sent):
        name = f"ranking-{number}"
        assert not (told.must_be_there(number) and name not in ids), number
        assert not (told.must_be_gone(number) and name in ids), number
        if not ids.pop(name, 0):
            assert store.find_ranking("music", name) is None
            continue
        ranking = killed_writer.ranking_of(number)
        assert store.find_ranking("music", name) == ranking
        rankings.append(ranking)
        found = store.find_labels("music", name)
        sent = {"click": told.sent.keys(), "late": told.late}
        kept = {"click": told.kept.keys(), "late": told.kept_late}
        may = [killed_writer.label_of(number, word) for word in sent if number in sent[word]]
        must = [killed_writer.label_of(number, word) for word in kept if number in kept[word]]
        assert len(found) == len(set(found))
        assert set(must) <= set(found) <= set(may)
        labels += found
    assert not ids
    return rankings, labels


def compare_windows(
    store: SQLiteStore, told: Told, rankings: list[Ranking], labels: list[Label]
) -> int:
    """Compare every window with the plain model of the events that are there.

    Returns:
        How many windows there are.
    """
    now = killed_writer.time_of(max(told.sent)) + 2 * DAY
    killed_writer.open_monitor(store, now).evaluate()
    definition = killed_writer.CLICKS.definition
    compared = 0
    for length in (HOUR, DAY):
        first = -(-told.deleted_before // length) * length
        rows = store.cells("music", killed_writer.CLICKS.digest, length=length)
        cells = {one.key: one.cell for one in unpack_cells(rows) if one.key.start >= first}
        wanted: dict[Key, object] = {}
        for start in range(first, now, length):
            # The model looks at all labels for each document.
            shown = [one for one in rankings if start <= one.time < start + length]
            ids = {one.ranking_id for one in shown}
            theirs = [one for one in labels if one.ranking_id in ids]
            wanted |= plain.windows(shown, theirs, (definition, now), {}, length)
        assert spell_out(cells, definition) == wanted
        compared += len(wanted)
    return compared
