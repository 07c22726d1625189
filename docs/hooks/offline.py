"""Refuses to build a page that would make the reader's browser fetch something from elsewhere."""

from __future__ import annotations

from html.parser import HTMLParser
from typing import TYPE_CHECKING

from mkdocs.exceptions import PluginError

if TYPE_CHECKING:
    from mkdocs.config.defaults import MkDocsConfig
    from mkdocs.structure.pages import Page

# Where HTML names what a browser loads by itself. A link that the reader follows is no such place.
LOADS = {
    "audio": "src",
    "embed": "src",
    "iframe": "src",
    "img": "src",
    "link": "href",
    "object": "data",
    "script": "src",
    "source": "src",
    "video": "src",
}
# Links that are addresses, not things to load.
ADDRESSES = {"canonical", "next", "prev"}


class Loads(HTMLParser):
    """Collects the addresses outside the site that a page loads by itself."""

    def __init__(self) -> None:
        super().__init__()
        self.foreign: list[str] = []

    def handle_starttag(self, tag: str, attrs: list[tuple[str, str | None]]) -> None:
        """Look at one element."""
        attributes = dict(attrs)
        address = attributes.get(LOADS.get(tag, "")) or ""
        if "//" in address and attributes.get("rel") not in ADDRESSES:
            self.foreign.append(address)


def on_post_page(output: str, *, page: Page, config: MkDocsConfig) -> None:  # noqa: ARG001 - MkDocs passes it by name
    """Check a page as it will be written."""
    loads = Loads()
    loads.feed(output)
    if loads.foreign:
        message = (
            f"{page.file.src_uri}: expected nothing loaded from elsewhere, found {loads.foreign}"
        )
        raise PluginError(message)
