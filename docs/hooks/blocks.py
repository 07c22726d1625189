"""Read the fenced code blocks of a page."""

from __future__ import annotations

import re
from dataclasses import dataclass

FENCE = re.compile(
    r"^(?P<indent> *)(?P<ticks>`{3,})(?P<language>[\w-]*)(?P<rest>[^\n`]*)\n"
    r"(?P<code>.*?)^(?P=indent)(?P=ticks) *$",
    flags=re.MULTILINE | re.DOTALL,
)


@dataclass(frozen=True)
class Block:
    """A fenced code block of a page."""

    language: str
    title: str
    code: str
    line: int


def read_blocks(text: str) -> list[Block]:
    """Return the fenced code blocks of a page, in order."""
    blocks = []
    for match in FENCE.finditer(text):
        title = re.search(r'title="([^"]+)"', match["rest"])
        blocks.append(
            Block(
                language=match["language"],
                title=title[1] if title else "",
                code=re.sub(rf"^{match['indent']}", "", match["code"], flags=re.MULTILINE),
                line=text.count("\n", 0, match.start()) + 2,
            )
        )
    return blocks
