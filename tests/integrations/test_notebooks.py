"""The cells of the page about notebooks run in a real kernel, and show what the page says.

With `RANKSCOPE_PICTURES=FOLDER`, Chromium takes screenshots of the exported notebook: light and
dark, wide and narrow.
"""

from __future__ import annotations

import os
import shutil
import subprocess
from pathlib import Path

import pytest

from docs.hooks.blocks import read_blocks

nbformat = pytest.importorskip("nbformat")
nbclient = pytest.importorskip("nbclient")
nbconvert = pytest.importorskip("nbconvert")
pytest.importorskip("ipykernel")

pytestmark = [
    pytest.mark.timeout(600),
    # Of Jupyter's own parts, about each other.
    pytest.mark.filterwarnings("ignore::DeprecationWarning", "ignore::ResourceWarning"),
    pytest.mark.filterwarnings("ignore::nbformat.warnings.MissingIDFieldWarning"),
    pytest.mark.filterwarnings("ignore::pytest.PytestUnraisableExceptionWarning"),
]

PAGE = Path(__file__).resolve().parents[2] / "docs" / "notebooks.md"
THEMES = ("light", "dark")
WIDTHS = (1280, 390)


@pytest.fixture(scope="module")
def notebook():
    """The code blocks of the page as cells, executed."""
    codes = [block.code for block in read_blocks(PAGE.read_text("utf-8"))]
    codes = [code for code in codes if "pip install" not in code]
    made = nbformat.v4.new_notebook(
        cells=[nbformat.v4.new_code_cell(code.strip()) for code in codes]
    )
    return nbclient.NotebookClient(made, timeout=600, kernel_name="python3").execute()


def find_cell(notebook, text):
    return next(cell for cell in notebook.cells if text in cell.source)


@pytest.mark.parametrize(
    ("text", "kind"),
    [
        ("rs.evaluate(qrels, runs,", "text/html"),
        ("rs.compare(qrels, runs, nDCG @ 10)", "text/html"),
        ("rankings.losses(nDCG @ 10)", "text/html"),
        ("rankings.explain(", "text/html"),
        ("LossBars.of_runs", "image/png"),
        ('ax.set_xlabel("', "image/png"),
        ("rs.report(", "text/html"),
    ],
)
def test_a_cell_shows_its_last_expression_once(notebook, text, kind):
    (output,) = find_cell(notebook, text).outputs
    assert output.output_type == "execute_result"
    assert set(output.data) == {"text/plain", kind}


def test_a_plot_has_its_title_as_alternative_text(notebook):
    (output,) = find_cell(notebook, "LossBars.of_runs").outputs
    assert output.metadata["image/png"]["alt"] == "What nDCG@10 lost, by run"


def test_a_report_is_in_a_frame(notebook):
    (output,) = find_cell(notebook, "rs.report(").outputs
    assert output.data["text/html"].startswith('<iframe title="3 runs against qrels" sandbox=')


@pytest.mark.parametrize("theme", THEMES)
def test_an_exported_notebook_keeps_results(notebook, theme, tmp_path):
    exporter = nbconvert.HTMLExporter(template_name="lab", theme=theme)
    page, _ = exporter.from_notebook_node(notebook)
    assert page.count('class="rankscope-result"') >= 3
    assert page.count('<div class="jp-RenderedImage') == 2
    assert page.count("<iframe") == 1
    if folder := os.environ.get("RANKSCOPE_PICTURES"):
        path = tmp_path / f"{theme}.html"
        path.write_text(page, encoding="utf-8")
        for width in WIDTHS:
            photograph(path, Path(folder) / f"notebook-{theme}-{width}.png", width)


def photograph(page, picture, width):
    program = shutil.which("chromium")
    assert program is not None, "expected the browser chromium in PATH"
    settings = ("--headless", "--no-sandbox", "--disable-gpu", "--hide-scrollbars")
    subprocess.run(
        [
            program,
            *settings,
            f"--user-data-dir={page.parent / picture.stem}",
            f"--window-size={width},5600",
            f"--screenshot={picture}",
            page.as_uri(),
        ],
        check=True,
        capture_output=True,
    )
