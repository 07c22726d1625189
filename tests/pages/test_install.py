"""How to install rankscope is said in one place for all pages."""

from __future__ import annotations

import re
import tomllib

import pytest

from docs.hooks.install import fill_in, write_steps
from tests.pages.test_pages import PAGES, ROOT


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
