"""The table of conventions and their details, for their page."""

from __future__ import annotations

import re
from typing import TYPE_CHECKING

from rankscope._conventions import TABLE
from rankscope._conventions.table import describe
from rankscope.measures.table import measure

if TYPE_CHECKING:
    from rankscope._conventions import Convention


def write_table() -> str:
    """Return the table of conventions: nDCG, policy, and how each was verified."""
    lines = [
        f"| [`{row.address}`](#{anchor(row)}) | {row.tool} | {write_ndcg(row)} | "
        f"{row.policy.ties} | {row.policy.empty} | {row.policy.missing} | {row.verified} |"
        for row in TABLE
    ]
    head = "| convention | library | nDCG | ties | empty | missing | verified |"
    return "\n".join([head, "|" + " --- |" * 7, *lines])


def write_ndcg(row: Convention) -> str:
    """Return the nDCG of a convention in the notation of rankscope."""
    form = next(form for form in row.forms if "nDCG" in form.measures)
    return f"`{measure('nDCG')(**form.settings)}`"


def write_rows() -> str:
    """Return one section per convention."""
    return "\n\n".join(write_row(row) for row in TABLE)


def write_row(row: Convention) -> str:
    """Return the section of a convention."""
    says = describe(row)
    items = [
        ("measures", ", ".join(f"`{form}`" for form in says["measures"])),
        ("options", "; ".join(says["options"])),
        ("notes", " ".join(says["notes"])),
        ("bugs, not reproduced", " ".join(row.bugs.values())),
        ("source", row.source),
    ]
    lines = [f"- **{label}**: {text}" for label, text in items if text]
    # GitHub and MkDocs make other anchors of a heading with dots.
    head = f'<a id="{anchor(row)}"></a>\n\n### {row.address}'
    return "\n".join([head, "", row.summary, "", *lines])


def anchor(row: Convention) -> str:
    """Return the anchor of a convention on the page."""
    return re.sub(r"\W", "-", row.address)
