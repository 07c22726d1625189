"""Draw the plots of pages: `<!-- plot: draw_forest(comparison, "AP") The alternative text. -->`.

The Python code of the page is executed up to this line, and the plot is drawn on a light and on a
dark background. The page shows the one that fits its color scheme.
"""

from __future__ import annotations

import doctest
import os
import re
import runpy
import tempfile
from contextlib import chdir
from itertools import count
from pathlib import Path
from typing import TYPE_CHECKING

from rankscope import plots

if TYPE_CHECKING:
    from mkdocs.config.defaults import MkDocsConfig
    from mkdocs.structure.files import Files
    from mkdocs.structure.pages import Page

PLACE = re.compile(
    r"^<!-- plot: (?P<function>\w+)\((?P<arguments>[^)]+)\) (?P<about>[^>]+) -->$", re.MULTILINE
)
THEMES = ("light", "dark")
BLOCKS = runpy.run_path(str(Path(__file__).with_name("blocks.py")))


def address(page: str, number: int, theme: str) -> str:
    """Return the path of a plot."""
    return f"plots/{Path(page).stem}-{number}-{theme}.svg"


def draw_plots(page: str, text: str) -> dict[str, str]:
    """Return the plots of a page as SVG, by path."""
    drawn: dict[str, str] = {}
    names: dict[str, object] = {"__name__": "__page__"}
    start = 0
    with tempfile.TemporaryDirectory() as folder, chdir(folder):
        for number, place in enumerate(PLACE.finditer(text), start=1):
            run_blocks(text[start : place.start()], names)
            start = place.end()
            for theme in THEMES:
                call = f"{place['function']}({place['arguments']}, theme={theme!r})"
                ax = eval(call, vars(plots) | names)  # noqa: S307 - our own pages
                drawn[address(page, number, theme)] = plots.to_svg(ax)
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
    from mkdocs.structure.files import File

    for page in list(files.documentation_pages()):
        for path, svg in draw_plots(page.src_uri, page.content_string).items():
            files.append(File.generated(config, path, content=svg))
    return files


def on_page_markdown(markdown: str, *, page: Page, config: MkDocsConfig, files: Files) -> str:  # noqa: ARG001 - MkDocs passes them by name
    """Replace the comments with the plots."""
    uri = page.file.src_uri
    numbers = count(1)

    def show(place: re.Match[str]) -> str:
        number = next(numbers)
        return "\n".join(
            f"![{place['about']}]({relative(address(uri, number, theme), uri)}#only-{theme})"
            for theme in THEMES
        )

    return PLACE.sub(show, markdown)


def relative(path: str, page: str) -> str:
    """Return the path of a file relative to a page."""
    return os.path.relpath(path, Path(page).parent).replace(os.sep, "/")
