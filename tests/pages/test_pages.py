"""Code blocks and tables of the pages: each block runs, and prints what it says."""

from __future__ import annotations

import re
import runpy
import tomllib
from types import ModuleType

import pytest
import rankscope
from rankscope._show.diagnostics import SENTENCES
from rankscope.measures import OBJECTS

from dev import tables
from dev.tables import PLACE, ROOT, write_measures
from docs.hooks.blocks import read_blocks
from docs.hooks.install import fill_in, write_steps
from tests.pages.pages import run_console, run_page, run_python

HOOKS = ROOT / "docs" / "hooks"
WRITTEN = [ROOT / "README.md", *sorted((ROOT / "docs").rglob("*.md"))]
PAGES = {
    str(page.relative_to(ROOT)): page.read_text(encoding="utf-8") for page in WRITTEN
} | runpy.run_path(str(HOOKS / "measures.py"))["pages"]()


def test_the_pages_are_found():
    assert {"README.md", "docs/index.md", "measures/ndcg.md"} <= PAGES.keys()


@pytest.mark.parametrize("page", [page for page in PAGES if "/integrations/" not in page])
def test_the_examples_of_a_page_run(page, tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    run_page(page, PAGES[page], tmp_path)


def test_every_test_that_a_page_names_is_there():
    named = {name for text in PAGES.values() for name in re.findall(r"`(test_\w+)`", text)}
    tests = "".join(path.read_text(encoding="utf-8") for path in (ROOT / "tests").rglob("*.py"))
    assert named
    assert named - set(re.findall(r"def (test_\w+)", tests)) == set()


def test_every_public_name_is_on_a_page():
    text = PAGES["docs/api.md"]
    named = re.findall(r"^::: [\w.]+\.(\w+)$|`(\w+)`", text, flags=re.MULTILINE)
    assert "<!-- table: measures -->" in text
    assert all(f"`{name}`" in write_measures() for name in OBJECTS)
    values = {name: getattr(rankscope, name) for name in rankscope.__all__}
    public = {name for name, value in values.items() if not isinstance(value, ModuleType)}
    in_the_tree = {name for name in public if name.endswith("Error")}
    assert public - in_the_tree - {name for pair in named for name in pair} == {"__version__"}


def test_the_page_of_codes_has_those_of_the_sources_and_all_diagnostics():
    notes, _, errors = PAGES["docs/errors.md"].partition("## Errors")
    assert re.findall(r"^\| `(\w+)` \|", notes, flags=re.MULTILINE) == [*SENTENCES]
    rows = re.findall(r"^\| (`\w+`[^|]*) \|", errors, flags=re.MULTILINE)
    explained = {code for row in rows for code in re.findall(r"`(\w+)`", row)}
    files = [*(ROOT / "crates").rglob("*.rs"), *(ROOT / "python").rglob("*.py")]
    sources = "".join(path.read_text(encoding="utf-8") for path in files)
    assert explained
    assert {code for code in explained if f'"{code}"' not in sources} == set()


def test_a_block_that_prints_something_else_fails(tmp_path):
    text = "```python\n>>> 1 + 1\n3\n```\n\n- item\n\n  ```console\n  $ echo a\n  b\n  ```\n"
    python, console = read_blocks(text)
    with pytest.raises(AssertionError, match="Expected"):
        run_python(python, {}, "page.md")
    with pytest.raises(AssertionError):
        run_console(console, tmp_path)


def test_the_steps_name_the_extras():
    assert "pip install .\n" in write_steps([])
    assert "pip install '.[monitor]'\n" in write_steps(["monitor"])
    assert "pip install '.[plot,sql]'\n" in write_steps(["plot", "sql"])


def test_all_is_every_extra_but_the_engine_of_clusters():
    project = tomllib.loads((ROOT / "pyproject.toml").read_text(encoding="utf-8"))["project"]
    extras = project["optional-dependencies"]
    [every] = extras.pop("all")
    names = re.fullmatch(r"rankscope\[(.+)\]", every)
    assert names is not None
    assert names[1].split(",") == sorted(extras.keys() - {"spark"})
    assert "| `all` | every extra except `spark` |" in PAGES["docs/index.md"]
    assert "'.[all]'       # with every extra except spark" in PAGES["README.md"]


def test_an_extra_that_does_not_exist_stops_the_build():
    with pytest.raises(ValueError, match=r"^pyproject\.toml has no extra nothing$"):
        write_steps(["nothing"])


def test_the_steps_take_the_place_of_the_comment():
    shown = fill_in("a\n\n<!-- install: lake -->\n\nb")
    assert shown == f"a\n\n{write_steps(['lake'])}\n\nb"


def test_pages_install_rankscope_by_the_shared_steps_only():
    pages = {name: text for name, text in PAGES.items() if name != "README.md"}
    own = {
        name: re.findall(r"pip install '?(?:rankscope|\.(?!\w)).*", text)
        for name, text in pages.items()
    }
    assert {name: lines for name, lines in own.items() if lines} == {}
    assert "<!-- install:" not in "".join(map(fill_in, pages.values()))


TEXTS = {str(page.relative_to(ROOT)): page.read_text(encoding="utf-8") for page in tables.PAGES}


@pytest.mark.parametrize("page", [page for page, text in TEXTS.items() if PLACE.search(text)])
def test_the_tables_of_a_page_are_current(page):
    is_current = tables.fill_in(TEXTS[page]) == TEXTS[page]
    assert is_current, f"the tables of {page} are not current: run make format"


def test_every_comment_of_a_table_names_one():
    for page, text in TEXTS.items():
        shown = text.count("<!-- table:") + text.count("<!-- source:")
        assert shown == len(PLACE.findall(text)) == text.count("<!-- end -->"), page


def test_every_row_of_a_table_has_the_cells_of_its_head():
    for page, text in TEXTS.items():
        for place in PLACE.finditer(text):
            cells = 0
            for line in place[0].splitlines():
                found = line.replace("\\|", "").count("|") if line.startswith("|") else 0
                assert found in {0, cells} or cells == 0, f"{page}: {line}"
                cells = found


def test_a_new_comment_gets_a_table_and_an_end_and_an_old_one_a_new_table():
    new = "before\n\n<!-- table: policy missing -->\n\nTested. <!-- table: version catboost -->\n"
    filled = tables.fill_in(new)
    first, second = PLACE.finditer(filled)
    assert filled.startswith("before\n\n<!-- table: policy missing -->\n\n| value | meaning |\n")
    assert first[0].endswith(" |\n\n<!-- end -->")
    assert second[0].startswith("<!-- table: version catboost -->Tested with catboost ")
    assert filled.endswith(".<!-- end -->\n")
    assert tables.fill_in(filled) == filled
    assert tables.fill_in(filled.replace("with catboost", "with an older catboost")) == filled


def test_a_comment_that_names_no_table_is_an_error():
    with pytest.raises(ValueError, match="expected a table that the package has, found nothing "):
        tables.fill_in("<!-- table: nothing -->")
