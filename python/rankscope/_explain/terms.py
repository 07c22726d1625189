"""The blocks of an explanation, such as headings, equations and tables, and how numbers read."""

from __future__ import annotations

import math
from collections.abc import Iterable
from dataclasses import dataclass
from typing import TypeAlias

Inline: TypeAlias = "str | Id | Math"
Block: TypeAlias = "Heading | Sentence | Note | Equation | Grid"


@dataclass(frozen=True, slots=True)
class Id:
    """The id of a query or document, which may contain any characters."""

    text: str


@dataclass(frozen=True, slots=True)
class Math:
    """A formula among words."""

    text: str
    latex: str


@dataclass(frozen=True, slots=True)
class Heading:
    """A heading of words and ids."""

    parts: tuple[Inline, ...]


@dataclass(frozen=True, slots=True)
class Sentence:
    """One or more sentences of words and ids."""

    parts: tuple[Inline, ...]


@dataclass(frozen=True, slots=True)
class Note:
    """A note on how to reproduce the value."""

    text: str


@dataclass(frozen=True, slots=True)
class Term:
    """A term of a sum, which may be subtracted."""

    text: str
    latex: str
    is_negative: bool = False


@dataclass(frozen=True, slots=True)
class Equation:
    """A quantity and the sums that it equals, step by step."""

    text: str
    latex: str
    steps: tuple[tuple[Term, ...], ...]


@dataclass(frozen=True, slots=True)
class Column:
    """A column of a table; words begin on the left."""

    name: str
    is_text: bool = False


@dataclass(frozen=True, slots=True)
class Aside:
    """A remark that spans a table, in place of rows."""

    text: str


@dataclass(frozen=True, slots=True)
class Grid:
    """A table, with a cell per column or a remark in each row."""

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


MOST = 1e15
"""Numbers from here on are written with an exponent."""


def write_fixed(value: float, digits: int) -> str:
    """Write a number with a fixed number of decimals, a dash if it is undefined.

    Examples:
        >>> [write_fixed(value, 4) for value in (5.0, 1.29203, 2.0**80, math.nan)]
        ['5.0000', '1.2920', '1.2089e+24', '–']
    """
    if math.isnan(value):
        return "–"
    return f"{value:.{digits}f}" if abs(value) < MOST else f"{value:.{digits}e}"


def write_number(value: float, digits: int | None) -> str:
    """Write a number with decimals, with all its digits if `None`; an integer without decimals.

    Examples:
        >>> [write_number(value, 4) for value in (5.0, 1.29203, 0.00001, -0.5)]
        ['5', '1.2920', '1e-05', '-0.5000']
        >>> write_number(5.0, None), write_number(0.1, None)
        ('5', '0.1')
    """
    if value.is_integer() and abs(value) < MOST:
        return str(int(value))
    if digits is None:
        return repr(value)
    return write_fixed(value, digits) if abs(value) >= 10**-digits else f"{value:.3g}"


MOST_TERMS = 12
"""A longer sum is cut short."""
MORE = Term("…", r"\cdots")


def list_values(values: Iterable[float], digits: int) -> list[Term]:
    """Write the terms of a sum, without those that are 0."""
    texts = [(write_fixed(abs(value), digits), value < 0) for value in values if value != 0]
    return [Term(text, text, is_negative) for text, is_negative in texts]


def cut(terms: list[Term], *, is_whole: bool) -> tuple[Term, ...]:
    """Shorten a long sum. An empty sum is 0."""
    if len(terms) > MOST_TERMS:
        return (*terms[: MOST_TERMS - 1], MORE)
    return tuple(terms if is_whole else [*terms, MORE]) or (Term("0", "0"),)


def write_terms(terms: Iterable[Term]) -> list[str]:
    """Write each term of a sum with its sign.

    Examples:
        >>> write_terms([Term("4/log2(2)", ""), Term("1/log2(3)", "", is_negative=True)])
        ['4/log2(2)', '- 1/log2(3)']
    """
    written: list[str] = []
    for term in terms:
        sign = "-" if term.is_negative else "+"
        written.append(f"{sign} {term.text}" if written else f"{'-' * term.is_negative}{term.text}")
    return written


def write_sum(terms: list[Term], *, is_whole: bool) -> str:
    """Write a sum of any length on one line."""
    return " ".join(write_terms(terms if is_whole else [*terms, MORE])) or "0"
