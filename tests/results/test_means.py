"""The means of measures under names that other tools accept."""

from __future__ import annotations

import pytest
import rankscope as rs
from rankscope.errors import UsageError
from rankscope.measures import TABLE
from rankscope.measures.table import measure

QRELS = {"q1": {"d1": 3, "d2": 0}, "q2": {"d3": 1}}
RUN = {"q1": {"d2": 0.9, "d1": 0.8}, "q2": {"d3": 0.7}}
MEASURES = ["nDCG@10", rs.nDCG(gain="exp2") @ 10, "P(rel=2)@5", "map"]


def test_means_have_canonical_or_plain_names() -> None:
    found = rs.evaluate(QRELS, RUN, MEASURES)
    assert found.means() == dict(found)
    assert [*found.means(names="plain")] == [
        "ndcg_at_10",
        "ndcg_at_10_gain_exp2",
        "p_at_5_rel_2",
        "ap",
    ]
    assert [*found.means(names="plain").values()] == [*found.values()]


def test_the_means_of_several_runs_are_by_run() -> None:
    found = rs.evaluate(QRELS, {"old": RUN, "new": {"q1": {"d1": 1.0}}}, MEASURES)
    assert found.means() == {run: dict(each) for run, each in found.items()}
    assert found.means(names="plain")["new"] == found["new"].means(names="plain")


def test_other_kinds_of_names_are_refused() -> None:
    found = rs.evaluate(QRELS, RUN, MEASURES)
    with pytest.raises(UsageError, match="expected names to be"):
        found.means(names="short")  # type: ignore[arg-type]  # refused


def test_prometheus_accepts_every_plain_name() -> None:
    client = pytest.importorskip("prometheus_client")
    registry = client.CollectorRegistry()
    for name in TABLE:
        one = measure(name)
        for each in (one, one @ (0.5 if one.row.at == "recall" else 5)) if one.row.at else (one,):
            client.Gauge(each.plain_name, "A measure.", registry=registry)
    exposed = client.generate_latest(registry).decode()
    assert "\nndcg_at_5 0.0\n" in exposed
