"""The table of conventions, in the order in which they are listed."""

from __future__ import annotations

from typing import Any

from rankscope._conventions import learning, recommending, trec
from rankscope._conventions.spec import Convention, Form
from rankscope._names import find_closest, quote
from rankscope.errors import UsageError
from rankscope.measures.table import measure

TABLE: tuple[Convention, ...] = (*trec.ROWS, *learning.ROWS, *recommending.ROWS)
"""Of several versions, the newest one that was run comes first: its name alone means it."""


def find(name: Convention | str) -> Convention:
    """Return the convention with a name, or with a name and version.

    Args:
        name: A name such as `lightgbm` or `trec_eval@10.0`. Without a version, this is the newest
            version that was run, or the newest one if none was.

    Raises:
        UsageError: There is no such convention.

    Examples:
        >>> find("trec_eval"), find("trec_eval@10.0")
        (Convention('trec_eval@9.0.8'), Convention('trec_eval@10.0'))
    """
    if isinstance(name, Convention):
        return name
    for row in TABLE:
        if name in (row.name, row.address):
            return row
    stem = str(name).partition("@")[0]
    names = list(dict.fromkeys(row.name for row in TABLE))
    if stem in names:
        message = f"unknown version of {stem}: {quote(name)}"
        addresses = " and ".join(row.address for row in TABLE if row.name == stem)
        hint = f"the known versions are {addresses}"
    else:
        closest = find_closest(str(name), names)
        message = f"unknown convention {quote(name)}"
        hint = f"did you mean {closest}?" if closest else f"the conventions are {', '.join(names)}"
    raise UsageError(message, hint=hint, code="unknown_convention")


def describe(row: Convention) -> dict[str, Any]:
    """Return what a convention does, in words, by the keys of its JSON document."""
    notes = [row.notes] if row.notes else []
    if row.limit is not None:
        notes.append(f"It {row.limit.says}.")
    if row.truncates:
        notes.append("It truncates grades to integers.")
    if row.computes_in == "float32":
        notes.append("It computes in single precision; rankscope uses double precision.")
    return {
        "library": row.tool,
        "summary": row.summary,
        "verified": row.verified,
        "policy": str(row.policy),
        "score_type": row.score_type,
        "measures": [_describe_form(form, name) for form in row.forms for name in form.measures],
        "options": [
            f"{option.name}: {option.field} can be {' or '.join(option.values) or 'any'}"
            for option in row.options
        ],
        "notes": notes,
        "not_repeated": dict(row.bugs),
        "sources": [row.source],
    }


def _describe_form(form: Form, name: str) -> str:
    """Return a measure, with the policy fields in which it differs."""
    text = measure(name)(**form.settings).name
    if form.cut is not None:
        text += " with a cutoff" if form.cut else " without a cutoff"
    return f"{text} ({form.policy})" if form.policy else text
