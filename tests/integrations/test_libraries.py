"""A library that is missing is an error; data sets are read as their libraries make them."""

from __future__ import annotations

import sys

import pytest
import rankscope as rs
from rankscope.errors import UsageError
from rankscope.integrations._frames import require

from tests.interpreter import run_python
from tests.refusals import refused, refuses


@pytest.mark.parametrize(
    ("module", "package"),
    [
        ("lightgbm", "lightgbm"),
        ("sklearn.metrics", "scikit-learn"),
        ("pyterrier.measures", "python-terrier"),
    ],
)
def test_a_missing_library_is_an_error_with_the_command_that_installs_it(
    module, package, monkeypatch
):
    monkeypatch.setattr(sys, "path", [])
    library = module.partition(".")[0]
    for name in [name for name in sys.modules if name.partition(".")[0] == library]:
        monkeypatch.delitem(sys.modules, name)
    with refuses(UsageError, "missing_library") as caught:
        require(module)
    assert caught.value.message == f"this needs {package}, which is not installed"
    assert caught.value.hint == f"run `pip install {package}`"


def test_a_library_without_one_of_its_own_parts_is_not_called_missing(tmp_path, monkeypatch):
    (tmp_path / "half_a_library.py").write_text("import its_other_half\n", encoding="utf-8")
    monkeypatch.syspath_prepend(str(tmp_path))
    said = "importing half_a_library fails: No module named"
    with refuses(UsageError, "broken_library", match=said):
        require("half_a_library")


def test_importing_an_integration_loads_no_library_but_where_a_class_has_to_be_one_of_its():
    code = """
import pkgutil, sys
import rankscope.integrations as package
for each in pkgutil.walk_packages(package.__path__, "rankscope.integrations."):
    if each.name != "rankscope.torch":  # its metric is a class of torchmetrics
        __import__(each.name)
libraries = {"pandas", "sklearn", "lightgbm", "xgboost", "catboost", "optuna", "torch",
             "torchmetrics", "mlflow", "pyterrier", "ir_measures", "sentence_transformers"}
print(sorted(libraries & set(sys.modules)))
"""
    assert run_python(code) == "[]\n"


QRELS = {"q1": {"d1": 1}}
VALUES = {"q1": {"RR": 0.5}}
FORMS = {
    "rows": {"query_id": ["q1", "q1"], "doc_id": ["d2", "d1"], "score": [2.0, 1.0]},
    "lists": {"query_id": ["q1"], "doc_ids": [["d2", "d1"]], "scores": [[2.0, 1.0]]},
    "objects": {"query_id": ["q1"], "items": [[{"doc_id": "d2"}, {"doc_id": "d1"}]]},
}


@pytest.mark.parametrize("form", FORMS)
def test_a_dataset_of_hugging_face_is_a_table(form):
    datasets = pytest.importorskip("datasets", reason="it is in make test-integrations")
    made = datasets.Dataset.from_dict(FORMS[form])
    for dataset in (made, made.with_format("numpy"), made.to_iterable_dataset()):
        assert rs.evaluate(QRELS, dataset, "RR").to_dict() == VALUES
        assert rs.Rankings.from_run(QRELS, dataset).evaluate("RR").to_dict() == VALUES
    for splits in (
        datasets.DatasetDict({"test": made}),
        datasets.IterableDatasetDict({"test": made.to_iterable_dataset()}),
    ):
        error = refused(lambda splits=splits: rs.evaluate(QRELS, splits, "RR"), "input_type")
        assert "dataset['test']" in error.hint


class Local:
    """A file here, as `ir_datasets` has those that it downloads."""

    def __init__(self, file, text):
        file.write_text(text)
        self._file = file

    def path(self):
        return self._file

    def stream(self):
        return self._file.open("rb")


def test_a_dataset_of_ir_datasets_has_judgments_and_a_run(tmp_path):
    formats = pytest.importorskip("ir_datasets.formats", reason="it is in make test-integrations")
    base = pytest.importorskip("ir_datasets.datasets.base")
    qrels = formats.TrecQrels(Local(tmp_path / "qrels", "q1 0 d1 1\nq1 0 d2 0\n"), {})
    run = formats.TrecScoredDocs(Local(tmp_path / "run", "q1 Q0 d2 1 2 t\nq1 Q0 d1 2 1 t\n"))
    both = base.Dataset(qrels, run)
    assert rs.evaluate(both, both, "RR").to_dict() == VALUES
    assert rs.evaluate(both.qrels_iter(), both.scoreddocs_iter(), "RR").to_dict() == VALUES
    refused(lambda: rs.evaluate(base.Dataset(qrels), base.Dataset(qrels), "RR"), "input_type")
    refused(lambda: rs.evaluate(base.Dataset(run), base.Dataset(run), "RR"), "input_type")
