"""What Spark evaluates equals what the local engine does, to the last bit."""

from __future__ import annotations

import pickle

import pytest
import rankscope as rs
import rankscope.spark as rss

from tests.merged import bits
from tests.spark.conftest import MEASURES

pa = pytest.importorskip("pyarrow")
pytest.importorskip("pyspark", reason="PySpark is not installed; it is in make test-integrations")

pytestmark = pytest.mark.filterwarnings("ignore:PySpark does not yet fully support:FutureWarning")


def spread(spark, table, partitions):
    """Return a data frame whose rows are spread at random."""
    return spark.createDataFrame(table).repartition(partitions)


@pytest.mark.parametrize(
    ("policy", "partitions"),
    [
        ("", 1),
        ("ties=doc_id_asc,empty=skip,missing=skip", 3),
        ("ties=average,empty=one,unjudged=remove", 7),
        ("empty=nan,negative=gain", 2),
        ("ties=worst,missing_gain=0.5,unretrieved=ignore", 2),
    ],
)
def test_judgments_and_a_run_have_the_local_values(spark, collection, judged, policy, partitions):
    run = collection[1]
    measures = [name for name in MEASURES if "average" not in policy or "GMAP" not in name]
    with rss.evaluate(
        spread(spark, judged, partitions), spread(spark, run, partitions), measures, policy=policy
    ) as found:
        local = rs.evaluate(judged, run, measures, policy=policy)
        assert bits(found) == bits(local)


@pytest.mark.parametrize(
    "aggregate",
    ["median", "quantile(0.1)", "tail_mean(0.2)", "harmonic", "ratio_of_sums"],
)
def test_every_aggregate_is_the_local_one(spark, collection, judged, aggregate):
    run, policy = collection[1], f"aggregate={aggregate}"
    found = rss.evaluate(
        spread(spark, judged, 3), spread(spark, run, 2), "nDCG@10", policy=policy, partitions=3
    )
    assert dict(found) == dict(rs.evaluate(judged, run, "nDCG@10", policy=policy))


@pytest.mark.parametrize("partitions", [1, 5])
def test_a_table_has_the_local_values_and_slices(spark, table, partitions):
    found = rss.evaluate(
        spread(spark, table, partitions), MEASURES[:4], by="country", partitions=partitions
    )
    local = rs.evaluate(table, MEASURES[:4], by="country")
    assert bits(found) == bits(local)
    assert found.slices is not None
    assert local.slices is not None
    assert found.slices.to_dict() == local.slices.to_dict()


def test_slices_of_judgments_are_those_of_the_queries(spark, collection):
    qrels, run = collection
    found = rss.evaluate(spread(spark, qrels, 3), spread(spark, run, 3), "nDCG@10", by=["country"])
    judged = qrels.drop_columns(["country"])
    countries = {
        query: country or "<missing>"
        for query, country in zip(
            qrels["query_id"].to_pylist(), qrels["country"].to_pylist(), strict=True
        )
    }
    local = rs.Rankings.from_run(judged, run).evaluate("nDCG@10", by=countries)
    assert found.slices is not None
    assert local.slices is not None
    assert found.slices.column("nDCG@10") == local.slices.column("nDCG@10")
    assert found.slices.column("queries") == local.slices.column("queries")
    assert found.to_arrow().column_names == ["query_id", "country", "nDCG@10"]


def test_integer_ids_stay_integers(spark):
    qrels = pa.table({"qid": [10, 9, 9], "docno": [1, 2, 3], "rel": [1, 0, 2]})
    run = pa.table({"qid": [9, 9, 10], "docno": [2, 3, 1], "score": [1.0, 1.0, 0.5]})
    found = rss.evaluate(spark.createDataFrame(qrels), spark.createDataFrame(run), ["AP", "RR"])
    local = rs.evaluate(qrels, run, ["AP", "RR"])
    assert bits(found) == bits(local)
    assert found.to_spark().dtypes[0] == ("qid", "bigint")
    assert sorted(found.query_ids) == [9, 10]


@pytest.mark.parametrize(
    "tables",
    [
        [{"qid": ["a", "a", "b"], "rank": [2, 1, 3], "label": [1, 0, 1]}],
        [  # rows that are interactions are relevant
            {"user_id": ["u", "v"], "item_id": ["a", "b"]},
            {"user_id": ["u", "u"], "item_id": ["b", "a"], "score": [2.0, 1.0]},
        ],
    ],
)
def test_tables_may_lack_scores_or_grades(spark, tables):
    tables = [pa.table(columns) for columns in tables]
    found = rss.evaluate(*map(spark.createDataFrame, tables), ["RR", "nDCG@3"])
    assert bits(found) == bits(rs.evaluate(*tables, ["RR", "nDCG@3"]))


def test_a_query_with_many_rows_beside_small_ones_is_one_query(spark):
    size = 200_000
    rows = spark.range(size).selectExpr(
        "IF(id < 190000, 'all', concat('q', id % 1000)) AS qid",
        "concat('d', id) AS docno",
        "CAST((id * 7919) % 200000 AS double) AS score",
        "CAST(id % 3 = 0 AS int) AS label",
    )
    found = rss.evaluate(rows.repartition(5), ["nDCG@100", "AP"])
    local = rs.evaluate(
        {
            "qid": ["all" if n < 190_000 else f"q{n % 1000}" for n in range(size)],
            "docno": [f"d{n}" for n in range(size)],
            "score": [float((n * 7919) % 200_000) for n in range(size)],
            "label": [int(n % 3 == 0) for n in range(size)],
        },
        ["nDCG@100", "AP"],
    )
    assert bits(found) == bits(local)


def test_a_convention_sets_what_it_sets_locally(spark, collection, judged):
    run = collection[1]
    found = rss.evaluate(
        spread(spark, judged, 2), spread(spark, run, 2), ["nDCG@10", "AP"], convention="trec_eval"
    )
    local = rs.evaluate(judged, run, ["nDCG@10", "AP"], convention="trec_eval")
    # Only in memory are means rounded after each query, as trec_eval rounds them.
    assert dict(found) == pytest.approx(dict(local), rel=1e-14)


def test_a_gain_that_is_a_function_knows_all_grades(spark, collection, judged):
    run = collection[1]
    measure = rs.nDCG(gain=lambda grade: grade**3) @ 10
    found = rss.evaluate(spread(spark, judged, 2), spread(spark, run, 2), measure)
    assert found[measure] == rs.evaluate(judged, run, measure)[measure]


def test_values_stay_in_spark_and_travel_when_they_are_collected(spark, table):
    found = rss.evaluate(spread(spark, table, 2), ["AP", "RR"])
    rows = found.to_spark(names="plain")
    assert rows.columns == ["query_id", "ap", "rr"]
    assert rows.count() == found.counts.queries
    again = pickle.loads(pickle.dumps(found))  # noqa: S301 - our own bytes
    found.unpersist()
    assert again.to_dict() == found.to_dict()


def test_losses_are_the_local_ones(spark, collection, judged):
    run = collection[1]
    found = rss.losses(spread(spark, judged, 3), spread(spark, run, 2), "nDCG@10")
    local = rs.Rankings.from_run(judged, run).losses("nDCG@10")
    assert found.to_dict() == {key: local.to_dict()[key] for key in found.to_dict()}
    assert str(found).splitlines()[:4] == str(local).splitlines()[:4]


def test_a_comparison_is_that_of_the_same_values(spark, collection):
    qrels, run = collection
    judged = qrels.drop_columns(["country"]).sort_by("query_id")
    other = run.set_column(2, "score", [[-each for each in run["score"].to_pylist()]])
    frames = {"up": spread(spark, run, 2), "down": spread(spark, other, 3)}
    found = rss.compare(spread(spark, qrels, 2), frames, ["nDCG@10", "AP"], by="country")
    local = rs.compare(judged, {"up": run, "down": other}, ["nDCG@10", "AP"], bounds=False)
    assert [each.slice for each in found.comparisons if each.slice] != []
    assert [each.p for each in found.comparisons if each.slice is None] == [
        each.p for each in local.comparisons
    ]
    assert found.means == local.means
