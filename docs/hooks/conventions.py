"""Writes the table of conventions, and what else their rows say: `<!-- conventions: table -->`."""

from __future__ import annotations

import re
from typing import TYPE_CHECKING

from rankscope.conventions import TABLE
from rankscope.conventions.describe import describe_forms, describe_option, describe_rest
from rankscope.measures.table import measure

if TYPE_CHECKING:
    from mkdocs.config.defaults import MkDocsConfig
    from mkdocs.structure.files import Files
    from mkdocs.structure.pages import Page
    from rankscope.conventions import Convention

PLACE = re.compile(r"^<!-- conventions: (?P<what>table|rows) -->$", re.MULTILINE)


def write_table() -> str:
    """A line a convention: its nDCG, its policy, and how that is known."""
    lines = [
        f"| [`{row.address}`](#{anchor(row)}) | {row.tool} | {write_ndcg(row)} | "
        f"{row.policy['ties']} | {row.policy['empty']} | {row.policy['missing']} | {row.verified} |"
        for row in TABLE
    ]
    head = "| convention | library | nDCG | ties | empty | missing | verified |"
    return "\n".join([head, "|" + " --- |" * 7, *lines])


def write_ndcg(row: Convention) -> str:
    """The nDCG of a row, as it is here."""
    form = next(form for form in row.forms if form.measure == "nDCG")
    return f"`{measure('nDCG')(**form.settings)}`"


def write_rows() -> str:
    """A section a convention, with all that its row says."""
    return "\n\n".join(write_row(row) for row in TABLE)


def write_row(row: Convention) -> str:
    """All that a row says."""
    items = [
        ("measures", ", ".join(f"`{form}`" for form in describe_forms(row))),
        ("options", "; ".join(describe_option(option) for option in row.options)),
        ("notes", " ".join(describe_rest(row))),
        ("not repeated", " ".join(bug.says for bug in row.bugs)),
        ("source", "; ".join(row.sources)),
    ]
    lines = [f"- **{label}**: {text}" for label, text in items if text]
    head = f"### {row.address} {{#{anchor(row)}}}"
    return "\n".join([head, "", row.summary, "", *lines])


def anchor(row: Convention) -> str:
    """Where a row is on the page."""
    return re.sub(r"\W", "-", row.address)


def on_page_markdown(markdown: str, *, page: Page, config: MkDocsConfig, files: Files) -> str:  # noqa: ARG001 - MkDocs passes them by name
    """Put the table and the rows in their places."""
    parts = {"table": write_table, "rows": write_rows}
    return PLACE.sub(lambda match: parts[match["what"]](), markdown)
