"""The configuration of a project as programs exchange it: JSON with durations and times as text.

What a store keeps (`Configuration.to_json`) identifies values, so it never changes. This form is
for people: everything that has a default can be left out, and durations are written as `24h`.
"""

from __future__ import annotations

import json
import re
from collections.abc import Mapping, Sequence
from datetime import timedelta
from typing import Any

from rankscope._names import quote
from rankscope._settings import Policy
from rankscope.errors import UsageError
from rankscope.monitor.definition.calendar import Calendar
from rankscope.monitor.definition.configuration import (
    BASELINES,
    BaselineChoice,
    Configuration,
)
from rankscope.monitor.definition.definition import POLICY, define
from rankscope.monitor.definition.definition import RULE as RULE_VERSION
from rankscope.monitor.events.bins import read_number, write_number
from rankscope.monitor.events.limits import DAY, SECOND
from rankscope.monitor.events.times import (
    DURATION,
    LONGEST_DURATION,
    read_duration,
    write_duration,
)
from rankscope.monitor.plain import make_plain

LONGEST_WINDOW = 3660 * DAY
CONFIGURATION_FIELDS = ("attributes", "pairs", "most", "bins")
DEFINITION_FIELDS = ("measures", "max_grade", "left_out")
LENGTHS = ("grace", "retention")
ATTRIBUTION_FIELDS = ("positive", "combine", "repeats", "unlabelled")


def write_configuration(configuration: Configuration) -> dict[str, Any]:
    """Return a configuration as JSON that `read_configuration` reads.

    Examples:
        >>> music = define(positive={"click": 1}, window="24h")
        >>> told = write_configuration(Configuration(definition=music))
        >>> told["definition"]["window"], told["grace"], told["baseline"]["environment"]
        ('24h', '1h', 'validation')
        >>> read_configuration(told) == Configuration(definition=music)
        True
    """
    said = configuration.to_dict()
    definition = said["definition"]
    chosen = configuration.baseline
    return {
        "definition": {
            "measures": definition["measures"],
            "attribution": definition["attribution"],
            "window": _write_length(configuration.definition.window * SECOND),
            "max_grade": definition["max_grade"],
            "policy": definition["policy"],
            **({"left_out": definition["left_out"]} if "left_out" in definition else {}),
        },
        **{name: said[name] for name in CONFIGURATION_FIELDS},
        "baseline": None if chosen is None else _write_baseline(chosen),
        **{name: None if said[name] is None else _write_length(said[name]) for name in LENGTHS},
        "calendar": said["calendar"],
    }


def read_configuration(given: Mapping[str, Any]) -> Configuration:
    """Read a configuration; only the labels that count and the attribution window are required.

    Examples:
        >>> clicks = {"attribution": {"positive": {"click": 1}}, "window": "24h", "policy": {}}
        >>> found = read_configuration({"definition": clicks})
        >>> found == Configuration(definition=define(positive="click", window="24h"))
        True
    """
    definition = given["definition"]
    parts: dict[str, Any] = {}
    if definition.get("rule", RULE_VERSION) != RULE_VERSION:
        raise _bad(
            f"definition.rule: expected version {RULE_VERSION} of the rule",
            definition["rule"],
            "leave it out",
        )
    window = _read_duration(definition["window"], "definition.window")
    if not SECOND <= window <= LONGEST_WINDOW or window % SECOND:
        expected = "definition.window: expected a window from 1 second to 3,660 days"
        raise _bad(expected, definition["window"], "write 24h")
    parts |= {name: definition[name] for name in DEFINITION_FIELDS if name in definition}
    attribution = definition["attribution"]
    parts |= {name: attribution[name] for name in ATTRIBUTION_FIELDS if name in attribution}
    policy = Policy(**(POLICY.to_dict() | definition.get("policy", {})))
    defined = define(**parts, window=window // SECOND, policy=policy)
    chosen = {name: given[name] for name in CONFIGURATION_FIELDS if name in given}
    if "attributes" in chosen:
        chosen["attributes"] = tuple(chosen["attributes"])
    if chosen.get("pairs") is not None:
        chosen["pairs"] = tuple((one, other) for one, other in given["pairs"])
    if "baseline" in given:
        baseline = given["baseline"]
        is_word = baseline is None or isinstance(baseline, str)
        chosen["baseline"] = (
            BASELINES[baseline or "none"] if is_word else BaselineChoice(**baseline)
        )
    for name in LENGTHS:
        if given.get(name) is not None:
            chosen[name] = timedelta(microseconds=_read_duration(given[name], name))
    if "calendar" in given:
        chosen["calendar"] = Calendar.from_list(given["calendar"])
    return Configuration(definition=defined, **chosen)


def _write_baseline(chosen: BaselineChoice) -> dict[str, Any]:
    return {**chosen.to_dict(), **make_plain({"since": chosen.since, "until": chosen.until})}


def _write_length(length: int) -> str | float:
    """Write a duration as text, or in seconds where text can't say it."""
    text = write_duration(length)
    if DURATION.fullmatch(text):
        return text
    return length // SECOND if length % SECOND == 0 else length / SECOND


def _read_duration(given: str | float, where: str) -> int:
    """Read text such as `24h`, or a number of seconds, as microseconds."""
    if isinstance(given, str):
        try:
            return read_duration(given)
        except UsageError as error:
            message = f"{where}: {error.message}"
            raise UsageError(message, hint=error.hint, code=error.code) from None
    if not 0 <= given <= LONGEST_DURATION // SECOND:
        raise _bad(f"{where}: expected a duration of up to 1,000 years", given, "write 24h")
    return round(given * SECOND)


def _bad(expected: str, found: object, hint: str) -> UsageError:
    return UsageError(f"{expected}, found {quote(str(found))}", hint=hint, code="bad_configuration")


# A word with one of these in it, or what no line shows, is between double quotes, with the escapes
# of JSON: "add to basket", "two\nlines".
# A quote without an end goes to the end of the text: what matches at once is never looked at again.
QUOTED = r'"(?:[^"\\]|\\(?s:.)?)*+(?:"|\Z)'
WORD = re.compile(rf'(?:{QUOTED}|[^\s,"])+')
PLAIN = re.compile(r'[^\s,"]+')


def split_words(text: str) -> list[str]:
    r"""Split a text into words; a part of a word may be between quotes.

    Examples:
        >>> split_words('click=1, "add to basket"=2 it\'s')
        ['click=1', 'add to basket=2', "it's"]
    """
    return [_unquote(word) for word in WORD.findall(text)]


def write_word(word: str) -> str:
    r"""Write a word so that it is read as one.

    Examples:
        >>> print(write_word("click"), write_word("add to basket"), write_word("\u202e"))
        click "add to basket" "\u202e"
    """
    if PLAIN.fullmatch(word) and word.isprintable():
        return word
    return json.dumps(word, ensure_ascii=not word.isprintable())


def _unquote(word: str) -> str:
    try:
        return re.sub(QUOTED, lambda found: str(json.loads(found[0])), word)
    except ValueError:
        raise UsageError(
            f"expected quotes around what belongs together, found {word!r}",
            hint='write "add to basket" between double quotes, and \\" for one inside',
            code="usage",
        ) from None


def read_weight(text: str) -> tuple[str, float]:
    """Read a label and its weight; a label alone weighs 1.

    Examples:
        >>> read_weight("buy=5"), read_weight("click"), read_weight("a=b=2")
        (('buy', 5.0), ('click', 1.0), ('a=b', 2.0))
    """
    label, sign, weight = text.rpartition("=")
    try:
        return (label, float(weight)) if sign else (text, 1.0)
    except ValueError:
        raise UsageError(
            f"expected a label and its weight, found {quote(text)}",
            hint="write click=1",
            code="usage",
        ) from None


def write_weight(weight: float) -> str:
    """Write a weight so that the same number is read.

    Examples:
        >>> write_weight(5.0), write_weight(0.1)
        ('5', '0.1')
    """
    return repr(weight).removesuffix(".0")


def read_bins(text: str) -> tuple[str, list[float]]:
    """Read the edges of the bins of an attribute.

    Examples:
        >>> read_bins("price=10:25.5")
        ('price', [10.0, 25.5])
    """
    name, _, said = text.rpartition("=")
    edges = [read_number(edge) for edge in said.split(":")]
    numbers = [edge for edge in edges if edge is not None]
    if not name or len(numbers) < len(edges):
        raise UsageError(
            f"expected an attribute and the edges of its bins, found {quote(text)}",
            hint="write price=10:25:50",
            code="usage",
        )
    return name, numbers


def write_bins(name: str, edges: Sequence[float]) -> str:
    """Write the edges of the bins of an attribute so that the same are read.

    Examples:
        >>> write_bins("price", (10.0, 25.5))
        'price=10:25.5'
    """
    return f"{name}={':'.join(map(write_number, edges))}"
