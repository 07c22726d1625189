from __future__ import annotations

from contextlib import ExitStack

import pytest
from rankscope.monitor.server.http.settings import Settings

from tests.monitor.server.service import Service


@pytest.fixture
def make_service(tmp_path):
    """Makes services with what `Service` takes besides a folder."""
    with ExitStack() as opened:

        def make(*given, **named):
            made = Service(tmp_path, *given, **named)
            opened.callback(made.store.close)
            return made

        yield make


@pytest.fixture
def service(make_service):
    return make_service()


@pytest.fixture(scope="module")
def shared(tmp_path_factory):
    """One for all tests of a file that ask often and store no events."""
    often = Settings(failure_burst=10**6, open_burst=10**6, key_burst=10**6)
    made = Service(tmp_path_factory.mktemp("shared"), often)
    yield made
    made.store.close()
