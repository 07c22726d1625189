"""What `import rankscope` gives, what it leaves out, and what editors complete."""

from __future__ import annotations

import json
import sys
from pathlib import Path
from types import ModuleType

import jedi
import pytest
import rankscope
from rankscope.cli.commands import COMMANDS, Group
from rankscope.measures import OBJECTS

from tests.interpreter import run_python


def modules_after(statement):
    """The modules that a fresh interpreter has loaded after a statement."""
    return set(run_python(f"{statement}; import sys; print(*sys.modules)", "-I").split())


def loaded_by(statement):
    """The top-level packages among them."""
    return {name.partition(".")[0] for name in modules_after(statement)}


def parts_loaded_by(statement):
    """The parts of this package among them."""
    loaded = modules_after(statement)
    return {name.split(".")[1] for name in loaded if name.startswith("rankscope.")}


def test_all_names_what_is_public():
    for name in rankscope.__all__:
        getattr(rankscope, name)  # most are imported when they are first used
    public = {
        name
        for name, value in vars(rankscope).items()
        if not name.startswith("_")
        and name not in {"annotations", "defer"}
        and not isinstance(value, ModuleType)
    }
    assert len(set(rankscope.__all__)) == len(rankscope.__all__)
    assert public == {name for name in rankscope.__all__ if not name.startswith("_")}


def test_importing_loads_the_standard_library_only():
    foreign = loaded_by("import rankscope") - loaded_by("pass") - sys.stdlib_module_names
    assert foreign == {"rankscope"}


def test_a_name_of_a_function_and_a_package_is_the_function_in_any_order():
    inner_names = {"agreement": "runs"}
    for name in ("agreement", "bounds", "losses"):
        inner = inner_names.get(name, "compute")
        shown = f"print(type(rankscope.{name}).__name__)"
        for statements in (
            f"import rankscope; {shown}",
            f"import rankscope.{name}; {shown}",
            f"import rankscope.{name}.{inner}; import rankscope.{name}; {shown}",
        ):
            assert run_python(statements, "-I") == "function\n", statements


def test_submodules_are_attributes_and_unknown_names_are_not():
    program = "import rankscope; rankscope.errors.UsageError; rankscope.typing.InputLike"
    assert "rankscope" in loaded_by(program)
    with pytest.raises(AttributeError, match="module 'rankscope' has no attribute 'ndcgg'"):
        rankscope.ndcgg  # noqa: B018 - a mistake


def test_importing_loads_measures_and_little_else():
    base = {"_core", "deferred", "errors", "measures", "names", "records"}
    names = {"agreement", "bounds", "losses"}
    assert parts_loaded_by("import rankscope") == base | names


EVALUATED = (
    "import rankscope; str(rankscope.nDCG @ 10); "
    "rankscope.evaluate({'q': {'d': 1}}, {'q': {'d': 1.0}}, ['RR', 'nDCG@10'])"
)


def test_measures_of_mappings_load_no_numpy_plots_reports_or_statistics():
    assert "numpy" not in loaded_by(EVALUATED)
    unneeded = {"cli", "conventions", "monitor", "plots", "stats", "web"}
    assert unneeded.isdisjoint(parts_loaded_by(EVALUATED))


WITHOUT_ARROW = """
import sys; sys.modules["pyarrow"] = None
import numpy as np, rankscope as rs, rankscope.pytrec_eval
judgments, run = {"q": {"d": 1}}, {"q": {"d": 1.0}}
text = b"q 0 d 1\\n", b"q Q0 d 1 1.0 t\\n"
assert rs.evaluate(*text, "RR")["RR"] == rs.evaluate(judgments, run, "RR")["RR"] == 1.0
assert rs.evaluate({"q": ["d"]}, [("q", "d", 1.0)], "RR")["RR"] == 1.0
grades, scores = np.array([[1, 0]]), np.array([[0.5, 0.2]])
assert rs.ndcg_score(grades, scores) == 1.0
assert rs.Rankings.from_arrays(grades, scores).evaluate("RR")["RR"] == 1.0
assert rs.Rankings.from_groups(grades[0], scores[0], [2]).evaluate("RR")["RR"] == 1.0
str(rs.compare(judgments, {"a": run, "b": run}, "RR"))
str(rs.gate(judgments, run, run, {"RR": 0.1}))
assert rs.pytrec_eval.RelevanceEvaluator(judgments, {"map"}).evaluate(run) == {"q": {"map": 1.0}}
files = [rs.File(b"{}", form) for form in ("csv", "jsonl", "letor", "parquet", "arrow")]
for table in ({"query": ["q"], "score": [1], "relevance": [1]}, *files):
    try:
        rs.evaluate(table, "RR")
    except rs.FormatError as error:
        assert "pip install pyarrow" in error.hint, error
    else:
        raise AssertionError(table)
"""


def test_only_tables_need_pyarrow():
    run_python(WITHOUT_ARROW)


def test_a_command_with_trec_files_needs_the_standard_library_only(tmp_path):
    (tmp_path / "qrels").write_text("q 0 d 1\n")
    (tmp_path / "run").write_text("q Q0 d 1 1.0 t\n")
    words = ["eval", str(tmp_path / "qrels"), str(tmp_path / "run"), "-m", "RR"]
    assert not loaded_by(f"import rankscope.cli; rankscope.cli.main({words})") & HEAVY


ROWS = "query_id,doc_id,country,score,relevance\nq1,a,nl,0.5,1\nq2,b,,0.4,0\n"
ARROW = f"import io; from pyarrow import csv; rows = csv.read_csv(io.BytesIO({ROWS.encode()!r}))"
POLARS = f"import io, polars; rows = polars.read_csv(io.BytesIO({ROWS.encode()!r}))"


@pytest.mark.parametrize("made", [ARROW, POLARS], ids=["arrow", "polars"])
@pytest.mark.parametrize(
    "call",
    [
        "rankscope.evaluate(rows, 'nDCG@10', by='country')",
        "rankscope.evaluate(rows, rows, 'nDCG@10')",
        "rankscope.evaluate(rows.select(['score', 'relevance', 'query_id']), 'nDCG@10')",
    ],
)
def test_a_table_of_arrow_or_polars_needs_no_pandas(made, call):
    pytest.importorskip("pandas")
    pytest.importorskip("polars")
    loaded = loaded_by(f"{made}; import rankscope; {call}")
    assert "pyarrow" in loaded
    assert "pandas" not in loaded


@pytest.mark.parametrize("name", ["rows.csv", "rows.parquet"])
def test_a_table_in_a_file_needs_no_pandas(name, tmp_path):
    csv, parquet = pytest.importorskip("pyarrow.csv"), pytest.importorskip("pyarrow.parquet")
    pytest.importorskip("pandas")
    path = tmp_path / name
    path.write_text(ROWS)
    if path.suffix == ".parquet":
        parquet.write_table(csv.read_csv(path), path)
    loaded = loaded_by(
        f"import rankscope; rankscope.evaluate({str(path)!r}, 'nDCG@10', by='country')"
    )
    assert "pyarrow" in loaded
    assert "pandas" not in loaded


HEAVY = {"httpcore", "numpy", "pandas", "pyarrow", "pydantic", "sqlalchemy", "ssl", "starlette"}


def test_help_loads_no_library():
    commands = [" ".join(words) for words in list_commands(COMMANDS)]
    assert "monitor webhook set" in commands
    commands.remove("monitor rule add")  # its options are the fields of the models of rules
    program = (
        "import io, sys; from contextlib import redirect_stdout; from rankscope.cli import main\n"
        f"for command in {commands}:\n"
        "    with redirect_stdout(io.StringIO()):\n"
        "        try: main([*command.split(), '--help'])\n"
        "        except SystemExit as ended: assert not ended.code, command\n"
        f"    assert not {HEAVY} & sys.modules.keys(), command\n"
    )
    run_python(program, "-I")


def list_commands(group):
    """The words of each command of a group, and of the groups in it."""
    for name, command in group.commands.items():
        yield [name]
        if isinstance(command, Group):
            yield from ([name, *words] for words in list_commands(command))


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


def run_fresh(program):
    """The list that a fresh interpreter prints, in which no name has been used."""
    return json.loads(run_python(program).splitlines()[-1])


@pytest.mark.parametrize("package", PACKAGES)
def test_dir_lists_public_names_and_no_others(package):
    found = run_fresh(f"import json, {package} as it; print(json.dumps(dir(it)))")
    assert set(found) >= PACKAGES[package] | {"__doc__", "__name__"}
    if package != "rankscope.array":  # whose names are imported at once
        assert HIDDEN.isdisjoint(found)
        assert not [name for name in found if name.startswith("_") and name[:2] != "__"]


def test_everything_that_dir_lists_is_there():
    """And listing imports nothing."""
    program = (
        "import json, sys, rankscope; before = {*sys.modules}; names = dir(rankscope); "
        "assert before == {*sys.modules}; "
        "print(json.dumps([name for name in names if not hasattr(rankscope, name)]))"
    )
    assert run_fresh(program) == []


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
def test_ipython_completes_names_before_their_first_use(use_jedi):
    found = run_fresh(COMPLETE.format(texts=[*TYPED, "rs.TYPE", "rs.deferr"], use_jedi=use_jedi))
    *known, hidden, internal = [{name.removeprefix(".") for name in names} for names in found]
    for names, name in zip(known, TYPED.values(), strict=True):
        assert name in names
    assert HIDDEN.isdisjoint(hidden | internal)


def test_jedi_completes_a_session_and_arguments_of_methods():
    held = rankscope.Rankings.from_run({"q": {"a": 1}}, {"q": {"a": 1.0}})
    arguments = {"held.evaluate(poli": "policy=", "held.from_run(ti": "ties="}
    for typed, name in (TYPED | arguments).items():
        found = jedi.Interpreter(typed, [{"rs": rankscope, "held": held}]).complete()
        assert name in {one.name for one in found}


def test_jedi_completes_a_script():
    path = [str(Path(rankscope.__file__).parent.parent), *sys.path]
    project = jedi.Project(path[0], sys_path=path)
    for typed, name in TYPED.items():
        found = jedi.Script(f"import rankscope as rs\n{typed}", project=project).complete()
        assert name in {one.name for one in found}
