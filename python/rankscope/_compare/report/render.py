"""Renders the page of a report: one file that includes its style and script."""

from __future__ import annotations

import base64
from functools import cache
from hashlib import sha256
from importlib.resources import files

from rankscope._core import __version__
from rankscope.derivation.write import html
from rankscope.web.templating import make_environment, read_style, read_template

TYPE_CHECKING = False
if TYPE_CHECKING:
    from jinja2 import Environment

    from rankscope._compare.report.report import Report


@cache
def make_pages() -> Environment:
    """Make what fills the templates; to compile them takes longer than to fill them."""
    return make_environment("rankscope._compare.report", extra="plot")


def render(report: Report) -> str:
    """Render the page."""
    own = files("rankscope._compare.report") / "templates" / "report.css"
    style = html.STYLE + read_style() + own.read_text(encoding="utf-8")
    script = read_template("report.js")
    page = make_pages().get_template("page.html.j2")
    return page.render(
        report=report,
        style=style,
        script=script,
        policy=_write_csp(style, script),
        version=__version__,
    )


def _write_csp(style: str, script: str) -> str:
    """Write a policy that allows the page's own script and style, and nothing else."""
    return "; ".join(
        [
            "default-src 'none'",
            f"script-src '{_digest(script)}'",
            f"style-src '{_digest(style)}'",
            "base-uri 'none'",
            "form-action 'none'",
        ]
    )


def _digest(text: str) -> str:
    return f"sha256-{base64.b64encode(sha256(text.encode()).digest()).decode()}"
