"""What an explanation is written of: headings, sentences, equations and tables, in no format."""

from __future__ import annotations

from rankscope.records import record

TYPE_CHECKING = False
if TYPE_CHECKING:
    from typing import TypeAlias

    Inline: TypeAlias = "str | Id | Math"
    Block: TypeAlias = "Heading | Sentence | Note | Equation | Grid"


@record(frozen=True, slots=True)
class Id:
    """The identifier of a query or a document, which may hold anything.

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
    """What the whole is about.

    Args:
        parts: Our words, and identifiers.
    """

    parts: tuple[Inline, ...]


@record(frozen=True, slots=True)
class Sentence:
    """A sentence, or a few.

    Args:
        parts: Our words, and identifiers.
    """

    parts: tuple[Inline, ...]


@record(frozen=True, slots=True)
class Note:
    """A line for those who want to make the value again.

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
    """A quantity, and what it is equal to, step by step.

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
    """A remark across a table, in place of rows.

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
    """Cut the middle out of a long identifier, whose ends often tell it from others.

    Examples:
        >>> shorten("https://example.org/" + "a/" * 40 + "page-17")
        'https://example.org/a/a/…/a/a/a/a/a/a/a/a/page-17'
    """
    if len(shown) <= LONGEST_ID:
        return shown
    half = LONGEST_ID // 2
    return f"{shown[:half]}…{shown[-half:]}"
