"""Reads a page as a browser does, as far as its elements and their attributes go."""

from __future__ import annotations

from dataclasses import dataclass, field
from html.parser import HTMLParser

VOID = {"meta", "input", "br", "link", "img", "hr"}
BREAK = "wbr"
"""Where a line may end: no element that means anything."""


@dataclass
class Element:
    """An element: its name, its attributes, all text in it, and the elements in it."""

    tag: str
    attributes: dict[str, str]
    text: str = ""
    children: list[Element] = field(default_factory=list)

    def find(self, tag, **attributes):
        """The elements below with a name and with attributes, in the order of the page."""
        found = []
        for child in self.children:
            if child.tag == tag and attributes.items() <= child.attributes.items():
                found.append(child)
            found += child.find(tag, **attributes)
        return found

    def every(self):
        return [each for child in self.children for each in (child, *child.every())]


class _Reader(HTMLParser):
    def __init__(self):
        super().__init__()
        self.root = Element("page", {})
        self.open = [self.root]

    def handle_starttag(self, tag, attrs):
        if tag == BREAK:
            return
        names = [name for name, _ in attrs]
        assert len(set(names)) == len(names), (tag, attrs)
        element = Element(tag, {name: value or "" for name, value in attrs})
        self.open[-1].children.append(element)
        if tag not in VOID:
            self.open.append(element)

    def handle_startendtag(self, tag, attrs):
        self.open[-1].children.append(Element(tag, {name: value or "" for name, value in attrs}))

    def handle_endtag(self, tag):
        element = self.open.pop()
        assert element.tag == tag, f"</{tag}> ends <{element.tag}>"

    def handle_data(self, data):
        for element in self.open:
            element.text += data


def read_page(html):
    """The page as elements; those that are not closed in order fail."""
    reader = _Reader()
    reader.feed(html)
    reader.close()
    assert len(reader.open) == 1
    return reader.root


def read_rows(page, name):
    """The texts of the cells of a table, or of all tables of a section, row by row."""
    (found,) = page.find("table", id=name) or page.find("section", **{"aria-labelledby": name})
    return [[cell.text for cell in row.children] for row in found.find("tr")]
