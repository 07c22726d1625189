"""Ask Apache Spark: `… -m dev.parity.peers.pyspark.measure ANSWERS`."""

from __future__ import annotations

from functools import partial
from typing import TYPE_CHECKING

from pyspark.mllib.evaluation import RankingMetrics
from pyspark.sql import SparkSession

from dev.parity.answers import Answers, publish

if TYPE_CHECKING:
    from collections.abc import Iterable, Sequence

    from py4j.java_gateway import JavaClass, JavaObject
    from pyspark import SparkContext

    from dev.parity.cases import Case

CUTOFFS = (1, 3, 10)
METHODS = {
    "nDCG": "ndcgAt",
    "AP": "meanAveragePrecisionAt",
    "P": "precisionAt",
    "R": "recallAt",
}


def measure(cases: list[Case]) -> Iterable[Answers]:
    """Ask for means; the value of each query would be a job of its own."""
    session = SparkSession.builder.master("local[1]").config("spark.ui.enabled", "false")
    session = session.config("spark.ui.showConsoleProgress", "false")
    with session.getOrCreate() as spark:
        spark.sparkContext.setLogLevel("ERROR")
        yield ask_binary(cases, spark.sparkContext)
        yield ask_graded(cases, spark.sparkContext)


def ask_binary(cases: list[Case], context: SparkContext) -> Answers:
    """Ask about pairs of ranked and relevant documents."""
    answers = Answers(
        "pyspark",
        "spark",
        "RankingMetrics(rows).ndcgAt(k), a row for each judged query: its ranked documents, and "
        "those with a grade above 0",
    )
    for case in cases:
        rows = [(case.ranked(query), case.relevant(query)) for query in case.qrels]
        metrics = RankingMetrics(context.parallelize(rows, 1))
        for name, method in METHODS.items():
            for k in CUTOFFS:
                call = partial(evaluate, metrics, method, k)
                answers.ask(case, f"{name}@{k}", call, singly=False)
        answers.ask(case, "AP", partial(average_precision, metrics), singly=False)
    return answers


def ask_graded(cases: list[Case], context: SparkContext) -> Answers:
    """Ask about triples, the third being the grades of the judged documents."""
    answers = Answers(
        "pyspark",
        "spark_graded",
        "new RankingMetrics(rows).ndcgAt(k) in Scala, a row for each judged query: its ranked "
        "documents, its judged documents by descending grade, and their grades",
        notes=["RankingMetrics of Python drops the grades: all judged documents are relevant."],
    )
    for case in cases:
        metrics = make_graded(case, context)
        for k in CUTOFFS:
            answers.ask(case, f"nDCG@{k}", partial(evaluate, metrics, "ndcgAt", k), singly=False)
    return answers


def make_graded(case: Case, context: SparkContext) -> JavaObject:
    """Make the metrics in the virtual machine."""
    jvm = context._jvm  # noqa: SLF001 - Python has no way to it
    rows = jvm.java.util.ArrayList()
    for query, judgments in case.qrels.items():
        documents = sorted(judgments, key=judgments.__getitem__, reverse=True)
        grades = [float(judgments[document]) for document in documents]
        rows.add(
            jvm.scala.Tuple3(
                array(context, jvm.java.lang.Object, case.ranked(query)),
                array(context, jvm.java.lang.Object, documents),
                array(context, jvm.double, grades),
            )
        )
    any_object = getattr(getattr(jvm.scala.reflect, "ClassTag$"), "MODULE$").Object()
    triples = context._jsc.parallelize(rows, 1).rdd()  # noqa: SLF001 - likewise
    return jvm.org.apache.spark.mllib.evaluation.RankingMetrics(triples, any_object)


def array(context: SparkContext, kind: JavaClass, values: Sequence[object]) -> JavaObject:
    """Make an array of the virtual machine."""
    made = context._gateway.new_array(kind, len(values))  # noqa: SLF001 - likewise
    for index, value in enumerate(values):
        made[index] = value
    return made


def evaluate(metrics: RankingMetrics | JavaObject, method: str, k: int, _: list[str]) -> float:
    """Evaluate one metric at a cutoff."""
    return float(getattr(metrics, method)(k))


def average_precision(metrics: RankingMetrics, _: list[str]) -> float:
    """Evaluate AP without a cutoff."""
    return float(metrics.meanAveragePrecision)


if __name__ == "__main__":
    publish(measure)
