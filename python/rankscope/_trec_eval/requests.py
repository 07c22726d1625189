"""The measures of trec_eval in the order in which it prints them, and its nicknames."""

from __future__ import annotations

import re
from collections.abc import Collection, Sequence
from typing import TYPE_CHECKING, Literal, NamedTuple, TypeAlias

from rankscope._names import find_closest, quote
from rankscope.errors import MeasureError
from rankscope.measures import domains
from rankscope.measures.compat import name_in
from rankscope.measures.parse import parse

Dialect: TypeAlias = Literal["9", "10"]
Form: TypeAlias = Literal["value", "count", "text"]
Takes: TypeAlias = Literal["nothing", "cutoffs", "levels", "numbers", "pairs"]

if TYPE_CHECKING:
    from rankscope._settings import ScoreType


class Entry(NamedTuple):
    """A measure of trec_eval.

    Args:
        name: Its name.
        takes: Its parameters: cutoffs or levels, of which each is a measure of its own; numbers, or
            pairs of a name and a number.
        defaults: Its parameters if none are given.
        form: How its values are printed. Counts are added up; texts have no line of all queries.
        is_geometric: Whether it only has a line of all queries, which is a geometric mean.
        format: The format of judgments that it needs.
        since: The first version that has it.
    """

    name: str
    takes: Takes = "nothing"
    defaults: tuple[float, ...] = ()
    form: Form = "value"
    is_geometric: bool = False
    format: Literal["qrels", "prefs", "qrels_jg"] = "qrels"
    since: Dialect = "9"


CUTOFFS = (5.0, 10.0, 15.0, 20.0, 30.0, 100.0, 200.0, 500.0, 1000.0)
LEVELS = tuple(tenths / 10 for tenths in range(11))
MULTIPLES = (0.2, 0.4, 0.6, 0.8, 1.0, 1.2, 1.4, 1.6, 1.8, 2.0)
PREFS = ("prefs_num_prefs_poss", "prefs_num_prefs_ful", "prefs_num_prefs_ful_ret")
RULES = ("simp", "pair", "avgjg", "avgjg_Rnonrel")

ENTRIES = (
    Entry("runid", form="text"),
    *(Entry(name, form="count") for name in ("num_q", "num_ret", "num_rel", "num_rel_ret")),
    Entry("map"),
    Entry("gm_map", is_geometric=True),
    Entry("Rprec"),
    Entry("bpref"),
    Entry("recip_rank"),
    Entry("iprec_at_recall", "levels", LEVELS),
    Entry("P", "cutoffs", CUTOFFS),
    Entry("relstring", "numbers", (10.0,), form="text"),
    Entry("recall", "cutoffs", CUTOFFS),
    Entry("infAP"),
    Entry("gm_bpref", is_geometric=True),
    Entry("Rprec_mult", "levels", MULTIPLES),
    Entry("utility", "numbers", (1.0, -1.0, 0.0, 0.0)),
    Entry("11pt_avg", "numbers", LEVELS),
    Entry("binG"),
    Entry("G", "pairs"),
    Entry("dcg", "pairs", since="10"),
    Entry("ideal_dcg", "pairs", since="10"),
    Entry("ndcg", "pairs"),
    Entry("ndcg_rel", "pairs"),
    Entry("Rndcg", "pairs"),
    Entry("ndcg_cut", "cutoffs", CUTOFFS),
    Entry("map_cut", "cutoffs", CUTOFFS),
    Entry("relative_P", "cutoffs", CUTOFFS),
    Entry("success", "cutoffs", (1.0, 5.0, 10.0)),
    Entry("set_P"),
    Entry("set_relative_P"),
    Entry("set_recall"),
    Entry("set_map"),
    Entry("set_F", "numbers", (1.0,)),
    Entry("num_nonrel_judged_ret", form="count"),
    *(Entry(name, form="count", format="prefs") for name in PREFS),
    *(Entry(f"prefs_{rule}{scope}", format="prefs") for scope in ("", "_ret") for rule in RULES),
    *(Entry(f"prefs_{rule}_imp", format="prefs") for rule in RULES[:3]),
    Entry("map_avgjg", format="qrels_jg"),
    Entry("P_avgjg", "cutoffs", CUTOFFS, format="qrels_jg"),
    Entry("Rprec_mult_avgjg", "levels", MULTIPLES, format="qrels_jg"),
    Entry("yaap"),
    Entry("rbp", "pairs", since="10"),
    Entry("rbp_resid", "pairs", since="10"),
    Entry("unj", "cutoffs", (5.0, 10.0, 20.0), since="10"),
)
"""Every measure, in the order in which trec_eval prints them, whatever the order of `-m`."""

UNQUERIED = {"runid", "num_q"}
"""The measures that have no values of queries."""

_SIZES = UNQUERIED | {"num_ret", "num_rel", "num_rel_ret"}
_BY_JUDGE = {entry.name for entry in ENTRIES if entry.format == "qrels_jg"}
_PREFS = {entry.name for entry in ENTRIES if entry.format == "prefs"}
_RARE = {"dcg", "ideal_dcg", "yaap", *_BY_JUDGE, *_PREFS}
_SETS = {entry.name for entry in ENTRIES if entry.name.startswith("set_")}
_OFFICIAL = {"map", "gm_map", "Rprec", "bpref", "recip_rank", "iprec_at_recall", "P"}

NICKNAMES = {
    "official": _SIZES | _OFFICIAL,
    "set": _SIZES | _SETS | {"utility"},
    "all_trec": {entry.name for entry in ENTRIES} - _RARE,
    "all_prefs": UNQUERIED | _PREFS,
    "prefs": UNQUERIED | set(PREFS) | {"prefs_simp", "prefs_pair", "prefs_avgjg"},
    "qrels_jg": UNQUERIED | _BY_JUDGE,
}
"""The measures that each nickname stands for, with those that only version 10 has."""


def entries_of(dialect: Dialect) -> dict[str, Entry]:
    """Return the measures that a version has, by name."""
    return {entry.name: entry for entry in ENTRIES if entry.since == "9" or dialect == "10"}


UNKNOWN = 1
"""The exit status of trec_eval for a measure that it doesn't know."""
UNUSABLE = 2
"""Its exit status for a measure with parameters that it can't use."""
TOO_FEW = 4
"""Its exit status for too few or too many numbers, which it only counts when it computes."""
WITH_SAME_GAINS = {"dcg", "ideal_dcg", "ndcg"}
MOST_CUTOFF = 2**53
WHOLE = re.compile(r"\s*([+-]?\d+)", re.ASCII)
CUTOFF = re.compile(WHOLE.pattern + r"(?:\.\d*)?", re.ASCII)
"""A cutoff, whose decimals trec_eval leaves out."""
NUMBER = re.compile(rf"\s*({domains.SPELLED_NUMBER})")


class Options(NamedTuple):
    """The choices that values depend on.

    Args:
        level: The lowest grade that counts as relevant.
        documents: The number of documents in the collection.
        depth: How many documents of a query count, if not all.
        judged_only: Whether unjudged documents are removed first.
        is_complete: Whether means are over all judged queries.
        dialect: The version of trec_eval.
    """

    level: int = 1
    documents: int = 0
    depth: int | None = None
    judged_only: bool = False
    is_complete: bool = False
    dialect: Dialect = "9"

    @property
    def fills_missing(self) -> bool:
        """Whether queries that aren't in the run have values and lines of their own."""
        return self.dialect == "10" and self.is_complete

    @property
    def score_type(self) -> ScoreType:
        """The precision in which scores are compared."""
        return "float32" if self.dialect == "9" else "float64"


class Requested(NamedTuple):
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
        >>> for request in read_requests(["P.10,5", "map"], "9"):
        ...     print(*request.names)
        map
        P_5 P_10
    """
    entries = entries_of(dialect)
    chosen: set[str] = set()
    written: dict[str, str] = {}
    for word in words or ("official",):
        name, dot, text = word.partition(".")
        if name not in NICKNAMES and name not in entries:
            raise _unknown(word, name, entries)
        if dot and not text:
            raise refuse(f"expected parameters after {quote(word)}", status=UNKNOWN)
        chosen |= NICKNAMES.get(name, {name})
        if dot and name not in NICKNAMES:
            written.setdefault(name, text)
    requests = [
        read_parameters(entry, written.get(name, ""))
        for name, entry in entries.items()
        if name in chosen
    ]
    return _share_gains(requests) if dialect == "10" else requests


def _share_gains(requests: list[Requested]) -> list[Requested]:
    """Use the last gains for dcg, ideal_dcg and ndcg, since version 10 keeps one table.

    Those without parameters are printed with the parameters of the one before.
    """
    pairs = [request.pairs for request in requests if request.entry.name in WITH_SAME_GAINS]
    text, last = "", next(filter(None, reversed(pairs)), ())
    for place, request in enumerate(requests):
        if last and request.entry.name in WITH_SAME_GAINS:
            text = request.text or text
            requests[place] = Requested(request.entry, text, (), last)
    return requests


def read_parameters(entry: Entry, text: str) -> Requested:
    """Return a measure with the parameters that were written after its name."""
    if not text or entry.takes == "nothing":
        return Requested(entry, "", entry.defaults)
    if entry.takes == "pairs":
        pairs = tuple(_read_pair(entry, pair) for pair in text.split(","))
        if len(dict(pairs)) < len(pairs):
            raise refuse(f"expected one number for each name after {entry.name}, found {text!r}")
        return Requested(entry, text, (), pairs)
    values = [_read_number(entry, number) for number in text.split(",")]
    if entry.name == "utility" and len(values) != len(entry.defaults):
        message = f"expected four numbers after utility, found {quote(text)}"
        raise refuse(message, "write -m utility.1,-1,0,0", status=TOO_FEW)
    if entry.name == "set_F" and values[0] < 0:  # the square of beta
        raise refuse(f"expected 0 or more after set_F, found {quote(text)}")
    if entry.takes in {"cutoffs", "levels"}:
        values.sort()
        if len(set(values)) < len(values):
            message = f"expected different numbers after {entry.name}, found {quote(text)}"
            raise refuse(message, "write each number once")
    return Requested(entry, text, tuple(values))


def _read_number(entry: Entry, text: str) -> float:
    pattern = CUTOFF if entry.takes == "cutoffs" else NUMBER
    digits = pattern.fullmatch(text.rstrip())
    if digits is None:
        kind = "a whole number" if entry.takes == "cutoffs" else "a number"
        raise refuse(f"expected {kind} after {entry.name}, found {quote(text)}")
    number = float(digits[1])
    if entry.takes == "cutoffs" and not 0 < number <= MOST_CUTOFF:
        message = f"expected a cutoff from 1 to 2**53 after {entry.name}, found {quote(text)}"
        raise refuse(message, "the first rank is 1")
    return number


def _read_pair(entry: Entry, text: str) -> tuple[str, float]:
    name, sign, number = text.partition("=")
    digits = NUMBER.fullmatch(number)
    is_name = name == "p" and entry.name.startswith("rbp")
    is_name = is_name or (bool(WHOLE.fullmatch(name)) and entry.name != "rbp_resid")
    if not sign or digits is None or not is_name:
        example = "p=0.9" if entry.name.startswith("rbp") else "1=3,2=9"
        raise refuse(
            f"expected pairs after {entry.name}, found {quote(text)}",
            f"write -m {entry.name}.{example}",
        )
    return name, float(digits[1])


def refuse(
    message: str, hint: str = "", *, status: int = UNUSABLE, code: str = "bad_parameter"
) -> MeasureError:
    """Return an error with the exit status of trec_eval."""
    error = MeasureError(message, hint=hint, code=code)
    error.exit_status = status
    return error


def find_hint(
    word: str, names: Collection[str], *, listed: str, lacking: str, as_option: bool = False
) -> str:
    """Return what to write in place of a measure that trec_eval doesn't know."""
    try:
        theirs = name_in(parse(word), "trec_eval") or ""
    except MeasureError:
        closest = find_closest(word.partition(".")[0], names)
        return f"did you mean {closest}?" if closest else listed
    stem, _, number = theirs.rpartition("_")
    option, dot = ("-m ", ".") if as_option else ("", "_")
    if theirs in names:
        return f"write {option}{theirs}"
    return f"write {option}{stem}{dot}{number}" if stem in names else lacking


def _unknown(word: str, name: str, names: Collection[str]) -> MeasureError:
    hint = "version 10 has it: add --dialect 10"
    if name not in entries_of("10"):
        hint = find_hint(
            word,
            [*names, *NICKNAMES],
            listed="rankscope trec_eval --help lists the measures",
            lacking=f"trec_eval doesn't have it: use rankscope eval QRELS RUN -m {quote(word)}",
            as_option=True,
        )
    return refuse(f"unknown measure {quote(word)}", hint, status=UNKNOWN, code="unknown_measure")
