"""Parse measures from text, in the notation of rankscope, ir_measures, trec_eval or ranx."""

from __future__ import annotations

import re
from functools import cache, lru_cache

from rankscope.errors import MeasureError
from rankscope.measures import compat, other_names, spelling
from rankscope.measures.spec import FUNCTIONS, ROWS, Measure, default_measure
from rankscope.measures.spelling import NUMBER
from rankscope.names import LONGEST_NAME, LONGEST_QUOTE, find_closest, quote
from rankscope.records import record

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Callable, Sequence

    from rankscope.measures.compat import Spelling
    from rankscope.measures.other_names import OtherName

LONGEST_TEXT = 100_000
"""The maximum length of a measure, enough for a table with a few thousand weights."""

SHORT = 100
"""Measures of so many characters are parsed once."""
LONGEST_NUMBER = 200
LONGEST_LIST = 1 << 22
"""A list of cutoffs repeats a measure until the names have so many characters together."""
LIKENESS = 0.75
"""How much a name has to be like a known one. Less likeness suggests another measure."""

HEAD = r"\s*([^\s(@]*)\s*"
LEVEL = r"(.*\S)-l(\d+(?:\.\d+)?)\s*(@.*)?"
TOKEN = rf"\s*({NUMBER}|[^\W\d]\w*|'[^']*'|\"[^\"]*\"|\S|$)"
HIGHEST_GRADE = 10
"""The highest grade that has a gain where `-l` of ranx leaves out the lower ones."""
WITH_CUTOFF = rf"(.*?[@_.]){NUMBER}"
"""A measure with a cutoff, as it is written here and in trec_eval: the number is what changes."""
WORDS = {"True": True, "False": False, "None": None}


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
    try:
        return _parse_short(text) if len(text) <= SHORT else _parse(text)
    except MeasureError as error:
        found = other_names.find_pattern(text)
        if found is None:
            raise
        other, numbers = found
        if other.means:
            return _parse(other.means.format(**numbers))
        raise _refused(text, other, numbers) from error


@lru_cache(maxsize=1000)
def _parse_short(text: str) -> Measure:
    """Parse a name as programs ask for it again and again."""
    return _parse(text)


def _parse(text: str) -> Measure:
    if text[:1].isdigit() and re.fullmatch(NUMBER, text):
        raise _broken(
            text,
            "expected a measure, found a number alone",
            "a number is one more cutoff after a measure with a cutoff: nDCG@1,5,10",
        )
    written = _read_plain(text)
    level = None if written else re.fullmatch(LEVEL, text)
    written = written or _read_call(level[1] + (level[3] or "") if level else text)
    measure = _resolve(written)
    measure = measure(**written.settings) if written.settings else measure
    if written.at is not None:
        measure @= written.at
    return _leave_out_below(measure, float(level[2]), text) if level else measure


def _leave_out_below(measure: Measure, level: float, text: str) -> Measure:
    """Return a measure for which grades below a level don't count, as with `-l` of ranx."""
    parameters = measure.parameters
    gain = parameters.get("gain")
    if isinstance(gain, str) and gain in {"linear", "exp2"}:
        gains = {
            grade: float(grade if gain == "linear" else 2**grade - 1) if grade >= level else 0.0
            for grade in range(HIGHEST_GRADE + 1)
        }
        return measure(gain=gains)
    if parameters.get("graded"):
        binary = ROWS[measure.row.name].name
        raise MeasureError(
            f"{quote(text)}: with -l, the grades below a level have no gain, which {binary} lacks",
            hint=f"write {binary}(p={parameters['p']}, rel={level:g}) for binary relevance",
            code="bad_parameter",
        )
    return measure(rel=level)


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
        is_list = all(re.fullmatch(NUMBER, part.strip()) for part in found.split(","))
        hint = "several cutoffs are several measures: pass them where a list of measures is taken"
        raise _broken(text, f"expected a number after '@', found {found!r}", hint * is_list)
    return _number(text, found)


def _number(text: str, number: str) -> float:
    if len(number) > LONGEST_NUMBER:
        raise _broken(text, f"expected a number, found one of {len(number)} digits")
    return int(number) if number.lstrip("+-").isdecimal() else float(number)


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
    return _resolve_other(written)


def _resolve_other(written: _Call) -> Measure:
    """Return the measure that another library has by a name, for which no tool has a name."""
    other = other_names.plain_names().get(written.head.casefold())
    if other is None:
        raise _unknown(written)
    if other.means:
        return _parse(other.means)
    at = "k" if written.at is None else spelling.literal(written.at)
    raise _refused(written.text, other, {"at": at})


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
    closest = None if hint else find_closest(head, names, likeness=LIKENESS)
    hint = hint or "`rankscope measures` lists them"
    if re.search(r"[./\\]\w+$", written.text):
        hint = "this looks like a file; measures come last: evaluate(judgments, run, ['nDCG@10'])"
    own = {name.casefold(): name for name in FUNCTIONS}
    close = find_closest(written.head.casefold(), own, likeness=1 if closest else LIKENESS)
    if close is not None:
        hint = f"did you mean '{own[close]}'?"
    elif closest is not None:
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


def _refused(text: str, other: OtherName, numbers: dict[str, str]) -> MeasureError:
    libraries = "several libraries" if other.libraries == "several" else other.libraries
    return MeasureError(
        f"unknown measure {quote(text)}, a name of {libraries}",
        hint=other.instead.format(**numbers),
        code="unknown_measure",
        value=text[:LONGEST_QUOTE],
    )


def _distinguish(written: _Call) -> str:
    """Return what to write instead of a name that tools use for different measures, or nothing."""
    head = written.head[: LONGEST_NAME + 1].casefold()
    at = "k" if written.at is None else spelling.literal(written.at)
    if written.head == "hits" or (at == "k" and head in other_names.ALONE):
        return ""  # the count of hits of ranx, and RBP of trec_eval
    return other_names.MANY_MEANINGS.get(head, "").format(at=at)


def _broken(text: str, problem: str, hint: str = "") -> MeasureError:
    return MeasureError(
        f"{quote(text)}: {problem[: 2 * LONGEST_QUOTE]}",
        hint=hint or "measures look like nDCG@10, P(rel=2)@5 or ndcg_cut_10",
        code="bad_parameter",
        value=text[:LONGEST_QUOTE],
    )


def split_measures(texts: Sequence[str], separators: str = ", ") -> list[str]:
    """Return the measures named in texts, separated by commas and spaces outside parentheses.

    A number alone is one more cutoff of the measure before it.

    Examples:
        >>> split_measures(["nDCG@10, AP", "RBP(p=0.9, rel=2)"])
        ['nDCG@10', 'AP', 'RBP(p=0.9, rel=2)']
        >>> split_measures(["nDCG@1,5,10", "P_5,10"])
        ['nDCG@1', 'nDCG@5', 'nDCG@10', 'P_5', 'P_10']
    """
    return [name for text in texts for name in _split_text(text, separators)]


def _split_text(text: str, separators: str) -> list[str]:
    names: list[str] = []
    depth = start = 0
    text = "@".join(map(str.strip, text.split("@"))) + ","
    for at, character in enumerate(text):
        depth += (character in "([{") - (character in ")]}")
        if depth <= 0 and character in separators:
            names.append(_repeat_name(names, text[start:at].strip()))
            start = at + 1
    names.append(text[start:-1].strip())
    return [name for name in names if name]


def _repeat_name(before: Sequence[str], text: str) -> str:
    """Return the measure that a number alone means: the one before it, with another cutoff."""
    if not text[:1].isdigit() or not re.fullmatch(NUMBER, text):
        return text
    last = next((name for name in reversed(before) if name), "")
    found = re.fullmatch(WITH_CUTOFF, last) if len(before) * len(last) <= LONGEST_LIST else None
    return text if found is None else found[1] + text
