"""Text without names of columns: one ID a line, and tables that name none."""

from __future__ import annotations

from typing import TYPE_CHECKING

from rankscope._inputs.files import read_first_line, read_whole
from rankscope.errors import FormatError

if TYPE_CHECKING:
    from rankscope._inputs.recognition import Input

OLDEST = 100_000_000
"""The smallest whole number that is taken for seconds since 1970: of the year 1973."""
TABS = 4
BARS = 3

NAMES = {
    "history": "['user_id', 'item_id', 'rating', 'timestamp']",
    "qrels": "['user_id', 'item_id', 'rating', 'timestamp']",
    "items": "['item_id', 'title', 'genres']",
}
"""By argument, the columns of MovieLens."""


def read_lines(found: Input, encoding: str) -> list[str]:
    """Return the lines of a file of text, without blank ones."""
    given = "-" if found.source is None else found.source
    try:
        lines = read_whole(given, found.name, encoding).decode("utf-8-sig").splitlines()
    except UnicodeDecodeError:
        raise FormatError(
            "expected lines of text in UTF-8, found other bytes",
            hint="say encoding='latin-1' or --encoding latin-1, or save it as UTF-8",
            code="not_utf8",
            file=found.name,
        ) from None
    for number, line in enumerate(lines, 1):
        if len(line.split()) > 1:
            raise FormatError(
                f"expected one ID in each line, found {len(line.split())} words",
                hint="say what it is: --format csv, or File(path, 'csv')",
                code="columns",
                file=found.name,
                line=number,
            )
    return [line.strip() for line in lines if line.strip()]


def refuse_unnamed_columns(found: Input, role: str) -> None:
    """Raise an error for a file of MovieLens that doesn't name its columns."""
    if found.kind != "file" or not isinstance(found.value, str):
        return
    line = read_first_line(found.value)
    tabs = line.split("\t")
    names = f"names={NAMES[role]}"
    if role == "qrels" and (len(tabs) != TABS or tabs[1] == "0"):
        return  # other lines of TREC can hold :: and |, and the second column is 0 in most
    if role != "qrels" and "::" in line:
        what, sign = "columns with :: between", "'::', engine='python'"
    elif role != "qrels" and line.count("|") >= BARS:
        what, sign, names = "columns with | between", "'|'", "header=None"
    elif len(tabs) == TABS and tabs[-1].isdecimal() and int(tabs[-1]) >= OLDEST:
        what, sign = "four columns with tabs between, the last of which is a time", r"'\t'"
    else:
        return
    named = ", and name its columns" if names == "header=None" else ""
    raise FormatError(
        f"expected a first line that names the columns, found {what}",
        hint=f"pass {role}=pandas.read_csv(path, sep={sign}, {names}, encoding='latin-1'){named}; "
        "or write that to a CSV file",
        code="columns",
        file=found.name,
        line=1,
    )
