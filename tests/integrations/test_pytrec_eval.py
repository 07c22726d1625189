"""BEIR and MTEB run unchanged on rankscope's pytrec_eval, and return what they returned before."""

from __future__ import annotations

import importlib.util
import json
import os
import subprocess
import sys
from pathlib import Path

import pytest

PROGRAM = Path(__file__).with_name("evaluators.py")


def run_program(library, implementation, home):
    """Return the module of the evaluator and what the library returns, in a new process."""
    offline = {"HF_HUB_OFFLINE": "1", "HF_DATASETS_OFFLINE": "1", "HF_HOME": str(home)}
    done = subprocess.run(
        [sys.executable, PROGRAM, library, implementation],
        capture_output=True,
        text=True,
        check=False,
        env={**os.environ, **offline},
        timeout=300,
    )
    assert done.returncode == 0, done.stderr
    module, answer = json.loads(done.stdout.splitlines()[-1])
    return module, answer


@pytest.mark.parametrize("library", ["beir", "mteb"])
def test_a_library_returns_the_same_with_rankscope_as_with_pytrec_eval(library, tmp_path):
    if importlib.util.find_spec(library) is None:
        pytest.skip(f"{library} is not installed; it is in make test-integrations")
    module, ours = run_program(library, "rankscope", tmp_path)
    assert module == "rankscope.pytrec_eval.evaluator"
    module, theirs = run_program(library, "real", tmp_path)
    assert module == "pytrec_eval"
    assert ours == theirs
    assert "0." in str(ours)
