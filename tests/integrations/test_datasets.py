"""Datasets of Hugging Face and of `ir_datasets` are read, as their own libraries make them."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import pytest
import rankscope as rs

from tests.refusals import refused

if TYPE_CHECKING:
    from pathlib import Path

QRELS = {"q1": {"d1": 1}}
VALUES = {"q1": {"RR": 0.5}}
FORMS: dict[str, dict[str, list[Any]]] = {
    "a row for each document": {
        "query_id": ["q1", "q1"],
        "doc_id": ["d2", "d1"],
        "score": [2.0, 1.0],
    },
    "lists": {"query_id": ["q1"], "doc_ids": [["d2", "d1"]], "scores": [[2.0, 1.0]]},
    "objects": {"query_id": ["q1"], "items": [[{"doc_id": "d2"}, {"doc_id": "d1"}]]},
}


@pytest.mark.parametrize("form", FORMS)
def test_a_dataset_of_hugging_face_is_a_table(form: str) -> None:
    datasets = pytest.importorskip("datasets", reason="it is in make test-integrations")
    made = datasets.Dataset.from_dict(FORMS[form])
    for dataset in (made, made.with_format("numpy"), made.to_iterable_dataset()):
        assert rs.evaluate(QRELS, dataset, "RR").to_dict() == VALUES
        assert rs.Rankings.from_run(QRELS, dataset).evaluate("RR").to_dict() == VALUES
    for splits in (
        datasets.DatasetDict({"test": made}),
        datasets.IterableDatasetDict({"test": made.to_iterable_dataset()}),
    ):
        error = refused(lambda splits=splits: rs.evaluate(QRELS, splits, "RR"), "input_type")  # type: ignore[misc]
        assert "dataset['test']" in error.hint


class Local:
    """A file here, as `ir_datasets` has those that it downloads."""

    def __init__(self, file: Path, text: str) -> None:
        file.write_text(text)
        self._file = file

    def path(self) -> Path:
        return self._file

    def stream(self) -> object:
        return self._file.open("rb")


def test_a_dataset_of_ir_datasets_has_judgments_and_a_run(tmp_path: Path) -> None:
    formats = pytest.importorskip("ir_datasets.formats", reason="it is in make test-integrations")
    base = pytest.importorskip("ir_datasets.datasets.base")
    qrels = formats.TrecQrels(Local(tmp_path / "qrels", "q1 0 d1 1\nq1 0 d2 0\n"), {})
    run = formats.TrecScoredDocs(Local(tmp_path / "run", "q1 Q0 d2 1 2 t\nq1 Q0 d1 2 1 t\n"))
    both = base.Dataset(qrels, run)
    assert rs.evaluate(both, both, "RR").to_dict() == VALUES
    assert rs.evaluate(both.qrels_iter(), both.scoreddocs_iter(), "RR").to_dict() == VALUES
    refused(lambda: rs.evaluate(base.Dataset(qrels), base.Dataset(qrels), "RR"), "input_type")
    refused(lambda: rs.evaluate(base.Dataset(run), base.Dataset(run), "RR"), "input_type")
