"""Tests of stores that are files: their content and their backups."""

from __future__ import annotations

from contextlib import closing

import pytest
from rankscope import FileError
from rankscope.monitor.store import open_store
from rankscope.monitor.store.keys import make_key

from tests.monitor.store.conformance import make_label, make_ranking, read_back
from tests.monitor.store.conformance.events import statuses
from tests.monitor.store.copies import copy_store


class StoredFiles:
    """Tests of the files of a store in `tmp_path`."""

    def test_a_secret_is_stored_nowhere(self, opened, tmp_path):
        key, shown = make_key("music", ["admin"], name="x", now=7)
        with opened() as store:
            store.add_key(key, "root")
        secret = shown.reveal().rpartition("_")[2]
        kept = b"".join(path.read_bytes() for path in tmp_path.iterdir() if path.is_file())
        assert key.key_id.encode() in kept
        assert not any(form in kept for form in (secret.encode(), bytes.fromhex(secret)))

    def test_a_copy_holds_what_was_acknowledged(self, opened, tmp_path):
        with opened() as store:
            statuses(store, make_ranking(1), make_label(1, 1))
            before = read_back(store, "music")
            assert copy_store(store, tmp_path / "copy.db") == 2
            statuses(store, make_ranking(2))
            with pytest.raises(FileError, match="exists already"):
                copy_store(store, tmp_path / "copy.db")
            store.verify()
        with closing(open_store(f"sqlite:///{tmp_path}/copy.db")) as copy:
            assert read_back(copy, "music") == before
            assert statuses(copy, make_ranking(1), make_ranking(2)) == ["duplicate", "accepted"]
