"""Show the output of examples as it is printed.

Markdown expands tabs to four columns, doctest writes empty lines as `<BLANKLINE>`, and output must
not be highlighted as code.
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
    """Expand tabs, replace `<BLANKLINE>`, and mark sessions so that output isn't highlighted."""
    return SESSION.sub(r"\1pycon", EMPTY.sub("", markdown.expandtabs(COLUMN)))
