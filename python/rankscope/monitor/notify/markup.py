"""Messages as plain text, Markdown and HTML, in which names from the data mean nothing.

The sender of events chooses the names of models, versions and slices, and some of those names end
up in a chat or a mailbox. No name may break out of its line, become a link, a heading or a tag, or
call people (`@channel`, `<!here>`), in any of the three formats.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from html import escape
from typing import TypeAlias

from rankscope._show.table import show

MOST_TITLE = 200
MOST_NAME = 100
MOST_TEXT = 600
BREAK = "\u200b"
"""A space of no width. It is no part of any mention or address, so that neither is recognized."""

CALLS = re.compile(r"@(?=[^\W\d])|(?<!\w)@(?=\w)|<(?=[@#!&/:]|[^\W\d_]{1,20}:)|\](?=[(\[:])")
"""Where mentions and the special sequences of chats begin, and the addresses of labels."""

LINKS = re.compile(
    r"((?<![^\s(])[+-]?[0-9]+\.[0-9]+(?=[%),;:.]*(?:\s|$)))"
    r"|(?<=[^\W\d_]):(?=\S)|(?<=\w):(?=//)|/(?=/)|(?<=\S)[.\u3002\uff0e\uff61](?=\S)"
)
"""Where an address would be taken for one: after a scheme, between slashes, at dots of a domain.

Only clients know which domains there are, so every dot within a word counts, in any script. The
group is a number by itself, which is no address and can be copied.
"""

SPACES = re.compile(r"\s+")
MARKDOWN = re.compile(r"([\\`*_\[\]<>~|#!])")


@dataclass(frozen=True, slots=True)
class Text:
    """A sentence, or a part of one."""

    text: str


@dataclass(frozen=True, slots=True)
class Strong:
    """A part of a sentence that stands out."""

    text: str


@dataclass(frozen=True, slots=True)
class Name:
    """A name or a value from the data, shown as it is."""

    text: str


@dataclass(frozen=True, slots=True)
class Link:
    """A link.

    Args:
        text: What it is called.
        url: The address; it has to be one of the service.
    """

    text: str
    url: str


@dataclass(frozen=True, slots=True)
class Paragraph:
    """A paragraph, or an item of a list.

    Args:
        parts: What it consists of.
        is_item: Whether it is an item.
    """

    parts: tuple[Part, ...]
    is_item: bool = False


def clean(text: str, most: int = MOST_TEXT) -> str:
    r"""Return a text on one line, without what changes how the rest is read, and not too long.

    Examples:
        >>> print(clean("tv\r\nSubject: x\u202e"))
        tv Subject: x\u202e
        >>> clean("a" * 9, most=4)
        'aaa…'
    """
    said = show(SPACES.sub(" ", text))
    return said if len(said) <= most else f"{said[: most - 1]}…"


def write_title(text: str) -> str:
    r"""Return the title of a message: one line that calls nobody.

    Examples:
        >>> ascii(write_title("see www.e"))
        "'see www.\\u200be'"
    """
    return _break(clean(text.strip(), MOST_TITLE))


def write_text(paragraphs: Sequence[Paragraph]) -> str:
    """Return a message as plain text.

    Examples:
        >>> print(write_text([Paragraph((Strong("For"), Text(": "), Name("tv")))]))
        For: tv
    """
    return _join(paragraphs, _as_text)


def write_markdown(paragraphs: Sequence[Paragraph]) -> str:
    r"""Return a message as CommonMark.

    Examples:
        >>> print(write_markdown([Paragraph((Strong("For"), Text(": a_b "), Name("a_b")))]))
        **For**: a\_b `a_b`
    """
    return _join(paragraphs, _as_markdown)


def write_html(paragraphs: Sequence[Paragraph]) -> str:
    """Return a message as HTML.

    Examples:
        >>> print(write_html([Paragraph((Strong("For"), Text(": "), Name("<tv>")))]))
        <p><strong>For</strong>: <code>&lt;tv&gt;</code></p>
    """
    lines: list[str] = []
    is_open = False
    for paragraph in paragraphs:
        if paragraph.is_item != is_open:
            lines.append("<ul>" if paragraph.is_item else "</ul>")
            is_open = paragraph.is_item
        tag = "li" if paragraph.is_item else "p"
        lines.append(f"<{tag}>{''.join(map(_as_html, paragraph.parts))}</{tag}>")
    return "\n".join([*lines, "</ul>"] if is_open else lines)


def _join(paragraphs: Sequence[Paragraph], write: Callable[[Part], str]) -> str:
    """Return paragraphs with empty lines in between, and items without."""
    written = ""
    was_item = False
    for paragraph in paragraphs:
        if written:
            written += "\n" if paragraph.is_item and was_item else "\n\n"
        written += "- " * paragraph.is_item + "".join(map(write, paragraph.parts))
        was_item = paragraph.is_item
    return written


def _as_text(part: Part) -> str:
    if isinstance(part, Link):
        return f"{part.text}: {part.url}"
    most = MOST_NAME if isinstance(part, Name) else MOST_TEXT
    return _break(clean(part.text, most))


def _as_markdown(part: Part) -> str:
    if isinstance(part, Link):
        return f"[{_escape(part.text)}](<{part.url}>)"
    if isinstance(part, Name):
        # In a code span nothing means anything, except for the character that ends it.
        inner = _break(clean(part.text, MOST_NAME)).replace("`", "'").strip()
        return f"`{inner}`" if inner else "(empty)"
    said = _escape(_break(clean(part.text)))
    return f"**{said}**" if isinstance(part, Strong) else said


def _as_html(part: Part) -> str:
    if isinstance(part, Link):
        return f'<a href="{escape(part.url)}">{escape(part.text)}</a>'
    if isinstance(part, Name):
        return f"<code>{escape(_break(clean(part.text, MOST_NAME)))}</code>"
    said = escape(_break(clean(part.text)))
    return f"<strong>{said}</strong>" if isinstance(part, Strong) else said


def _break(text: str) -> str:
    """Break what would call people or become a link."""
    called = CALLS.sub(rf"\g<0>{BREAK}", text)
    return LINKS.sub(lambda found: found[0] if found[1] else f"{found[0]}{BREAK}", called)


def _escape(text: str) -> str:
    return MARKDOWN.sub(r"\\\1", text)


Part: TypeAlias = Text | Strong | Name | Link
