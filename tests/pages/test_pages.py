"""Every code block of the README and of the documentation runs, and prints what it says."""

from __future__ import annotations

import re
import runpy
import tomllib
from pathlib import Path

import pytest
import rankscope
from rankscope.measures import OBJECTS
from rankscope.output.diagnostics import SENTENCES

from dev.tables import write_measures
from docs.hooks.blocks import read_blocks
from docs.hooks.install import fill_in, write_steps
from tests.pages.pages import run_console, run_page, run_python

ROOT = Path(__file__).resolve().parents[2]
HOOKS = ROOT / "docs" / "hooks"
WRITTEN = [ROOT / "README.md", *sorted((ROOT / "docs").rglob("*.md"))]
PAGES: dict[str, str] = {
    str(page.relative_to(ROOT)): page.read_text(encoding="utf-8") for page in WRITTEN
} | runpy.run_path(str(HOOKS / "measures.py"))["pages"]()


def test_the_pages_are_found() -> None:
    assert {"README.md", "docs/index.md", "measures/ndcg.md"} <= PAGES.keys()


@pytest.mark.parametrize("page", [page for page in PAGES if "/integrations/" not in page])
def test_the_examples_of_a_page_run(
    page: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.chdir(tmp_path)
    run_page(page, PAGES[page], tmp_path)


def test_every_test_that_a_page_names_is_there() -> None:
    named = {name for text in PAGES.values() for name in re.findall(r"`(test_\w+)`", text)}
    tests = "".join(path.read_text(encoding="utf-8") for path in (ROOT / "tests").rglob("*.py"))
    assert named
    assert named - set(re.findall(r"def (test_\w+)", tests)) == set()


def test_every_public_name_is_on_a_page() -> None:
    text = PAGES["docs/api.md"]
    named = re.findall(r"^::: [\w.]+\.(\w+)$|`(\w+)`", text, flags=re.MULTILINE)
    assert "<!-- table: measures -->" in text
    assert all(f"`{name}`" in write_measures() for name in OBJECTS)
    public = {name for name in rankscope.__all__ if name in vars(rankscope)} - {*OBJECTS}
    in_the_tree = {name for name in public if name.endswith("Error")}
    assert public - in_the_tree - {name for pair in named for name in pair} == {"__version__"}


def test_the_page_of_codes_has_those_of_the_sources_and_all_diagnostics() -> None:
    notes, _, errors = PAGES["docs/errors.md"].partition("## Errors")
    assert re.findall(r"^\| `(\w+)` \|", notes, flags=re.MULTILINE) == [*SENTENCES]
    rows = re.findall(r"^\| (`\w+`[^|]*) \|", errors, flags=re.MULTILINE)
    explained = {code for row in rows for code in re.findall(r"`(\w+)`", row)}
    files = [*(ROOT / "src").rglob("*.rs"), *(ROOT / "python").rglob("*.py")]
    sources = "".join(path.read_text(encoding="utf-8") for path in files)
    assert explained
    assert {code for code in explained if f'"{code}"' not in sources} == set()


def test_a_block_that_prints_something_else_fails(tmp_path: Path) -> None:
    text = "```python\n>>> 1 + 1\n3\n```\n\n- item\n\n  ```console\n  $ echo a\n  b\n  ```\n"
    python, console = read_blocks(text)
    with pytest.raises(AssertionError, match="Expected"):
        run_python(python, {}, "page.md")
    with pytest.raises(AssertionError):
        run_console(console, tmp_path)


def test_the_steps_name_the_extras() -> None:
    assert "pip install .\n" in write_steps([])
    assert "pip install '.[monitor]'\n" in write_steps(["monitor"])
    assert "pip install '.[plot,sql]'\n" in write_steps(["plot", "sql"])


def test_all_is_every_extra_but_the_engine_of_clusters() -> None:
    project = tomllib.loads((ROOT / "pyproject.toml").read_text(encoding="utf-8"))["project"]
    extras = project["optional-dependencies"]
    [every] = extras.pop("all")
    names = re.fullmatch(r"rankscope\[(.+)\]", every)
    assert names is not None
    assert names[1].split(",") == sorted(extras.keys() - {"spark"})
    assert "| `all` | every extra except `spark` |" in PAGES["docs/index.md"]
    assert "'.[all]'       # with every extra except spark" in PAGES["README.md"]


def test_an_extra_that_does_not_exist_stops_the_build() -> None:
    with pytest.raises(ValueError, match=r"^pyproject\.toml has no extra nothing$"):
        write_steps(["nothing"])


def test_the_steps_take_the_place_of_the_comment() -> None:
    shown = fill_in("a\n\n<!-- install: lake -->\n\nb")
    assert shown == f"a\n\n{write_steps(['lake'])}\n\nb"


def test_pages_install_rankscope_by_the_shared_steps_only() -> None:
    pages = {name: text for name, text in PAGES.items() if name != "README.md"}
    own = {
        name: re.findall(r"pip install '?(?:rankscope|\.(?!\w)).*", text)
        for name, text in pages.items()
    }
    assert {name: lines for name, lines in own.items() if lines} == {}
    assert "<!-- install:" not in "".join(map(fill_in, pages.values()))
