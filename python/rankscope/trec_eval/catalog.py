"""The measures of trec_eval in the order in which it prints them, and its nicknames."""

from __future__ import annotations

from rankscope.records import record

TYPE_CHECKING = False
if TYPE_CHECKING:
    from typing import Literal, TypeAlias

    from rankscope.trec_eval.values import Form

    Dialect: TypeAlias = Literal["9", "10"]
    Takes: TypeAlias = Literal["nothing", "cutoffs", "levels", "numbers", "pairs"]
    Mean: TypeAlias = Literal["mean", "sum", "geometric"]


@record(frozen=True, slots=True)
class Entry:
    """A measure of trec_eval.

    Args:
        name: Its name.
        takes: Its parameters: cutoffs or levels, of which each is a measure of its own; numbers, or
            pairs of a name and a number.
        defaults: Its parameters if none are given.
        form: How its values are printed.
        mean: How they become one.
        has_queries: Whether it has lines of single queries.
        has_summary: Whether it has a line of all queries.
        format: The format of judgments that it needs.
        since: The first version that has it.
    """

    name: str
    takes: Takes = "nothing"
    defaults: tuple[float, ...] = ()
    form: Form = "value"
    mean: Mean = "mean"
    has_queries: bool = True
    has_summary: bool = True
    format: Literal["qrels", "prefs", "qrels_jg"] = "qrels"
    since: Dialect = "9"


CUTOFFS = (5.0, 10.0, 15.0, 20.0, 30.0, 100.0, 200.0, 500.0, 1000.0)
LEVELS = tuple(tenths / 10 for tenths in range(11))
MULTIPLES = (0.2, 0.4, 0.6, 0.8, 1.0, 1.2, 1.4, 1.6, 1.8, 2.0)


def _count(name: str) -> Entry:
    return Entry(name, form="count", mean="sum")


def _preferences(name: str, form: Form = "value", mean: Mean = "mean") -> Entry:
    return Entry(name, form=form, mean=mean, format="prefs")


ENTRIES = (
    Entry("runid", has_queries=False, form="text"),
    Entry("num_q", has_queries=False, form="count", mean="sum"),
    _count("num_ret"),
    _count("num_rel"),
    _count("num_rel_ret"),
    Entry("map"),
    Entry("gm_map", mean="geometric", has_queries=False),
    Entry("Rprec"),
    Entry("bpref"),
    Entry("recip_rank"),
    Entry("iprec_at_recall", "levels", LEVELS),
    Entry("P", "cutoffs", CUTOFFS),
    Entry("relstring", "numbers", (10.0,), form="text", has_summary=False),
    Entry("recall", "cutoffs", CUTOFFS),
    Entry("infAP"),
    Entry("gm_bpref", mean="geometric", has_queries=False),
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
    _count("num_nonrel_judged_ret"),
    _preferences("prefs_num_prefs_poss", "count", "sum"),
    _preferences("prefs_num_prefs_ful", "count", "sum"),
    _preferences("prefs_num_prefs_ful_ret", "count", "sum"),
    _preferences("prefs_simp"),
    _preferences("prefs_pair"),
    _preferences("prefs_avgjg"),
    _preferences("prefs_avgjg_Rnonrel"),
    _preferences("prefs_simp_ret"),
    _preferences("prefs_pair_ret"),
    _preferences("prefs_avgjg_ret"),
    _preferences("prefs_avgjg_Rnonrel_ret"),
    _preferences("prefs_simp_imp"),
    _preferences("prefs_pair_imp"),
    _preferences("prefs_avgjg_imp"),
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

SETS = {"set_P", "set_relative_P", "set_recall", "set_map", "set_F"}
SIZES = {"runid", "num_q", "num_ret", "num_rel", "num_rel_ret"}
OFFICIAL = {*SIZES, "map", "gm_map", "Rprec", "bpref", "recip_rank", "iprec_at_recall", "P"}
PREFS = {"prefs_num_prefs_poss", "prefs_num_prefs_ful", "prefs_num_prefs_ful_ret"}

NICKNAMES = {
    "official": frozenset(OFFICIAL),
    "set": frozenset({*SIZES, "utility", *SETS}),
    "all_trec": frozenset(
        entry.name
        for entry in ENTRIES
        if entry.format == "qrels" and entry.name not in {"dcg", "ideal_dcg", "yaap"}
    ),
    "all_prefs": frozenset(
        {"runid", "num_q", *(entry.name for entry in ENTRIES if entry.format == "prefs")}
    ),
    "prefs": frozenset({"runid", "num_q", *PREFS, "prefs_simp", "prefs_pair", "prefs_avgjg"}),
    "qrels_jg": frozenset({"runid", "num_q", "map_avgjg", "P_avgjg", "Rprec_mult_avgjg"}),
}
"""The measures that each nickname stands for, with those that only version 10 has."""


def entries_of(dialect: Dialect) -> dict[str, Entry]:
    """Return the measures that a version has, by name."""
    return {entry.name: entry for entry in ENTRIES if entry.since == "9" or dialect == "10"}
