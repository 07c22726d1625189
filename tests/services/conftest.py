"""A real browser, offline, and pages to look at with it."""

from __future__ import annotations

import os
import shutil
from contextlib import contextmanager
from pathlib import Path

import pytest
import rankscope as rs
from playwright.sync_api import sync_playwright

from tests.report.test_page import HOSTILE
from tests.services.postgres import Cluster

LONGEST = "test_postgres.py"
DESKTOP = {"width": 1280, "height": 900}
PHONE = {"width": 390, "height": 844}
RUNS = ("old.run", "org_manual_ance_bert.run", "a run with a long name that goes on and on.run")


@pytest.hookimpl(trylast=True)
def pytest_collection_modifyitems(items):
    """Begin with what takes longest, so that all workers end together."""
    items.sort(key=lambda item: item.path.name != LONGEST)


@pytest.fixture(scope="session")
def browser():
    program = shutil.which("chromium")
    assert program is not None, "expected the browser chromium in PATH"
    with sync_playwright() as playwright:
        # Inside a container the browser's own sandbox has no rights to set itself up.
        opened = playwright.chromium.launch(executable_path=program, args=["--no-sandbox"])
        yield opened
        opened.close()


@pytest.fixture(scope="session")
def cluster():
    with Cluster() as running:
        yield running


@contextmanager
def watch_pages(browser, is_own, is_expected=lambda _text: False):
    """Open pages; in the end nothing may have been asked of others, said or refused."""
    contexts = []
    seen = []

    def open_page(**settings):
        context = browser.new_context(**{"viewport": DESKTOP, **settings})
        contexts.append(context)
        context.add_init_script(
            "addEventListener('securitypolicyviolation', (e) => console.error(e.violatedDirective))"
        )
        context.set_default_timeout(300_000)
        page = context.new_page()
        page.on("request", lambda asked: is_own(asked.url) or seen.append(asked.url))
        page.on("console", lambda said: is_expected(said.text) or seen.append(said.text))
        page.on("pageerror", lambda error: seen.append(str(error)))
        page.on("dialog", lambda dialog: (seen.append(dialog.message), dialog.dismiss()))
        return page

    yield open_page
    for context in contexts:
        context.close()
    assert seen == []


def take_picture(page, name):
    """Save a picture of a page as it opens, where RANKSCOPE_PICTURES names a folder for them."""
    if folder := os.environ.get("RANKSCOPE_PICTURES"):
        page.reload()
        page.screenshot(path=Path(folder) / f"{name}.png", full_page=True)


@pytest.fixture(scope="session")
def report(tmp_path_factory):
    """The page of three runs over 60 queries, with ties, gaps and unjudged documents."""
    judged = {f"q{at}": {f"d{at}_{rank}": rank % 4 for rank in range(8)} for at in range(60)}
    runs = {
        name: {
            query: {doc: float((7 * at + step * rank) % 5) for rank, doc in enumerate(docs)}
            | {"unjudged": 2.5}
            for at, (query, docs) in enumerate(judged.items())
            if at % (9 + step)
        }
        for step, name in enumerate(RUNS, start=1)
    }
    page = tmp_path_factory.mktemp("report") / "report.html"
    rs.report(judged, runs).write(page)
    return page


@pytest.fixture(scope="session")
def hostile(tmp_path_factory):
    """A page of ids that would do harm if they were markup, with slices."""
    texts = list(HOSTILE.values())
    log = {
        "qid": texts * 2,
        "doc": [*reversed(texts), *texts],
        "label": [at % 3 for at in range(2 * len(texts))],
        "score": [float(at) for at in range(2 * len(texts))],
        "country": texts * 2,
    }
    page = tmp_path_factory.mktemp("hostile") / "report.html"
    rs.report(log, by="country").write(page)
    return page
