"""The conformance tests of store backends.

Every backend passes the same tests. A test module of a backend inherits them from
`StoreConformance`, and gives them a fixture `opened` that returns a function. Each call of that
function opens the same store, which is new in each test; the tests close it before they open it
again:

```py
class TestPostgres(StoreConformance):
    @pytest.fixture
    def opened(self, url: str) -> Open:
        return lambda: open_store(url)
```

The tests cover what all backends have in common. What a backend adds, such as files, locks,
backups and what happens in a crash, needs tests of its own.
"""

from __future__ import annotations

from collections.abc import Iterator

import pytest
from rankscope.monitor.store.store import Store

from tests.monitor.store.conformance.alerts import AlertConformance
from tests.monitor.store.conformance.deletion import DeletionConformance
from tests.monitor.store.conformance.events import EventConformance
from tests.monitor.store.conformance.events import Open as Open
from tests.monitor.store.conformance.people import PeopleConformance
from tests.monitor.store.conformance.projects import ProjectConformance
from tests.monitor.store.conformance.samples import make_label, make_ranking, read_back

__all__ = ["StoreConformance", "make_label", "make_ranking", "read_back"]


class StoreConformance(
    EventConformance, ProjectConformance, PeopleConformance, AlertConformance, DeletionConformance
):
    """Tests of everything that `Store` guarantees."""

    @pytest.fixture
    def store(self, opened: Open) -> Iterator[Store]:
        """The store, open until the end of a test that opens it once."""
        with opened() as store:
            yield store
