"""Reads `gate.toml`: the runs, the budgets, and how they are checked."""

from __future__ import annotations

import os
from pathlib import Path

from rankscope._compare.gate.result import FIELDS, Budget, check_choices
from rankscope.errors import FormatError, UsageError
from rankscope.measures.reading import read_measure
from rankscope.names import find_closest, quote
from rankscope.settings.interval import Interval
from rankscope.settings.policy import Policy
from rankscope.toml_file import read_toml

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence
    from typing import Any

    from rankscope.toml_file import TomlFlaw

PATHS = ("qrels", "baseline", "candidate", "table", "attributes")
NAMES = ("cluster", "weights", "policy", "convention")
SETTINGS = ("attributes", *NAMES, "confidence", "interval_method", "on_inconclusive")
"""The arguments of `gate` that options of the command line replace."""
KEYS = (*PATHS, "scores", *NAMES, "confidence", "interval-method", "on-inconclusive", "budget")
BUDGET_KEYS = ("measure", *FIELDS, "quantile", "by", "confidence", "on-inconclusive")


def read_gate_file(path: str | os.PathLike[str]) -> dict[str, Any]:
    """Return the files, the budgets and the other arguments of `gate` that a file names.

    Paths are relative to the file. Errors name it, and the table and the key.
    """
    name = os.fsdecode(path)

    def refuse(flaw: TomlFlaw) -> FormatError:
        at: dict[str, Any] = {"line": flaw.line, "column": flaw.column}
        return FormatError(flaw.quoted, hint=flaw.hint, code="bad_gate_file", file=name, **at)

    _, content = read_toml(name, refuse, hint="check the path of the gate file")
    where, budgets = "", []
    try:
        tables = _check(content)
        for at, table in enumerate(tables, 1):
            where = f"[[budget]] {at}: "
            budgets.append(_read_budget(table))
    except UsageError as error:
        raise FormatError(
            f"{where}{error.message}", hint=error.hint, code=error.code, file=name
        ) from None
    arguments = {key.replace("-", "_"): value for key, value in content.items() if key != "budget"}
    folder = Path(name).parent
    arguments |= {key: str(folder / content[key]) for key in PATHS if key in content}  # type: ignore[operator]  # text
    return arguments | {"budgets": budgets}


def _check(content: Mapping[str, Any]) -> Sequence[Mapping[str, Any]]:
    """Check what a file says besides its budgets, and return the tables of these."""
    _check_keys(content, KEYS)
    tables = content.get("budget")
    if not (isinstance(tables, list) and tables and all(isinstance(x, dict) for x in tables)):
        raise _bad(
            "expected one or more tables [[budget]]",
            'write [[budget]], then measure = "nDCG@10" and max-drop = 0.005',
        )
    scores = content.get("scores", ["", ""])
    if not (isinstance(scores, list) and [*map(type, scores)] == [str, str]):
        raise _bad(
            f"expected two columns of scores, found {quote(scores)}",
            'write scores = ["old", "new"]',
        )
    check_choices(content.get("confidence"), content.get("on-inconclusive"))
    Interval(method=content.get("interval-method", "auto"))
    Policy.parse(content.get("policy", ""))
    return tables


def _read_budget(table: Mapping[str, Any]) -> Budget:
    _check_keys(table, BUDGET_KEYS)
    if "measure" not in table:
        raise _bad("expected a measure", 'write measure = "nDCG@10"')
    read_measure(table["measure"])
    if "quantile" in table and "max-loss" not in table:
        raise _bad("quantile has no effect without max-loss", "remove it")
    fields = {key.replace("-", "_"): value for key, value in table.items()}
    if "min" in fields:
        fields["minimum"] = fields.pop("min")
    return Budget(**fields)


def _check_keys(table: Mapping[str, object], known: Sequence[str]) -> None:
    """Refuse unknown keys, and anything but text for those that need it."""
    for key, value in table.items():
        if key not in known:
            closest = find_closest(key, known)
            raise _bad(
                f"unknown key {quote(key)}",
                f"did you mean {closest}?" if closest else f"the keys are {', '.join(known)}",
            )
        texts = value if key == "by" and isinstance(value, list) else [value]
        is_text = texts and all(text and isinstance(text, str) for text in texts)
        if key in {*PATHS, *NAMES, "measure", "by"} and not is_text:
            raise _bad(f"expected text for {key}, found {quote(value)}", "write it in quotes")


def _bad(message: str, hint: str) -> UsageError:
    return UsageError(message, hint=hint, code="bad_gate_file")
