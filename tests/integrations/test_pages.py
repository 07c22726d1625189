"""The examples of the pages about other libraries run, where these are installed."""

from __future__ import annotations

from pathlib import Path

import pytest

from tests.pages.pages import run_page

ROOT = Path(__file__).resolve().parents[2]
PAGES = sorted((ROOT / "docs" / "integrations").glob("*.md"))


# Libraries warn about what they use of each other, which no page can change.
@pytest.mark.slow
@pytest.mark.filterwarnings("ignore::DeprecationWarning", "ignore::FutureWarning")
@pytest.mark.filterwarnings("ignore:.*Any type hint is inferred")  # MLflow, of its own code
@pytest.mark.filterwarnings("ignore:WilcoxonPruner is experimental")
@pytest.mark.parametrize("page", PAGES, ids=[page.stem for page in PAGES])
def test_the_examples_of_a_page_run(page, tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    run_page(str(page.relative_to(ROOT)), page.read_text(encoding="utf-8"), tmp_path)
