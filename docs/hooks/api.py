"""Write the reference of the Python API from its docstrings: `::: rankscope.evaluate`."""

from __future__ import annotations

import inspect
import re
from importlib import import_module
from typing import TYPE_CHECKING

import rankscope

if TYPE_CHECKING:
    from collections.abc import Iterator

    from mkdocs.config.defaults import MkDocsConfig
    from mkdocs.structure.files import Files
    from mkdocs.structure.pages import Page

PLACE = re.compile(r"^::: (?P<module>[\w.]+)\.(?P<name>\w+)$", re.MULTILINE)
SECTION = re.compile(r"^(Args|Attributes|Returns|Raises|Examples):$", re.MULTILINE)
LINE = 60
ITEM = re.compile(r"^(?P<name>\**\w+): (?P<text>.*(?:\n(?: {4}.*)?)*)", re.MULTILINE)
POINT = re.compile(r"\n+ *- ")


def write_object(module: str, name: str) -> str:
    """Return the reference of a class with its members, or of a function."""
    thing = getattr(import_module(module), name)
    # Objects of the monitor are returned, and not imported.
    is_imported = module != "rankscope" and not module.startswith("rankscope.monitor")
    title = f"{module}.{name}" if is_imported else name
    if not inspect.isclass(thing):
        return write_function(thing, name, level=3, title=title)
    parts = [f"### {title}", *write_docstring(inspect.getdoc(thing) or "")]
    members = list_members(thing)
    properties = {key: value for key, value in members.items() if isinstance(value, property)}
    if properties:
        parts += ["**Properties**", *(write_property(*item) for item in properties.items())]
    for member, value in members.items():
        if isinstance(value, classmethod) or inspect.isfunction(value):
            function = getattr(thing, member)
            parts.append(write_function(function, member, level=4, title=f"{name}.{member}"))
    return "\n\n".join(parts)


def list_members(thing: type) -> dict[str, object]:
    """Return the public members of a class, including those inherited from private classes."""
    public = {value for value in vars(rankscope).values() if inspect.isclass(value)} - {thing}
    parts = [part for part in reversed(thing.__mro__) if part not in {*public, object}]
    inherited = [part for part in parts if part.__module__.startswith("rankscope")]
    members = (item for part in inherited for item in vars(part).items())
    return {key: value for key, value in members if not key.startswith("_")}


def write_property(name: str, value: property) -> str:
    """Return the entry of a property: its docstring and its type."""
    kind = inspect.signature(value.fget).return_annotation if value.fget else ""
    about = " ".join((inspect.getdoc(value) or "").split())
    return f"`{name}`\n:   {about} `{kind}`"


def write_function(function: object, name: str, *, level: int, title: str) -> str:
    """Return the reference of a function: its signature and its docstring."""
    about = write_docstring(inspect.getdoc(function) or "")
    signed = sign(function, name).replace("-> Self", f"-> {title.partition('.')[0]}")
    return "\n\n".join([f"{'#' * level} {title}", f"```py\n{signed}\n```", *about])


def sign(function: object, name: str) -> str:
    """Return the signature, with one parameter per line if it is long."""
    if not callable(function):
        raise TypeError(function)
    signature = inspect.signature(function)
    written = [of for of in signature.parameters.values() if of.name != "self"]
    parameters = [write_parameter(parameter) for parameter in written]
    kinds = [parameter.kind for parameter in written]
    if inspect.Parameter.KEYWORD_ONLY in kinds:
        parameters.insert(kinds.index(inspect.Parameter.KEYWORD_ONLY), "*")
    result = signature.return_annotation
    line = f"{name}({', '.join(parameters)}) -> {result}"
    if len(line) <= LINE:
        return line
    inner = "".join(f"    {parameter},\n" for parameter in parameters)
    return f"{name}(\n{inner}) -> {result}"


def write_parameter(parameter: inspect.Parameter) -> str:
    """Return a parameter with its type and default, as in the source."""
    text = f"{parameter.name}: {parameter.annotation}"
    if parameter.kind is inspect.Parameter.VAR_KEYWORD:
        text = f"**{text}"
    if parameter.default is inspect.Parameter.empty:
        return text
    return f"{text} = {parameter.default!r}".replace("'", '"')


def write_docstring(text: str) -> Iterator[str]:
    """Yield the parts of a docstring as Markdown."""
    first, *rest = SECTION.split(text)
    yield first.strip()
    for title, section in zip(rest[::2], rest[1::2], strict=True):
        body = inspect.cleandoc(section)
        if title == "Examples":
            yield f"```py\n{body}\n```"
        elif title == "Returns":
            yield "**Returns**"
            yield " ".join(body.split())
        else:
            yield "**Arguments**" if title == "Args" else f"**{title}**"
            for item in ITEM.finditer(body):
                text, *points = (" ".join(part.split()) for part in POINT.split(item["text"]))
                listed = "".join(f"\n    - {point}" for point in points)
                yield f"`{item['name']}`\n:   {text}{listed and chr(10) + listed}"


def on_page_markdown(markdown: str, *, page: Page, config: MkDocsConfig, files: Files) -> str:  # noqa: ARG001 - MkDocs passes them by name
    """Replace each `:::` line with the reference of its object."""
    return PLACE.sub(lambda match: write_object(match["module"], match["name"]), markdown)
