"""Convert the formulas of a page to MathML, so that the page needs no script."""

from __future__ import annotations

import html
import re
from typing import TYPE_CHECKING

from latex2mathml.converter import convert

if TYPE_CHECKING:
    from mkdocs.config.defaults import MkDocsConfig
    from mkdocs.structure.files import Files
    from mkdocs.structure.pages import Page

# The output of the Markdown extension arithmatex: \( … \) in a span, \[ … \] in a div.
FORMULA = re.compile(
    r'<(?P<tag>span|div) class="arithmatex">\\[(\[](?P<latex>.*?)\\[)\]]</(?P=tag)>', re.DOTALL
)


def render(match: re.Match[str]) -> str:
    """Return a formula as inline or block MathML."""
    latex = html.unescape(match["latex"]).strip()
    if match["tag"] == "div":
        return f'<div class="formula">{convert(latex, display="block")}</div>'
    return convert(latex, display="inline")


def on_page_content(html: str, *, page: Page, config: MkDocsConfig, files: Files) -> str:  # noqa: ARG001 - MkDocs passes them by name
    """Replace the formulas in the HTML of a page."""
    return FORMULA.sub(render, html)
