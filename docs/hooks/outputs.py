"""Shows what examples print as they print it.

Markdown would set tabs four apart, doctest has empty lines written as `<BLANKLINE>`, and outputs
are not to be coloured as code is.
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
SESSION = re.compile(r"^( *```)python(?=[^\n]*\n *>>> )", re.MULTILINE)


def on_page_markdown(markdown: str, *, page: Page, config: MkDocsConfig, files: Files) -> str:  # noqa: ARG001 - MkDocs passes them by name
    """Put blanks for tabs and empty lines for their names, and have code told from its output."""
    return SESSION.sub(r"\1pycon", EMPTY.sub("", markdown.expandtabs(COLUMN)))
