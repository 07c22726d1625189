"""The hashes of the users of a file say which files need not be opened to find those of a user."""

from __future__ import annotations

from functools import partial
from typing import TYPE_CHECKING

import numpy as np
from rankscope.monitor.events.limits import DAY
from rankscope.monitor.store.log.blocks import FILE, list_blocks
from rankscope.monitor.store.log.hour_file import HourFile
from rankscope.monitor.store.log.users import hash_users, may_have_user
from rankscope.monitor.store.records import Chosen, Deleted
from rankscope.records import replace

from tests.monitor.store.conformance.samples import make_ranking

if TYPE_CHECKING:
    import pytest
    from rankscope.monitor.store.records import Texts
    from rankscope.monitor.store.sqlite.store import SQLiteStore


def texts(values: list[str]) -> Texts:
    """Texts as a column of bytes with their offsets."""
    each = [value.encode() for value in values]
    starts = np.cumsum([0, *map(len, each)], dtype=np.int64)
    return starts, np.frombuffer(b"".join(each), np.uint8)


def test_users_are_hashed_once_and_nobody_is_no_user() -> None:
    assert len(hash_users(texts(["ann", "", "ben", "ann"]))) == 2
    assert len(hash_users(texts(["", ""]))) == 0
    one, both = hash_users(texts(["ben"])), hash_users(texts(["ben", "日本"]))
    assert one.dtype == np.uint32
    assert np.isin(one, both).all()


def test_only_files_of_the_user_are_opened(
    store: SQLiteStore, monkeypatch: pytest.MonkeyPatch
) -> None:
    hour = 3_600_000_000
    for number, user in enumerate(("ann", "ben", "")):
        shown = replace(make_ranking(number), time=number * hour, user_id=user)
        store.append("music", [shown])
    store.archive("music", DAY)
    may_have = {
        user: [
            store.query(partial(may_have_user, block=block, user_id=user))
            for block in store.query(partial(list_blocks, project="music", kinds=(FILE,)))
        ]
        for user in ("ann", "ben", "carl")
    }
    assert may_have == {
        "ann": [True, False, False], "ben": [False, True, False], "carl": [False] * 3
    }  # fmt: skip
    opened: list[int] = []
    has_any = HourFile.has_any

    def note(file: HourFile, *given: object) -> bool:
        opened.append(file._hour.start)
        return has_any(file, *given)  # type: ignore[arg-type]

    monkeypatch.setattr(HourFile, "has_any", note)
    assert store.erase("music", Chosen(user_id="ben")) == Deleted(1, 0)
    assert store.erase("music", Chosen(user_id="carl")) == Deleted(0, 0)
    assert opened == [hour]
    store.verify()
