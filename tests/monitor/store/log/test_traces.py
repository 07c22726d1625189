"""What is deleted is in no file afterwards, and a digest of its ids stays."""

from __future__ import annotations

from pathlib import Path

from rankscope.monitor.events.event import Items, Label, Ranking
from rankscope.monitor.store.log.tally import DELETED, Tally, read_tally
from rankscope.monitor.store.records import Chosen
from rankscope.monitor.store.sqlite.store import SQLiteStore

COUNT = 40
SECRET = "zQ7-the-user-who-left-4rT"  # noqa: S105 - a name to search for
"""In the ids of a user, of rankings, documents and labels."""


def show(number: int, name: str) -> Ranking:
    items = Items((f"{name}-doc-{number}", "other"), (1, 2))
    ranking_id = f"{name}-{number}"
    return Ranking(ranking_id, ranking_id, number, items, f"{name} asks", name)


def find_secret(folder: Path) -> set[str]:
    """The files that have the secret anywhere in them."""
    files = [path for path in folder.rglob("*") if path.is_file()]
    return {path.name for path in files if SECRET.encode() in path.read_bytes()}


def test_what_belongs_to_a_user_is_in_no_file_once_it_is_deleted(tmp_path: Path) -> None:
    with SQLiteStore(tmp_path / "events.db") as store:
        for number in range(COUNT):
            name = SECRET if number % 8 == 0 else f"user-{number}"
            label = Label(f"{name}-label-{number}", f"{name}-{number}", "other", number, ("click",))
            # One after the other, so that small blocks are joined and leave pages behind.
            store.append("music", [show(number, name), label])
        assert find_secret(tmp_path)
        assert store.erase("music", Chosen(user_id=SECRET)).rankings == COUNT / 8
        assert find_secret(tmp_path) == set()
        store.verify()


def test_a_digest_of_the_ids_of_deleted_events_is_kept(tmp_path: Path) -> None:
    digests = []
    for name, order in (("a.db", 1), ("b.db", -1)):
        with SQLiteStore(tmp_path / name) as store:
            rankings = [show(number, f"user-{number}") for number in range(4)]
            label = Label("label", "user-1-1", "other", 2, ("click",))
            store.append("music", [*rankings, label])
            assert store.query(lambda opened: read_tally(opened, DELETED)) == Tally(0, 0)
            for number in (1, 2)[::order]:
                store.erase("music", Chosen(user_id=f"user-{number}"))
            digests.append(store.query(lambda opened: read_tally(opened, DELETED)))
    assert digests[0] == digests[1]
    assert digests[0].blocks == 3  # two rankings and a label
