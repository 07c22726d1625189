from __future__ import annotations

import json
import math
import os
import subprocess
import sys
from dataclasses import replace
from pathlib import Path

import numpy as np
import pytest
import rankscope as rs
from hypothesis import given
from hypothesis import strategies as st
from rankscope._settings import Interval
from rankscope.errors import DeadlineError, EmptyError, PolicyError, UsageError
from rankscope.monitor.why.compute import TraceChoices, trace

from tests.generated import examples
from tests.monitor.why.windows import GOOD, SWAPPED, WINDOWS, draw_window, make_window
from tests.refusals import refuses

ROOT = Path(__file__).resolve().parents[3]
QUICK = TraceChoices(interval=Interval(resamples=299))


@pytest.fixture(scope="module")
def swapped():
    return trace(draw_window(1), draw_window(2, swapped=True))


def test_the_planted_slice_is_found_with_its_kind_of_loss(swapped):
    (cause,) = swapped.causes
    assert cause.name == "device=tv, version=4"
    assert cause.by == "within"
    assert cause.main_loss(-1) == "ordering"
    shares = sum(cause.change.shares) / 2
    assert cause.contribution == pytest.approx(
        shares * (rs.ndcg(SWAPPED) - rs.ndcg(GOOD)), abs=1e-12
    )
    assert cause.change.losses["ordering"] == pytest.approx(cause.contribution, abs=1e-12)
    assert cause.contribution == pytest.approx(swapped.change, abs=0.004)
    assert cause.interval[0] < cause.contribution < cause.interval[1]
    (found, *_) = swapped.found
    assert found.name == cause.name
    assert found.is_confirmed
    assert swapped.ideal.verdict == "unchanged"


def test_the_intervals_have_the_parts_in_them(swapped):
    whole = swapped.decomposition
    for part in ("change", "mix", "within"):
        ends = swapped.intervals[part]
        assert ends[0] <= getattr(whole, part) <= ends[1]
    assert swapped.intervals["change"][1] < 0


@given(WINDOWS, WINDOWS, st.integers(0, 5))
@examples(50)
def test_any_windows_are_traced_and_add_up(before, after, seed):
    interval = Interval(resamples=100, seed=seed)
    found = trace(before, after, TraceChoices(support=1, interval=interval))
    whole = found.decomposition
    for parts in (
        [each.total for each in whole.slices],
        [whole.mix, *whole.losses.values()],
        *(row[2:] for row in found.attributes.rows()),
    ):
        assert abs(math.fsum(parts) - found.change) <= 1e-12
    assert json.loads(json.dumps(found.to_dict(), allow_nan=False))["sign"] == found.sign
    assert str(found).startswith("nDCG@5 ")


def test_a_trace_reads_like_an_explanation(swapped):
    text = str(swapped)
    cause = swapped.causes[0]
    before, after = swapped.decomposition.means
    rest = swapped.change - cause.contribution
    assert text.splitlines()[0] == (
        f"nDCG@5 fell by {-swapped.change:.4f}, from {before:.4f} to {after:.4f}: "
        f"{-cause.contribution:.4f} of it within device=tv, version=4 by ordering; "
        + (f"{-rest:.4f} elsewhere" if rest < 0 else f"elsewhere it rose by {rest:.4f}")
    )
    assert "device=tv, version=4 is confirmed" in text
    assert f"Searched {swapped.search.looked_at} slices by device, version, country" in text


def test_slices_of_one_attribute_and_of_pairs_are_looked_at(swapped):
    single, pairs = 3 + 2 + 4, 3 * 2 + 3 * 4 + 2 * 4
    assert swapped.search.looked_at == single + pairs
    assert len(swapped.slices) == single + pairs
    assert swapped.slices.column("slice")[0] in {"version=4", "device=tv", "device=tv, version=4"}
    assert swapped.search.searched == (4000, 4000)


def test_a_mix_shift_is_found_as_mix():
    def window(seed, shares):
        random = np.random.default_rng(seed)
        device = random.choice(["desktop", "phone", "tv"], 4000, p=shares)
        value = random.beta(8, 2, 4000) * np.where(device == "tv", 0.5, 1)
        country = random.choice(["at", "de"], 4000)
        return make_window(value, device=device.tolist(), country=country.tolist())

    found = trace(window(1, (0.3, 0.6, 0.1)), window(2, (0.2, 0.5, 0.3)), QUICK)
    assert found.causes == ()
    assert [(each.name, each.by) for each in found.shifts] == [("device=tv", "mix")]
    whole = found.decomposition
    assert whole.mix == pytest.approx(found.change, abs=0.005)
    assert abs(whole.within) < 0.005
    assert "of it by the share of device=tv, from " in str(found)
    assert found.ideal.verdict == "unchanged"


def test_labels_that_came_are_found_as_another_ideal():
    found = trace(draw_window(1), draw_window(2, ideal=12.0), QUICK)
    assert found.change < -0.1
    assert found.ideal.verdict == "ideal"
    assert (found.ideal["ideal"].before, found.ideal["ideal"].after) == (10, 12)
    assert found.ideal["ideal"].has_changed
    assert not found.ideal["relevant"].has_changed
    assert not found.ideal["gained"].has_changed
    assert "check the labels first" in str(found)
    assert found.paired.other_ideal == found.paired.keys
    # What is gained is drawn anew; the ideal makes the rest.
    assert found.paired.by_ideal == pytest.approx(found.paired.change, abs=0.01)


def test_queries_that_lost_their_labels_are_undefined():
    random = np.random.default_rng(3)
    value = random.beta(8, 2, 3000)
    is_undefined = random.random(3000) < 0.2
    after = make_window(
        np.where(is_undefined, 0, value),
        losses={"ordering": np.where(is_undefined, 0, 1 - value), "undefined": is_undefined * 1.0},
        ideal=np.where(is_undefined, 0, 10.0),
    )
    found = trace(make_window(value), after, QUICK)
    assert found.decomposition.losses["undefined"] == pytest.approx(-is_undefined.mean())
    assert found.ideal["without relevant"].after == is_undefined.mean()
    assert found.ideal.verdict == "both"


@pytest.mark.parametrize("devices", [(0.3, 0.5, 0.2), (0.1, 0.1, 0.8)])
@pytest.mark.parametrize("versions", [(0, 1), (0.5, 0.5), (0.8, 0.2)])
def test_a_version_that_was_rolled_out_is_named(versions, devices):
    before = draw_window(1, versions=(1, 0), devices=devices)
    # Version 3 ranks on tv as it did on all devices, and version 4 as in the story.
    after = draw_window(2, swapped=True, versions=versions, devices=devices)
    found = trace(before, after, QUICK)
    cause = found.causes[0]
    assert cause.name == "device=tv, version=4"
    assert found.to_dict()["causes"][0]["name"] == cause.name
    assert (cause.change.name, cause.by, cause.main_loss(-1)) == ("device=tv", "within", "ordering")
    (new,) = cause.arrivals
    assert new.mean == pytest.approx(rs.ndcg(SWAPPED))
    assert new.share == pytest.approx(versions[1], abs=0.05)
    # What version 4 adds, were its queries as those on tv before.
    weight = sum(cause.change.shares) / 2
    old = cause.change.means[0]
    assert cause.contribution == pytest.approx(weight * new.share * (new.mean - old), abs=1e-12)
    assert cause.losses["ordering"] == pytest.approx(cause.contribution, abs=1e-12)
    assert cause.interval[0] < cause.contribution < cause.interval[1] < 0
    lines = str(found).splitlines()
    assert f"{-cause.contribution:.4f} of it within device=tv, version=4 by ordering" in lines[0]
    assert any(line.startswith("version=4 is new: ") for line in lines)
    assert {*found.fallen.column("slice")} == {each.name for each in found.causes}


@pytest.mark.parametrize("share", [0.5, 1])
def test_a_version_that_is_worse_everywhere_is_named(share):
    random = np.random.default_rng(6)
    value = random.beta(8, 2, 3000)
    device = random.choice(["tv", "phone"], 3000).tolist()
    is_new = random.random(3000) < share
    version = np.where(is_new, "4", "3").tolist()
    before = make_window(value, device=device, version=["3"] * 3000)
    after = make_window(value * np.where(is_new, 0.9, 1), device=device, version=version)
    found = trace(before, after, QUICK)
    assert [each.name for each in found.causes] == ["version=4"]
    assert found.causes[0].contribution == pytest.approx(found.change, rel=0.05)
    assert {*found.fallen.column("slice")} == {"version=4"}


@pytest.mark.parametrize(("users", "is_named"), [(9, False), (10, True)])
def test_few_users_do_not_name_a_version(users, is_named):
    value = np.random.default_rng(6).beta(8, 2, 600)
    cluster = [f"user {number % users}" for number in range(600)]
    found = trace(
        make_window(value, cluster=cluster, version=["3"] * 600),
        make_window(value * 0.8, cluster=cluster, version=["4"] * 600),
        QUICK,
    )
    assert bool(found.causes) == is_named


def test_a_version_is_no_cause_where_others_fell_alike():
    random = np.random.default_rng(6)
    value = random.beta(8, 2, 3000)
    version = random.choice(["3", "4"], 3000, p=[0.3, 0.7]).tolist()
    found = trace(
        make_window(value, version=["3"] * 3000), make_window(value * 0.9, version=version), QUICK
    )
    assert found.change < -0.05
    assert [(each.name, each.arrivals) for each in found.causes] == [("everywhere", ())]
    assert found.causes[0].contribution == pytest.approx(found.change, abs=1e-12)
    assert "of it everywhere by ordering" in str(found).splitlines()[0]
    assert {*found.fallen.column("slice")} == {"everywhere"}


def test_a_slice_that_entered_is_found_by_its_share():
    random = np.random.default_rng(4)
    value = random.beta(8, 2, 3000)
    is_new = random.random(3000) < 0.2
    before = make_window(value, country=["de"] * 3000)
    after = make_window(value * np.where(is_new, 0.5, 1), country=np.where(is_new, "it", "de"))
    found = trace(before, after, QUICK)
    assert [(each.name, each.by) for each in found.shifts] == [("country=it", "mix")]
    cause = found.shifts[0]
    assert cause.contribution == cause.change.entered == found.decomposition.entered
    assert "by country=it, which entered with" in str(found)
    left = trace(after, before, QUICK)
    assert [each.name for each in left.shifts] == ["country=it"]
    assert left.decomposition.left == left.shifts[0].contribution > 0
    assert "rose" in str(left).splitlines()[0]
    assert "by country=it, which left with" in str(left)


@pytest.mark.parametrize("queries", [(300, 90), (90, 300), (300, 60)])
def test_a_slice_of_few_queries_is_not_found_by_a_share_that_stayed(queries):
    """Of no slice both means are known; what fell in it must not be taken for its share."""
    windows = []
    for count, on_tv in zip(queries, (0.95, 0.6), strict=True):
        number = np.arange(count)
        is_tv = number % 3 == 0
        windows.append(
            make_window(
                np.where(is_tv, on_tv, 0.8) - number % 7 / 100,
                device=np.where(is_tv, "tv", "phone"),
                country=np.where(number % 2 == 0, "de", "fr"),
            )
        )
    for choices in (QUICK, replace(QUICK, direction="rise")):
        assert trace(*windows, choices).shifts == ()


def test_where_nothing_is_confirmed_it_says_so():
    found = trace(draw_window(1), draw_window(2), QUICK)
    assert found.causes == ()
    assert len(found.found) > 0
    assert "no cause stands out" in str(found).splitlines()[0]
    assert "No cause is named: " in str(found)
    assert found.found[0].p_value > 0.05
    assert [each.name for each in found.decomposition.slices] == ["all others"]
    assert {*found.fallen.column("slice")} == {"all"}


def test_the_order_of_queries_changes_nothing(swapped):
    order = np.random.default_rng(5).permutation(4000)
    other = trace(draw_window(1, order=order), draw_window(2, swapped=True, order=order[::-1]))
    one, two = swapped.to_dict(), other.to_dict()
    assert [*one] == [*two]
    for made in (one, two):
        for row in made["fallen"]:
            del row["row"]
    assert one == two


def test_a_seed_gives_other_reassignments():
    before, after = draw_window(1, 1000), draw_window(2, 1000)
    found = [
        trace(before, after, TraceChoices(interval=Interval(resamples=199, seed=seed)))
        for seed in (0, 0, 1)
    ]
    assert found[0].to_dict() == found[1].to_dict()
    assert found[0].found[0].interval != found[2].found[0].interval
    assert found[0].intervals != found[2].intervals


def test_one_thread_changes_nothing(swapped):
    program = (
        "import json\n"
        "from rankscope.monitor.why.compute import trace\n"
        "from tests.monitor.why.windows import draw_window\n"
        "found = trace(draw_window(1), draw_window(2, swapped=True))\n"
        "print(json.dumps(found.to_dict()))\n"
    )
    names = ("OMP_NUM_THREADS", "OPENBLAS_NUM_THREADS", "MKL_NUM_THREADS")
    made = subprocess.run(
        [sys.executable, "-c", program],
        cwd=ROOT,
        env=os.environ | dict.fromkeys(names, "1"),
        capture_output=True,
        text=True,
        check=True,
    ).stdout
    assert json.loads(made) == json.loads(json.dumps(swapped.to_dict()))


def test_one_query_is_traced_without_intervals():
    found = trace(
        make_window([1.0], key=["a"], device=["tv"]), make_window([0.5], key=["a"], device=["tv"])
    )
    assert found.change == -0.5
    assert found.causes == found.found == ()
    assert {*found.intervals.values()} == {None}
    assert (found.paired.change, found.paired.interval) == (-0.5, None)
    assert found.fallen.rows() == [("all", "a", 1, 1, 1.0, 0.5, -0.5, 0, None)]
    assert "nDCG@5 fell by 0.5000, from 1.0000 to 0.5000" in str(found)


def test_attributes_are_searched_that_both_windows_have():
    before = make_window([1.0] * 3, device=["tv"] * 3, country=["de"] * 3)
    after = make_window([0.5] * 3, country=["de"] * 3, app=["new"] * 3)
    found = trace(before, after, QUICK)
    assert found.search.attributes == ("country",)
    assert found.search.left_out == ("device", "app")
    assert "Only one span has device, app." in str(found)
    found = trace(make_window([1.0, 0.5, 0.25]), make_window([0.5, 0.5, 0.5]), QUICK)
    assert found.search.attributes == ()
    assert len(found.slices) == len(found.attributes) == 0
    assert "There are no attributes to search." in str(found)


def test_rare_values_are_searched_together():
    texts = [f"country {number % 7}" for number in range(300)]
    window = make_window([0.5] * 300, country=texts)
    found = trace(window, window, TraceChoices(most_values=4, interval=Interval(resamples=199)))
    assert found.search.folded == {"country": (3, 2 * (43 + 43 + 42))}
    assert found.search.looked_at == 5
    assert "nDCG@5 did not change" in str(found)


def test_a_small_slice_is_found_although_the_whole_rose():
    random = np.random.default_rng(4)
    is_tv = np.arange(4000) % 40 == 0
    device = np.where(is_tv, "tv", np.where(np.arange(4000) % 2, "pc", "phone"))
    before, after = random.beta(8, 2, (2, 4000))
    after = np.where(is_tv, np.maximum(after - 0.2, 0), after) + (before.mean() - after.mean())
    after += 0.2 / 40 + 0.001
    found = trace(
        make_window(before, cluster=map(str, range(4000)), device=device),
        make_window(after, cluster=map(str, range(4000, 8000)), device=device),
        QUICK,
    )
    assert found.change > 0
    assert found.found[0].name == "device=tv"
    assert found.causes[0].name == "device=tv"
    assert found.causes[0].contribution < 0
    assert f"against {-found.causes[0].contribution:.4f} within device=tv" in str(found)


def test_what_rose_is_searched_for_where_it_is_asked_for():
    before, after = draw_window(1, swapped=True), draw_window(2)
    rose = trace(before, after, QUICK)
    assert [each.name for each in rose.causes] == ["device=tv, version=4"]
    assert rose.causes[0].contribution > 0
    fell = trace(before, after, TraceChoices(direction="fall", interval=Interval(resamples=499)))
    assert fell.sign == -1
    assert fell.causes == ()


def test_windows_without_queries_unknown_attributes_and_other_intervals_are_refused():
    with refuses(EmptyError, "empty_input"):
        make_window([])
    with refuses(PolicyError, "interval_unavailable"):
        TraceChoices(interval=Interval(method="t"))
    with refuses(UsageError, "unknown_attribute", match="the queries have no attribute"):
        trace(make_window([1.0]), make_window([1.0]), TraceChoices(attributes=("color",)))


@pytest.mark.parametrize(
    "choices",
    [
        {"most_values": 0},
        {"most_values": 251},
        {"support": True},
        {"most_found": 1.5},
        {"direction": "down"},
        {"level": 0.0},
        {"level": 0.001, "permutations": 1998},
    ],
)
def test_choices_outside_their_range_are_refused(choices):
    with refuses(UsageError, "bad_parameter"):
        TraceChoices(**choices)


def test_a_trace_stops_wherever_its_deadline_is_over():
    calls = 0

    def check():
        nonlocal calls
        calls += 1
        if calls == last:
            raise DeadlineError("too late", hint="wait longer", code="read_timeout")

    spans = draw_window(1), draw_window(2, swapped=True)
    for last in (1, 5):
        calls = 0
        with pytest.raises(DeadlineError, match="too late"):
            trace(*spans, check=check)
        assert calls == last
