"""Reads what `-m` asks for: names and nicknames, with lists of parameters."""

from __future__ import annotations

import math
import re
from functools import lru_cache

from rankscope.errors import MeasureError
from rankscope.measures import compat, spelling
from rankscope.measures.parse import parse
from rankscope.names import find_closest, quote
from rankscope.records import record
from rankscope.trec_eval.catalog import NICKNAMES, entries_of

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Sequence
    from typing import Protocol

    from rankscope.measures import Measure
    from rankscope.trec_eval.catalog import Dialect, Entry
    from rankscope.trec_eval.values import Kernel

    class Options(Protocol):
        """The choices that values depend on, by the names of the arguments of the command."""

        @property
        def dialect(self) -> Dialect:
            """The version of trec_eval."""

        @property
        def level(self) -> int:
            """The lowest grade that counts as relevant."""

        @property
        def documents(self) -> int:
            """The number of documents in the collection."""

        @property
        def complete_rel_info_wanted(self) -> bool:
            """Whether means are over all judged queries."""


UNKNOWN = 1
"""The exit status of trec_eval for a measure that it doesn't know."""
UNUSABLE = 2
"""Its exit status for a measure with parameters that it can't use."""
TOO_FEW = 4
"""Its exit status for too few or too many numbers, which it only counts when it computes."""
SHARING = {"dcg", "ideal_dcg", "ndcg"}
LARGEST_P = 0.9999
NEGLIGIBLE = 1e-18
"""How little a rank has to weigh for RBP to leave it and those below it out."""

MOST_CUTOFF = 2**53
WHOLE = re.compile(r"\s*([+-]?\d+)", re.ASCII)
CUTOFF = re.compile(WHOLE.pattern + r"(?:\.\d*)?", re.ASCII)
"""A cutoff, whose decimals trec_eval leaves out."""
NUMBER = re.compile(rf"\s*({spelling.NUMBER})")


@record(frozen=True, slots=True)
class Requested:
    """A measure that was asked for, with its parameters.

    Args:
        entry: The measure.
        text: The parameters as they were written, or an empty string.
        values: Cutoffs and levels, ascending, or numbers.
        pairs: Pairs of a name and a number.
    """

    entry: Entry
    text: str = ""
    values: tuple[float, ...] = ()
    pairs: tuple[tuple[str, float], ...] = ()

    @property
    def has_gains(self) -> bool:
        """Whether it has gains of grades."""
        return any(name != "p" for name, _ in self.pairs)

    @property
    def name(self) -> str:
        """The name that is printed, if the measure has one value."""
        return f"{self.entry.name}_{self.text}" if self.text else self.entry.name

    @property
    def names(self) -> list[str]:
        """The names that are printed, one for each cutoff or level."""
        if self.entry.takes == "cutoffs":
            return [f"{self.entry.name}_{value:.0f}" for value in self.values]
        if self.entry.takes == "levels":
            return [f"{self.entry.name}_{value:.2f}" for value in self.values]
        return [self.name]


def read_requests(words: Sequence[str], dialect: Dialect) -> list[Requested]:
    """Return the measures that `-m` asks for, in the order in which trec_eval prints them.

    Examples:
        >>> for one in read_requests(["P.10,5", "map"], "9"):
        ...     print(*one.names)
        map
        P_5 P_10
    """
    known = entries_of(dialect)
    chosen: set[str] = set()
    written: dict[str, str] = {}
    for word in words or ("official",):
        name, dot, text = word.partition(".")
        if name not in NICKNAMES and name not in known:
            raise _unknown(word, name, known)
        if dot and not text:
            raise _refuse(f"expected parameters after {quote(word)}", status=UNKNOWN)
        chosen |= NICKNAMES.get(name, {name})
        if dot and name not in NICKNAMES:
            written.setdefault(name, text)
    entries = [entry for entry in known.values() if entry.name in chosen]
    requests = [read_parameters(entry, written.get(entry.name, "")) for entry in entries]
    return _share_gains(requests) if dialect == "10" else requests


def _share_gains(requests: list[Requested]) -> list[Requested]:
    """Use the last gains for dcg, ideal_dcg and ndcg, since version 10 keeps one table.

    Those without parameters are printed with the parameters of the one before.
    """
    given = [request for request in requests if request.entry.name in SHARING and request.text]
    text, shared = "", []
    for request in requests:
        if given and request.entry.name in SHARING:
            text = request.text or text
            shared.append(Requested(request.entry, text, (), given[-1].pairs))
        else:
            shared.append(request)
    return shared


def read_parameters(entry: Entry, text: str) -> Requested:
    """Return a measure with the parameters that were written after its name."""
    if not text or entry.takes == "nothing":
        return Requested(entry, "", entry.defaults)
    if entry.takes == "pairs":
        pairs = tuple(_read_pair(entry, one) for one in text.split(","))
        if len(dict(pairs)) < len(pairs):
            raise _refuse(f"expected one number for each name after {entry.name}, found {text!r}")
        return Requested(entry, text, (), pairs)
    values = [_read_number(entry, one) for one in text.split(",")]
    if entry.name == "set_F" and values[0] < 0:  # the square of beta
        raise _refuse(f"expected 0 or more after set_F, found {quote(text)}")
    if entry.takes in {"cutoffs", "levels"}:
        values.sort()
        if len(set(values)) < len(values):
            message = f"expected different numbers after {entry.name}, found {quote(text)}"
            raise _refuse(message, "write each number once")
    return Requested(entry, text, tuple(values))


@lru_cache(maxsize=256)
def make_measures(
    requested: Requested, *, level: int, documents: int, dialect: Dialect
) -> tuple[Measure, ...]:
    """Return the measures of rankscope that have these values."""
    entry = requested.entry
    try:
        measures = _make_measures(requested, documents)
    except MeasureError as error:
        if "exit_status" in vars(error):
            raise
        raise _refuse(f"{requested.name}: {error.message}", error.hint) from None
    made = []
    for measure in measures:
        parameters = measure.parameters
        if entry.name in {"iprec_at_recall", "11pt_avg"} and dialect == "10":
            measure = measure(rounding="nearest")  # noqa: PLW2901 - the same one
        if parameters.get("rel") is not None and not parameters.get("graded"):
            measure = measure(rel=level)  # noqa: PLW2901 - the same one
        made.append(measure)
    return tuple(made)


def _make_measures(requested: Requested, documents: int) -> list[Measure]:
    entry, values = requested.entry, requested.values
    if entry.takes in {"cutoffs", "levels"}:
        is_cut = entry.takes == "cutoffs"
        return [parse(f"{entry.name}_{int(v) if is_cut else repr(v)}") for v in values]
    measure = parse(entry.name)
    if entry.name == "utility":
        if len(values) != len(entry.defaults):
            text = f"expected four numbers after utility, found {quote(requested.text)}"
            raise _refuse(text, "write -m utility.1,-1,0,0", status=TOO_FEW)
        worth = dict(zip(("hit", "false_alarm", "miss", "rejection"), values, strict=True))
        return [measure(**worth, documents=documents)]
    if entry.name == "11pt_avg":
        return [measure(levels=list(values))]
    if entry.name == "set_F":
        # Its weight is the square of beta. Without a weight, F is precision.
        return [measure(beta=math.sqrt(values[0])) if values[0] else parse("set_P")]
    if entry.name in {"rbp", "rbp_resid"}:
        names = dict(requested.pairs)
        return [measure(p=names["p"]) if "p" in names else measure]
    return [measure]


@record(frozen=True, slots=True)
class GainTable:
    """The gains of documents.

    Args:
        gains: The gain of each grade.
        unjudged: The gain of documents without a judgment.
        has_negative: Whether negative grades have a gain.
    """

    gains: dict[float, float]
    unjudged: float
    has_negative: bool

    def parameters(self) -> dict[str, object]:
        """Return the parameters of a kernel."""
        return {
            "gain": [[grade, self.gains[grade]] for grade in sorted(self.gains)],
            "unjudged_gain": self.unjudged,
            "negative_gain": self.has_negative,
        }


def gain_table(requested: Requested, grades: Sequence[float]) -> GainTable:
    """Return the gains of grades, which are the grades, except where the parameters set others."""
    gains = {grade: max(grade, 0.0) for grade in grades}
    unjudged, has_negative = 0.0, False
    for name, gain in requested.pairs:
        grade = float(name)
        if grade >= 0:
            gains[grade] = gain
        elif grade == UNJUDGED:
            unjudged = gain
        elif grade == POOLED:
            gains |= {grade: gain for grade in grades if grade < 0}
            has_negative = True
    return GainTable(gains, unjudged, has_negative)


def rbp_scale(requested: Requested, grades: Sequence[float]) -> float:
    """Return what the gains of RBP are divided by, so that none is above 1."""
    given = {name: gain for name, gain in requested.pairs if name != "p"}
    if min(given.values()) < 0:
        raise _refuse(f"expected gains of 0 or more after rbp, found {quote(requested.text)}")
    scale = max(1.0, *given.values())
    levels = {float(name) for name in given}
    left = max((grade for grade in grades if grade not in levels), default=0.0)
    if left > scale:
        text = f"expected a gain for grade {left:g} after rbp, found {quote(requested.text)}"
        raise _refuse(text, f"write -m rbp.{requested.text},{left:g}={left:g}")
    return scale


def rbp_kernel(requested: Requested, grades: Sequence[float]) -> Kernel:
    """Return the computation of RBP with gains of grades: discounted gain, ranks weigh by p."""
    scale = rbp_scale(requested, grades)
    pairs = tuple((name, gain / scale) for name, gain in requested.pairs if name != "p")
    names = dict(requested.pairs)
    p = names.get("p", parse("rbp").parameters["p"])
    if not isinstance(p, float) or not 0 <= p <= LARGEST_P:
        raise _refuse(f"expected p from 0 to {LARGEST_P} after rbp, found {quote(requested.text)}")
    ranks = math.ceil(math.log(NEGLIGIBLE) / math.log(p)) if p else 1
    # Grades without a gain of their own are their own gains, which are scaled as well.
    own = Requested(requested.entry, "", (), pairs)
    table = gain_table(own, [grade for grade in grades if grade < 0])
    given = {float(name) for name, _ in pairs}
    gains = table.gains | {g: g / scale for g in grades if g >= 0 and g not in given}
    weights = {"kind": "table", "weights": [(1 - p) * p**rank for rank in range(ranks)]}
    scaled = GainTable(gains, table.unjudged, table.has_negative)
    return "dcg", {"k": ranks, "discount": weights, **scaled.parameters()}


UNJUDGED = -1
POOLED = -2
"""What trec_eval calls documents without a judgment, and those with a grade below 0."""


def _read_number(entry: Entry, text: str) -> float:
    pattern = CUTOFF if entry.takes == "cutoffs" else NUMBER
    found = pattern.fullmatch(text.rstrip())
    if found is None:
        kind = "a whole number" if entry.takes == "cutoffs" else "a number"
        raise _refuse(f"expected {kind} after {entry.name}, found {quote(text)}")
    number = float(found[1])
    if entry.takes == "cutoffs" and not 0 < number <= MOST_CUTOFF:
        message = f"expected a cutoff from 1 to 2**53 after {entry.name}, found {quote(text)}"
        raise _refuse(message, "the first rank is 1")
    return number


def _read_pair(entry: Entry, text: str) -> tuple[str, float]:
    name, sign, number = text.partition("=")
    found = NUMBER.fullmatch(number)
    is_name = name == "p" and entry.name.startswith("rbp")
    is_name = is_name or (bool(WHOLE.fullmatch(name)) and entry.name != "rbp_resid")
    if not sign or found is None or not is_name:
        example = "p=0.9" if entry.name.startswith("rbp") else "1=3,2=9"
        raise _refuse(
            f"expected pairs after {entry.name}, found {quote(text)}",
            f"write -m {entry.name}.{example}",
        )
    return name, float(found[1])


def _refuse(message: str, hint: str = "", *, status: int = UNUSABLE) -> MeasureError:
    error = MeasureError(message, hint=hint, code="bad_parameter")
    error.exit_status = status
    return error


def _translate(word: str, known: dict[str, Entry]) -> str:
    """Return how trec_eval writes a measure of rankscope, or an empty string."""
    try:
        measure = parse(word)
    except MeasureError:
        return ""
    theirs = compat.name_in(measure, "trec_eval") or ""
    stem, _, number = theirs.rpartition("_")
    if theirs in known:
        return f"trec_eval calls it {theirs}"
    if stem in known:
        return f"trec_eval calls it {stem}.{number}"
    return f"trec_eval doesn't have it: use rankscope eval QRELS RUN -m {quote(word)}"


def _unknown(word: str, name: str, known: dict[str, Entry]) -> MeasureError:
    closest = find_closest(name, [*known, *NICKNAMES])
    listed = "rankscope trec_eval --help lists the measures"
    hint = f"did you mean {closest}?" if closest else _translate(word, known) or listed
    stem, _, number = name.rpartition("_")
    if stem in known and known[stem].takes == "cutoffs":
        hint = f"write -m {stem}.{number}"
    elif name in entries_of("10"):
        hint = "version 10 has it: add --dialect 10"
    error = MeasureError(f"unknown measure {quote(word)}", hint=hint, code="unknown_measure")
    error.exit_status = UNKNOWN
    return error
