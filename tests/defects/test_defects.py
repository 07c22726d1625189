"""Every defect that is listed has its tests, and every test its defect."""

from __future__ import annotations

import ast
from pathlib import Path

from tests.defects.defects import DEFECTS

LISTED = [defect for defects in DEFECTS.values() for defect in defects]


def test_every_defect_has_its_tests_and_every_test_its_defect():
    tests = {
        node.name
        for path in Path(__file__).parent.glob("test_*.py")
        if path.name != Path(__file__).name
        for node in ast.parse(path.read_text(encoding="utf-8")).body
        if isinstance(node, ast.FunctionDef) and node.name.startswith("test_")
    }
    assert {test for defect in LISTED for test in defect.tests} == tests


def test_what_is_listed_is_said_in_sentences():
    for defect in LISTED:
        assert defect.there.endswith(".")
        assert defect.here.endswith(".")
