"""SVMlight text: queries, grades and documents are read, features are passed over."""

from __future__ import annotations

import json
import math
from typing import TYPE_CHECKING

import numpy as np
import pytest
import rankscope as rs
from rankscope import AP, Rankings, nDCG, read_letor

from tests.parity.real import find
from tests.refusals import refused

if TYPE_CHECKING:
    from pathlib import Path


def test_labels_queries_and_documents_are_read() -> None:
    letor = read_letor(
        b"2 qid:10 1:0.5 2:-1e-3 #docid = GX000-1 inc = 1 prob = 0.02\r\n"
        b"# a comment\n\n"
        b"0.5 qid:10 #docid=GX000-2\n"
        b"  1\tqid:9\t3:7 # docid = GX3"
    )
    assert letor.relevance.tolist() == [2, 0.5, 1]
    assert letor.group_sizes.tolist() == [2, 1]
    assert letor.query_ids == ["10", "9"]
    assert letor.doc_ids == ["GX000-1", "GX000-2", "GX3"]
    assert read_letor(b"1 qid:1 1:2\n").doc_ids is None


@pytest.mark.parametrize(
    ("text", "code", "line"),
    [
        (b"", "empty_input", None),
        (b"\n# only\n", "empty_input", None),
        (b"1 qid:1 1:2\n2 1:2\n", "missing_id", 2),
        (b"1 qid:1 1:2\nhigh qid:1 1:2\n", "rel_not_number", 2),
        (b"1 qid:1\n\nnan qid:1 1:2\n", "rel_not_number", 3),
        (b"1 qid:1\n1e999 qid:1 1:2\n", "rel_out_of_range", 2),
        (b"1 qid:1 # docid = a\n1 qid:1 1:1\n", "missing_id", 2),
        (b"1 qid:1\n1 qid:2\n1 qid:1\n", "query_returns", 3),
        (b"1 qid:1\n1 qid:\xff\n", "encoding", 2),
        (b"1 qid:1\n1 qid:2 1:\0\n", "nul_byte", 2),
    ],
)
def test_what_is_no_row_is_refused(text: bytes, code: str, line: int | None) -> None:
    assert refused(lambda: read_letor(text), code).line == line


@pytest.mark.parametrize(
    ("sizes", "code"),
    [
        ("2\n2\n", "length_mismatch"),
        ("2\n1.5", "group_sizes"),
        ("2\nx", "not_numeric"),
        ("-1\n4", "group_sizes"),
    ],
)
def test_sizes_that_do_not_fit_are_refused(sizes: str, code: str, tmp_path: Path) -> None:
    path = tmp_path / "train"
    path.write_text("1 1:1\n0 1:2\n2 1:3\n")
    (tmp_path / "train.query").write_text(sizes)
    refused(lambda: read_letor(path), code)


def test_a_group_may_be_empty(tmp_path: Path) -> None:
    path = tmp_path / "train"
    path.write_text("1 1:1\n0 1:2\n2 1:3\n")
    (tmp_path / "train.group").write_text("2\n0\n1\n0\n")
    letor = read_letor(path)
    assert letor.group_sizes.tolist() == [2, 0, 1, 0]
    rankings = Rankings.from_groups(letor.relevance, [1, 2, 3], letor.group_sizes)
    assert rankings.evaluate("RR").per_query_list("RR") == [1 / 2, 0, 1, 0]


def test_the_data_of_lightgbm_have_the_values_that_it_reported() -> None:
    folder = find("lightgbm")
    letor = read_letor(folder / "rank.test")
    scored = np.loadtxt(folder / "rank.test.scores.tsv", skiprows=1, usecols=3)
    rankings = Rankings.from_groups(letor.relevance, scored, letor.group_sizes, ties="input")
    reported = json.loads((folder / "lightgbm_reported.json").read_text())
    for k in (1, 3, 5, 10, 20):
        measure = nDCG(gain="exp2") @ k
        found = rankings.evaluate(measure, policy="empty=one")[measure]
        assert found == pytest.approx(reported[f"ndcg@{k}"], abs=1e-9)


def test_the_data_of_fastrank_agree_with_their_qrels() -> None:
    folder = find("fastrank")
    letor = read_letor(folder / "trec_news_2018.train")
    assert letor.group_sizes.sum() == len(letor.relevance) == 782
    qrels = rs.read_qrels(folder / "newsir18-entity.qrel")
    assert set(letor.query_ids) <= set(qrels.query_ids)
    ideal = Rankings.from_groups(letor.relevance, letor.relevance, letor.group_sizes)
    values = ideal.evaluate([nDCG, AP]).per_query_list("nDCG")
    assert all(math.isclose(value, 1) or value == 0 for value in values)
