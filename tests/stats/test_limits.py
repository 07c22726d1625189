"""Verdicts at their limits; quantiles, proportions and sums beside SciPy and `statistics`."""

from __future__ import annotations

import math
import random
from dataclasses import replace
from statistics import NormalDist
from types import SimpleNamespace

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from rankscope import UsageError
from rankscope._compare.gate.checks import _correct
from rankscope._compare.pairs import _detectable, _need
from rankscope._compare.promise import are_same
from rankscope._settings import Interval
from rankscope._show.diagnostics import _note_weights
from rankscope._stats.paired import _warn_of_floor
from rankscope._stats.paired import test_pairs as compare_pairs
from rankscope._stats.power import minimum_detectable, queries_needed
from rankscope._stats.sums import (
    count_needed,
    divide,
    estimate_quantile,
    find_design_effect,
    quantile_of,
    split_exactly,
    sum_all,
    sum_groups,
    take_high_part,
    wilson,
)
from rankscope._stats.tests import Family, Sampling
from rankscope.clicks.estimators import Reliability
from rankscope.judges import JudgeAgreement, ModelJudgedMean
from rankscope.monitor.sequential.detector import Recovery
from rankscope.monitor.sequential.label_rate import LabelRate, fit_label_rate, judge_label_rate
from rankscope.monitor.sequential.lanes import fit_lane, judge_lane
from rankscope.monitor.sequential.observations import DAY, Observations
from rankscope.monitor.why.ideal_change import judge_ideal
from scipy.stats import binom, binomtest, norm


def make_recovery(*, log_evidence, gap):
    """A recovery with some evidence, and a mean gap since it seems to have started."""
    return Recovery(
        total=20.0,
        size=100.0,
        later_total=gap * 8,
        later_size=8.0,
        margin=0.25,
        evidence=(log_evidence,),
    )


def test_a_drop_has_recovered_at_an_evidence_of_20_if_the_mean_is_at_its_floor_or_above():
    limit = math.log(20)
    for evidence in (math.nextafter(limit, 0), limit, math.nextafter(limit, 9)):
        found = make_recovery(log_evidence=evidence, gap=0.0)
        assert found.is_recovered == (evidence >= limit)
    for gap in (math.nextafter(0.25, 0), 0.25, math.nextafter(0.25, 1)):
        assert make_recovery(log_evidence=9.0, gap=gap).is_recovered == (gap <= 0.25)


@pytest.mark.parametrize(("days", "is_known"), [(6, False), (7, True), (8, True)])
def test_a_label_rate_is_known_after_a_week(days, *, is_known):
    found = fit_label_rate(np.full(days, 100), np.full(days, 100), np.arange(days))
    assert (found is not None) == is_known


def judge_labels(deviation, labels):
    """The verdict about a day of a million rankings, each of which has one label usually."""
    usual = LabelRate(mean=1.0, deviation=deviation, weekdays=(1.0,) * 7, days=28)
    return judge_label_rate(usual, labels=labels, rankings=1_000_000, day=0).state


@pytest.mark.parametrize(("deviation", "width"), [(0.0, 220_000), (0.1, 490_000)])
def test_labels_are_unusual_beyond_22_percent_and_beyond_4_9_deviations(deviation, width):
    around = [judge_labels(deviation, 1_000_000 - width + by) for by in (-1, 1)]
    assert around == ["lost", "usual"]
    assert [judge_labels(deviation, 1_000_000 + width + by) for by in (-1, 1)] == [
        "usual",
        "gained",
    ]


def judge_gain(gain, lists, *, recent=None):
    """By what a period is judged whose lists gain so much, where 10.0 is usual."""
    draw = np.random.default_rng(1)

    def make(count):
        return Observations(
            value=draw.random(count),
            cluster=np.arange(count),
            cell=np.zeros(count, dtype=np.int64),
            time=np.arange(count) * (DAY // 100),
        )

    base = make(1400)
    lane = fit_lane(base, np.full(1400, 10.0), base.value / 2, tolerance=0.02)
    seen = make(lists)
    return judge_lane(lane, seen, np.full(lists, gain), seen.value / 2, recent_gain=recent).judged


def test_the_order_is_judged_if_lists_gain_more_than_a_tenth_less_or_more():
    # At a distance of exactly a tenth of what is usual, the value is judged.
    assert judge_gain(9.0, 200) == judge_gain(11.0, 200) == "value"
    assert judge_gain(8.9999, 200) == judge_gain(11.0001, 200) == "discount"


@pytest.mark.parametrize(("lists", "judged"), [(99, "value"), (100, "discount")])
def test_fewer_than_100_lists_differ_by_chance(lists, judged):
    assert judge_gain(5.0, lists, recent=10.0) == judged


RELIABLE = Reliability(n=1000, effective=100, heavy=20, rewarded=10, clusters=30)


@pytest.mark.parametrize("field", ["effective", "heavy", "rewarded", "clusters"])
def test_an_estimate_is_reliable_at_its_limits(field):
    limit = float(getattr(RELIABLE, field))
    fields = ("n", "effective", "heavy", "rewarded", "clusters")
    said = {name: getattr(RELIABLE, name) for name in fields}
    for number in (math.nextafter(limit, 0), limit, math.nextafter(limit, 1e9)):
        refused = Reliability(**said | {field: number}).refuse()
        assert bool(refused) == (number < limit)


@pytest.mark.parametrize(
    ("alpha", "lower", "said"),
    [
        (0.9, math.nextafter(0.8, 1), "reliable"),
        (0.8, 0.8, "reliable"),
        (0.9, math.nextafter(0.8, 0), "tentative"),
        (0.667, 0.667, "tentative"),
        (0.9, math.nextafter(0.667, 0), "Too few documents"),
        (math.nextafter(0.667, 0), 0.5, "disagree too much"),
    ],
)
def test_agreement_is_read_at_krippendorffs_limits(alpha, lower, said):
    agreement = SimpleNamespace(alpha_ordinal=alpha, alpha_ordinal_lower=lower)
    assert said in JudgeAgreement.reading.fget(agreement)


@pytest.mark.parametrize(
    ("items", "top", "is_warned"), [(19, 3, False), (20, 3, True), (20, 4, True), (20, 2, False)]
)
def test_judges_use_other_scales_if_one_goes_twice_as_high_on_20_documents(
    items, top, *, is_warned
):
    grades = (0.0, 1.0, 1.5, 2.0, 3.0)
    counts = [[0] * 5 for _ in range(5)]
    counts[1][top] = items
    pair = SimpleNamespace(confusion=tuple(map(tuple, counts)), items=items, judges=("ann", "bob"))
    agreement = SimpleNamespace(pairs=(pair,), grades=grades)
    warnings = JudgeAgreement.warnings.fget(agreement)
    assert bool(warnings) == is_warned


@pytest.mark.parametrize("at", [("gain", 1.1, False), ("shift", 3.0, True), ("shift", -3.0, True)])
def test_a_model_is_doubted_at_its_limits(at):
    field, limit, is_outward = at
    for number in (math.nextafter(limit, 0), limit, math.nextafter(limit, 2 * limit)):
        said = {"gain": 2.0, "shift": 0.0, "correlation": 0.5, "weight": 0.5}
        said |= {"changed": 100, "human_changed": 20, "method": "dense", field: number}
        is_beyond = abs(number) > abs(limit) if is_outward else number < limit
        for queries in (20, 100):
            mean = SimpleNamespace(measure="nDCG", queries=queries, human_queries=20, **said)
            warnings = ModelJudgedMean.warnings.fget(mean)
            assert bool(warnings) == is_beyond


def test_weights_are_noted_below_four_fifths():
    for effective in (math.nextafter(80.0, 0), 80.0, math.nextafter(80.0, 99)):
        estimate = SimpleNamespace(effective=effective, n=100)
        assert bool(_note_weights({"nDCG": estimate})) == (effective < 80)


def make_family(differences):
    """Two systems that differ so much."""
    values = np.array([[0.0] * len(differences), differences])
    return Family(values=values, sizes=np.ones(len(differences)), pairs=[(0, 1)])


@pytest.mark.parametrize(("units", "is_exact"), [(15, True), (16, True), (17, False)])
def test_all_permutations_of_16_queries_are_counted(units, *, is_exact):
    draw = random.Random(units)
    found = compare_pairs([make_family([draw.random() for _ in range(units)])], permutations=999)
    assert found.is_exact == is_exact
    expected = 2.0 ** (1 - units) if is_exact else 1 / 1000
    assert found.smallest_p.tolist() == [expected]


@pytest.mark.parametrize(("count", "is_exact"), [(49, True), (50, True), (51, False)])
def test_ranks_of_50_queries_are_exact(count, *, is_exact):
    family = make_family([(-1) ** at * (at + 1) / 64 for at in range(count)])
    assert compare_pairs([family], test="wilcoxon").is_exact == is_exact


@pytest.mark.parametrize(
    ("zeros", "count", "warning", "is_told"),
    [
        *((0, count, "too often", count > 1000) for count in (999, 1000, 1001)),
        *((zeros, 1000, "leaves out", zeros > 300) for zeros in (299, 300, 301)),
    ],
)
def test_rank_tests_of_many_queries_or_zeros_are_doubted(zeros, count, warning, *, is_told):
    differences = [(-1) ** at * (at + 1) / 1024 for at in range(count - zeros)]
    found = compare_pairs([make_family([0.0] * zeros + differences)], test="wilcoxon")
    assert any(warning in text for text in found.warnings) == is_told


def judge_fact(change):
    """Whether a mean of 1 that rose by so much has changed clearly."""
    counts = np.array([[64.0], [64.0]])
    sums = [np.array([[64.0], [64.0 * (1 + change)]])] * 4
    found = judge_ideal(counts, sums, [(0.0001, 1.0)] * 4, sign=1.0, value_interval=(0.0001, 1.0))
    return found.facts[0].has_changed


def test_an_ideal_has_changed_from_a_hundredth_on():
    assert [judge_fact(change) for change in (0.0099, 0.0101)] == [False, True]
    assert [judge_fact(change) for change in (-0.0099, -0.0101)] == [False, True]


def test_an_interval_has_100_to_a_million_resamples():
    for count in (100, 101, 999_999, 1_000_000):
        assert Interval(resamples=count).resamples == count
    for count in (99, 1_000_001):
        with pytest.raises(UsageError, match="resamples from 100 to 1000000"):
            Interval(resamples=count)


@pytest.mark.parametrize(("slices", "resamples"), [(1, 2000), (2, 4000), (49, 98000), (50, 99999)])
def test_a_gate_has_50_resamples_beyond_each_end(slices, resamples):
    # With a level of 95 %, 50 / (0.05 / 2) = 2,000 for each slice, and 99,999 at most.
    budget = SimpleNamespace(confidence=None)
    found = _correct(Interval(level=0.95, resamples=100), budget, slices)
    assert found.resamples == pytest.approx(resamples, abs=1)  # 1 - 0.95 isn't 0.05
    assert _correct(Interval(level=0.95, resamples=99_999), budget, 1).resamples == 99_999
    assert _correct(Interval(level=0.95, resamples=100), budget, 51).resamples == 99_999


@pytest.mark.parametrize(("floor", "is_told"), [(0.0499, False), (0.05, False), (0.0501, True)])
def test_a_test_says_so_if_its_smallest_p_value_is_above_a_twentieth(floor, *, is_told):
    found = compare_pairs([make_family([0.5, 0.25, -0.125])])
    warnings = _warn_of_floor(replace(found, smallest_p=np.array([floor])))
    assert bool(warnings) == is_told


def test_a_test_has_99_to_ten_million_permutations():
    # All signs of three differences are counted.
    family = make_family([0.5, 0.25, -0.125])
    for count in (99, 100, 9_999_999, 10_000_000):
        assert compare_pairs([family], permutations=count).p.tolist() == [0.5]
    for count in (98, 10_000_001, True, 1.5):
        with pytest.raises(UsageError, match="permutations from 99 to 10,000,000"):
            compare_pairs([family], permutations=count)


@pytest.mark.parametrize(
    ("most", "expected"),
    [(199_999, 99_999), (199_998, 99_999), (199_997, 9_999), (19_998, 9_999), (19_997, 999)],
)
def test_a_test_has_as_many_permutations_as_are_quick_enough(most, expected):
    sampling = Sampling()
    assert sampling.choose(2, 0, most) == expected
    assert sampling.choose(2, 0, 0) == 999


def test_values_that_differ_by_a_trillionth_are_equal():
    for off, are_equal in ((0.995e-12, True), (1.005e-12, False)):
        family = Family(values=np.array([[4.0], [4.0 + 4 * off]]), sizes=np.ones(1), pairs=[(0, 1)])
        assert (not next(family.differences()).any()) == are_equal
        # Beside 0, no difference is small for a relative comparison.
        assert are_same(np.array([off]), np.array([0.0])).tolist() == [are_equal]


def test_a_comparison_has_a_power_of_80_percent():
    assert _need(0.05, 0.2, 0.05) == queries_needed(0.05, (0.2,), level=0.05, power=0.8) == 128
    expected = minimum_detectable((0.2,), 50, level=0.05, power=0.8)
    assert _detectable(0.2, 50, 0.05, None) == expected


def test_an_effect_below_a_thousandth_needs_no_number_of_queries():
    assert [_need(effect, 1.0, 0.05) for effect in (-0.000_999, 0.000_999)] == [None, None]
    for effect in (0.001, -0.001, 0.001_001):
        normal = NormalDist()
        expected = (normal.inv_cdf(0.975) + normal.inv_cdf(0.8)) ** 2 / effect**2
        assert _need(effect, 1.0, 0.05) == pytest.approx(expected, rel=1e-5)


def test_an_effect_that_needs_more_than_a_trillion_queries_is_refused():
    # With so many queries, the t distribution is the normal one.
    normal = NormalDist()
    limit = (normal.inv_cdf(0.975) + normal.inv_cdf(0.8)) / 1e6
    for times in (0.8, 0.9999):
        found = queries_needed(limit / math.sqrt(times), (1.0,))
        assert found == pytest.approx(times * 1e12, rel=1e-5)
    with pytest.raises(UsageError, match="more than 1,000,000,000,000 queries"):
        queries_needed(limit / math.sqrt(1.0001), (1.0,))


@pytest.mark.parametrize("count", [1, 5, 71, 72, 100, 1000, 20_000])
@pytest.mark.parametrize("probability", [0.5, 0.9, 0.95, 0.99])
@pytest.mark.parametrize("level", [0.95, 0.999])
def test_the_ends_are_the_order_statistics_of_the_binomial_distribution(count, probability, level):
    found = estimate_quantile(np.arange(1.0, count + 1), probability, level=level, low=0, high=1e6)
    tail = (1 - level) / 2
    ranks = np.arange(count + 2)
    # The largest j with P(B < j) <= tail, and the smallest k with P(B >= k) <= tail.
    lower = ranks[binom.cdf(ranks - 1, count, probability) <= tail].max()
    upper = ranks[binom.sf(ranks - 1, count, probability) <= tail].min()
    assert found.value == math.ceil(round(count * probability, 9))
    assert found.lower == lower
    assert found.upper == (1e6 if upper > count else upper)


def test_equal_clusters_count_as_one_value_each():
    values = np.arange(100.0)
    clusters = np.repeat(np.arange(100), 5)
    whole = estimate_quantile(np.repeat(values, 5), 0.9, clusters=clusters)
    alone = estimate_quantile(values, 0.9)
    # The variance of a share has 100 - 1 in its denominator, that of independent values 100.
    assert whole.effective == pytest.approx(99, rel=1e-12)
    assert whole.lower <= alone.lower
    assert whole.upper >= alone.upper


def test_clusters_of_one_value_are_independent_and_without_values_above_one_value_each():
    is_above = np.arange(50) % 5 == 0
    assert find_design_effect(is_above, np.arange(50)) == pytest.approx(50 / 49, rel=1e-12)
    assert find_design_effect(np.zeros(60, dtype=bool), np.repeat(np.arange(12), 5)) == 5


def test_the_number_needed_is_that_of_a_test_of_a_proportion():
    share, allowed = 0.02, 0.05
    spread = norm.ppf(0.975) * math.sqrt(allowed * (1 - allowed))
    spread += norm.ppf(0.8) * math.sqrt(share * (1 - share))
    expected = math.ceil((spread / (allowed - share)) ** 2)
    assert count_needed(share, 0.95, level=0.95, power=0.8) == expected


def test_if_no_value_is_above_the_number_needed_gives_an_upper_end():
    for probability in (0.9, 0.95, 0.99):
        needed = count_needed(0.0, probability, level=0.95, power=0.8)
        assert needed is not None
        assert estimate_quantile(np.zeros(needed), probability).upper == 0


@pytest.mark.parametrize("level", [0.5, 0.9, 0.95, 0.999])
@pytest.mark.parametrize(("clicks", "count"), [(0, 7), (1, 3), (13, 3322), (50, 100), (9, 9)])
def test_the_interval_of_a_share_is_that_of_scipy(clicks, count, level):
    assert quantile_of(level) == pytest.approx(norm.ppf((1 + level) / 2), rel=1e-12)
    expected = binomtest(clicks, count).proportion_ci(level, method="wilson")
    found = wilson(clicks / count, count, quantile_of(level))
    assert found == pytest.approx((expected.low, expected.high), abs=1e-12)


@pytest.mark.parametrize(
    ("top", "bottom"), [((14, 3412), (13, 3322)), ((1, 10), (9, 10)), ((30, 40), (1, 90))]
)
def test_the_ends_of_a_quotient_are_where_the_recovered_variances_say(top, bottom):
    (one, other) = (clicks / count for clicks, count in (top, bottom))
    ends = wilson(one, top[1], 1.96)
    below = wilson(other, bottom[1], 1.96)
    lower, upper = divide(one, ends, other, below)
    assert lower < one / other < upper
    # A quotient x is an end where the distance of one - x other from 0 is its own half width.
    for end, of_one, of_other in ((lower, ends[0], below[1]), (upper, ends[1], below[0])):
        distance = (one - end * other) ** 2
        assert distance == pytest.approx((one - of_one) ** 2 + end**2 * (other - of_other) ** 2)


def test_a_rank_without_clicks_has_an_upper_end():
    ends, below = wilson(0, 100, 1.96), wilson(0.5, 100, 1.96)
    lower, upper = divide(0.0, ends, 0.5, below)
    assert lower == 0
    assert upper == pytest.approx(ends[1] / math.sqrt(below[0] * (2 * 0.5 - below[0])))


NUMBERS = st.floats(-1e99, 1e99, allow_subnormal=True)


@given(st.lists(NUMBERS, max_size=30))
def test_a_sum_is_rounded_once(values):
    assert sum_all(np.array(values)) == math.fsum(values)


@given(st.lists(st.tuples(NUMBERS, st.integers(0, 3)), max_size=30), st.randoms())
def test_a_sum_of_a_group_is_rounded_once(rows, random):
    def add(rows):
        values = np.array([value for value, _ in rows])
        return sum_groups(values, np.array([group for _, group in rows], dtype=int), 5).tolist()

    found = add(rows)
    for group in range(5):
        assert found[group] == math.fsum(value for value, which in rows if which == group)
    random.shuffle(rows)
    assert add(rows) == found


@given(st.lists(NUMBERS, min_size=1, max_size=20))
def test_parts_add_up_to_each_value(values):
    parts = split_exactly(np.array(values))
    for at, value in enumerate(values):
        assert math.fsum(part[at] for part in parts) == value


@given(st.lists(st.floats(0, 1), min_size=1, max_size=50), st.randoms())
def test_high_parts_add_up_alike_in_any_order(values, random):
    high = take_high_part(np.array(values), 50).tolist()
    assert np.allclose(high, values, rtol=0, atol=2**-45)
    total = sum(high)
    random.shuffle(high)
    assert sum(high) == total == math.fsum(high)


def test_no_number_shows_on_which_side_of_itself_a_share_is():
    assert count_needed(0.05, 0.95, level=0.95, power=0.8) is None
