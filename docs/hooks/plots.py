"""Draw the plots of pages: `<!-- plot: draw_discounts(shown) The alternative text. -->`.

The Python code of the page is executed up to this line, and the variable `shown` is drawn on a
light and on a dark background. The page shows the one that fits its color scheme.
"""

from __future__ import annotations

import doctest
import os
import re
import runpy
import tempfile
from contextlib import chdir
from pathlib import Path
from typing import TYPE_CHECKING

from rankscope.plots import matplotlib as drawing

if TYPE_CHECKING:
    from mkdocs.config.defaults import MkDocsConfig
    from mkdocs.structure.files import Files
    from mkdocs.structure.pages import Page

PLACE = re.compile(
    r"^<!-- plot: (?P<function>\w+)\((?P<data>\w+)\) (?P<about>[^>]+) -->$", re.MULTILINE
)
THEMES = ("light", "dark")
BLOCKS = runpy.run_path(str(Path(__file__).with_name("blocks.py")))


def address(page: str, data: str, theme: str) -> str:
    """Return the path of a plot, relative to its page."""
    return f"plots/{Path(page).stem}-{data}-{theme}.svg"


def draw_plots(page: str, text: str) -> dict[str, str]:
    """Return the plots of a page as SVG, by path."""
    drawn: dict[str, str] = {}
    names: dict[str, object] = {"__name__": "__page__"}
    start = 0
    with tempfile.TemporaryDirectory() as folder, chdir(folder):
        for place in PLACE.finditer(text):
            run_blocks(text[start : place.start()], names)
            start = place.end()
            for theme in THEMES:
                ax = getattr(drawing, place["function"])(names[place["data"]], theme=theme)
                drawn[address(page, place["data"], theme)] = drawing.to_svg(ax)
    return drawn


def run_blocks(text: str, names: dict[str, object]) -> None:
    """Execute the Python blocks of a part of a page, and write its files."""
    for block in BLOCKS["read_blocks"](text):
        if block.title:
            Path(block.title).write_text(block.code, encoding="utf-8")
        elif block.language == "python":
            code = block.code
            if ">>>" in code:
                code = "".join(each.source for each in doctest.DocTestParser().get_examples(code))
            exec(compile(code, "page", "exec"), names)  # noqa: S102 - our own pages


def on_files(files: Files, *, config: MkDocsConfig) -> Files:
    """Add the plots to the site."""
    from mkdocs.structure.files import File  # noqa: PLC0415 - the tests draw plots without MkDocs

    for page in list(files.documentation_pages()):
        for path, svg in draw_plots(page.src_uri, page.content_string).items():
            files.append(File.generated(config, path, content=svg))
    return files


def on_page_markdown(markdown: str, *, page: Page, config: MkDocsConfig, files: Files) -> str:  # noqa: ARG001 - MkDocs passes them by name
    """Replace the comments with the plots."""
    uri = page.file.src_uri

    def show(place: re.Match[str]) -> str:
        paths = (address(uri, place["data"], theme) for theme in THEMES)
        shown = zip(paths, THEMES, strict=True)
        return "\n".join(
            f"![{place['about']}]({relative(path, uri)}#only-{theme})" for path, theme in shown
        )

    return PLACE.sub(show, markdown)


def relative(path: str, page: str) -> str:
    """Return the path of a file relative to a page."""
    return os.path.relpath(path, Path(page).parent).replace(os.sep, "/")
