"""Write how to install rankscope: `<!-- install -->`, or with an extra `<!-- install: monitor -->`.

This is the only place that says so for the pages. Once a release is on PyPI, change `STEPS` here,
and the section *Install* of the README.
"""

from __future__ import annotations

import re
import tomllib
from pathlib import Path
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from mkdocs.config.defaults import MkDocsConfig
    from mkdocs.structure.files import Files
    from mkdocs.structure.pages import Page

PROJECT = Path(__file__).resolve().parents[2] / "pyproject.toml"
PLACE = re.compile(r"^<!-- install(?:: (?P<extras>[\w, -]+))? -->$", re.MULTILINE)
STEPS = """\
rankscope isn't on PyPI yet. Install it from a checkout of the repository; you need Python 3.11 or
newer and a [Rust toolchain](https://rustup.rs):

```sh
pip install {target}
```"""


def write_steps(extras: list[str]) -> str:
    """Return the steps that install rankscope with some of its extras."""
    project = tomllib.loads(PROJECT.read_text(encoding="utf-8"))["project"]
    unknown = sorted(set(extras) - set(project["optional-dependencies"]))
    if unknown:
        message = f"pyproject.toml has no extra {', '.join(unknown)}"
        raise ValueError(message)
    return STEPS.format(target=f"'.[{','.join(extras)}]'" if extras else ".")


def fill_in(markdown: str) -> str:
    """Return the text of a page with the steps in place of the comments."""
    return PLACE.sub(lambda match: write_steps(re.findall(r"\w+", match["extras"] or "")), markdown)


def on_page_markdown(markdown: str, *, page: Page, config: MkDocsConfig, files: Files) -> str:  # noqa: ARG001 - MkDocs passes them by name
    """Put the steps in their places."""
    return fill_in(markdown)
