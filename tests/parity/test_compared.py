"""Our p-values are those of ranx and PyTerrier, except where theirs have another definition."""

from __future__ import annotations

import json
import math
from itertools import combinations
from pathlib import Path
from typing import TYPE_CHECKING, Any

import pytest
import rankscope
from scipy.stats import tukey_hsd

if TYPE_CHECKING:
    from typing import Literal

    from rankscope import Compared

    Correction = Literal["holm", "bh", "none"]
    Test = Literal["t", "permutation", "tukey", "wilcoxon"]

GOLDEN = Path(__file__).parent / "golden" / "compared"


def read(name: str) -> dict[str, dict[str, dict[str, Any]]]:
    """The content of a golden file."""
    found: dict[str, dict[str, dict[str, Any]]] = json.loads(
        (GOLDEN / f"{name}.json").read_text(encoding="utf-8")
    )
    return found


VALUES = read("values")
RANX, PYTERRIER = read("ranx")["cases"], read("pyterrier")["cases"]
CASES = list(VALUES)
PERMUTATIONS = 10_000
"""Those of ranx."""


def compare(
    case: str,
    test: Test,
    correction: Correction = "none",
    *,
    has_baseline: bool = False,
    permutations: int | None = None,
) -> dict[str, Compared]:
    """Our comparisons by pair of runs: all pairs, or the first run with each of the others."""
    values = VALUES[case]["values"]
    found = rankscope.compare(
        values,
        values=True,
        test=test,
        correction=correction,
        baseline=next(iter(values)) if has_baseline else None,
        interval=rankscope.Interval(method="t"),
        permutations=permutations,
    )
    return {f"{each.baseline}-{each.run}": each for each in found.comparisons}


@pytest.mark.parametrize("case", CASES)
def test_the_t_test_of_every_pair_is_that_of_ranx(case: str) -> None:
    found = compare(case, "t")
    assert found.keys() == RANX[case]["student"].keys()
    for pair, each in found.items():
        assert each.p == pytest.approx(RANX[case]["student"][pair], rel=1e-9), pair


@pytest.mark.parametrize("case", CASES)
def test_the_permutation_test_is_that_of_ranx_within_its_monte_carlo_error(case: str) -> None:
    for pair, each in compare(case, "permutation").items():
        error = math.sqrt(each.p * (1 - each.p) / PERMUTATIONS)
        assert RANX[case]["fisher"][pair] == pytest.approx(each.p, abs=5 * error + 1e-4), pair


def test_a_permutation_test_of_ranx_can_have_p_0_and_ours_cannot() -> None:
    found = compare("cast21", "permutation", permutations=PERMUTATIONS)
    zeros = [pair for pair, p in RANX["cast21"]["fisher"].items() if p == 0]
    assert zeros
    for pair in zeros:
        # By chance, a few of our permutations may be as far apart as the runs are.
        assert 1e-3 > found[pair].p >= found[pair].smallest_p == 1 / (PERMUTATIONS + 1)


@pytest.mark.parametrize("case", CASES)
def test_the_tukey_test_of_ranx_ignores_that_runs_have_the_same_queries(case: str) -> None:
    rows = list(VALUES[case]["values"].values())
    unpaired = tukey_hsd(*rows).pvalue
    theirs = RANX[case]["tukey"]
    for (one, other), p in zip(combinations(range(len(rows)), 2), theirs.values(), strict=True):
        assert p == pytest.approx(unpaired[one, other], rel=1e-6)
    # That is wrong for runs: if queries differ more than runs do, it finds less. The values of
    # `reciprocal` don't depend on the query.
    for pair, ours in compare(case, "tukey").items():
        if case == "reciprocal":
            assert ours.p == pytest.approx(theirs[pair], abs=0.06), pair
        elif theirs[pair] > 1e-4:
            assert ours.p < theirs[pair], pair


def test_the_tukey_test_of_ranx_misses_a_difference_that_all_paired_tests_find() -> None:
    pair = "convdr-convdr_bert"
    assert RANX["cast21"]["tukey"][pair] > 0.4
    assert RANX["cast21"]["student"][pair] < 0.003
    assert compare("cast21", "t", "holm")[pair].p_corrected < 0.05


@pytest.mark.parametrize("case", CASES)
@pytest.mark.parametrize("test", ["t", "wilcoxon"])
def test_the_tests_with_a_baseline_are_those_of_pyterrier(case: str, test: Test) -> None:
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
def test_corrections_over_one_measure_are_those_of_pyterrier(
    case: str, ours: Correction, theirs: str
) -> None:
    found = compare(case, "t", ours, has_baseline=True)
    for pair, p in PYTERRIER[case][f"t, {theirs}"].items():
        assert found[pair].p_corrected == pytest.approx(p, rel=1e-9), pair
