"""Results don't depend on how rows come, in memory or in files."""

from __future__ import annotations

import re
from functools import partial
from random import Random

import numpy as np
import pandas as pd
import pytest
import rankscope as rs
from rankscope import correlation
from rankscope._compare.report import report
from rankscope._evaluate import runs

from tests.invariance.shuffled import (
    COUNTRIES,
    FORMS,
    NEW,
    OLD,
    QRELS,
    QUERIES,
    USERS,
    read,
    same,
    shuffle,
    tell,
    to_dict,
    write,
)
from tests.tabular import write_table

MEASURES = ["nDCG@10", "AP", "RR"]
TESTS = ("permutation", "t", "wilcoxon")
FAST = {"permutations": 999, "bounds": False}
"""Few permutations are as sensitive to order as many."""
INTERVAL = rs.Interval(0.9, resamples=999)


def compare(order, measures=MEASURES, **choices):
    qrels, old, new = read(order)
    return rs.compare(qrels, {"old": old, "new": new}, measures, **{**FAST, **choices})


VALUES = {name: {q: Random(f"{name}{q}").random() for q in QUERIES} for name in "ab"}


@pytest.mark.parametrize("test", TESTS)
def test_other_measures_and_slices_change_no_p_value_or_interval(test):
    def find(measures, **choices):
        found = compare(0, measures, test=test, correction="none", **choices)["nDCG@2", "new"]
        return [found.p, found.lower, found.upper, found.statistic]

    # Many queries have equal values of nDCG@2 under both runs, but not of AP.
    alone = find("nDCG@2")
    assert find(["RR", "nDCG@2", "Judged@3"]) == alone
    assert find(["nDCG@2", "RR", "AP", "R@10"], by=COUNTRIES) == alone


def test_corrected_p_values_do_not_depend_on_the_order_of_measures():
    for correction in ("max-t", "holm"):
        one, other = (
            compare(0, measures, correction=correction) for measures in (MEASURES, MEASURES[::-1])
        )
        for measure in MEASURES:
            assert tell(one[measure, "new"]) == tell(other[measure, "new"])


def test_measures_share_their_sign_flips_which_max_t_needs():
    one, other = (rs.compare(VALUES, name, values=True)[name, "b"] for name in ("AP", "RR"))
    assert (one.p, one.lower, one.upper) == (other.p, other.lower, other.upper)


def test_a_seed_is_that_of_the_test_and_of_the_intervals():
    def find(**choices):
        found = compare(0, **choices)["nDCG@10", "new"]
        return [found.p, found.lower, found.upper]

    for one, other in zip(find(), find(seed=1), strict=True):
        assert one != other
    assert find(seed=1) == find(interval=rs.Interval(seed=1))
    assert find(seed=1) == find(seed=1, interval=rs.Interval(seed=1))
    with pytest.raises(rs.UsageError, match="one seed"):
        find(seed=1, interval=rs.Interval(seed=2))


@pytest.mark.parametrize("form", FORMS)
def test_p_values_and_intervals_are_the_same_for_any_form_of_input_and_number_of_threads(
    form, tmp_path
):
    qrels, run, _ = read(0)
    interval = rs.Interval(method="dense")
    expected = rs.evaluate(qrels, run, MEASURES, interval=interval).estimates
    compared = [tell(each) for each in compare(0)]
    for order, threads in ((0, 1), (1, 2), (2, 5)):
        qrels, old, new = (
            FORMS[form](shuffle(rows, order), value, tmp_path / f"{at}-{order}")
            for at, (rows, value) in enumerate(
                ((QRELS, "relevance"), (OLD, "score"), (NEW, "score"))
            )
        )
        found = rs.compare(qrels, {"old": old, "new": new}, MEASURES, threads=threads, **FAST)
        assert [tell(each) for each in found] == compared
        of_run = rs.evaluate(qrels, old, MEASURES[::-1], interval=interval, threads=threads)
        assert of_run.estimates == expected
        alone = rs.evaluate(qrels, old, "AP", interval=interval)
        assert alone.estimates["AP"] == expected["AP"]


def transpose(rows):
    return {name: [row[name] for row in rows] for name in rows[0]}


TABLE = [
    {
        "query_id": query,
        "doc_id": doc,
        "relevance": grade,
        "old": old,
        "new": new,
        "user": USERS[str(query)],
        "country": COUNTRIES[str(query)],
    }
    for (query, doc, grade), (*_, old), (*_, new) in zip(QRELS, OLD, NEW, strict=True)
]


def compared(order):
    return compare(order, cluster=USERS, by=COUNTRIES, correction="max-t")


def compared_table(order):
    table = transpose(shuffle(TABLE, order))
    choices = {"by": "country", "cluster": "user", **FAST}
    return rs.compare(table, MEASURES, scores=["old", "new"], **choices)


def evaluated_table(order):
    table = transpose(shuffle(TABLE, order))
    choices = {"by": "country", "cluster": "user", "interval": 0.9}
    evaluation = rs.evaluate(table, MEASURES, score="new", **choices)
    return [evaluation.estimates, evaluation.slices]


def compared_values(order):
    queries = shuffle(QUERIES, order)
    runs = {name: {q: own[q] for q in queries} for name, own in VALUES.items()}
    return rs.compare(runs, values=True, permutations=999)


BUDGETS = [
    rs.Budget("nDCG@10", max_drop=0.02),
    rs.Budget("AP", max_drop="2%", by="country"),
    rs.Budget("RR", max_loss=0.4),
    rs.Budget("P@5", minimum=0.3),
]


def gated(order):
    queries = Random(order).sample([*USERS], len(USERS))
    attributes = {
        "query_id": queries,
        "user": [USERS[query] for query in queries],
        "country": [COUNTRIES[query] for query in queries],
    }
    budgets = BUDGETS[::-1] if order % 2 else BUDGETS
    gates = [
        rs.gate(*read(order), budgets, attributes=attributes, cluster=cluster)
        for cluster in (None, "user")
    ]
    return [sorted(repr(tell(each)) for each in gate.checks) for gate in gates]


def difference(order):
    return rs.diff(*read(order), "nDCG@10")


def listed(order):
    qrels, old, new = read(order)
    found = rs.diff(qrels, old, new, "P@3")
    return [str(found), found.queries.rows(), str(found.explain("10"))]


def perturb(seed):
    """Return the grades of another judge."""
    draw = Random(seed).choice
    return [(query, doc, max(0, grade + draw([-1, 0, 0, 0.7]))) for query, doc, grade in QRELS]


def with_model_judge(order):
    human = [row for row in QRELS if row[0] % 2]
    people, model, run, baseline = (
        to_dict(shuffle(rows, order and order + at))
        for at, rows in enumerate((human, perturb("model"), OLD, NEW))
    )
    estimates = [
        estimate(people, model, run, measures, baseline=other)
        for estimate, measures in (
            (rs.judges.evaluate, MEASURES),
            (rs.judges.estimate_dcg, "DCG@10"),
        )
        for other in (None, baseline)
    ]
    return [[each.means, repr(each.agreement)] for each in estimates]


def agreement_of_judges(order):
    judges = {name: perturb(name) for name in ("ann", "bob", "cat", "dan")}
    rows = shuffle([*zip(*judges.values(), strict=True)], order)
    table = {"query": [row[0][0] for row in rows], "doc": [row[0][1] for row in rows]}
    for at, name in enumerate(judges):
        table[name] = [row[at][2] if row[at][2] != 1 else None for row in rows]
    agreement = rs.judges.agreement(table, judges=[*judges])
    return [
        [agreement.alpha_nominal, agreement.alpha_ordinal, agreement.alpha_interval],
        agreement.pairs,
    ]


def combined_judges(order):
    rows = [(query, doc, grade, grade + 1, grade % 2) for query, doc, grade in QRELS]
    names = ("query_id", "doc_id", "ann", "bob", "cat")
    table = dict(zip(names, zip(*shuffle(rows, order), strict=True), strict=True))
    judgments = rs.judges.combine(table, judges=["ann", "bob", "cat"])
    return [*sorted(judgments.rows()), judgments.majority_ties, judgments.left_out]


def agreement_of_runs(order):
    _, run, other = read(order)
    return rs.agreement(run, other).means


def agreement_of_lists(order):
    names = shuffle([f"system {number}" for number in range(8)], order)
    one = {name: int(name[-1]) // 2 / 10 for name in names}
    other = {name: Random(name).random() for name in names[::-1]}
    return [
        correlation.rbo(one, other),
        correlation.kendall_tau(one, other),
        correlation.tau_ap(one, other),
    ]


def make_clicks():
    draw = Random(7)
    return [
        {
            "query_id": f"s{row // 4}",
            "doc_id": f"d{draw.randrange(30)}",
            "position": row % 4 + 1,
            "click": int(draw.random() < 0.5 / (row % 4 + 1) ** 0.5),
            "revenue": draw.random(),
            "propensity": draw.choice([0.2, 0.3, 0.5]),
            "target": draw.choice([0.1, 0.3, 0.6]),
            "predicted": draw.random(),
            # Some have no user.
            "user": None if row % 50 == 0 else f"u{row // 4 % 70}",
        }
        for row in range(1200)
    ]


CLICKS = make_clicks()
ITEMS = sorted({str(row["doc_id"]) for row in CLICKS})
TARGET = {item: (at + 1) / 465 for at, item in enumerate(ITEMS)}


def estimates_from_clicks(order):
    clicks = transpose(shuffle(CLICKS, order))
    estimates = []
    for cluster in (None, "user"):
        estimate = partial(rs.clicks.evaluate_off_policy, clicks, cluster=cluster)
        estimates += [
            estimate(target="target", reward="revenue"),
            estimate(target="target", predicted="predicted", predicted_target="predicted"),
            estimate(target=TARGET, reward="revenue"),
            estimate(target="target", discount="log2"),
        ]
    return [
        [each, each.value, each.lower, each.upper, each.change, each.logged, each.effective]
        for each in estimates
    ]


ROUNDED = [(query, doc, float(round(score))) for query, doc, score in OLD if doc < "d7"]
"""A run with ties, in which documents are missing."""
SOME = [(query, doc, grade) for query, doc, grade in QRELS if (query + int(doc[1:])) % 3]
"""Not all documents are judged."""


def rank(order):
    """Return two runs with ties, of which not all documents are judged."""
    qrels = to_dict(shuffle(SOME, order))
    runs = (to_dict(shuffle(rows, order and order + 1)) for rows in (ROUNDED, NEW))
    return [rs.Rankings.from_run(qrels, run, ties="doc_id") for run in runs]


def losses(order):
    one, other = rank(order)
    choices = {"by": COUNTRIES, "cluster": USERS, "interval": 0.9, "stages": {"first": other}}
    losses = one.losses("nDCG@3", **choices)
    return [losses, losses.means, losses.intervals, str(losses.slices), losses.notes]


def explanations(order):
    one, _ = rank(order)
    return [str(one.explain(str(query), "nDCG@10")) for query in QUERIES[4:14]]


def bounds_and_ties(order):
    one, other = rank(order)
    bounds = [one.bounds("nDCG@3"), one.bounds("AP", against=other)]
    ties = [one.ties(name) for name in ("nDCG@3", "RR")]
    return [
        *((each, each.mean, each.openness) for each in bounds),
        *((each, each.summary, each.by_precision) for each in ties),
    ]


def reconciled(order):
    some = [row for row in ROUNDED if row[0] % 9]
    qrels, run = (to_dict(shuffle(rows, order)) for rows in (QRELS, some))
    names = ["trec_eval", "sklearn"]
    answer = rs.reconcile(qrels, run, "nDCG@3", got="0.123", conventions=names)
    pairs = ("trec_eval", "sklearn"), ("trec_eval", "rankscope")
    return [str(answer), *(str(answer.differ(*pair, limit=9)) for pair in pairs)]


def planned(order):
    pairs = [(Random(query).random(), Random(f"{query}").random()) for query in range(1, 300)]
    one, other = zip(*shuffle(pairs, order), strict=True)
    plans = [rs.power(one, other, effect=[0.01, 0.05], paired=paired) for paired in (True, False)]
    return [
        [plan.standard_deviations, plan.minimum_detectable, plan.queries_needed] for plan in plans
    ]


def fused(order):
    qrels, old, new = read(order)
    runs = {"old": old, "new": new}
    fit = rs.fit_fusion(qrels, runs, "nDCG@5")
    return [fit, rs.fuse(runs, "combsum", weights=fit.weights)]


def scored_matrices(order):
    grades, scores = (
        np.array([value for *_, value in rows]).reshape(len(QUERIES), -1) for rows in (QRELS, OLD)
    )
    weights = np.arange(1, len(QUERIES) + 1) / 7
    places = np.random.default_rng(order).permutation(len(QUERIES))
    matrices = grades[places], scores[places]
    return [
        rs.ndcg_score(*matrices, k=5),
        rs.dcg_score(*matrices, k=5, sample_weight=weights[places]),
    ]


def reported(order):
    qrels, old, new = (to_dict(shuffle(rows, order)) for rows in (QRELS, ROUNDED, NEW))
    report = rs.report(qrels, {"old": old, "new": new}, ["P@1", "nDCG@5"], worst=4)
    page, rows = report.to_html(), re.compile("<tr>.*?</tr>", re.DOTALL)
    # The tables of queries have them in the order of the judgments.
    return [sorted(rows.findall(page)), rows.sub("", page)]


@pytest.mark.parametrize(
    "result",
    [
        *(partial(compare, test=test) for test in TESTS),
        compared,
        compared_table,
        evaluated_table,
        compared_values,
        gated,
        difference,
        listed,
        with_model_judge,
        agreement_of_judges,
        combined_judges,
        estimates_from_clicks,
        agreement_of_runs,
        agreement_of_lists,
        losses,
        explanations,
        bounds_and_ties,
        reconciled,
        planned,
        fused,
        scored_matrices,
        reported,
    ],
)
def test_a_result_is_the_same_for_any_order_of_rows(result, monkeypatch):
    monkeypatch.setattr(report, "MOST_VALUES", 40)  # a report does not show all queries
    assert same(result)


@pytest.mark.parametrize("method", ["auto", "dense", "bounded", "t"])
def test_an_interval_is_the_same_for_any_order_of_rows(method):
    interval = rs.Interval(method=method)
    weights = {str(query): 1 + query % 4 for query in QUERIES}

    def find(order):
        qrels, run, other = read(order)
        return [
            rs.evaluate(qrels, run, MEASURES, interval=interval).estimates,
            rs.evaluate(qrels, run, MEASURES, interval=interval, cluster=USERS).estimates,
            rs.evaluate(qrels, run, MEASURES, interval=interval, weights=weights).estimates,
            rs.evaluate_samples(qrels, [run, other], MEASURES, interval=interval).estimates,
        ]

    assert same(find)


@pytest.mark.parametrize("aggregate", ["geometric", "median", "tail_mean(0.3)"])
def test_intervals_of_other_aggregates_are_the_same_for_any_order_of_rows(aggregate):
    def find(order):
        qrels, run, _ = read(order)
        policy = f"aggregate={aggregate}"
        return rs.evaluate(qrels, run, MEASURES, interval=INTERVAL, policy=policy).estimates

    assert same(find)


SMALL = 10_000
"""Less memory than the rows need, in bytes."""
DENSE = rs.Interval(0.9, method="dense", resamples=999)


@pytest.fixture(autouse=True)
def _allow_little_memory(monkeypatch):
    monkeypatch.setattr(runs, "LEAST", 1)


def shuffle_queries(rows, seed):
    """Return the rows in another order in which those of a query are together."""
    queries = {query: Random(f"{seed} {query}").random() for query, *_ in rows}
    return sorted(rows, key=lambda row: queries[row[0]])


ORDERS = {
    "streamed": shuffle_queries,
    "spilled": shuffle,
}


def make_table(rows):
    """Return judgments with the scores of a run, the users and the countries."""
    scores = {(query, doc): score for query, doc, score in OLD}
    return pd.DataFrame(
        {
            "query_id": [str(query) for query, *_ in rows],
            "doc_id": [doc for _, doc, _ in rows],
            "relevance": [grade for *_, grade in rows],
            "score": [scores[query, doc] for query, doc, _ in rows],
            "user": [USERS[str(query)] for query, *_ in rows],
            "country": [COUNTRIES[str(query)] for query, *_ in rows],
        }
    )


@pytest.mark.parametrize("form", ["csv", "parquet"])
@pytest.mark.parametrize("way", ORDERS)
def test_a_table_is_evaluated_the_same_for_any_order_of_rows(way, form, tmp_path, caplog):
    def evaluate(table, threads, limit=SMALL):
        found = rs.evaluate(
            table,
            MEASURES,
            by="country",
            cluster="user",
            weights={query: 1 + int(query) % 4 for query in USERS},
            interval=DENSE,
            threads=threads,
            memory=limit,
        )
        return [found.estimates, tell(found.slices)]

    expected = evaluate(make_table(QRELS), 1, None)
    for order in (1, 2):
        path = write_table(make_table(ORDERS[way](QRELS, order)), tmp_path / f"{order}.{form}")
        assert evaluate(path, order) == expected
    assert ("to temporary files" in caplog.text) == (way == "spilled")


@pytest.mark.parametrize("form", ["run", "parquet"])
@pytest.mark.parametrize("way", ORDERS)
def test_a_run_is_evaluated_the_same_for_any_order_of_rows(way, form, tmp_path, caplog):
    choices = {"cluster": USERS, "interval": DENSE}
    qrels, run, _ = read(0)
    expected = rs.evaluate(qrels, run, MEASURES, **choices).estimates
    for order in (1, 2):
        path = tmp_path / f"{order}.{form}"
        rows = ORDERS[way](OLD, order)
        if form == "run":
            write(rows, "score", path)
        else:
            names = ["query_id", "doc_id", "score"]
            write_table(pd.DataFrame(rows, columns=names).astype({"query_id": str}), path)
        found = rs.evaluate(read(order)[0], path, MEASURES, memory=SMALL, **choices)
        assert found.estimates == expected
    assert ("to temporary files" in caplog.text) == (way == "spilled")


@pytest.mark.parametrize("way", ORDERS)
def test_runs_are_fused_the_same_for_any_order_of_rows(way, tmp_path):
    def fuse(order):
        rows = [ORDERS[way](each, order) if order else each for each in (OLD, NEW)]
        runs = [write(each, "score", tmp_path / str(at)) for at, each in enumerate(rows)]
        fused = rs.fuse(runs, "combsum", weights=[0.3, 0.7])
        # Queries come in the order of the first run.
        return sorted(b"".join(fused.lines()).splitlines())

    assert fuse(1) == fuse(0) == fuse(2)
