"""Reads measures from text."""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator, Mapping, Sequence
from functools import lru_cache
from typing import TYPE_CHECKING, Any, NamedTuple, TypeAlias

from rankscope._names import LONGEST_QUOTE, quote
from rankscope.errors import MeasureError
from rankscope.measures.domains import SPELLED_NUMBER, bad_parameter
from rankscope.measures.spec import FUNCTIONS, ROWS, Measure, default_measure

Measures: TypeAlias = Measure | str | Iterable[Measure | str]

if TYPE_CHECKING:
    from rankscope.typing import Second


LONGEST_TEXT = 100_000
"""The maximum length of a measure, enough for a table with a few thousand weights."""

SHORT = 100
"""Measures of so many characters are parsed once."""
LONGEST_NUMBER = 200
LONGEST_LIST = 1 << 22
"""A list of cutoffs repeats a measure until the names have so many characters together."""

HEAD = r"\s*([^\s(@]*)\s*"
LEVEL = r"(.*\S)-l(\d+(?:\.\d+)?)\s*(@.*)?"
TOKEN = rf"\s*({SPELLED_NUMBER}|[^\W\d]\w*|'[^']*'|\"[^\"]*\"|\S|$)"
HIGHEST_GRADE = 10
"""The highest grade that has a gain where `-l` of ranx leaves out the lower ones."""
WITH_CUTOFF = rf"(.*?[@_.]){SPELLED_NUMBER}"
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
    except MeasureError:
        from rankscope.measures.compat import look_up_pattern

        name = look_up_pattern(text)
        if name is None:
            raise
        return _parse(name)


def _parse(text: str) -> Measure:
    if text[:1].isdigit() and re.fullmatch(SPELLED_NUMBER, text):
        raise _broken(
            text,
            "expected a measure, found a number alone",
            "a number is one more cutoff after a measure with a cutoff: nDCG@1,5,10",
        )
    call = _read_plain(text)
    level = None if call else re.fullmatch(LEVEL, text)
    call = call or _read_call(level[1] + (level[3] or "") if level else text)
    measure = _resolve(call)
    measure = measure(**call.settings) if call.settings else measure
    if call.at is not None:
        measure @= call.at
    return _leave_out_below(measure, float(level[2]), text) if level else measure


_parse_short = lru_cache(maxsize=1000)(_parse)
"""Programs use the same few names again and again."""


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
        binary = measure.row.name
        raise bad_parameter(
            f"{quote(text)}: with -l, the grades below a level have no gain, which {binary} lacks",
            f"write {binary}(p={parameters['p']}, rel={level:g}) for binary relevance",
        )
    return measure(rel=level)


class _Call(NamedTuple):
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
    match = re.match(HEAD, text)
    head = match[1] if match else ""
    reader = _Reader(text, match.end() if match else 0)
    settings: dict[str, object] = {}
    if reader.take("("):
        for _ in reader.entries(")"):
            name = reader.word()
            reader.expect("=")
            if name in settings:
                raise _broken(text, f"{name} is set twice")
            settings[name] = reader.value()
    at = _number_after_at(text, reader.rest()) if reader.take("@") else None
    if at is None and reader.rest():
        raise _broken(text, f"expected '(', '@' or the end, found {reader.rest()!r}")
    return _Call(text, head, settings, at)


def _number_after_at(text: str, cutoff: str) -> float:
    if not re.fullmatch(SPELLED_NUMBER, cutoff):
        is_list = all(re.fullmatch(SPELLED_NUMBER, part.strip()) for part in cutoff.split(","))
        hint = "several cutoffs are several measures: pass them where a list of measures is taken"
        raise _broken(text, f"expected a number after '@', found {cutoff!r}", hint * is_list)
    return _number(text, cutoff)


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
        match = re.compile(TOKEN).match(self.text, self.place)
        return match[1] if match else ""

    def next(self) -> str:
        match = re.compile(TOKEN).match(self.text, self.place)
        self.place = match.end() if match else self.place
        return match[1] if match else ""

    def take(self, mark: str) -> bool:
        is_next = self.peek() == mark
        if is_next:
            self.next()
        return is_next

    def expect(self, mark: str) -> None:
        if not self.take(mark):
            raise _broken(self.text, f"expected {mark!r}, found {self.rest()!r}")

    def entries(self, end: str) -> Iterator[None]:
        """Yield before each entry of a list with commas, and read the mark at its end."""
        while not self.take(end):
            yield
            if not self.take(","):
                self.expect(end)
                return

    def word(self) -> str:
        if not self.peek().isidentifier():
            raise _broken(self.text, f"expected the name of a parameter, found {self.rest()!r}")
        return self.next()

    def value(self) -> object:
        if self.take("<"):
            raise bad_parameter(
                f"{quote(self.text)}: functions can't be written as text",
                "create the measure in Python, or write the function as a table",
            )
        if self.take("["):
            return [self.plain() for _ in self.entries("]")]
        if not self.take("{"):
            return self.plain()
        values: dict[object, object] = {}
        for _ in self.entries("}"):
            if not re.fullmatch(SPELLED_NUMBER, self.peek()):
                raise _broken(self.text, f"expected a grade, found {self.rest()!r}")
            key = _number(self.text, self.next())
            if key in values:
                raise _broken(self.text, f"{quote(key)} is set twice")
            self.expect(":")
            values[key] = self.plain()
        return values

    def plain(self) -> object:
        """Return a value that is not a table, the only kind of value that a table can contain."""
        token = self.peek()
        if token in {"[", "{"}:
            raise _broken(self.text, "expected a number, found a table inside a table")
        if token[:1] in {"'", '"'} and len(token) > 1:
            return self.next()[1:-1]
        if token in WORDS:
            return WORDS[self.next()]
        if re.fullmatch(SPELLED_NUMBER, token):
            return _number(self.text, self.next())
        is_word = token.isidentifier()
        hint = f"put it in quotes: '{token}'" if is_word else ""
        shown = token if is_word else self.rest()
        raise _broken(self.text, f"expected a value, found {shown!r}", hint)


def _resolve(call: _Call) -> Measure:
    row = ROWS.get(call.head) or FUNCTIONS.get(call.head)
    if row is not None:  # so that most programs don't load the names in other tools
        return default_measure(row)
    from rankscope.measures.compat import look_up

    result = look_up(call.text, call.head, call.at)
    if isinstance(result, str):
        return _parse(result)
    spelling, number = result
    if not number:
        return spelling.measure
    if call.at is not None:
        raise _broken(call.text, f"{spelling.takes} is set twice")
    return spelling.measure(**{spelling.takes: _number(call.text, number)})


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
    if not text[:1].isdigit() or not re.fullmatch(SPELLED_NUMBER, text):
        return text
    last = next((name for name in reversed(before) if name), "")
    is_short = len(before) * len(last) <= LONGEST_LIST
    match = re.fullmatch(WITH_CUTOFF, last) if is_short else None
    return text if match is None else match[1] + text


def read_measures(measures: Measures) -> tuple[list[Measure], int]:
    """Read measures, and return each once, with the number of duplicates.

    A text may name several: `nDCG@1,5,10` or `nDCG@10, AP`.
    """
    is_single = getattr(measures, "ndim", 1) == 0  # an array of no dimension can't be iterated
    if isinstance(measures, Measure | str) or is_single or not isinstance(measures, Iterable):
        measures = [measures]  # type: ignore[list-item]  # checked below
    if isinstance(measures, Mapping):
        raise MeasureError(
            f"expected measures, found {quote(measures)}",
            hint="measures come last: evaluate(judgments, run, ['nDCG@10'])",
            code="unknown_measure",
        )
    every: list[Measure] = []
    for value in map(adopt, measures):
        if not isinstance(value, Measure | str):
            raise MeasureError(
                f"expected a measure or its name, found {type(value).__name__}",
                hint="write nDCG @ 10 or 'nDCG@10'",
                code="unknown_measure",
            )
        every += map(parse, split_text(value)) if isinstance(value, str) else [value]
    once = list(dict.fromkeys(every))
    if not once:
        raise MeasureError(
            "expected at least one measure", hint="give [nDCG @ 10]", code="no_measures"
        )
    if len({measure.name for measure in once}) < len(once):
        raise MeasureError(
            "expected measures with different names, found two with one",
            hint="give the functions that they are made of different names",
            code="same_name",
        )
    return once, len(every) - len(once)


def adopt(measure: object) -> Any:  # noqa: ANN401 - of another library, or as it is
    """Return a measure of ir_measures as ours, and anything else as it is."""
    is_theirs = type(measure).__module__.partition(".")[0] == "ir_measures"
    return parse(measure.NAME)(**measure.params) if is_theirs else measure  # type: ignore[attr-defined]  # it has


def read_measure(measure: Measures) -> Measure:
    """Read one measure."""
    measures, _ = read_measures(measure)
    if len(measures) > 1:
        raise bad_parameter(
            f"expected one measure, found {len(measures)}", "ask for them one after the other"
        )
    return measures[0]


def hold_measures(measures: Measures) -> Measures:
    """Return measures that can be read more than once."""
    return [*measures] if isinstance(measures, Iterator) else measures


def split_text(text: str) -> Sequence[str]:
    """Return the measures that a text names, which may be several."""
    if "," not in text or len(text) > LONGEST_TEXT:
        return [text]
    return split_measures([text], separators=",") or [text]


def find_second(measures: Measures, *, subtopics: bool | None = None) -> Second:
    """Return what judgments need to have beside query, document and grade."""
    every, _ = read_measures(measures)
    by_subtopic = next((measure for measure in every if measure.row.subtopics), None)
    by_stratum = next((measure for measure in every if measure.row.strata), None)
    if by_stratum is not None and (by_subtopic is not None or subtopics):
        other = "subtopics=True" if by_subtopic is None else str(by_subtopic)
        raise MeasureError(
            f"{by_stratum} needs judgments by stratum, found {other} beside it, which is for "
            "judgments by subtopic",
            hint="evaluate them in calls of their own",
            code="subtopics_unavailable",
        )
    if by_stratum is not None:
        return "stratum"
    needs = by_subtopic is not None if subtopics is None else subtopics
    return "subtopic" if needs else ""
