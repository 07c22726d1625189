"""A library that is missing or broken is an error that says what to install."""

from __future__ import annotations

import subprocess
import sys
from typing import TYPE_CHECKING

import pytest
from rankscope.errors import UsageError
from rankscope.integrations.libraries import require

from tests.refusals import refuses

if TYPE_CHECKING:
    from pathlib import Path


@pytest.mark.parametrize(
    ("module", "package"),
    [
        ("lightgbm", "lightgbm"),
        ("sklearn.metrics", "scikit-learn"),
        ("pyterrier.measures", "python-terrier"),
    ],
)
def test_a_missing_library_is_an_error_with_the_command_that_installs_it(
    module: str, package: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(sys, "path", [])
    library = module.partition(".")[0]
    for name in [name for name in sys.modules if name.partition(".")[0] == library]:
        monkeypatch.delitem(sys.modules, name)
    with refuses(UsageError, "missing_library") as caught:
        require(module)
    assert caught.value.message == f"this needs {package}, which is not installed"
    assert caught.value.hint == f"run `pip install {package}`"


def test_a_library_without_one_of_its_own_parts_is_not_called_missing(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    (tmp_path / "half_a_library.py").write_text("import its_other_half\n", encoding="utf-8")
    monkeypatch.syspath_prepend(str(tmp_path))
    with refuses(
        UsageError, "broken_library", match="importing half_a_library fails: No module named"
    ):
        require("half_a_library")


def test_importing_an_integration_loads_no_library_but_where_a_class_has_to_be_one_of_its() -> None:
    code = """
import pkgutil, sys
import rankscope.integrations as package
for each in pkgutil.walk_packages(package.__path__, "rankscope.integrations."):
    if each.name != "rankscope.integrations.torch":  # its metric is a class of torchmetrics
        __import__(each.name)
libraries = {"numpy", "pandas", "sklearn", "lightgbm", "xgboost", "catboost", "optuna", "torch",
             "torchmetrics", "mlflow", "pyterrier", "ir_measures", "sentence_transformers"}
print(sorted(libraries & set(sys.modules)))
"""
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=False)
    assert (done.stdout, done.stderr) == ("[]\n", "")
