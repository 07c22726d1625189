"""What `import rankscope` gives, and what it leaves out."""

from __future__ import annotations

import subprocess
import sys
from types import ModuleType

import pytest
import rankscope


def loaded_by(statement: str) -> set[str]:
    """The top-level packages that a fresh interpreter has loaded after a statement."""
    program = f"import sys; {statement}; print(*{{name.partition('.')[0] for name in sys.modules}})"
    return set(
        subprocess.run(
            [sys.executable, "-I", "-c", program], capture_output=True, text=True, check=True
        ).stdout.split()
    )


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
            program = [sys.executable, "-I", "-c", statements]
            done = subprocess.run(program, capture_output=True, text=True, check=True)
            assert done.stdout == "function\n", statements


def test_submodules_are_attributes_and_unknown_names_are_not() -> None:
    program = "import rankscope; rankscope.errors.UsageError; rankscope.typing.InputLike"
    assert "rankscope" in loaded_by(program)
    with pytest.raises(AttributeError, match="module 'rankscope' has no attribute 'ndcgg'"):
        rankscope.ndcgg  # type: ignore[attr-defined]  # noqa: B018 - a mistake


def test_importing_loads_measures_and_little_else() -> None:
    program = (
        "import rankscope, sys; print(*(name for name in sys.modules if name[:10] == 'rankscope.'))"
    )
    done = subprocess.run(
        [sys.executable, "-I", "-c", program], capture_output=True, text=True, check=True
    )
    parts = {name.split(".")[1] for name in done.stdout.split()}
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
    loaded = f"{program}; import sys; print(*(name for name in sys.modules))"
    done = subprocess.run(
        [sys.executable, "-I", "-c", loaded], capture_output=True, text=True, check=True
    )
    parts = {name.split(".")[1] for name in done.stdout.split() if name.startswith("rankscope.")}
    assert not parts & {"cli", "conventions", "monitor", "plots", "stats", "web"}
