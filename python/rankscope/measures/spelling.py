"""Names of measures: canonical names, identifiers, and values as text."""

from __future__ import annotations

import math
from collections.abc import Mapping
from functools import lru_cache

from rankscope.errors import MeasureError
from rankscope.names import quote

TYPE_CHECKING = False
if TYPE_CHECKING:
    from rankscope.measures.domains import GainTable, Value, Weights
    from rankscope.measures.spec import Measure, Row

# One way to match each text, so that the time to refuse one grows with its length only.
NUMBER = r"[-+]?(?:\d+(?:\.\d*)?|\.\d+)(?:[eE][-+]?\d+)?"

LONGEST_INTEGER = 2**53
LONGEST_PLAIN_NAME = 120
"""MLflow takes 250 characters; what a table adds to a name (`_lower`) has to fit in as well."""

LARGEST_COMPLETED = 100
"""The highest grade up to which a table of gains is completed."""

IR_GAINS = {"log2": "linear", "exp-log2": "exp2"}
IR_NAMES = {"cutoff": "k", "gains": "gain"}
IR_FLOATS = {"T", "alpha", "beta", "p", "recall"}
"""The parameters that ir_measures rejects as integers: `SetF(beta=2.0)`, `IPrec@1.0`."""


@lru_cache(maxsize=4096)  # an evaluation asks for each name several times
def canonical_name(measure: Measure) -> str:
    """Return the canonical name, such as `nDCG(dcg='exp-log2')@10`, without default values."""
    settings = measure.settings
    if is_in_ir_measures(measure):
        settings = _to_ir_measures(settings)
    written = {
        name: repr(value) if name in IR_FLOATS else literal(value)
        for name, value in settings.items()
    }
    at = written.pop(measure.row.at, "")
    inner = ", ".join(f"{name}={value}" for name, value in written.items())
    call = f"{measure.row.name}({inner})" if inner else measure.row.name
    return f"{call}@{at}" if at else call


def plain_name(measure: Measure) -> str:
    """Return the name as an identifier, such as `ndcg_at_10_gain_exp2`.

    It has lowercase letters, digits and underscores, starts with a letter, and isn't longer than
    `LONGEST_PLAIN_NAME`. Different measures have different plain names, which never change: what
    would make a name too long or ambiguous becomes a checksum.
    """
    settings = measure.settings
    parts = [measure.row.name.lower()]
    if measure.row.at in settings:
        parts += ["at", _plain(settings.pop(measure.row.at))]
    for name, value in settings.items():
        word = name.lower()
        parts += [word] if value is True else [word, _plain(value)]
    name = "_".join(parts)
    return name if len(name) <= LONGEST_PLAIN_NAME else _shorten(name)


def literal(value: Value) -> str:
    """Return a value as the parser reads it, or the name of a function in angle brackets."""
    if callable(value):
        return f"<{function_name(value)}>"
    if isinstance(value, tuple):
        return _table(value)
    if isinstance(value, float) and value.is_integer() and abs(value) < LONGEST_INTEGER:
        return str(int(value))
    return repr(value)


def function_name(function: object) -> str:
    """Return the name of a function, without the brackets that Python puts around `lambda`."""
    return str(getattr(function, "__name__", type(function).__name__)).strip("<>")


def from_ir_measures(row: Row, settings: Mapping[str, object]) -> dict[str, object]:
    """Return settings with the parameter names of ir_measures replaced by those of rankscope."""
    if not row.ir_measures:
        return dict(settings)
    ours: dict[str, object] = {}
    fixed = {key: value for name in row.ir_measures for key, value in name.fixed.items()}
    for name, value in settings.items():
        if name in fixed and value == fixed[name]:
            continue
        said: dict[str, object] = {IR_NAMES.get(name, name): value}
        if name == "gains":
            said = {"gain": _complete(value)}
        if name == "dcg" and any(parameter.name == "gain" for parameter in row.parameters):
            said = {"gain": _gain_of_dcg(row, value), "discount": "log2"}
        for twice in said.keys() & ours.keys():
            raise MeasureError(
                f"{row.name}: {twice} is set twice, found {', '.join(settings)}",
                hint=f"set {twice} once",
                code="bad_parameter",
            )
        ours |= said
    return ours


def _complete(gains: object) -> object:
    """Return a table of gains with each grade that it leaves out below its highest one.

    In ir_measures and trec_eval, such a grade is its own gain. Grades above the highest one of the
    table are still refused where they occur.
    """
    if not isinstance(gains, Mapping):
        return gains
    grades = [grade for grade in gains if isinstance(grade, int | float)]
    if not grades or len(grades) < len(gains) or not 0 <= max(grades) <= LARGEST_COMPLETED:
        return gains
    return {float(grade): grade for grade in range(math.ceil(max(grades)))} | dict(gains)


def _is_complete(table: GainTable | Weights) -> bool:
    """Return whether a table of gains has every grade from 0 to its highest one."""
    grades = {entry[0] for entry in table if isinstance(entry, tuple)}
    top = max(grades)
    return top > LARGEST_COMPLETED or grades.issuperset(range(math.ceil(top)))


def _gain_of_dcg(row: Row, value: object) -> str:
    if isinstance(value, str) and value in IR_GAINS:
        return IR_GAINS[value]
    expected = " or ".join(repr(dcg) for dcg in IR_GAINS)
    raise MeasureError(
        f"{row.name}: expected dcg to be {expected}, found {quote(value)}",
        hint="other gains and discounts are gain=… and discount=…",
        code="bad_parameter",
    )


def is_in_ir_measures(measure: Measure) -> bool:
    """Return whether ir_measures has a name for a measure, apart from gain functions."""
    takes = {parameter for name in measure.row.ir_measures for parameter in name.takes}
    gain = measure.settings.get("gain")
    is_known = not isinstance(gain, str) or gain in IR_GAINS.values()
    return is_known and measure.settings.keys() <= takes


def _to_ir_measures(settings: dict[str, Value]) -> dict[str, Value]:
    gain = settings.get("gain")
    if gain is None or callable(gain):
        return settings
    theirs: dict[str, Value] = {name: dcg for dcg, name in IR_GAINS.items()}
    if isinstance(gain, str):
        name, value = "dcg", theirs[gain]
    elif isinstance(gain, tuple) and not _is_complete(gain):  # which they would complete
        return settings
    else:
        name, value = "gains", gain
    return {name: value} | {key: other for key, other in settings.items() if key != "gain"}


def _table(table: GainTable | Weights) -> str:
    entries = [
        f"{literal(entry[0])}: {literal(entry[1])}" if isinstance(entry, tuple) else literal(entry)
        for entry in table
    ]
    inner = ", ".join(entries)
    return f"{{{inner}}}" if isinstance(table[0], tuple) else f"[{inner}]"


def _plain(value: Value) -> str:
    # `0.1` becomes `0p1` and `-1` becomes `m1`, so that no two names meet.
    if isinstance(value, tuple):
        return "_".join(_plain(item) for item in value)
    if isinstance(value, str):
        return value
    if callable(value):
        return _plain_function(function_name(value))
    return literal(value).lower().replace(".", "p").replace("-", "m").replace("+", "")


def _plain_function(name: str) -> str:
    # `function`, since there are gains named `linear`. An underscore could be that of a setting.
    letters = "".join(letter for letter in name.lower() if letter.isascii() and letter.isalnum())
    return f"function_{letters}" if letters == name else f"function_{letters}_{_checksum(name)}"


def _shorten(name: str) -> str:
    checksum = _checksum(name)
    return f"{name[: LONGEST_PLAIN_NAME - len(checksum) - 1]}_{checksum}"


def _checksum(text: str) -> str:
    from hashlib import blake2b  # noqa: PLC0415 - few names need it

    return "x" + blake2b(text.encode("utf-8", "surrogatepass"), digest_size=8).hexdigest()
