from __future__ import annotations

import shutil
from dataclasses import replace
from functools import cache

import pytest
from rankscope.monitor.server.http.settings import Settings
from rankscope.monitor.store.sqlite.store import SQLiteStore

from tests.monitor.notify.test_channel_delivery import Services
from tests.monitor.server.pages.site import log_story, open_monitor, watch_story
from tests.monitor.server.service import Service
from tests.monitor.server.test_webhook import CHANNELS

OPEN = Settings(open_project="default")


@pytest.fixture
def site(make_service):
    return make_service(OPEN, has_key=False)


@pytest.fixture
def services():
    """What sends the messages of `operated`."""
    return Services()


@pytest.fixture
def operated(make_service, services):
    settings = replace(OPEN, notifying=CHANNELS)
    return make_service(settings, has_key=False, sender=services)


@pytest.fixture(scope="session")
def stories(tmp_path_factory):
    """Folders with a store that has the story and its values, by a text that is all its names.

    Each is made once, and copied for each test. Of an empty text it is the story as it is.
    """

    @cache
    def make(text):
        folder = tmp_path_factory.mktemp("story")
        names = dict.fromkeys(("device", "query", "doc", "version"), text) if text else {}
        with SQLiteStore(folder / "events.db") as store:
            log_story(store, **names)
            open_monitor(store)
        return folder

    return make


@pytest.fixture
def story(tmp_path, stories, make_service):
    shutil.copytree(stories(""), tmp_path, dirs_exist_ok=True)
    return make_service(OPEN, has_key=False)


@pytest.fixture(scope="session")
def told_story(tmp_path_factory, stories):
    """The same, for all tests that only read it."""
    folder = tmp_path_factory.mktemp("told")
    shutil.copytree(stories(""), folder, dirs_exist_ok=True)
    made = Service(folder, OPEN, has_key=False)
    yield made
    made.store.close()


@pytest.fixture
def hostile(tmp_path, stories, text, make_service):
    """The same, with the text of a test for all names of the story."""
    shutil.copytree(stories(text), tmp_path, dirs_exist_ok=True)
    return make_service(OPEN, has_key=False)


@pytest.fixture(scope="session")
def watched_story(tmp_path_factory, stories):
    folder = tmp_path_factory.mktemp("watched")
    shutil.copytree(stories(""), folder, dirs_exist_ok=True)
    with SQLiteStore(folder / "events.db") as store:
        watch_story(open_monitor(store))
    return folder


@pytest.fixture
def watched(tmp_path, watched_story, make_service):
    shutil.copytree(watched_story, tmp_path, dirs_exist_ok=True)
    return make_service(OPEN, has_key=False)
