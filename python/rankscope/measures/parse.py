"""Parse measures from text, in the notation of rankscope, ir_measures, trec_eval or ranx."""

from __future__ import annotations

import re
from functools import cache

from rankscope.errors import MeasureError
from rankscope.measures import compat, spelling
from rankscope.measures.spec import FUNCTIONS, ROWS, Measure, default_measure
from rankscope.names import LONGEST_NAME, LONGEST_QUOTE, find_closest, quote
from rankscope.records import record

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Callable

    from rankscope.measures.compat import Spelling

LONGEST_TEXT = 100_000
"""The maximum length of a measure, enough for a table with a few thousand weights."""

LONGEST_NUMBER = 200

HEAD = r"\s*([^\s(@]*)\s*"
LEVEL = r"(.*\S)-l(\d+(?:\.\d+)?)\s*"
INTEGER = r"[-+]?\d+"
# One way to match each text, so that the time to refuse one grows with its length only.
NUMBER = r"[-+]?(?:\d+(?:\.\d*)?|\.\d+)(?:[eE][-+]?\d+)?"
TOKEN = rf"\s*({NUMBER}|[^\W\d]\w*|'[^']*'|\"[^\"]*\"|\S|$)"
WORDS = {"True": True, "False": False, "None": None}

MANY_MEANINGS = {
    "hits": "Success@{at} is 1 for a query with a hit, and NumRet(rel=1)@{at} counts hits",
    "context_precision": "AP(denominator='found')@{at} is that of Ragas, P@{at} the ID-based one",
    "context_recall": "R@{at} is the ID-based one; that of Ragas compares texts",
}
"""Names with a cutoff that tools use for different measures, and what to write instead."""


def parse(text: str | Measure) -> Measure:
    """Return the measure with a name.

    The grammar is that of ir_measures: a name, parameters in parentheses, and a cutoff after `@`.
    The names of trec_eval and ranx are accepted, too, and plain names with a cutoff (`ndcg_at_10`).
    Case only matters if two names differ in nothing else.

    Args:
        text: The measure as text, with at most 100,000 characters. A measure is returned unchanged.

    Returns:
        The measure. For every measure `m` without functions, `parse(str(m)) == m`.

    Raises:
        MeasureError: The measure doesn't exist, a parameter has an invalid value, or the text is
            too long.

    Examples:
        >>> parse("nDCG(gain='exp2') @ 10")
        nDCG(dcg='exp-log2')@10
        >>> parse("ndcg_cut_10"), parse("ndcg_burges@10"), parse("recip_rank")
        (nDCG@10, nDCG(dcg='exp-log2')@10, RR)
    """
    if isinstance(text, Measure):
        return text
    if not isinstance(text, str):
        raise MeasureError(
            f"expected a measure or its name, found {quote(text)}",
            hint='write nDCG @ 10 or "nDCG@10"',
            code="unknown_measure",
        )
    if len(text) > LONGEST_TEXT:
        raise _broken(
            text,
            f"expected at most {LONGEST_TEXT:,} characters, found {len(text):,}",
            "pass a longer table of gains or discounts from Python: nDCG(discount=weights)",
        )
    written = _read_plain(text)
    level = None if written else re.fullmatch(LEVEL, text)
    written = written or _read_call(level[1] if level else text)
    measure = _resolve(written)
    measure = measure(**written.settings) if written.settings else measure
    if written.at is not None:
        measure @= written.at
    return measure(rel=float(level[2])) if level else measure


@record(frozen=True, slots=True)
class _Call:
    """The parts of a measure as written, before its name is looked up."""

    text: str
    head: str
    settings: dict[str, object]
    at: float | None


def _read_plain(text: str) -> _Call | None:
    """Read a name, or a name and a cutoff: what most people write needs no pattern compiled."""
    head, sign, number = text.partition("@")
    is_count = number.isascii() and number.isdigit() and len(number) <= LONGEST_NUMBER
    if not (head.isascii() and head.isidentifier() and (is_count or not sign)):
        return None
    return _Call(text, head, {}, int(number) if sign else None)


def _read_call(text: str) -> _Call:
    found = re.match(HEAD, text)
    head = found[1] if found else ""
    reader = _Reader(text, found.end() if found else 0)
    settings: dict[str, object] = {}
    if reader.take("("):
        while not reader.take(")"):
            name = reader.word()
            reader.expect("=")
            if name in settings:
                raise _broken(text, f"{name} is set twice")
            settings[name] = reader.value()
            if not reader.take(","):
                reader.expect(")")
                break
    at = _number_after_at(text, reader.rest()) if reader.take("@") else None
    if at is None and reader.rest():
        raise _broken(text, f"expected '(', '@' or the end, found {reader.rest()!r}")
    return _Call(text, head, settings, at)


def _number_after_at(text: str, found: str) -> float:
    if not re.fullmatch(NUMBER, found):
        raise _broken(text, f"expected a number after '@', found {found!r}")
    return _number(text, found)


def _number(text: str, number: str) -> float:
    if len(number) > LONGEST_NUMBER:
        raise _broken(text, f"expected a number, found one of {len(number)} digits")
    return int(number) if re.fullmatch(INTEGER, number) else float(number)


class _Reader:
    """Reads the tokens and values in the parentheses of a measure."""

    def __init__(self, text: str, place: int) -> None:
        self.text = text
        self.place = place

    def rest(self) -> str:
        return self.text[self.place :].strip()

    def peek(self) -> str:
        found = re.compile(TOKEN).match(self.text, self.place)
        return found[1] if found else ""

    def next(self) -> str:
        found = re.compile(TOKEN).match(self.text, self.place)
        if not found:
            return ""
        self.place = found.end()
        return found[1]

    def take(self, mark: str) -> bool:
        is_next = self.peek() == mark
        if is_next:
            self.next()
        return is_next

    def expect(self, mark: str) -> None:
        if not self.take(mark):
            raise _broken(self.text, f"expected {mark!r}, found {self.rest()!r}")

    def word(self) -> str:
        if not self.peek().isidentifier():
            raise _broken(self.text, f"expected the name of a parameter, found {self.rest()!r}")
        return self.next()

    def value(self) -> object:
        found = self.peek()
        if found == "<":
            raise MeasureError(
                f"{quote(self.text)}: functions can't be written as text",
                hint="create the measure in Python, or write the function as a table",
                code="bad_parameter",
            )
        if found == "[":
            return self._list()
        if found == "{":
            return self._mapping()
        return self.plain()

    def plain(self) -> object:
        """Return a value that is not a table, the only kind of value that a table can contain."""
        found = self.peek()
        if found in {"[", "{"}:
            raise _broken(self.text, "expected a number, found a table inside a table")
        if found[:1] in {"'", '"'} and len(found) > 1:
            return self.next()[1:-1]
        if found in WORDS:
            return WORDS[self.next()]
        if re.fullmatch(NUMBER, found):
            return _number(self.text, self.next())
        is_word = found.isidentifier()
        hint = f"put it in quotes: '{found}'" if is_word else ""
        shown = found if is_word else self.rest()
        raise _broken(self.text, f"expected a value, found {shown!r}", hint)

    def _list(self) -> list[object]:
        self.expect("[")
        values: list[object] = []
        while not self.take("]"):
            values.append(self.plain())
            if not self.take(","):
                self.expect("]")
                break
        return values

    def _mapping(self) -> dict[object, object]:
        self.expect("{")
        values: dict[object, object] = {}
        while not self.take("}"):
            key = self._key()
            if key in values:
                raise _broken(self.text, f"{quote(key)} is set twice")
            self.expect(":")
            values[key] = self.plain()
            if not self.take(","):
                self.expect("}")
                break
        return values

    def _key(self) -> float:
        if not re.fullmatch(NUMBER, self.peek()):
            raise _broken(self.text, f"expected a grade, found {self.rest()!r}")
        return _number(self.text, self.next())


@cache
def _table(fold: Callable[[str], str]) -> dict[tuple[str, bool], tuple[Spelling, ...]]:
    # Keyed by the text and by whether a value follows it.
    table: dict[tuple[str, bool], tuple[Spelling, ...]] = {}
    for way in compat.spellings():
        key = fold(way.text), bool(way.takes)
        met = table.get(key, ())
        if all((way.measure, way.takes) != (other.measure, other.takes) for other in met):
            table[key] = (*met, way)
    return table


def _resolve(written: _Call) -> Measure:
    if written.head in ROWS:  # so that most programs don't need the names in other tools
        return default_measure(ROWS[written.head])
    if written.head in FUNCTIONS:
        return default_measure(FUNCTIONS[written.head])
    if len(written.head) > LONGEST_NAME or _distinguish(written):
        raise _unknown(written)
    for fold in (str, str.casefold):
        for ways, number in _candidates(written, _table(fold), fold(written.head)):
            if len(ways) > 1:
                raise _ambiguous(written, ways)
            measure = ways[0].measure
            if not number:
                return measure
            if written.at is not None:
                raise _broken(written.text, f"{ways[0].takes} is set twice")
            return measure(**{ways[0].takes: _number(written.text, number)})
    raise _unknown(written)


def _candidates(
    written: _Call, table: dict[tuple[str, bool], tuple[Spelling, ...]], head: str
) -> list[tuple[tuple[Spelling, ...], str]]:
    found = []
    if written.at is not None and (f"{head}@", True) in table:
        found.append((table[f"{head}@", True], ""))
    if (head, False) in table:
        found.append((table[head, False], ""))
    splits = [(head[:end], head[end:]) for end in range(len(head) - 1, 0, -1)]
    return found + [
        (table[stem, True], number)
        for stem, number in splits
        if (stem, True) in table and re.fullmatch(NUMBER, number)
    ]


def _ambiguous(written: _Call, ways: tuple[Spelling, ...]) -> MeasureError:
    meanings = " or ".join(f"{way.text} ({way.measure})" for way in ways)
    return MeasureError(
        f"{quote(written.text)} can mean {meanings}",
        hint="this name is case-sensitive",
        code="unknown_measure",
        value=written.text[:LONGEST_QUOTE],
    )


def _unknown(written: _Call) -> MeasureError:
    names = {way.text.casefold().rstrip("@_."): way for way in reversed(compat.spellings())}
    head = written.head[: LONGEST_NAME + 1].casefold().rstrip("0123456789._")
    hint = _distinguish(written)
    closest = None if hint else find_closest(head, names)
    hint = hint or "`rankscope measures` lists them"
    if closest is not None:
        way = names[closest]
        name = way.measure.row.name
        takes_at = written.at is not None and way.measure.row.at == "k"
        hint = f"did you mean '{name}@{spelling.literal(written.at)}'?" if takes_at else ""
        hint = hint or f"did you mean '{way.measure}'?"
    return MeasureError(
        f"unknown measure {quote(written.text)}",
        hint=hint,
        code="unknown_measure",
        value=written.text[:LONGEST_QUOTE],
    )


def _distinguish(written: _Call) -> str:
    """Return what to write instead of a name that tools use for different measures, or nothing."""
    head = written.head[: LONGEST_NAME + 1].casefold()
    at = "k" if written.at is None else spelling.literal(written.at)
    if written.head == "hits" or (at == "k" and head == "hits"):  # the count of hits of ranx
        return ""
    return MANY_MEANINGS.get(head, "").format(at=at)


def _broken(text: str, problem: str, hint: str = "") -> MeasureError:
    return MeasureError(
        f"{quote(text)}: {problem[: 2 * LONGEST_QUOTE]}",
        hint=hint or "measures look like nDCG@10, P(rel=2)@5 or ndcg_cut_10",
        code="bad_parameter",
        value=text[:LONGEST_QUOTE],
    )
