"""What `import rankscope` gives, and what it leaves out."""

from __future__ import annotations

import sys
from types import ModuleType
from typing import TYPE_CHECKING

import pytest
import rankscope
from rankscope.cli.commands import COMMANDS, Group

from tests.interpreter import run_python

if TYPE_CHECKING:
    from collections.abc import Iterator
    from pathlib import Path


def loaded_by(statement: str) -> set[str]:
    """The top-level packages that a fresh interpreter has loaded after a statement."""
    program = f"import sys; {statement}; print(*{{name.partition('.')[0] for name in sys.modules}})"
    return set(run_python(program, "-I").split())


def test_all_names_what_is_public() -> None:
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


def test_importing_loads_the_standard_library_only() -> None:
    foreign = loaded_by("import rankscope") - loaded_by("pass") - sys.stdlib_module_names
    assert foreign == {"rankscope"}


def test_a_measure_needs_no_numpy() -> None:
    assert "numpy" not in loaded_by("import rankscope; str(rankscope.nDCG @ 10)")


def test_a_name_of_a_function_and_a_package_is_the_function_in_any_order() -> None:
    inner_names = {"agreement": "runs"}
    for name in ("agreement", "bounds", "gate", "leaderboard", "losses", "power", "report"):
        inner = inner_names.get(name, "compute")
        shown = f"print(type(rankscope.{name}).__name__)"
        for statements in (
            f"import rankscope; {shown}",
            f"import rankscope.{name}; {shown}",
            f"import rankscope.{name}.{inner}; import rankscope.{name}; {shown}",
        ):
            assert run_python(statements, "-I") == "function\n", statements


def test_submodules_are_attributes_and_unknown_names_are_not() -> None:
    program = "import rankscope; rankscope.errors.UsageError; rankscope.typing.InputLike"
    assert "rankscope" in loaded_by(program)
    with pytest.raises(AttributeError, match="module 'rankscope' has no attribute 'ndcgg'"):
        rankscope.ndcgg  # type: ignore[attr-defined]  # noqa: B018 - a mistake


def test_importing_loads_measures_and_little_else() -> None:
    program = (
        "import rankscope, sys; print(*(name for name in sys.modules if name[:10] == 'rankscope.'))"
    )
    parts = {name.split(".")[1] for name in run_python(program, "-I").split()}
    base = {"_core", "deferred", "errors", "measures", "names", "records"}
    assert parts == base | {
        "agreement",
        "bounds",
        "gate",
        "leaderboard",
        "losses",
        "power",
        "report",
    }


def test_evaluating_files_loads_no_plots_reports_or_statistics() -> None:
    program = "import rankscope; rankscope.evaluate({'q': {'d': 1}}, {'q': {'d': 1.0}}, 'RR')"
    loaded = run_python(f"{program}; import sys; print(*sys.modules)", "-I").split()
    parts = {name.split(".")[1] for name in loaded if name.startswith("rankscope.")}
    assert not parts & {"cli", "conventions", "monitor", "plots", "stats", "web"}


def test_evaluating_mappings_needs_no_numpy() -> None:
    program = "rankscope.evaluate({'q': {'d': 1}}, {'q': {'d': 1.0}}, 'nDCG@10')"
    assert "numpy" not in loaded_by(f"import rankscope; {program}")


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


def test_only_tables_need_pyarrow() -> None:
    run_python(WITHOUT_ARROW)


def test_a_command_with_trec_files_needs_the_standard_library_only(tmp_path: Path) -> None:
    (tmp_path / "qrels").write_text("q 0 d 1\n")
    (tmp_path / "run").write_text("q Q0 d 1 1.0 t\n")
    words = ["eval", str(tmp_path / "qrels"), str(tmp_path / "run"), "-m", "RR"]
    program = f"import sys, rankscope.cli; rankscope.cli.main({words}); print(*sys.modules)"
    loaded = {name.partition(".")[0] for name in run_python(program, "-I").split()}
    assert not loaded & HEAVY


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
def test_a_table_of_arrow_or_polars_needs_no_pandas(made: str, call: str) -> None:
    pytest.importorskip("pandas")
    pytest.importorskip("polars")
    loaded = loaded_by(f"{made}; import rankscope; {call}")
    assert "pyarrow" in loaded
    assert "pandas" not in loaded


@pytest.mark.parametrize("name", ["rows.csv", "rows.parquet"])
def test_a_table_in_a_file_needs_no_pandas(name: str, tmp_path: Path) -> None:
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


def test_help_loads_no_library() -> None:
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


def list_commands(group: Group) -> Iterator[list[str]]:
    """The words of each command of a group, and of the groups in it."""
    for name, command in group.commands.items():
        yield [name]
        if isinstance(command, Group):
            yield from ([name, *words] for words in list_commands(command))
