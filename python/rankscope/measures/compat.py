"""The names of measures in rankscope and in other tools."""

from __future__ import annotations

import re
from collections.abc import Callable, Iterator
from functools import cache
from typing import Literal, NamedTuple, TypeAlias

from rankscope._names import LONGEST_NAME, LONGEST_QUOTE, find_closest, quote
from rankscope.errors import MeasureError
from rankscope.measures import domains, other_names
from rankscope.measures.domains import SPELLED_NUMBER, Value
from rankscope.measures.other_names import OtherName
from rankscope.measures.spec import FUNCTIONS, Measure, Name, Row
from rankscope.measures.table import TABLE, measure

Tool: TypeAlias = Literal["trec_eval", "ir_measures", "ranx", "sklearn"]

TOOLS: tuple[Tool, ...] = ("trec_eval", "ir_measures", "ranx", "sklearn")
EXAMPLES = {"k": 10, "recall": 0.1, "p": 0.9, "multiple": 0.2}
LIKENESS = 0.75
"""How much a name has to be like that of a measure, so that this measure is suggested."""


class Spelling(NamedTuple):
    """One way to write a measure: its name, or the part before the value of a parameter."""

    text: str
    measure: Measure
    takes: str = ""


class Translation(NamedTuple):
    """The name of a measure in another tool and in rankscope, and how the other one differs."""

    theirs: str
    ours: str
    note: str


def names_in(row: Row, tool: Tool) -> tuple[Name, ...]:
    """Return the names that a tool has for a measure."""
    names: tuple[Name, ...] = getattr(row, tool)
    return names


def translations(tool: Tool) -> list[Translation]:
    """Return the names that a tool uses for all measures, with examples of cutoffs.

    Examples:
        >>> [f"{line.theirs} is {line.ours}" for line in translations("trec_eval")][:2]
        ['ndcg is nDCG', 'ndcg_cut_10 is nDCG@10']
    """
    lines = []
    for row in TABLE.values():
        for name in names_in(row, tool):
            stem, takes = _split(name)
            ours = measure(row.name)(**name.settings)
            theirs = name.text
            if takes:
                ours = ours(**{takes: EXAMPLES[takes]})
                theirs = stem + _their_number(tool, takes, EXAMPLES[takes])
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
    names = (_write(ours, tool, name) for name in names_in(ours.row, tool))
    return next((text for text in names if text is not None), None)


def _write(ours: Measure, tool: Tool, name: Name) -> str | None:
    left: dict[str, Value] = ours.settings
    beside = {key: left.pop(key) for key in name.takes if key in left}
    if any(callable(value) for value in beside.values()):
        return None
    if tool == "ir_measures":
        return ours.name if domains.is_in_ir_measures(ours) else None
    stem, takes = _split(name)
    value = left.pop(takes, None)
    if takes and not isinstance(value, int | float):
        return None
    level = left.pop("rel", None) if tool == "ranx" and "rel" not in name.settings else None
    if measure(ours.row.name)(**name.settings).settings != left:
        return None
    text = stem + _their_number(tool, takes, value) if isinstance(value, int | float) else name.text
    if beside:
        text += f"({', '.join(f'{key}={domains.literal(beside[key])}' for key in beside)})"
    return text if level is None else f"{text}-l{domains.literal(level)}"


def _split(name: Name) -> tuple[str, str]:
    stem, _, rest = name.text.partition("{")
    return stem, rest.rstrip("}")


def _their_number(tool: Tool, takes: str, value: float) -> str:
    if tool == "trec_eval" and takes in {"recall", "multiple"}:
        return f"{value:.2f}"
    text = domains.literal(value)
    return text.removeprefix("0") if takes == "p" else text  # ranx writes 0.9 as rbp.9


def find_difference(text: str) -> tuple[str, str] | None:
    """Return the tool that has a measure by this name, and how its measure differs.

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
        is_same = text == name.text or (tool == "sklearn" and head == name.text)
        if is_same or (is_number and text.startswith(stem)):
            return tool, name.note
    if any(name.casefold() == head.casefold() for name in TABLE):
        return None
    other = other_names.plain_names().get(head.casefold())
    if other is None:
        other, _ = other_names.find_pattern(text) or (None, {})
    return (other.libraries, other.note) if other and other.note else None


@cache
def _list_noted() -> tuple[tuple[Tool, Name], ...]:
    """Return the names whose measures differ from those of rankscope."""
    return tuple(
        (tool, name)
        for row in TABLE.values()
        for tool in TOOLS
        for name in names_in(row, tool)
        if name.note and tool != "ir_measures"
    )


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
                ours = measure(row.name)(**name.settings)
                stem, takes = _split(name)
                yield Spelling(stem, ours, takes)
                if tool == "ranx" and stem.endswith("@"):
                    yield Spelling(stem.replace("@", "_at_"), ours, takes)
                if tool == "trec_eval" and takes:
                    yield Spelling(stem.removesuffix("_") + ".", ours, takes)


def look_up(text: str, head: str, at: float | None) -> tuple[Spelling, str] | str:
    """Return what a measure that isn't called as in the table means.

    That is a spelling and the number in it, or the name of the measure in rankscope.
    """
    if len(head) > LONGEST_NAME or _distinguish(head, at):
        raise _unknown(text, head, at)
    for fold in (str, str.casefold):
        for ways, number in _candidates(fold(head), at, _table(fold)):
            if len(ways) > 1:
                meanings = " or ".join(f"{way.text} ({way.measure})" for way in ways)
                message = f"{quote(text)} can mean {meanings}"
                raise _bad_name(text, message, "this name is case-sensitive")
            return ways[0], number
    other = other_names.plain_names().get(head.casefold())
    if other is None:
        raise _unknown(text, head, at)
    return _translate(text, other, {"at": _write_cutoff(at)})


def look_up_pattern(text: str) -> str | None:
    """Return the measure that another library has by a name with numbers, as rankscope names it."""
    match = other_names.find_pattern(text)
    return None if match is None else _translate(text, *match)


@cache
def _table(fold: Callable[[str], str]) -> dict[tuple[str, bool], tuple[Spelling, ...]]:
    # Keyed by the text and by whether a value follows it.
    table: dict[tuple[str, bool], tuple[Spelling, ...]] = {}
    for way in spellings():
        key = fold(way.text), bool(way.takes)
        met = table.get(key, ())
        if all(way[1:] != other[1:] for other in met):
            table[key] = (*met, way)
    return table


def _candidates(
    head: str, at: float | None, table: dict[tuple[str, bool], tuple[Spelling, ...]]
) -> Iterator[tuple[tuple[Spelling, ...], str]]:
    if at is not None and (f"{head}@", True) in table:
        yield table[f"{head}@", True], ""
    if (head, False) in table:
        yield table[head, False], ""
    for end in range(len(head) - 1, 0, -1):
        if (head[:end], True) in table and re.fullmatch(SPELLED_NUMBER, head[end:]):
            yield table[head[:end], True], head[end:]


def _unknown(text: str, head: str, at: float | None) -> MeasureError:
    hint = _distinguish(head, at)
    names = {way.text.casefold().rstrip("@_."): way.measure for way in reversed(spellings())}
    stem = head[: LONGEST_NAME + 1].casefold().rstrip("0123456789._")
    closest = None if hint else find_closest(stem, names, likeness=LIKENESS)
    own = {name.casefold(): name for name in FUNCTIONS}
    close = find_closest(head.casefold(), own, likeness=1 if closest else LIKENESS)
    if close is not None:
        hint = f"did you mean '{own[close]}'?"
    elif closest is not None:
        likely = names[closest]
        takes_at = at is not None and likely.row.at == "k"
        written = f"{likely.row.name}@{_write_cutoff(at)}" if takes_at else likely
        hint = f"did you mean '{written}'?"
    elif re.search(r"[./\\]\w+$", text):
        hint = "this looks like a file; measures come last: evaluate(judgments, run, ['nDCG@10'])"
    hint = hint or "`rankscope measures` lists them"
    return _bad_name(text, f"unknown measure {quote(text)}", hint)


def _distinguish(head: str, at: float | None) -> str:
    """Return what to write instead of a name that tools use for different measures, or nothing."""
    name, cutoff = head[: LONGEST_NAME + 1].casefold(), _write_cutoff(at)
    if head == "hits" or (at is None and name in other_names.ALONE):
        return ""  # the count of hits of ranx, and RBP of trec_eval
    return other_names.MANY_MEANINGS.get(name, "").format(at=cutoff)


def _translate(text: str, other: OtherName, numbers: dict[str, str]) -> str:
    if other.means:
        return other.means.format(**numbers)
    libraries = "several libraries" if other.libraries == "several" else other.libraries
    message = f"unknown measure {quote(text)}, a name of {libraries}"
    raise _bad_name(text, message, other.instead.format(**numbers))


def _write_cutoff(at: float | None) -> str:
    return "k" if at is None else domains.literal(at)


def _bad_name(text: str, message: str, hint: str) -> MeasureError:
    return MeasureError(message, hint=hint, code="unknown_measure", value=text[:LONGEST_QUOTE])
