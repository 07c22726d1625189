"""Shows what examples print as they print it.

Markdown would set tabs four apart, and doctest has empty lines written as `<BLANKLINE>`.
"""

from __future__ import annotations

import re
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from mkdocs.config.defaults import MkDocsConfig
    from mkdocs.structure.files import Files
    from mkdocs.structure.pages import Page

COLUMN = 12
EMPTY = re.compile(r"^ *<BLANKLINE>$", re.MULTILINE)


def on_page_markdown(markdown: str, *, page: Page, config: MkDocsConfig, files: Files) -> str:  # noqa: ARG001 - MkDocs passes them by name
    """Put blanks in the place of tabs, and empty lines where doctest would end an output."""
    return EMPTY.sub("", markdown.expandtabs(COLUMN))
