"""Agreement of lists and of runs: published values, ties, and any input."""

from __future__ import annotations

import itertools
import json
import math
import random
import re
from functools import partial

import pytest
import rankscope as rs
from rankscope import correlation

from tests.cli.command import check_error, run
from tests.parity.real import find
from tests.refusals import refuses
from tests.trec import write_run

FORMS = ("extrapolated", "min", "max", "residual")

# From rbo/test.csv of github.com/julian-urbano/sigir2024-rbo (MIT), the test values of Corsi and
# Urbano, "The treatment of ties in rank-biased overlap", SIGIR 2024: two lists, p, and for the
# forms w, a and b the extrapolated, lowest and highest value, and the residual.
PUBLISHED = [
    (
        "(i5 i9 i13 i15 i16 i19 i20) (i3 i8)",
        "i6 (i4 i18) i2 i7 i8 i17 i14 (i11 i12) i1",
        0.958074765324023,
        (0.0816485573277354, 0.0370062754797617, 0.59493569657566, 0.557929421095898),
        (0.0808189832771587, 0.0354671825076603, 0.593396603603558, 0.557929421095898),
        (0.0813693619867344, 0.0356267307324464, 0.593556151828344, 0.557929421095898),
    ),
    (
        "i11 (i8 i21) (i2 i18) (i6 i16 i20) (i4 i10)",
        "i8 (i9 i20 i21) (i2 i3) i13 i1 i11 i14 i19",
        0.93912403977192,
        (0.482369482292872, 0.346394412736983, 0.712103626756557, 0.365709214019575),
        (0.46852753894333, 0.332552469387441, 0.698261683407016, 0.365709214019575),
        (0.486650566878314, 0.350675497322425, 0.716384711341999, 0.365709214019575),
    ),
    (
        "(i4 i7 i15) (i2 i11) i8 i18",
        "i4 i8 i17 i11 (i2 i3 i5 i7 i9 i13 i14)",
        0.955836875418683,
        (0.601671359995661, 0.310498723372055, 0.820912519608734, 0.510413796236679),
        (0.584235464666522, 0.295503371358027, 0.805839323150565, 0.510335951792538),
        (0.632087129618464, 0.322093781902212, 0.833840285843908, 0.511746503941696),
    ),
    (
        "(i3 i6) (i2 i7) i10",
        "(i3 i6 i7 i10) (i1 i2)",
        0.965413635276732,
        (0.946064537517568, 0.343706790399566, 0.958770957517067, 0.615064167117501),
        (0.92051534467649, 0.319428239558438, 0.934492406675939, 0.615064167117501),
        (0.956844651806714, 0.348953051936765, 0.964017219054266, 0.615064167117501),
    ),
    (
        "(i1 i3 i6 i11 i15) i17 (i5 i8)",
        "(i1 i2 i3 i4 i5 i6 i7 i8 i9 i10 i11 i12)",
        0.966485585840186,
        (0.647993254615828, 0.307897712904381, 0.853885398258049, 0.545987685353668),
        (0.56593642947334, 0.250532359019861, 0.795583602856033, 0.545051243836172),
        (0.658581961799868, 0.315458973083789, 0.861496368240528, 0.546037395156739),
    ),
    (
        "i21 i20 (i1 i16 i19) (i5 i10) i4",
        "(i12 i17) (i2 i3 i8 i11) (i15 i18) (i6 i13) (i7 i14) i9",
        0.930074017489188,
        (0, 0, 0.389142712252727, 0.389142712252727),
        (0, 0, 0.38977330351866, 0.38977330351866),
        (0, 0, 0.390116806797613, 0.390116806797613),
    ),
    (
        "i26 (i1 i2 i3 i4 i5 i6 i7 i8 i9 i10)",
        "(i19 i25) (i2 i3) (i7 i9 i12 i26) (i18 i22) (i1 i10 i14) (i5 i8)",
        0.947995253587843,
        (0.567020436833909, 0.362931177029673, 0.682972748293291, 0.320041571263618),
        (0.512406299904543, 0.317657317687162, 0.63798714430746, 0.320329826620298),
        (0.542244994152802, 0.345144157486949, 0.665645938046088, 0.320501780559138),
    ),
    (
        "i4 (i2 i14) i7 i5 i3",
        "(i9 i13) (i6 i8) i1 i5 i10 i15 i11",
        0.986650551181127,
        (0.155835200392091, 0.02839705430193, 0.89085092447296, 0.86245387017103),
        (0.155835200392091, 0.02839705430193, 0.89085092447296, 0.86245387017103),
        (0.155835200392091, 0.02839705430193, 0.89085092447296, 0.86245387017103),
    ),
]


def read(text):
    """A list written with parentheses around ties."""
    return [group.strip("()").split() for group in re.findall(r"\([^)]*\)|\S+", text)]


@pytest.mark.parametrize("row", PUBLISHED, ids=lambda row: row[0][:12])
def test_rank_biased_overlap_has_its_published_values(row):
    one, other, p, *expected = row
    for ties, values in zip("wab", expected, strict=True):
        found = [
            correlation.rbo(read(one), read(other), p=p, ties=ties, form=form) for form in FORMS
        ]
        # Fifteen digits are published.
        assert found == pytest.approx(values, abs=1e-12)
        back = correlation.rbo(read(other), read(one), p=p, ties=ties)
        assert back == pytest.approx(values[0], abs=1e-12)


def test_short_lists_have_values_by_hand():
    # Depth 1: 0; depth 2: all. Above the lists: (1 - p) / p (p^2 / 1 + p^2 / (1 - p) p) = p.
    assert correlation.rbo(["a", "b"], ["b", "a"], p=0.5) == pytest.approx(0.5)
    assert correlation.rbo(["a"], ["a"], p=0.5) == pytest.approx(1)
    # Sum over d of (1 - p) p^(d - 1) / d.
    low = correlation.rbo(["a"], ["a"], p=0.5, form="min")
    assert low == pytest.approx(math.log(2))
    assert correlation.rbo(["a"], ["a"], p=0.5, form="residual") == pytest.approx(1 - math.log(2))


def orders(groups):
    """All lists without ties that a list with ties can be."""
    for parts in itertools.product(*(itertools.permutations(group) for group in groups)):
        yield [item for part in parts for item in part]


def draw(rng, items, length):
    """A random list with ties of up to three items."""
    docs = iter(rng.sample(range(items), length))
    groups = (list(itertools.islice(docs, rng.randint(1, 3))) for _ in range(length))
    return [group for group in groups if group]


@pytest.mark.parametrize("seed", range(8))
def test_form_a_is_the_mean_over_all_orders(seed):
    rng = random.Random(seed)
    one, other = draw(rng, 8, 5), draw(rng, 8, 6)

    def check(measure, plain=None, lists=(one, other)):
        pairs = [*itertools.product(*map(orders, lists))]
        mean = math.fsum((plain or measure)(*pair) for pair in pairs) / len(pairs)
        assert measure(*lists) == pytest.approx(mean, abs=1e-12, nan_ok=True)

    check(partial(correlation.rbo, p=0.8, form="min"))
    # Lists of one length are extrapolated alike.
    check(correlation.rbo, lists=(draw(rng, 7, 5), draw(rng, 7, 5)))
    for k in (1, 3, 6, 9):
        check(
            partial(correlation.overlap, k=k),
            lambda x, y, k=k: len({*x[:k]} & {*y[:k]}) / min(k, 6),
        )
    check(partial(correlation.kendall_tau, ties="a"), correlation.kendall_tau)
    check(partial(correlation.tau_ap, ties="a"), correlation.tau_ap)


@pytest.mark.parametrize("seed", range(20))
def test_a_list_agrees_with_itself_in_forms_b_and_w_and_form_b_is_not_below_form_a(seed):
    rng = random.Random(seed)
    one, other = draw(rng, 15, 9), draw(rng, 15, 12)
    assert [correlation.rbo(one, one, ties=ties) for ties in "bw"] == pytest.approx([1, 1])
    for form in ("extrapolated", "min", "max"):
        plain, corrected = (correlation.rbo(one, other, ties=ties, form=form) for ties in "ab")
        assert plain <= corrected + 1e-12


@pytest.mark.parametrize("seed", range(20))
def test_tau_is_that_of_scipy(seed):
    stats = pytest.importorskip("scipy.stats", reason="SciPy is not installed")
    rng = random.Random(seed)
    one, other = ([float(rng.randint(0, most)) for _ in range(30)] for most in (10, 6))
    expected = stats.kendalltau(one, other).statistic
    found = correlation.kendall_tau(dict(enumerate(one)), dict(enumerate(other)))
    assert found == pytest.approx(expected, abs=1e-12)


# From tests/testthat of github.com/julian-urbano/ircor (MIT), the package of Urbano and Marrero,
# "The treatment of ties in AP correlation", ICTIR 2017: true scores x, estimates y, both rounded to
# make ties, and tau_ap of (x, y), form a with ties in y, and form b without and with ties.
CORRELATED = [
    (
        (0.897, 0.372, 0.908, 0.898, 0.661, 0.062, 0.177, 0.384, 0.498, 0.992),
        (0.82, 0.406, 0.817, 0.953, 0.673, 0.073, 0.364, 0.547, 0.589, 0.988),
        (0.9, 0.4, 0.9, 0.9, 0.7, 0.1, 0.2, 0.4, 0.5, 1),
        (0.8, 0.4, 0.8, 1, 0.7, 0.1, 0.4, 0.5, 0.6, 1),
        (0.8519, 0.7454, 0.8333, 0.7321),
    ),
    (
        (0.266, 0.573, 0.202, 0.945, 0.629, 0.206, 0.687, 0.77, 0.718, 0.38),
        (0.263, 0.843, 0.728, 0.928, 0.08, 0.114, 0.467, 0.641, 0.973, 0.644),
        (0.3, 0.6, 0.2, 0.9, 0.6, 0.2, 0.7, 0.8, 0.7, 0.4),
        (0.3, 0.8, 0.7, 0.9, 0.1, 0.1, 0.5, 0.6, 1, 0.6),
        (0.2504, 0.2692, 0.2880, 0.297),
    ),
    (
        (0.185, 0.573, 0.944, 0.129, 0.468, 0.553, 0.761, 0.405, 0.976, 0.445),
        (0.845, 0.272, 0.275, 0.924, 0.605, 0.334, 0.162, 0.872, 0.018, 0.25),
        (0.2, 0.6, 0.9, 0.1, 0.5, 0.6, 0.8, 0.4, 1, 0.4),
        (0.8, 0.3, 0.3, 0.9, 0.6, 0.3, 0.2, 0.9, 0, 0.2),
        (-0.6971, -0.5558, -0.668, -0.7047),
    ),
]


@pytest.mark.parametrize("row", CORRELATED, ids=["close", "loose", "reverse"])
def test_tau_ap_has_its_published_values(row):
    x, y, x_tied, y_tied = (dict(enumerate(scores)) for scores in row[:4])
    found = [correlation.tau_ap(x, y), correlation.tau_ap(x, y_tied)]
    found += [correlation.tau_ap(x, y, ties="b"), correlation.tau_ap(x_tied, y_tied, ties="b")]
    # Four digits are published.
    assert found == pytest.approx(row[4], abs=5.1e-5)
    assert correlation.tau_ap(x, y, ties="a") == pytest.approx(correlation.tau_ap(x, y), abs=1e-12)
    back = correlation.tau_ap(y_tied, x_tied, ties="b")
    assert back == pytest.approx(found[3], abs=1e-12)


def test_what_is_undefined_is_nan():
    assert math.isnan(correlation.kendall_tau(["a"], ["a"]))
    assert math.isnan(correlation.tau_ap(["a", "b"], ["b", "c"]))
    assert math.isnan(correlation.kendall_tau([{"a", "b"}], ["a", "b"]))
    assert correlation.kendall_tau([{"a", "b"}], ["a", "b"], ties="a") == 0
    assert correlation.rbo(["a"], ["b"]) == 0


def test_jaccard_counts_documents_of_either_list():
    one, other = ["a", "b", "c", "d"], ["b", "x", "a"]
    assert correlation.jaccard(one, other, 3) == pytest.approx(2 / 4)
    assert correlation.jaccard(one, other, 10) == pytest.approx(2 / 5)
    assert correlation.jaccard([{"a", "b"}, "c"], ["a", "x"], 1, ties="w") == pytest.approx(1 / 2)


@pytest.mark.parametrize(
    ("call", "error"),
    [
        (lambda: correlation.rbo([], ["a"]), rs.UsageError),
        (lambda: correlation.rbo(["a", "a"], ["a"]), rs.UsageError),
        (lambda: correlation.rbo("ab", ["a"]), rs.UsageError),
        (lambda: correlation.rbo(["a"], ["a"], p=1), rs.UsageError),
        (lambda: correlation.rbo(["a"], ["a"], p=True), rs.UsageError),
        (lambda: correlation.overlap(["a"], ["a"], 0), rs.UsageError),
        (lambda: correlation.rbo(["a"], ["a"], ties="c"), rs.errors.PolicyError),
        (lambda: correlation.kendall_tau(["a"], ["a"], ties="w"), rs.errors.PolicyError),
    ],
)
def test_what_is_no_list_or_setting_is_refused(call, error):
    with pytest.raises(error) as caught:
        call()
    assert error is rs.errors.PolicyError or caught.value.code == "bad_parameter"


MEASURES = ("RBO", "RBO_min", "RBO_max", "RBO_residual", "tau", "tau_ap", "overlap@5", "jaccard@5")


def draw_run(seed):
    """A run of thirty queries with ties, of which each seed leaves one out."""
    rng = random.Random(seed)
    return {
        f"q{query}": {f"d{doc}": float(rng.randint(0, 9)) for doc in rng.sample(range(30), 20)}
        for query in range(30)
        if query != seed
    }


A, B = draw_run(1), draw_run(2)


def test_a_query_has_the_value_of_its_two_lists():
    for ties in ("a", "b", "w"):
        found = rs.agreement(A, B, MEASURES, p=0.8, ties=ties)
        assert (found.queries, found.only_a, found.only_b) == (28, 1, 1)
        for query, common, *values in found.table.rows():
            one, other = A[str(query)], B[str(query)]
            assert common == len(one.keys() & other.keys())
            correlated = "a" if ties == "a" else "b"
            expected = [
                *(correlation.rbo(one, other, p=0.8, ties=ties, form=form) for form in FORMS),
                correlation.kendall_tau(one, other, ties=correlated),
                correlation.tau_ap(one, other, ties=correlated),
                correlation.overlap(one, other, 5, ties=ties),
                correlation.jaccard(one, other, 5, ties=ties),
            ]
            assert values == expected


def test_every_way_in_gives_the_same(tmp_path):
    pandas = pytest.importorskip("pandas", reason="pandas is not installed")
    expected = rs.agreement(A, B, MEASURES)
    rows = [
        [(query, doc, score) for query, docs in lists.items() for doc, score in docs.items()]
        for lists in (A, B)
    ]
    paths = [tmp_path / name for name in ("a.run", "b.run")]
    for path, lists in zip(paths, (A, B), strict=True):
        write_run(path, lists)
    texts = [path.read_bytes() for path in paths]
    frames = [pandas.DataFrame(each, columns=["query_id", "doc_id", "score"]) for each in rows]
    qrels = {query: dict.fromkeys(docs, 1) for query, docs in (A | B).items()}
    rankings = [rs.Rankings.from_run(qrels, each) for each in (A, B)]
    for one, other in (rows, texts, paths, frames, rankings, (A, frames[1]), (rankings[0], B)):
        found = rs.agreement(one, other, MEASURES)
        assert found.to_dict()["means"] == expected.to_dict()["means"]
        assert {**found.table.to_dict()} == {**expected.table.to_dict()}
    assert rs.agreement(*paths).names == tuple(map(str, paths))


def test_threads_and_the_other_direction_change_nothing():
    one = rs.agreement(A, B, MEASURES, threads=1)
    assert rs.agreement(A, B, MEASURES, threads=3).table.rows() == one.table.rows()
    back = rs.agreement(B, A, [name for name in MEASURES if name != "tau_ap"])
    for name, mean in back.means.items():
        assert mean == pytest.approx(one[name], abs=1e-12)


def test_queries_without_a_value_are_not_in_the_mean():
    one = {"q1": {"a": 2.0, "b": 1.0}, "q2": {"c": 1.0}}
    other = {"q1": {"a": 2.0, "b": 1.0}, "q2": {"d": 1.0}}
    found = rs.agreement(one, other)
    assert (found["tau"], found.defined["tau"], found.defined["RBO"]) == (1, 1, 2)
    assert math.isnan(found.per_query("tau")[1])
    assert found["overlap@10"] == 0.5
    assert found.same_documents == 1
    assert "1 of 2" in str(found)


@pytest.mark.parametrize(
    ("measures", "hint"),
    [
        ("RB0", "did you mean RBO?"),
        ("rbo", "did you mean RBO?"),
        ("overlap@0", "did you mean overlap@10?"),
        ("nDCG@10", "one of"),
        ([], "one of"),
    ],
)
def test_a_measure_that_does_not_exist_is_refused(measures, hint):
    with refuses(rs.UsageError, "unknown_measure") as caught:
        rs.agreement(A, B, measures)
    assert str(caught.value.hint).startswith(hint)


def test_lists_that_cannot_be_compared_are_refused():
    with pytest.raises(rs.errors.EmptyError):
        rs.agreement({"q1": {"a": 1.0}}, {"q2": {"a": 1.0}})
    with pytest.raises(rs.errors.DuplicateError):
        rs.agreement([("q1", "a", 1.0), ("q1", "a", 2.0)], {"q1": {"a": 1.0}})
    with refuses(rs.UsageError, "ids_needed"):
        rs.agreement(rs.Rankings.from_lists([[1, 0]]), A)
    with pytest.raises(rs.UsageError):
        rs.agreement(A, B)["RBP"]


def test_the_command_prints_what_the_call_gives(tmp_path):
    paths = [write_run(tmp_path / name, of) for name, of in (("a.run", A), ("b.run", B))]
    found = rs.agreement(A, B, ["RBO", "tau", "tau_ap", "overlap@3"], p=0.8, ties="b")
    words = ("agreement", *paths, "--p", "0.8", "--k", "3", "--ties", "b")
    lines = run(*words, "-q").stdout.decode().splitlines()
    assert lines[0].split("\t")[:2] == ["RBO", "q0"]
    assert lines[4 * 28] == "measure    agreement  queries"
    document = json.loads(run(*words, "--json").stdout)
    assert document["means"] == found.means
    assert "per_query" not in document
    whole = json.loads(run(*words, "--json", "-q").stdout)
    assert whole["per_query"]["q0"]["RBO"] == found.per_query("RBO")[0]
    header = run("agreement", *paths, "-m", "tau,jaccard@02", "--csv").stdout.split(b"\n")[0]
    assert header == b"query_id,common,tau,jaccard@2"
    check_error(run("agreement", *paths, "-m", "tau", "--k", "3"), 2, "usage")
    check_error(run("agreement", *paths, "--p", "2"), 2, "bad_parameter")


def test_real_runs_agree_with_themselves_and_less_with_each_other():
    folder = find("cast21")
    one, other = folder / "org_manual_ance.run", folder / "org_manual_bm25.run"
    same = rs.agreement(one, one, ties="b")
    assert same["RBO"] == pytest.approx(1)
    assert same["tau"] == pytest.approx(1)
    found = rs.agreement(one, other)
    assert 0 < found["RBO"] < 0.5
    assert found.queries == 239
