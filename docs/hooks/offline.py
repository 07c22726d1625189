"""Stop the build if a page would load anything from another site."""

from __future__ import annotations

from html.parser import HTMLParser
from typing import TYPE_CHECKING

from mkdocs.exceptions import PluginError

if TYPE_CHECKING:
    from mkdocs.config.defaults import MkDocsConfig
    from mkdocs.structure.pages import Page

# The attributes with URLs that a browser loads without a click.
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
# The kinds of `<link>` that a browser doesn't load.
ADDRESSES = {"canonical", "next", "prev"}


class Loads(HTMLParser):
    """Collects the URLs outside of the site that a page loads without a click."""

    def __init__(self) -> None:
        super().__init__()
        self.foreign: list[str] = []

    def handle_starttag(self, tag: str, attrs: list[tuple[str, str | None]]) -> None:
        """Check one element."""
        attributes = dict(attrs)
        address = attributes.get(LOADS.get(tag, "")) or ""
        if "//" in address and attributes.get("rel") not in ADDRESSES:
            self.foreign.append(address)


def on_post_page(output: str, *, page: Page, config: MkDocsConfig) -> None:  # noqa: ARG001 - MkDocs passes it by name
    """Check the HTML of a page before it is written."""
    loads = Loads()
    loads.feed(output)
    if loads.foreign:
        message = (
            f"{page.file.src_uri}: expected nothing loaded from elsewhere, found {loads.foreign}"
        )
        raise PluginError(message)
