"""The names of measures in rankscope and in other tools."""

from __future__ import annotations

from functools import cache

from rankscope.measures import other_names, spelling
from rankscope.measures.table import TABLE, measure
from rankscope.records import record

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Iterator
    from typing import Literal, TypeAlias

    from rankscope.measures.domains import Value
    from rankscope.measures.spec import Measure, Name, Row

    Tool: TypeAlias = Literal["trec_eval", "ir_measures", "ranx", "sklearn"]

TOOLS: tuple[Tool, ...] = ("trec_eval", "ir_measures", "ranx", "sklearn")
EXAMPLES = {"k": 10, "recall": 0.1, "p": 0.9, "multiple": 0.2}


@record(frozen=True, slots=True)
class Spelling:
    """One way to write a measure.

    Args:
        text: The name, or the part of it before a value.
        measure: The measure.
        takes: The parameter whose value follows the text, or an empty string.
    """

    text: str
    measure: Measure
    takes: str = ""


@record(frozen=True, slots=True)
class Translation:
    """The name of a measure in another tool and in rankscope.

    Args:
        theirs: The name in the other tool, with an example of its cutoff.
        ours: The canonical name of the same example.
        note: How the measure of the other tool differs, or an empty string.
    """

    theirs: str
    ours: str
    note: str


def names_in(row: Row, tool: Tool) -> tuple[Name, ...]:
    """Return the names that a tool has for a measure."""
    names: tuple[Name, ...] = getattr(row, tool)
    return names


def translations(tool: Tool) -> list[Translation]:
    """Return the names that a tool uses for all measures.

    Examples:
        >>> [f"{line.theirs} is {line.ours}" for line in translations("trec_eval")][:2]
        ['ndcg is nDCG', 'ndcg_cut_10 is nDCG@10']
    """
    lines = []
    for row in TABLE.values():
        for name in names_in(row, tool):
            stem, takes = _split(name)
            ours = measure(row.name)(**name.settings)
            if takes:
                ours = ours(**{takes: EXAMPLES[takes]})
            theirs = stem + _their_number(tool, takes, EXAMPLES[takes]) if takes else name.text
            lines.append(Translation(theirs, ours.name, name.note))
    return lines


def name_in(ours: Measure, tool: Tool) -> str | None:
    """Return the name that a tool uses for a measure, or `None` if it has none.

    Examples:
        >>> from rankscope.measures import nDCG
        >>> name_in(nDCG @ 10, "trec_eval"), name_in(nDCG(gain="exp2") @ 10, "ranx")
        ('ndcg_cut_10', 'ndcg_burges@10')
        >>> name_in(nDCG(gain="exp2") @ 10, "trec_eval") is None
        True
    """
    for name in names_in(ours.row, tool):
        text = _write(ours, tool, name)
        if text is not None:
            return text
    return None


def _write(ours: Measure, tool: Tool, name: Name) -> str | None:
    left: dict[str, Value] = ours.settings
    beside = {key: left.pop(key) for key in name.takes if key in left}
    if any(callable(value) for value in beside.values()):
        return None
    if tool == "ir_measures":
        return ours.name if spelling.is_in_ir_measures(ours) else None
    stem, takes = _split(name)
    value = left.pop(takes, None)
    if takes and not isinstance(value, int | float):
        return None
    level = left.pop("rel", None) if tool == "ranx" and "rel" not in name.settings else None
    if measure(ours.row.name)(**name.settings).settings != left:
        return None
    text = stem + _their_number(tool, takes, value) if isinstance(value, int | float) else name.text
    if beside:
        text += f"({', '.join(f'{key}={spelling.literal(beside[key])}' for key in beside)})"
    return text if level is None else f"{text}-l{spelling.literal(level)}"


def _split(name: Name) -> tuple[str, str]:
    stem, _, rest = name.text.partition("{")
    return stem, rest.rstrip("}")


def _their_number(tool: Tool, takes: str, value: float) -> str:
    if tool == "trec_eval" and takes in {"recall", "multiple"}:
        return f"{value:.2f}"
    text = spelling.literal(value)
    return text.removeprefix("0") if takes == "p" else text  # ranx writes 0.9 as rbp.9


def find_difference(text: str) -> tuple[str, str] | None:
    """Return the tool whose name a measure was asked for by, and how its measure differs.

    Examples:
        >>> find_difference("hits@10")
        ('ranx', 'It is a mean over queries; in rankscope, a sum.')
        >>> find_difference("ndcg@10"), find_difference("NumRet(rel=1)@10")
        (None, None)
    """
    head = text.partition("@")[0].partition("(")[0].strip()
    for tool, name in _list_noted():
        stem, takes = _split(name)
        is_number = takes and text[len(stem) :].replace(".", "", 1).isdigit()
        if (
            text == name.text
            or (is_number and text.startswith(stem))
            or (tool == "sklearn" and head == name.text)
        ):
            return tool, name.note
    return _find_other(text, head)


@cache
def _list_noted() -> tuple[tuple[Tool, Name], ...]:
    """Return the names whose measures differ from those of rankscope."""
    tools: tuple[Tool, ...] = ("trec_eval", "ranx", "sklearn")
    return tuple(
        (tool, name)
        for row in TABLE.values()
        for tool in tools
        for name in names_in(row, tool)
        if name.note
    )


def _find_other(text: str, head: str) -> tuple[str, str] | None:
    folded = head.casefold()
    if any(name.casefold() == folded for name in TABLE):
        return None
    found = other_names.plain_names().get(folded)
    if found is None:
        matched = other_names.find_pattern(text)
        found = matched[0] if matched else None
    return (found.libraries, found.note) if found and found.note else None


@cache
def spellings() -> tuple[Spelling, ...]:
    """Return every way to write a measure, without duplicates."""
    return tuple(dict.fromkeys(_all_spellings()))


def _all_spellings() -> Iterator[Spelling]:
    own = {name.casefold() for name in TABLE}
    for row in TABLE.values():
        for text in (row.name, *row.aliases):
            yield Spelling(text, measure(row.name))
            # The plain name, which trackers of experiments have, is that of a row before an alias.
            if row.at == "k" and (text == row.name or text.casefold() not in own):
                yield Spelling(f"{text}_at_", measure(row.name), "k")
        for tool in TOOLS:
            for name in names_in(row, tool):
                meant = measure(row.name)(**name.settings)
                stem, takes = _split(name)
                yield Spelling(stem, meant, takes)
                if tool == "ranx" and stem.endswith("@"):
                    yield Spelling(stem.replace("@", "_at_"), meant, takes)
                if tool == "trec_eval" and takes:
                    yield Spelling(stem.removesuffix("_") + ".", meant, takes)
