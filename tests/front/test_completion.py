"""Editors and IPython complete every public name before its first use."""

from __future__ import annotations

import json
import sys
from pathlib import Path

import jedi  # type: ignore[import-untyped]  # it has none
import pytest
import rankscope
from rankscope.measures import OBJECTS

from tests.interpreter import run_python

HIDDEN = {"annotations", "defer", "deferred"}
MADE = {"Budget", "File", "Interval", "Policy", "Rankings"}
PACKAGES = {
    "rankscope": {
        name
        for name in rankscope.__all__
        if name in MADE or not (name in OBJECTS or name[0].isupper())
    },
    "rankscope.monitor": {"BaselineChoice", "Client", "Configuration", "Monitor", "Rule", "define"},
    "rankscope.array": {"evaluate_batch", "ndcg"},
}


def run_fresh(program: str) -> list[str]:
    """The list that a fresh interpreter prints, in which no name has been used."""
    found: list[str] = json.loads(run_python(program).splitlines()[-1])
    return found


@pytest.mark.parametrize("package", PACKAGES)
def test_dir_lists_public_names_and_no_others(package: str) -> None:
    found = run_fresh(f"import json, {package} as it; print(json.dumps(dir(it)))")
    assert set(found) >= PACKAGES[package] | {"__doc__", "__name__"}
    if package != "rankscope.array":  # whose names are imported at once
        assert HIDDEN.isdisjoint(found)
        assert not [name for name in found if name.startswith("_") and name[:2] != "__"]


def test_everything_that_dir_lists_is_there() -> None:
    """And listing imports nothing."""
    program = """
    import json, sys, rankscope
    before = {*sys.modules}
    names = dir(rankscope)
    assert before == {*sys.modules}
    print(json.dumps([name for name in names if not hasattr(rankscope, name)]))
    """
    assert run_fresh("\n".join(line.strip() for line in program.splitlines())) == []


COMPLETE = """
import json
from IPython.core.completer import provisionalcompleter
from IPython.core.interactiveshell import InteractiveShell
shell = InteractiveShell()
shell.Completer.use_jedi = {use_jedi}
shell.run_cell("import rankscope as rs")
with provisionalcompleter():
    found = [[one.text for one in shell.Completer.completions(text, len(text))] for text in {texts}]
print(json.dumps(found))
"""
TYPED = {"rs.eval": "evaluate", "rs.Rank": "Rankings", "rs.repor": "report"}


@pytest.mark.parametrize("use_jedi", [False, True])
def test_ipython_completes_names_before_their_first_use(use_jedi: bool) -> None:
    found = run_fresh(COMPLETE.format(texts=[*TYPED, "rs.TYPE", "rs.deferr"], use_jedi=use_jedi))
    *known, hidden, internal = [{name.removeprefix(".") for name in names} for names in found]
    for names, name in zip(known, TYPED.values(), strict=True):
        assert name in names
    assert HIDDEN.isdisjoint(hidden | internal)


def test_jedi_completes_a_session() -> None:
    for typed, name in TYPED.items():
        found = jedi.Interpreter(typed, [{"rs": rankscope}]).complete()
        assert name in {one.name for one in found}


def test_jedi_completes_arguments_of_methods() -> None:
    held = {"held": rankscope.Rankings.from_run({"q": {"a": 1}}, {"q": {"a": 1.0}})}
    for typed, name in {
        "held.evaluate(poli": "policy=",
        "held.from_run(ti": "ties=",
    }.items():
        assert name in {one.name for one in jedi.Interpreter(typed, [held]).complete()}


def test_jedi_completes_a_script() -> None:
    path = [str(Path(rankscope.__file__).parent.parent), *sys.path]
    project = jedi.Project(path[0], sys_path=path)
    for typed, name in TYPED.items():
        found = jedi.Script(f"import rankscope as rs\n{typed}", project=project).complete()
        assert name in {one.name for one in found}
