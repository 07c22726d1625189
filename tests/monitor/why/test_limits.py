from __future__ import annotations

import math
from dataclasses import replace
from types import SimpleNamespace

import numpy as np
import pytest
from numpy.typing import NDArray
from rankscope.errors import FormatError, LimitError, UsageError
from rankscope.monitor.why import compute as tracing
from rankscope.monitor.why.additive_effects import fit_effects
from rankscope.monitor.why.arrivals import find_arrivals
from rankscope.monitor.why.compute import TraceChoices, trace
from rankscope.monitor.why.document_regrets import DocumentRegrets, split_regrets
from rankscope.monitor.why.reassignment import reassign
from rankscope.monitor.why.shared_slices import SliceAxis, share_attribute
from rankscope.monitor.why.slice_search import Rows, SearchChoices, search_slices
from rankscope.monitor.why.slice_table import SliceGrid, list_slices
from rankscope.monitor.why.traffic_shifts import search_shifts

from tests.monitor.why.windows import decompose, make_window

Numbers = NDArray[np.float64]


@pytest.mark.parametrize("name", ["most_values", "most_found", "most_queries", "permutations"])
def test_a_setting_of_a_trace_is_at_most_what_the_documentation_says(name):
    most = {
        "most_values": 250,
        "most_found": 20,
        "most_queries": 1000,
        "permutations": 100_000,
    }[name]
    for number in (most - 1, most):
        assert getattr(TraceChoices(**{name: number}), name) == number
    with pytest.raises(UsageError, match=f"expected {name} from 1 to {most}, found {most + 1}"):
        TraceChoices(**{name: most + 1})


def test_the_support_of_a_slice_has_32_bits_and_permutations_allow_half_of_the_level():
    for support in (1, 2**31 - 1, 2**31):
        assert TraceChoices(support=support).support == support
    for support in (0, 2**31 + 1):
        with pytest.raises(UsageError, match="expected support from 1 to 2147483648"):
            TraceChoices(support=support)
    assert TraceChoices().permutations == 199
    # The smallest p-value is 1 / (permutations + 1), and half of the level is 0.0125 = 1 / 80.
    for permutations in (79, 80):
        assert TraceChoices(permutations=permutations).permutations == permutations
    with pytest.raises(UsageError, match="expected at least 79 permutations"):
        TraceChoices(permutations=78)


def test_at_most_20_attributes_are_searched():
    names = tuple(f"a{at}" for at in range(21))
    window = make_window([0.5, 0.75], **dict.fromkeys(names, ("x", "y")))
    for count in (19, 20):
        found = trace(window, window, TraceChoices(attributes=names[:count], support=1))
        assert found.search.attributes == names[:count]
    with pytest.raises(LimitError, match="at most 20 attributes to search, found 21"):
        trace(window, window, TraceChoices(attributes=names, support=1))


class StoppedError(Exception):
    """Raised in place of the search."""


@pytest.mark.parametrize(("users", "units"), [(1999, 1999), (2000, 2000), (20_000, 1000)])
def test_more_than_2_000_users_are_reassigned_in_1_000_groups(users, units, monkeypatch):
    def count(is_before, *_others):
        raise StoppedError(len(is_before))

    monkeypatch.setattr(tracing, "reassign", count)
    window = make_window(np.linspace(0, 1, users))
    with pytest.raises(StoppedError) as caught:
        trace(window, window)
    assert caught.value.args == (units,)


@pytest.mark.parametrize("count", [49, 50, 51])
def test_the_50_most_frequent_values_are_slices_of_their_own(count):
    # The last value has one query, the others two.
    values = [f"v{at:02}" for at in range(count)] + [f"v{at:02}" for at in range(count - 1)]
    before = make_window([0.5] * len(values), kind=values)
    after = make_window([0.25] * len(values), kind=values)
    names = {f"kind=v{at:02}" for at in range(count)}
    expected = names if count <= 50 else names - {"kind=v50"} | {"kind=<other>"}
    assert {each.name for each in decompose(before, after, "kind").slices} == expected
    assert len(share_attribute(before, after, "kind", TraceChoices().most_values).texts) == count


def test_the_50_most_frequent_values_of_documents_have_rows():
    for count in (49, 50, 51):
        codes = np.array([*range(count), *range(count - 1)])
        texts = tuple(f"v{at:02}" for at in range(count))
        query, regret = np.zeros(len(codes), dtype=np.int64), np.full(len(codes), 0.25)
        window = DocumentRegrets(query, regret, {"genre": (texts, codes)})
        groups = np.zeros(1, dtype=np.int32)
        (found,) = split_regrets((window, window), (groups, groups), np.ones((2, 1)), [])
        expected = {*texts} if count <= 50 else {*texts[:50], "<other>"}
        assert {*found.table.column(found.table.names[0])} == expected


def test_the_50_slices_that_contribute_most_are_listed():
    for count in (49, 50, 51):
        counts, sums = np.full((2, count), 4.0), np.full((2, count), 2.0)
        sums[1] -= np.arange(1, count + 1) / 1024
        grid = SliceGrid((0,), count, counts, sums)
        texts = tuple(f"v{at:02}" for at in range(count))
        code = np.arange(count, dtype=np.int32)
        axis = SliceAxis("kind", texts, (code, code), 0, 0)
        assert len(list_slices([grid], [axis], sign=-1.0, support=1)) == min(count, 50)


def make_rows(before, after):
    windows = [sorted(before, key=lambda row: row[0]), sorted(after, key=lambda row: row[0])]
    users, codes, values = (
        tuple(np.array([row[at] for row in window]) for window in windows) for at in range(3)
    )
    code = codes[0].astype(np.int32), codes[1].astype(np.int32)
    return Rows((code,), (values[0], values[1]), (users[0], users[1]))


def choose(rows, *, level=0.5):
    users = int(max(each.max() for each in rows.bags)) + 1
    there = [np.bincount(each, minlength=users) > 0 for each in rows.bags]
    return SearchChoices(
        sizes=(2,),
        draws=reassign(there[0], there[1], 199, 1),
        support=1,
        most_found=1,
        level=level,
        direction=None,
    )


@pytest.mark.parametrize("users", [9, 10, 11])
def test_a_slice_of_10_users_can_be_a_cause(users):
    others = [(at, 0, 0.75 + at % 4 / 64) for at in range(40)]
    before = [(40 + at % users, 1, 0.75 + at % 4 / 64) for at in range(66)]
    after = [(user, code, value - 0.5) for user, code, value in before]
    rows = make_rows(others + before, others + after)
    found = search_slices(rows, replace(choose(rows), direction=-1.0))
    # If the slice can't be named, the change of everything is.
    assert [each.place for each in found] == [((0, 1),) if users >= 10 else ()]


@pytest.mark.parametrize("users", [9, 10, 11])
def test_a_slice_of_10_users_can_shift(users):
    # If the slice can't be named, the other one is, which has a larger share.
    others = [(at, 0, 0.75 + at % 4 / 64) for at in range(64)]
    more = [(20 + at % users, 1, 0.25 + at % 4 / 64) for at in range(32)]
    rows = make_rows(others + more[:8], others + more)
    found = search_shifts(rows, choose(rows), change=-0.1, whole=sum(rows.sizes))
    assert found[0].place == ((0, int(users >= 10)),)


def test_a_shift_is_told_if_it_makes_a_tenth_of_the_change():
    # The slice has a mean of 0, the others one of 1, and the centre is 1/2. As its share grows from
    # 1/4 to 3/4, it adds (3/4 - 1/4) (0 - 1/2) = -1/4. So do the others.
    before = [(at, int(at < 32), float(at >= 32)) for at in range(128)]
    after = [(128 + at, int(at < 96), float(at >= 96)) for at in range(128)]
    rows = make_rows(before, after)
    for change in (2.49, 2.5, 2.51):
        found = search_shifts(rows, choose(rows), change=change, whole=sum(rows.sizes))
        assert bool(found) == (change <= 2.5)


def find_new(before, after, *, support):
    """The new versions in windows with so many queries of each version, of such a value."""
    windows = []
    for said in (before, after):
        version = [name for name, (count, _) in said.items() for _ in range(count)]
        value = [each for count, each in said.values() for _ in range(count)]
        windows.append(make_window(value, version=version, all=["yes"] * len(value)))
    one, other = windows
    axes = [share_attribute(one, other, "version", 50)]
    chosen = np.ones(len(one), dtype=np.bool_), np.ones(len(other), dtype=np.bool_)
    (change,) = decompose(one, other, "all").slices
    found = find_arrivals((one, other), axes, chosen, replace(change, slice=()), support)
    return [each.text for each in found]


def test_a_new_version_makes_half_of_the_change_and_differs_from_the_others_by_that():
    # From 0, the mean rises to 3/4 of 1/4 by the new version, and 1/4 of 3/4 by the others. These
    # are too few to be compared with.
    for others in (0.746, 0.75, 0.754):
        after = {"2": (96, 0.25), "1": (32, others)}
        assert find_new({"1": (128, 0.0)}, after, support=64) == ["2"] * (others <= 0.75)
    for others in (0.248, 0.25, 0.252):
        after = {"2": (64, 0.5), "1": (64, others)}
        assert find_new({"1": (128, 0.0)}, after, support=64) == ["2"] * (others <= 0.25)
    # Half of the queries have it after, and a twentieth before.
    for queries in (199, 200, 201):
        before = {"2": (queries, 0.0), "1": (4000 - queries, 0.0)}
        found = find_new(before, {"2": (64, 0.5), "1": (64, 0.0)}, support=64)
        assert found == ["2"] * (queries < 200)


def test_attributes_explain_what_half_of_the_queries_have_in_common():
    for alike in (498, 500, 502):
        counts = np.array([[1000.0, 0.0], [alike, 1000.0 - alike]])
        sums = counts * [0.25, 0.75]
        (effects,) = fit_effects([SliceGrid((0,), 2, counts, sums)], [2])
        assert bool(effects.any()) == (alike >= 500)


def test_values_and_losses_add_up_to_1_and_are_below_a_power_of_ten():
    for off in (0.995e-9, -0.995e-9):
        assert make_window([0.5], losses={"ordering": [0.5 + off]}).value.tolist() == [0.5]
    for off in (1.005e-9, -1.005e-9):
        with pytest.raises(FormatError, match="add up to 1"):
            make_window([0.5], losses={"ordering": [0.5 + off]})
    for ideal in (math.nextafter(1e100, 0), -math.nextafter(1e100, 0)):
        assert make_window([1.0], ideal=[ideal]).ideal.tolist() == [ideal]
    for ideal in (1e100, math.nextafter(1e100, math.inf), -1e100):
        with pytest.raises(FormatError, match=r"below 1e\+100 in ideal"):
            make_window([1.0], ideal=[ideal])


def test_a_change_of_less_than_a_billionth_is_none():
    before = [(at, at % 2, 0.5) for at in range(64)]
    for change in (0.995e-9, 1.005e-9):
        after = [(user, code, value + change * code) for user, code, value in before]
        rows = make_rows(before, after)
        assert bool(search_slices(rows, choose(rows))) == (change > 1e-9)


def test_the_variance_in_a_slice_is_moved_towards_all_by_50_users():
    # Each of 64 users searches once in each window, 20 of them in the slice that fell.
    draw = np.random.default_rng(1)
    code = (np.arange(64) < 20).astype(int)
    values = draw.random((2, 64)) / 4 + 0.5
    values[1] -= code / 8
    rows = make_rows(*([*zip(range(64), code, window, strict=True)] for window in values))
    (found,) = search_slices(rows, replace(choose(rows), direction=-1.0))
    # What is left without the mean of each value of the attribute, and that of everything.
    rest = values - np.array([values[:, code == each].mean() for each in (0, 1)])[code]
    rest -= rest.mean()
    effects = (rest[1] - rest[0])[code == 1] / 64
    usual = (rest**2).mean() * 2 * 20 / 64**2
    variance = (20 * (effects**2).sum() + 50 * usual) / (20 + 50)
    assert found.place == ((0, 1),)
    assert found.statistic == pytest.approx(effects.sum() / math.sqrt(variance), rel=1e-9)


@pytest.mark.parametrize(
    ("contributions", "sign"), [([0.1, -0.1], 1.0), ([-0.1, -0.2], -1.0), ([0.1], 1.0), ([], 1.0)]
)
def test_causes_have_the_direction_of_the_change_unless_all_oppose_it(contributions, sign):
    causes = [SimpleNamespace(contribution=each) for each in contributions]
    assert tracing._choose_sign(0.3, causes, TraceChoices()) == sign
    assert tracing._choose_sign(-0.3, causes, TraceChoices(direction="rise")) == 1.0
