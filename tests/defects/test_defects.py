"""Every defect on the page has its tests, and every test its defect."""

from __future__ import annotations

import ast
import re
from pathlib import Path

PAGE = Path(__file__).parents[2] / "docs/known-defects.md"


def test_every_defect_has_its_tests_and_every_test_its_defect():
    tests = {
        node.name
        for path in Path(__file__).parent.glob("test_*.py")
        if path.name != Path(__file__).name
        for node in ast.parse(path.read_text(encoding="utf-8")).body
        if isinstance(node, ast.FunctionDef) and node.name.startswith("test_")
    }
    page = PAGE.read_text(encoding="utf-8")
    assert set(re.findall(r"`(test_\w+)`", page)) == tests
    defects = page.split("\n- **")[1:]
    assert all(
        re.search(r"\.\n\n    \*rankscope:\* .+\.\n\n    \*Tests:\* `test_", text)
        for text in defects
    )
