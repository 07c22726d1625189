"""Writes the reference of the Python interface from its docstrings: `::: rankscope.evaluate`."""

from __future__ import annotations

import inspect
import re
from importlib import import_module
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from collections.abc import Iterator

    from mkdocs.config.defaults import MkDocsConfig
    from mkdocs.structure.files import Files
    from mkdocs.structure.pages import Page

PLACE = re.compile(r"^::: (?P<module>[\w.]+)\.(?P<name>\w+)$", re.MULTILINE)
SECTION = re.compile(r"^(Args|Attributes|Returns|Raises|Examples):$", re.MULTILINE)
ITEM = re.compile(r"^(?P<name>\w+): (?P<text>.*(?:\n {4}.*)*)", re.MULTILINE)
MEMBERS_SHOWN = (property, classmethod)


def write_object(module: str, name: str) -> str:
    """A class with its members, or a function."""
    thing = getattr(import_module(module), name)
    if not inspect.isclass(thing):
        return write_function(thing, name, level=2)
    parts = [f"## {name}", *write_docstring(inspect.getdoc(thing) or "")]
    for member, value in vars(thing).items():
        if member.startswith("_"):
            continue
        if isinstance(value, property):
            about = inspect.getdoc(value) or ""
            result = inspect.signature(value.fget).return_annotation if value.fget else ""
            parts += [f"### {name}.{member}", f"```py\n{member}: {result}\n```"]
            parts += write_docstring(about)
        elif isinstance(value, classmethod) or inspect.isfunction(value):
            parts.append(write_function(getattr(thing, member), member, level=3, owner=name))
    return "\n\n".join(parts)


def write_function(function: object, name: str, *, level: int, owner: str = "") -> str:
    """A function with its signature and what its docstring says."""
    title = f"{owner}.{name}" if owner else name
    about = write_docstring(inspect.getdoc(function) or "")
    return "\n\n".join([f"{'#' * level} {title}", f"```py\n{sign(function, name)}\n```", *about])


def sign(function: object, name: str) -> str:
    """The signature, a parameter a line where there are several."""
    if not callable(function):
        raise TypeError(function)
    signature = inspect.signature(function)
    parameters = [str(each).replace("'", "") for each in signature.parameters.values() if each.name != "self"]
    kinds = [each.kind for each in signature.parameters.values() if each.name != "self"]
    if inspect.Parameter.KEYWORD_ONLY in kinds:
        parameters.insert(kinds.index(inspect.Parameter.KEYWORD_ONLY), "*")
    result = str(signature.return_annotation).replace("'", "")
    line = f"{name}({', '.join(parameters)}) -> {result}"
    if len(line) <= 60:
        return line
    inner = "".join(f"    {parameter},\n" for parameter in parameters)
    return f"{name}(\n{inner}) -> {result}"


def write_docstring(text: str) -> Iterator[str]:
    """The parts of a docstring as Markdown."""
    first, *rest = SECTION.split(text)
    yield first.strip()
    for title, body in zip(rest[::2], rest[1::2], strict=True):
        body = inspect.cleandoc(body)
        if title == "Examples":
            yield f"```py\n{body}\n```"
        elif title == "Returns":
            yield f"**Returns** {' '.join(body.split())}"
        else:
            yield f"**{title}**" if title != "Args" else "**Arguments**"
            for item in ITEM.finditer(body):
                yield f"`{item['name']}`\n:   {' '.join(item['text'].split())}"


def on_page_markdown(markdown: str, *, page: Page, config: MkDocsConfig, files: Files) -> str:  # noqa: ARG001 - MkDocs passes them by name
    """Put the reference of each object in its place."""
    return PLACE.sub(lambda match: write_object(match["module"], match["name"]), markdown)
