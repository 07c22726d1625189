"""Reads the fenced blocks of a page: what is run, what is written to a file, what is only shown."""

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
    """A fenced block of a page."""

    language: str
    title: str
    code: str
    line: int


def read_blocks(text: str) -> list[Block]:
    """The fenced blocks of a page, in its order."""
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
