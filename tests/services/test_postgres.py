"""A store in PostgreSQL passes the conformance tests, and keeps its promises beside others."""

from __future__ import annotations

import pytest
from rankscope.monitor.store import open_store
from rankscope.testing.store import StoreConformance

from tests.services.postgres import Cluster

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Iterator

    from rankscope.testing.store import Open


@pytest.fixture(scope="session")
def cluster() -> Iterator[Cluster]:
    with Cluster() as running:
        yield running


@pytest.fixture
def url(cluster: Cluster) -> str:
    return cluster.url()


class TestPostgres(StoreConformance):
    """A store in a PostgreSQL database."""

    @pytest.fixture
    def opened(self, url: str) -> Open:
        return lambda: open_store(url)
