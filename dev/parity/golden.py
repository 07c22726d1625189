"""Golden files: a file a convention, a line a measure, so that a difference can be read."""

from __future__ import annotations

import json
from pathlib import Path
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from collections.abc import Mapping
    from typing import Any

FOLDER = Path(__file__).resolve().parents[2] / "tests" / "parity" / "golden"
HEAD = (
    "library",
    "version",
    "convention",
    "variant",
    "verified",
    "way",
    "precision",
    "arbitrary_above",
    "options",
    "mean_over",
    "notes",
)


def render(found: Mapping[str, Any]) -> str:
    """Write the answers under one convention as JSON.

    Args:
        found: The fields of the answers, with the version of the library and the day.

    Returns:
        The text of the golden file.
    """
    parts = [f"{json.dumps(name)}: {_compact(found[name])}" for name in HEAD]
    cases = (
        f" {json.dumps(case)}: {{\n  "
        + ",\n  ".join(f"{json.dumps(name)}: {_compact(answer)}" for name, answer in row.items())
        + "}"
        for case, row in found["cases"].items()
    )
    parts.append('"cases": {\n' + ",\n".join(cases) + "}")
    refusals = ",\n ".join(_compact(refusal) for refusal in found["refusals"])
    parts.append('"refusals": [' + (f"\n {refusals}" if refusals else "") + "]")
    return "{" + ",\n".join(parts) + "}\n"


def write(found: Mapping[str, Any]) -> Path:
    """Write a golden file.

    Args:
        found: As for `render`.

    Returns:
        Its path.
    """
    name = "-".join(filter(None, (found["convention"], found["variant"])))
    path = FOLDER / f"{name}.json"
    path.write_text(render(found), encoding="utf-8")
    return path


def _compact(value: object) -> str:
    return json.dumps(value, ensure_ascii=False, separators=(",", ":"))
