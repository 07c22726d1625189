"""The measures of trec_eval in the order in which it prints them, and its nicknames."""

from __future__ import annotations

from rankscope.records import record

TYPE_CHECKING = False
if TYPE_CHECKING:
    from typing import Literal, TypeAlias

    Dialect: TypeAlias = Literal["9", "10"]
    Form: TypeAlias = Literal["value", "count", "text"]
    Takes: TypeAlias = Literal["nothing", "cutoffs", "levels", "numbers", "pairs"]


@record(frozen=True, slots=True)
class Entry:
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
