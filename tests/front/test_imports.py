"""What `import rankscope` gives, what it loads, and what editors complete."""

from __future__ import annotations

import dataclasses
import inspect
import json
import re
import sys
from pathlib import Path
from types import ModuleType

import jedi
import pytest
import rankscope
from rankscope.measures import OBJECTS

from tests.interpreter import run_python
from tests.results.samples import SAMPLES


def modules_after(program):
    """The modules that a fresh interpreter has loaded after a program."""
    return set(run_python(f"{program}\nimport sys; print(*sys.modules)", "-I").split())


def loaded_by(program):
    """The top-level packages among them."""
    return {name.partition(".")[0] for name in modules_after(program)}


def test_all_names_what_is_public():
    for name in rankscope.__all__:
        getattr(rankscope, name)  # most are imported when they are first used
    public = {
        name
        for name, value in vars(rankscope).items()
        if not name.startswith("_")
        and name not in {"annotations", "attach_stub", *OBJECTS}
        and not isinstance(value, ModuleType)
    }
    modules = {name for name in rankscope.__all__ if inspect.ismodule(getattr(rankscope, name))}
    assert len(set(rankscope.__all__)) == len(rankscope.__all__)
    assert public == {*rankscope.__all__} - modules - {"__version__"}


def test_the_top_has_about_forty_functions_and_classes_that_are_made():
    functions = {name for name in rankscope.__all__ if inspect.isfunction(getattr(rankscope, name))}
    errors = {name for name in rankscope.__all__ if name.endswith("Error")}
    assert errors == {"RankscopeError", "InputError", "UsageError", "FileError"}
    assert len(functions | errors | MADE) <= 45


MADE = {"Budget", "File", "Interval", "Measure", "Policy", "Rankings"}
MOVED = {
    "MeasureError": "rankscope.errors.MeasureError",
    "kendall_tau": "rankscope.correlation.kendall_tau",
    "write_sql": "rankscope.sql.write_sql",
}


@pytest.mark.parametrize("name", MOVED)
def test_a_name_that_is_elsewhere_is_named_with_its_place(name):
    with pytest.raises(AttributeError, match=f"did you mean {MOVED[name]}?"):
        getattr(rankscope, name)


def test_submodules_are_attributes_and_unknown_names_are_not():
    assert "rankscope" in loaded_by("import rankscope; rankscope.errors, rankscope.typing")
    with pytest.raises(AttributeError, match=r"module 'rankscope' has no attribute 'ndcgg'$"):
        rankscope.ndcgg  # noqa: B018 - a mistake


def test_importing_loads_the_standard_library_only_and_little_of_it():
    loaded = modules_after("import rankscope") - modules_after("pass")
    ours = {name for name in loaded if name.partition(".")[0] == "rankscope"}
    assert ours == {"rankscope", "rankscope._core", "rankscope._lazy"}
    assert {name.partition(".")[0] for name in loaded - ours} < sys.stdlib_module_names
    assert {"argparse", "dataclasses", "typing"}.isdisjoint(loaded)


def test_measures_of_mappings_load_no_numpy():
    evaluated = "evaluate({'q': {'d': 1}}, {'q': {'d': 1.0}}, ['RR', rankscope.nDCG @ 10])"
    assert loaded_by(f"import rankscope; rankscope.{evaluated}").isdisjoint(HEAVY)


HEAVY = {"httpcore", "numpy", "pandas", "pyarrow", "pydantic", "sqlalchemy", "ssl", "starlette"}
MOST_MODULES, MOST_RECORDS = 45, 15
START = """
import dataclasses, sys
from rankscope._cli import main
assert main({words}) == 0
ours = [module for name, module in sys.modules.items() if name.partition(".")[0] == "rankscope"]
records = {{
    value
    for module in ours
    for value in vars(module).values()
    if isinstance(value, type) and dataclasses.is_dataclass(value)
}}
print(len(ours), len(records))
"""


@pytest.mark.parametrize("command", [["eval", "-m", "RR"], ["trec_eval", "-m", "map"]])
def test_a_command_with_trec_files_loads_little(command, tmp_path):
    """Each record costs a millisecond, each module half of one."""
    (tmp_path / "qrels").write_text("q 0 d 1\n")
    (tmp_path / "run").write_text("q Q0 d 1 1.0 t\n")
    words = [*command, str(tmp_path / "qrels"), str(tmp_path / "run")]
    program = START.format(words=words)
    assert loaded_by(program).isdisjoint({*HEAVY, "pathlib", "json", "datetime"})
    modules, records = map(int, run_python(program, "-I").split()[-2:])
    assert modules <= MOST_MODULES
    assert records <= MOST_RECORDS


ROWS = "query_id,doc_id,country,score,relevance\nq1,a,nl,0.5,1\nq2,b,,0.4,0\n"
ARROW = f"import io; from pyarrow import csv; rows = csv.read_csv(io.BytesIO({ROWS.encode()!r}))"
POLARS = f"import io, polars; rows = polars.read_csv(io.BytesIO({ROWS.encode()!r}))"
FILE = "import pathlib; rows = pathlib.Path('rows.csv'); rows.write_text({!r})"


@pytest.mark.parametrize("rows", [ARROW, POLARS, FILE.format(ROWS)], ids=["arrow", "polars", "csv"])
@pytest.mark.parametrize("call", ["rows, 'nDCG@10', by='country'", "rows, rows, 'nDCG@10'"])
def test_a_table_needs_no_pandas(rows, call, tmp_path):
    pytest.importorskip("pandas")
    pytest.importorskip("polars")
    place = f"import os; os.chdir({str(tmp_path)!r})"
    loaded = loaded_by(f"{place}; {rows}; import rankscope; rankscope.evaluate({call})")
    assert "pyarrow" in loaded
    assert "pandas" not in loaded


@pytest.mark.parametrize("command", ["", "eval", "trec_eval", "measures", "monitor"])
def test_help_loads_no_library(command):
    words = [*command.split(), "--help"]
    ending = "except SystemExit as ended: assert not ended.code"
    program = f"from rankscope._cli import main\ntry: main({words})\n{ending}"
    assert loaded_by(program).isdisjoint(HEAVY)


PACKAGES = {
    "rankscope": {*MADE, *(name for name in rankscope.__all__ if not name[0].isupper())},
    "rankscope.monitor": {"BaselineChoice", "Client", "Configuration", "Monitor", "Rule", "define"},
    "rankscope.array": {"evaluate_batch", "ndcg"},
}


def run_fresh(program):
    """The list that a fresh interpreter prints, in which no name has been used."""
    return json.loads(run_python(program).splitlines()[-1])


@pytest.mark.parametrize("package", PACKAGES)
def test_dir_lists_public_names_and_no_others(package):
    listed = run_fresh(f"import json, {package} as it; print(json.dumps(dir(it)))")
    assert set(listed) >= PACKAGES[package] | {"__doc__", "__name__"}
    if package != "rankscope.array":  # whose names are imported at once
        assert {"annotations", "attach_stub"}.isdisjoint(listed)
        assert not [name for name in listed if name.startswith("_") and name[:2] != "__"]


def test_everything_that_dir_lists_is_there():
    """And listing imports nothing."""
    program = (
        "import json, sys, rankscope; before = {*sys.modules}; names = dir(rankscope); "
        "assert before == {*sys.modules}; "
        "print(json.dumps([name for name in names if not hasattr(rankscope, name)]))"
    )
    assert run_fresh(program) == []


def find_records(value, records):
    """Collect the public dataclasses in a result."""
    if dataclasses.is_dataclass(value) and not isinstance(value, type):
        records.setdefault(type(value), value)
        for field in dataclasses.fields(value):
            find_records(getattr(value, field.name, None), records)
    elif isinstance(value, (list, tuple, dict)):
        for item in value.values() if isinstance(value, dict) else value:
            find_records(item, records)
    return records


@pytest.mark.parametrize("name", SAMPLES)
def test_every_record_of_a_result_can_be_replaced(name):
    for record in find_records(SAMPLES[name](), {}).values():
        again = dataclasses.replace(record)
        assert type(again) is type(record)
        assert repr(again) == repr(record)


COMPLETE = """
import json
import re
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
def test_ipython_completes_names_before_their_first_use(use_jedi):
    program = COMPLETE.format(texts=[*TYPED, "rs.anno", "rs.attach"], use_jedi=use_jedi)
    *completed, hidden, internal = run_fresh(program)
    for names, name in zip(completed, TYPED.values(), strict=True):
        assert name in {text.removeprefix(".") for text in names}
    assert not hidden + internal


def test_jedi_completes_a_session_and_arguments_of_methods():
    rankings = rankscope.Rankings.from_run({"q": {"a": 1}}, {"q": {"a": 1.0}})
    arguments = {"rankings.evaluate(poli": "policy=", "rankings.from_run(ti": "ties="}
    for typed, name in (TYPED | arguments).items():
        completed = jedi.Interpreter(typed, [{"rs": rankscope, "rankings": rankings}]).complete()
        assert name in {completion.name for completion in completed}


def test_jedi_completes_a_script():
    path = [str(Path(rankscope.__file__).parent.parent), *sys.path]
    project = jedi.Project(path[0], sys_path=path)
    for typed, name in TYPED.items():
        completed = jedi.Script(f"import rankscope as rs\n{typed}", project=project).complete()
        assert name in {completion.name for completion in completed}


def test_the_type_checker_sees_each_name_in_use():
    """`make types` checks these programs strictly."""
    folder = Path(__file__).parents[1] / "typing"
    text = "".join(path.read_text(encoding="utf-8") for path in folder.glob("*.py"))
    used = {
        *re.findall(r"\brs\.(\w+)", text),
        *re.findall(r"^from rankscope\.(\w+)", text, re.MULTILINE),
    }
    used |= {*", ".join(re.findall(r"^from rankscope import (.*)", text, re.MULTILINE)).split(", ")}
    modules = {name for name in rankscope.__all__ if inspect.ismodule(getattr(rankscope, name))}
    assert {*rankscope.__all__} - modules <= used
