"""The blocks of an explanation, independent of a format: headings, sentences, tables and more."""

from __future__ import annotations

from rankscope.records import record

TYPE_CHECKING = False
if TYPE_CHECKING:
    from typing import TypeAlias

    Inline: TypeAlias = "str | Id | Math"
    Block: TypeAlias = "Heading | Sentence | Note | Equation | Grid"


@record(frozen=True, slots=True)
class Id:
    """The id of a query or document, which may contain any characters.

    Args:
        text: The identifier.
    """

    text: str


@record(frozen=True, slots=True)
class Math:
    """A formula among words.

    Args:
        text: It as plain text.
        latex: It as LaTeX.
    """

    text: str
    latex: str


@record(frozen=True, slots=True)
class Heading:
    """A heading.

    Args:
        parts: Our words, and identifiers.
    """

    parts: tuple[Inline, ...]


@record(frozen=True, slots=True)
class Sentence:
    """One or more sentences.

    Args:
        parts: Our words, and identifiers.
    """

    parts: tuple[Inline, ...]


@record(frozen=True, slots=True)
class Note:
    """A note on how to reproduce the value.

    Args:
        text: Our words.
    """

    text: str


@record(frozen=True, slots=True)
class Term:
    """A term of a sum.

    Args:
        text: It as plain text.
        latex: It as LaTeX.
        is_negative: Whether it is subtracted.
    """

    text: str
    latex: str
    is_negative: bool = False


@record(frozen=True, slots=True)
class Equation:
    """A quantity and what it equals, step by step.

    Args:
        text: The quantity as plain text.
        latex: The quantity as LaTeX.
        steps: The sums that are equal to it.
    """

    text: str
    latex: str
    steps: tuple[tuple[Term, ...], ...]


@record(frozen=True, slots=True)
class Column:
    """A column of a table.

    Args:
        name: Its name.
        is_text: Whether it holds words, which begin on the left.
    """

    name: str
    is_text: bool = False


@record(frozen=True, slots=True)
class Aside:
    """A remark that spans a table, in place of rows.

    Args:
        text: The remark.
    """

    text: str


@record(frozen=True, slots=True)
class Grid:
    """A table.

    Args:
        title: What it shows.
        columns: Its columns.
        rows: Its rows: a cell a column, or a remark.
    """

    title: str
    columns: tuple[Column, ...]
    rows: tuple[tuple[Inline, ...] | Aside, ...]


LONGEST_ID = 48


def shorten(shown: str) -> str:
    """Shorten a long id in the middle, because its ends often identify it.

    Examples:
        >>> shorten("https://example.org/" + "a/" * 40 + "page-17")
        'https://example.org/a/a/…/a/a/a/a/a/a/a/a/page-17'
    """
    if len(shown) <= LONGEST_ID:
        return shown
    half = LONGEST_ID // 2
    return f"{shown[:half]}…{shown[-half:]}"
