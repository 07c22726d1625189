"""What `import rankscope` gives, and what it leaves out."""

from __future__ import annotations

import subprocess
import sys
from types import ModuleType

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
    public = {
        name
        for name, value in vars(rankscope).items()
        if not name.startswith("_") and name != "annotations" and not isinstance(value, ModuleType)
    }
    assert len(set(rankscope.__all__)) == len(rankscope.__all__)
    assert public == {name for name in rankscope.__all__ if not name.startswith("_")}


def test_importing_loads_the_standard_library_only() -> None:
    foreign = loaded_by("import rankscope") - loaded_by("pass") - sys.stdlib_module_names
    assert foreign == {"rankscope"}


def test_a_measure_needs_no_numpy() -> None:
    assert "numpy" not in loaded_by("import rankscope; str(rankscope.nDCG @ 10)")
