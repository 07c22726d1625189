"""P-values and measures beside other libraries, except where a row says that they differ."""

from __future__ import annotations

import json
import math
from dataclasses import dataclass
from itertools import chain
from pathlib import Path

import pytest
import rankscope
from rankscope.measures import parse

from dev.parity import every, items
from tests.parity.counterparts import COUNTERPARTS, EVERY

GOLDEN = Path(__file__).parent / "golden" / "compared"


def read(name):
    return json.loads((GOLDEN / f"{name}.json").read_text(encoding="utf-8"))


VALUES = read("values")
RANX, PYTERRIER = read("ranx")["cases"], read("pyterrier")["cases"]
CASES = list(VALUES)
PERMUTATIONS = 10_000
"""Those of ranx."""


def compare(case, test, correction="none", *, has_baseline=False, permutations=None):
    """Our comparisons by pair of runs: all pairs, or the first run with each of the others."""
    values = VALUES[case]["values"]
    found = rankscope.compare(
        values,
        values=True,
        test=test,
        correction=correction,
        baseline=next(iter(values)) if has_baseline else None,
        permutations=permutations,
    )
    return {f"{each.baseline}-{each.run}": each for each in found.comparisons}


@pytest.mark.parametrize("case", CASES)
def test_the_t_test_of_every_pair_is_that_of_ranx(case):
    found = compare(case, "t")
    assert found.keys() == RANX[case]["student"].keys()
    for pair, each in found.items():
        assert each.p == pytest.approx(RANX[case]["student"][pair], rel=1e-9), pair


@pytest.mark.parametrize("case", CASES)
def test_the_permutation_test_is_that_of_ranx_within_its_monte_carlo_error(case):
    for pair, each in compare(case, "permutation").items():
        error = math.sqrt(each.p * (1 - each.p) / PERMUTATIONS)
        assert RANX[case]["fisher"][pair] == pytest.approx(each.p, abs=5 * error + 1e-4), pair


def test_a_permutation_test_of_ranx_can_have_p_0_and_ours_cannot():
    found = compare("cast21", "permutation", permutations=PERMUTATIONS)
    zeros = [pair for pair, p in RANX["cast21"]["fisher"].items() if p == 0]
    assert zeros
    for pair in zeros:
        # By chance, a few of our permutations may be as far apart as the runs are.
        assert 1e-3 > found[pair].p >= found[pair].smallest_p == 1 / (PERMUTATIONS + 1)


def test_the_tukey_test_of_ranx_misses_a_difference_that_all_paired_tests_find():
    pair = "convdr-convdr_bert"
    assert RANX["cast21"]["tukey"][pair] > 0.4
    assert RANX["cast21"]["student"][pair] < 0.003
    assert compare("cast21", "t", "holm")[pair].p_corrected < 0.05


@pytest.mark.parametrize("case", CASES)
@pytest.mark.parametrize("test", ["t", "wilcoxon"])
def test_the_tests_with_a_baseline_are_those_of_pyterrier(case, test):
    found = compare(case, test, has_baseline=True)
    assert found.keys() == PYTERRIER[case][test].keys()
    for pair, p in PYTERRIER[case][test].items():
        if (case, test) == ("few", "wilcoxon"):
            # With up to 13 queries and ties, SciPy counts all signs; ours is the normal
            # approximation, which it has from 14 queries on.
            assert found[pair].p == pytest.approx(p, abs=0.03), pair
        else:
            assert found[pair].p == pytest.approx(p, rel=1e-9), pair


@pytest.mark.parametrize("case", CASES)
@pytest.mark.parametrize(("ours", "theirs"), [("holm", "holm"), ("bh", "fdr_bh")])
def test_corrections_over_one_measure_are_those_of_pyterrier(case, ours, theirs):
    found = compare(case, "t", ours, has_baseline=True)
    for pair, p in PYTERRIER[case][f"t, {theirs}"].items():
        assert found[pair].p_corrected == pytest.approx(p, rel=1e-9), pair


RECORDED = Path(__file__).parent / "golden" / "every"
EVERY_CASE = every.generate()
PEERS = ("cwl_eval", "pyndeval")
ANSWERS = {
    peer: json.loads((RECORDED / f"{peer}.json").read_text(encoding="utf-8"))["cases"]
    for peer in PEERS
}
ASCENDING = {"Compat", "alpha_DCG", "alpha_nDCG", "ERR_IA", "nERR_IA", "NRBP", "nNRBP", "AP_IA"}
ASCENDING |= {"P_IA", "StRecall"}
"""Their providers rank the smaller ID first among equal scores; the others keep the input."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Other:
    """Measures for which ir_measures has another value, and why.

    Args:
        names: The measures.
        factor: What their value is multiplied by, in terms of the number of subtopics.
        why: The reason.
    """

    names: tuple[str, ...]
    factor: int
    why: str


OTHERS = (
    Other(
        names=("alpha_DCG@1", "ERR_IA@1"),
        factor=1,
        why="ndeval doesn't divide the value at rank 1, so that it is the number of subtopics of "
        "the first document, which can exceed 1.",
    ),
)
USER = " ; "
"""What separates a user of cwl_eval that ir_measures doesn't have from what is reported of it."""
UNDEFINED = {
    "Accuracy": "It has no value for a query of which no relevant document is retrieved.",
    "nNRBP": "It is 0/0 for a query without relevant documents.",
}


def ties_of(name):
    return "doc_id_asc" if parse(name).row.name in ASCENDING else "input"


def evaluate(peer, case, names, ties):
    rows, run = EVERY_CASE[case]
    return rankscope.evaluate(
        rows if peer == "pyndeval" else every.highest_grades(rows),
        run,
        names,
        policy=f"ties={ties},empty=nan",
        subtopics=peer == "pyndeval",
    )


def count_subtopics(case, query):
    rows, _ = EVERY_CASE[case]
    return len({subtopic for q, subtopic, _, grade in rows if q == query and grade >= 1})


def check(peer, case, name, found):
    theirs = ANSWERS[peer][case][name]
    other = next((one for one in OTHERS if name in one.names), None)
    ours = dict(zip(found.query_texts, found.per_query_list(name), strict=True))
    for query, value in ours.items():
        expected = theirs.get(query, math.nan)
        if other is not None:
            expected /= count_subtopics(case, query) or 1
        if math.isnan(value):
            is_undefined = parse(name).row.name in UNDEFINED
            assert expected == 0 or (math.isnan(expected) and is_undefined), (name, query)
        else:
            assert value == pytest.approx(expected, rel=1e-11, abs=1e-13), (name, query)


@pytest.mark.parametrize("case", EVERY_CASE)
@pytest.mark.parametrize("peer", PEERS)
def test_values_are_those_of_ir_measures_all_in_one_call(peer, case):
    names = [name for name in ANSWERS[peer][case] if USER not in name]
    for ties in ("input", "doc_id_asc"):
        chosen = [name for name in names if ties_of(name) == ties]
        if chosen:
            found = evaluate(peer, case, chosen, ties)
            for name in chosen:
                check(peer, case, name, found)


@pytest.mark.parametrize("peer", PEERS)
def test_values_are_those_of_ir_measures_one_by_one(peer):
    for name in ANSWERS[peer]["shallow"]:
        if USER in name:
            continue
        check(peer, "shallow", name, evaluate(peer, "shallow", [name], ties_of(name)))


@pytest.mark.parametrize("case", EVERY_CASE)
def test_users_that_ir_measures_lacks_have_the_values_of_cwl_eval(case):
    theirs = {name: values for name, values in ANSWERS["cwl_eval"][case].items() if USER in name}
    ours = {name: name_user(name) for name in theirs}
    found = evaluate("cwl_eval", case, list(ours.values()), "input")
    for name, values in theirs.items():
        got = dict(zip(found.query_texts, found.per_query_list(ours[name]), strict=True))
        for query, expected in values.items():
            value = got[query]
            if math.isnan(value):
                assert expected == 0, (name, query)
            else:
                assert value == pytest.approx(expected, rel=1e-11, abs=1e-12), (name, query)


def name_user(name):
    """The measure of what is reported of a user of cwl_eval."""
    user, quantity, residual = name.split(USER)
    call, _, cutoff = user.partition(")")
    return f"{call}, value='{quantity}'{', residual=True' if residual else ''}){cutoff}"


@pytest.mark.parametrize("other", OTHERS, ids=lambda other: other.names[0])
def test_a_difference_shows_in_their_values(other):
    for name in other.names:
        theirs = ANSWERS["pyndeval"]["shallow"][name]
        assert max(theirs.values()) > 1, name
        found = evaluate("pyndeval", "shallow", [name], ties_of(name))
        assert max(found.per_query_list(name)) <= 1, name


FOLDER = Path(__file__).parent / "golden" / "items"
OF_ITEMS = items.generate()
OF_LIBRARIES = {
    answers["library"]: answers["cases"]
    for answers in (json.loads(path.read_text(encoding="utf-8")) for path in FOLDER.glob("*.json"))
}


def compute(case, each, k):
    """Return our values of users, or the value of all lists."""
    offered = [*case.items]
    if each.catalogue == "history":
        offered = sorted({*chain(*case.history.values())})
    measure = parse(f"{each.ours}@{k}")
    found = rankscope.evaluate(
        case.relevant,
        case.recommended,
        measure,
        history=case.pairs(case.history),
        items=case.items,
        catalogue=offered,
        policy="empty=nan",
    )
    if measure.row.level == "run":
        return found[measure]
    return dict(zip(found.query_texts, found.per_query_list(measure), strict=True))


def are_equal(one, other):
    return math.isclose(one, other, rel_tol=1e-12, abs_tol=1e-14)


def name_of(each):
    return f"{each.tool} {each.theirs}"


@pytest.mark.parametrize("each", COUNTERPARTS, ids=name_of)
@pytest.mark.parametrize("case", OF_ITEMS)
def test_values_are_those_of_a_library_or_differ_as_a_row_says(each, case):
    given = OF_ITEMS[case]
    answers = {
        k: OF_LIBRARIES[each.tool][case].get(f"{each.theirs}@{k}") for k in items.cutoffs(given)
    }
    assert any(theirs is not None for theirs in answers.values())
    for k, theirs in answers.items():
        if theirs is None:  # a list of RecBole is as long as the cutoff
            continue
        ours = compute(given, each, k)
        if not isinstance(theirs, dict) and isinstance(ours, dict):
            known = [value for value in ours.values() if not math.isnan(value)]
            ours = sum(known) / len(known) if known else math.nan
        if isinstance(theirs, dict) and isinstance(ours, dict):
            assert ours.keys() == theirs.keys()
            is_same = all(are_equal(ours[user], value) for user, value in theirs.items())
        else:
            assert isinstance(ours, float)
            is_same = are_equal(ours, theirs)
        depth = max(map(len, given.recommended.values()))
        differs = case in each.in_cases and (not each.only_at or k in each.only_at)
        differs = differs and (not each.only_beyond or k > depth)
        assert is_same != differs, (k, ours, theirs)


def test_every_value_of_a_library_has_a_counterpart():
    asked = {
        (library, name.rpartition("@")[0])
        for library, cases in OF_LIBRARIES.items()
        for values in cases.values()
        for name in values
    }
    assert asked == {(each.tool, each.theirs) for each in COUNTERPARTS}
    assert {*OF_ITEMS} == EVERY
    for each in COUNTERPARTS:
        assert bool(each.differs) == bool(each.in_cases)
