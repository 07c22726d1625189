"""Values, shares and names as text."""

from __future__ import annotations


def format_value(value: float) -> str:
    """Return a value with four decimal places, like trec_eval."""
    return "nan" if value != value else f"{value:.4f}"  # noqa: PLR0124 - NaN alone differs


def format_share(share: float) -> str:
    """Write a share as a percentage.

    Examples:
        >>> print(format_share(0.1234))
        12.3%
    """
    return f"{100 * share:.1f}%"


def show(text: str) -> str:
    r"""Return a text on one line, with escapes for characters that aren't printable.

    Examples:
        >>> print(show("a\tb\u202e"))
        a\tb\u202e
    """
    if text.isprintable():
        return text
    return "".join(
        character if character.isprintable() else character.encode("unicode_escape").decode()
        for character in text
    )


LONGEST_NAME = 60
"""Longer names are cut where they stand in a sentence."""


def show_name(name: str) -> str:
    r"""Return a name as part of a sentence, whose direction stays its own.

    Examples:
        >>> show_name("bm25"), show_name("\u05e9\u05dc") == "\u2068\u05e9\u05dc\u2069"
        ('bm25', True)
    """
    text = show(name)
    if len(text) > LONGEST_NAME:
        text = f"{text[: LONGEST_NAME - 1]}…"
    if text.isascii():
        return text
    from unicodedata import bidirectional  # noqa: PLC0415 - few names need it

    if {"R", "AL"}.isdisjoint(map(bidirectional, text)):
        return text
    return f"\u2068{text}\u2069"


def show_lines(text: str) -> str:
    """Return a text of several lines, each escaped like `show` does."""
    return "\n".join(map(show, text.split("\n")))


def finish(sentence: str) -> str:
    """Return a sentence with a capital and a full stop."""
    return f"{sentence[:1].upper()}{sentence[1:].rstrip('.')}."
