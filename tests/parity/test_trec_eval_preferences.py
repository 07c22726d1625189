"""The values of preferences are those of their definition, written with a loop over all pairs."""

from __future__ import annotations

from collections import Counter
from itertools import combinations, groupby, permutations, product

import pytest
from hypothesis import assume, given
from hypothesis import strategies as st
from rankscope.trec_eval import preference_counts
from rankscope.trec_eval.preference_counts import ConflictError, find_values

DOCUMENTS = 7
Judgment = tuple[bytes, bytes, float, int]

judgments = st.lists(
    st.tuples(
        st.sampled_from([b"u", b"v", b"w"]),
        st.sampled_from([b"s", b"t"]),
        st.sampled_from([0.0, 1.0, 1.5, 2.0]),
        st.integers(0, DOCUMENTS - 1),
    ),
    min_size=1,
    max_size=16,
)


def find_preferences(group: list[Judgment]) -> Counter[tuple[int, int]]:
    """Return how often each document of a group is preferred to another one."""
    stated = Counter(
        (better[3], worse[3])
        for better, worse in permutations(group, 2)
        if better[1] == worse[1] and better[2] > worse[2]
    )
    if len({subgroup for _, subgroup, _, _ in group}) == 1:
        return stated
    pairs = set(stated)
    while more := {(a, d) for (a, b), (c, d) in product(pairs, pairs) if b == c} - pairs:
        pairs |= more
    return Counter({pair for pair in pairs if pair[0] != pair[1]})


def define_values(given: list[Judgment], retrieved: int) -> dict[str, float]:
    """Return the values by their definition."""
    groups = [
        find_preferences(list(group)) for _, group in groupby(sorted(given), lambda one: one[0])
    ]

    def is_in(pair: tuple[int, int], scope: str) -> bool:
        found = sum(document < retrieved for document in pair)
        return found >= {"": 0, "_imp": 1, "_ret": 2}[scope]

    values: dict[str, float] = {}
    for scope in ("", "_imp", "_ret"):
        shares, fulfilled, possible = [], 0, 0
        for group in groups:
            some = {pair: times for pair, times in group.items() if is_in(pair, scope)}
            good = sum(times for (a, b), times in some.items() if a < b and a < retrieved)
            shares.append(good / sum(some.values()) if some else 0.0)
            fulfilled, possible = fulfilled + good, possible + sum(some.values())
        values[f"prefs_avgjg{scope}"] = sum(shares[1:], shares[0]) / len(shares)
        values[f"prefs_simp{scope}"] = fulfilled / possible if possible else 0.0
        values |= {f"prefs_num_prefs_ful{scope}": fulfilled} if scope != "_imp" else {}
        values |= {"prefs_num_prefs_poss": possible} if scope == "" else {}
    total = sum(groups, Counter[tuple[int, int]]())
    found, pairs = 0.0, 0
    pairs_of = list(combinations(range(DOCUMENTS), 2))
    # Retrieved documents are first, since the shares are added up in this order.
    for scope, count in (("_ret", 2), ("_imp", 1), ("", 0)):
        for a, b in pairs_of:
            won, lost = total[a, b], total[b, a]
            if (a < retrieved) + (b < retrieved) == count and won + lost:
                found += won / (won + lost) if count else 0.0
                pairs += 1
        values[f"prefs_pair{scope}"] = found / pairs if pairs else 0.0
    return values


@pytest.mark.parametrize("at_once", [1, DOCUMENTS, 3 * DOCUMENTS, 1 << 22])
@given(given=judgments, retrieved=st.integers(0, DOCUMENTS))
def test_values_are_those_of_the_definition(
    at_once: int, given: list[Judgment], retrieved: int
) -> None:
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(preference_counts, "PAIRS_AT_ONCE", at_once)
        try:
            values = find_values(given, DOCUMENTS, retrieved)
        except ConflictError:
            assume(False)
        expected = define_values(given, retrieved)
    assert {name: values[name] for name in expected} == expected


@pytest.mark.parametrize(
    "given",
    [
        [(b"u", b"s", 2.0, 0), (b"u", b"s", 1.0, 0)],
        [(b"u", b"s", 1.0, 0), (b"u", b"t", 0.0, 0)],
        [(b"u", b"s", 2.0, 0), (b"u", b"s", 1.0, 1), (b"u", b"t", 2.0, 1), (b"u", b"t", 1.0, 0)],
        # The second document is above and below the first within one subgroup.
        [(b"u", b"s", n, d) for n, d in ((3.0, 1), (2.0, 0), (1.0, 1))] + [(b"u", b"t", 1.0, 2)],
        # Two documents are both above and below each other.
        [(b"u", b"s", n, d) for n in (2.0, 1.0) for d in (0, 1)] + [(b"u", b"t", 1.0, 2)],
    ],
)
def test_contradictions_within_a_group_are_errors(given: list[Judgment]) -> None:
    with pytest.raises(ConflictError):
        find_values(given, 3, 3)


def test_a_document_with_two_neighbouring_levels_in_a_subgroup_is_between_them() -> None:
    levels = [(3.0, 0), (3.0, 1), (2.0, 1), (2.0, 2)]
    given = [*((b"u", b"s", level, number) for level, number in levels), (b"u", b"t", 1.0, 3)]
    assert find_values(given, 4, 4)["prefs_num_prefs_poss"] == 3
