"""Renders templates of pages, with everything escaped, and formats text and numbers."""

from __future__ import annotations

import math
import re
from importlib.resources import files
from typing import TYPE_CHECKING

from rankscope._drawing import write_properties
from rankscope._explain import html
from rankscope._explain.explanation import DIGITS
from rankscope._explain.gains import Explanation
from rankscope._explain.terms import Heading, Note
from rankscope._show.table import format_share, format_value, show
from rankscope._web.charts import span, stack
from rankscope.errors import UsageError, hint_extra

if TYPE_CHECKING:
    from jinja2 import Environment
    from markupsafe import Markup


LONGEST = 200
"""Longer texts are cut: an id may have any length."""
BREAK = re.compile(r"(?<=[_./:-])(?=[^_./:-])")
LEVELS = 5
"""How many shades the cells of values have."""


def make_environment(package: str, extra: str) -> Environment:
    """Make an environment that renders templates and escapes everything."""
    try:
        from jinja2 import (
            ChoiceLoader,
            Environment,
            PackageLoader,
            StrictUndefined,
        )
    except ModuleNotFoundError as error:
        raise UsageError(
            "HTML pages need Jinja, which is not installed",
            hint=hint_extra(extra),
            code="missing_extra",
        ) from error
    environment = Environment(
        loader=ChoiceLoader([PackageLoader(package), PackageLoader("rankscope._web")]),
        autoescape=True,
        undefined=StrictUndefined,
        trim_blocks=True,
        lstrip_blocks=True,
    )
    environment.filters |= {
        "shown": shorten,
        "breakable": mark_breaks,
        "value": write_value,
        "exact": write_exactly,
        "count": "{:,}".format,
        "shade": shade,
        "percent": write_percent,
        "shown_whole": show,
        "derived": write_derivation,
    }
    environment.globals |= {"span": span, "stack": stack}
    return environment


def read_template(name: str) -> str:
    """Read a file that the report and the dashboard share, such as their script."""
    return (files("rankscope._web") / "templates" / name).read_text(encoding="utf-8")


def read_style() -> str:
    """Return the style that the report and the dashboard share, with the colors of the palette."""
    return write_properties() + read_template("look.css")


def shorten(text: object) -> str:
    r"""Write text on one line, with unprintable characters escaped, shortened if very long.

    Examples:
        >>> print(shorten("a\u202eb"), len(shorten("a" * 1_000_000)))
        a\u202eb 224
    """
    whole = str(text)
    if len(whole) <= LONGEST:
        return show(whole)
    return f"{show(whole[:LONGEST])}… ({len(whole):,} characters)"


def mark_breaks(text: str) -> Markup:
    """Mark where a long name can break: after the characters that join its words.

    Examples:
        >>> print(mark_breaks("<old>_bm25.run"))
        &lt;old&gt;_<wbr>bm25.<wbr>run
    """
    from markupsafe import Markup

    return Markup("<wbr>").join(BREAK.split(text))


def write_derivation(explanation: Explanation) -> Markup:
    """Write the explanation of a value, without what the page around it says."""
    from markupsafe import Markup

    blocks = explanation.lay_out(DIGITS)
    kept = [block for block in blocks if not isinstance(block, Heading | Note)]
    return Markup(html.write(kept))  # noqa: S704 - it escapes what it writes


def write_value(value: float | None) -> str:
    """Write a value with four decimals, a dash if there is none."""
    return "–" if value is None or math.isnan(value) else format_value(value)


def write_exactly(value: float | None) -> str:
    """Write a value for sorting rows, empty if there is none."""
    return "" if value is None or math.isnan(value) else f"{value:.9g}"


def write_percent(share: float) -> str:
    """Write a share as a percentage."""
    return "–" if math.isnan(share) else format_share(share)


def shade(value: float) -> str:
    """Return the shade of a cell for a value between 0 and 1.

    Examples:
        >>> [shade(value) for value in (0.0, 0.5, 1.0, 3.0)]
        ['s0', 's2', 's5', '']
    """
    return f"s{int(value * LEVELS)}" if 0 <= value <= 1 else ""
