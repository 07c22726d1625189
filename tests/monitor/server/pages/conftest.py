"""Services that this machine may use without a key."""

from __future__ import annotations

import shutil
from collections.abc import Callable, Iterator
from functools import cache
from pathlib import Path

import pytest
from rankscope.monitor.server.http.settings import Settings
from rankscope.monitor.store.sqlite.store import SQLiteStore
from rankscope.records import replace

from tests.monitor.notify.test_channel_delivery import Services
from tests.monitor.server.pages.site import log_story, open_monitor, watch_story
from tests.monitor.server.service import MakeService, Service
from tests.monitor.server.test_webhook import CHANNELS

OPEN = Settings(open_project="default")


@pytest.fixture
def site(make_service: MakeService) -> Service:
    """A service on an empty store."""
    return make_service(OPEN, has_key=False)


@pytest.fixture
def services() -> Services:
    """What sends the messages of `operated`."""
    return Services()


@pytest.fixture
def operated(make_service: MakeService, services: Services) -> Service:
    """A service on an empty store, whose operator has defined channels."""
    settings = replace(OPEN, notifying=CHANNELS)
    return make_service(settings, has_key=False, sender=services)


@pytest.fixture(scope="session")
def stories(tmp_path_factory: pytest.TempPathFactory) -> Callable[[str], Path]:
    """Folders with a store that has the story and its values, by a text that is all its names.

    Each is made once, and copied for each test. Of an empty text it is the story as it is.
    """

    @cache
    def make(text: str) -> Path:
        folder = tmp_path_factory.mktemp("story")
        names = dict.fromkeys(("device", "query", "doc", "version"), text) if text else {}
        with SQLiteStore(folder / "events.db") as store:
            log_story(store, **names)
            open_monitor(store)
        return folder

    return make


@pytest.fixture
def story(tmp_path: Path, stories: Callable[[str], Path], make_service: MakeService) -> Service:
    """A service on a store with the story and its values."""
    shutil.copytree(stories(""), tmp_path, dirs_exist_ok=True)
    return make_service(OPEN, has_key=False)


@pytest.fixture(scope="session")
def told_story(
    tmp_path_factory: pytest.TempPathFactory, stories: Callable[[str], Path]
) -> Iterator[Service]:
    """The same, for all tests that only read it."""
    folder = tmp_path_factory.mktemp("told")
    shutil.copytree(stories(""), folder, dirs_exist_ok=True)
    made = Service(folder, OPEN, has_key=False)
    yield made
    made.store.close()


@pytest.fixture
def hostile(
    tmp_path: Path, stories: Callable[[str], Path], text: str, make_service: MakeService
) -> Service:
    """The same, with the text of a test for all names of the story."""
    shutil.copytree(stories(text), tmp_path, dirs_exist_ok=True)
    return make_service(OPEN, has_key=False)


@pytest.fixture(scope="session")
def watched_story(tmp_path_factory: pytest.TempPathFactory, stories: Callable[[str], Path]) -> Path:
    """The folder of a store with the story, and what a rule has found in it."""
    folder = tmp_path_factory.mktemp("watched")
    shutil.copytree(stories(""), folder, dirs_exist_ok=True)
    with SQLiteStore(folder / "events.db") as store:
        watch_story(open_monitor(store))
    return folder


@pytest.fixture
def watched(tmp_path: Path, watched_story: Path, make_service: MakeService) -> Service:
    """A service on a store with the story, and what a rule has found in it."""
    shutil.copytree(watched_story, tmp_path, dirs_exist_ok=True)
    return make_service(OPEN, has_key=False)
