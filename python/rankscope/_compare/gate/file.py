"""Reads `gate.toml`: the runs, the budgets, and how they are checked."""

from __future__ import annotations

import os
from contextlib import contextmanager
from pathlib import Path

from rankscope._compare.gate.result import Budget, check_confidence, check_on_inconclusive
from rankscope.errors import FormatError, UsageError
from rankscope.measures.reading import read_measure
from rankscope.names import find_closest, quote
from rankscope.records import record
from rankscope.settings.interval import Interval
from rankscope.settings.policy import Policy
from rankscope.toml_file import read_toml

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Iterator, Mapping
    from typing import Any, Literal

    from rankscope._compare.gate.result import OnInconclusive
    from rankscope.toml_file import TomlFlaw

PATHS = ("qrels", "baseline", "candidate", "table", "attributes")
TEXTS = ("cluster", "policy", "convention")
KEYS = (*PATHS, *TEXTS, "scores", "confidence", "interval-method", "on-inconclusive", "budget")
BUDGET_KEYS = (
    "measure",
    "max-drop",
    "max-loss",
    "quantile",
    "min",
    "tolerance",
    "by",
    "confidence",
    "on-inconclusive",
)


@record(frozen=True, slots=True, kw_only=True)
class GateFile:
    """What a gate file says. Paths are relative to the file.

    Args:
        budgets: The budgets.
        qrels: The path of the judgments, or `None`.
        baseline: The path of the baseline, or `None`.
        candidate: The path of the candidate, or `None`.
        table: The path of a table with the scores of both, in place of these three, or `None`.
        scores: The columns of the scores of the baseline and of the candidate, or `None`.
        attributes: The path of a table with one row per query, or `None`.
        cluster: The attribute that queries depend within, or `None`.
        policy: The policy, or `None`.
        convention: The convention, or `None`.
        confidence: The confidence level of intervals.
        interval_method: What intervals of means promise, or `None`.
        on_inconclusive: Whether an inconclusive budget fails or passes.
    """

    budgets: tuple[Budget, ...]
    qrels: str | None = None
    baseline: str | None = None
    candidate: str | None = None
    table: str | None = None
    scores: tuple[str, ...] | None = None
    attributes: str | None = None
    cluster: str | None = None
    policy: str | None = None
    convention: str | None = None
    confidence: float = 0.95
    interval_method: Literal["dense", "bounded", "t"] | None = None
    on_inconclusive: OnInconclusive = "fail"


def read_gate_file(path: str | os.PathLike[str]) -> GateFile:
    """Read a gate file."""
    return _Reader(os.fsdecode(path)).read()


class _Reader:
    """Reads one file; each error names it, and the table and key.

    Args:
        path: The file.
    """

    def __init__(self, path: str) -> None:
        self._path = path

    def read(self) -> GateFile:
        given = self._load()
        self._refuse_unknown(given, KEYS, "")
        tables = given.get("budget")
        if (
            not isinstance(tables, list)
            or not tables
            or not all(isinstance(x, dict) for x in tables)
        ):
            raise self._bad(
                "expected one or more tables [[budget]]",
                'write [[budget]], then measure = "nDCG@10" and max-drop = 0.005',
            )
        budgets = tuple(self._read_budget(table, at) for at, table in enumerate(tables, 1))
        texts = {name: self._read_text(given, name) for name in (*PATHS, *TEXTS)}
        folder = Path(self._path).parent
        for name in PATHS:
            path = texts[name]
            texts[name] = None if path is None else str(folder / path)
        others: dict[str, object] = {}
        scores: Any = given.get("scores")
        if scores is not None and not (_is_list_of_text(scores) and len(scores) == 2):
            raise self._bad(
                f"expected two columns of scores, found {quote(scores)}",
                'write scores = ["old", "new"]',
            )
        others["scores"] = None if scores is None else tuple(scores)
        with self._rewriting(""):
            if "confidence" in given:
                check_confidence(given["confidence"])
                others["confidence"] = given["confidence"]
            if "interval-method" in given:
                method: Any = given["interval-method"]
                others["interval_method"] = Interval(method=method).method
            if "on-inconclusive" in given:
                check_on_inconclusive(given["on-inconclusive"])
                others["on_inconclusive"] = given["on-inconclusive"]
            if texts["policy"] is not None:
                Policy.parse(texts["policy"])
        return GateFile(budgets=budgets, **texts, **others)  # type: ignore[arg-type]  # checked above

    def _load(self) -> dict[str, object]:
        def refuse(flaw: TomlFlaw) -> FormatError:
            return self._bad(flaw.quoted, flaw.hint, line=flaw.line, column=flaw.column)

        return read_toml(self._path, refuse, hint="check the path of the gate file")[1]

    def _read_budget(self, table: Mapping[str, object], at: int) -> Budget:
        where = f"[[budget]] {at}: "
        self._refuse_unknown(table, BUDGET_KEYS, where)
        if "measure" not in table:
            raise self._bad(f"{where}expected a measure", 'write measure = "nDCG@10"')
        by = table.get("by")
        if not (by is None or isinstance(by, str) or _is_list_of_text(by)):
            raise self._bad(
                f"{where}expected the name of an attribute for by", 'write by = "country"'
            )
        if "quantile" in table and "max-loss" not in table:
            raise self._bad(f"{where}quantile has no effect without max-loss", "remove it")
        with self._rewriting(where):
            measure = self._read_text(table, "measure", where)
            read_measure(measure)  # type: ignore[arg-type]  # it is there
            return Budget(
                measure,  # type: ignore[arg-type]  # as above
                max_drop=table.get("max-drop"),  # type: ignore[arg-type]  # it is checked there
                max_loss=table.get("max-loss"),  # type: ignore[arg-type]  # as above
                minimum=table.get("min"),  # type: ignore[arg-type]  # as above
                tolerance=table.get("tolerance"),  # type: ignore[arg-type]  # as above
                quantile=table.get("quantile", 0.95),  # type: ignore[arg-type]  # as above
                by=tuple(by) if isinstance(by, list) else by,  # type: ignore[arg-type]  # as above
                confidence=table.get("confidence"),  # type: ignore[arg-type]  # as above
                on_inconclusive=table.get("on-inconclusive"),  # type: ignore[arg-type]  # as above
            )

    def _read_text(self, table: Mapping[str, object], name: str, where: str = "") -> str | None:
        text = table.get(name)
        if text is None or (isinstance(text, str) and text):
            return text
        raise self._bad(
            f"{where}expected text for {name}, found {quote(text)}", "write it in quotes"
        )

    def _refuse_unknown(
        self, table: Mapping[str, object], known: tuple[str, ...], where: str
    ) -> None:
        for name in table:
            if name not in known:
                closest = find_closest(name, known)
                raise self._bad(
                    f"{where}unknown key {quote(name)}",
                    f"did you mean {closest}?" if closest else f"the keys are {', '.join(known)}",
                )

    def _bad(
        self, message: str, hint: str, *, line: int | None = None, column: int | None = None
    ) -> FormatError:
        return FormatError(
            message, hint=hint, code="bad_gate_file", file=self._path, line=line, column=column
        )

    @contextmanager
    def _rewriting(self, where: str) -> Iterator[None]:
        """Turn what a block says about arguments into what is wrong with the file."""
        try:
            yield
        except UsageError as error:
            raise FormatError(
                f"{where}{error.message}", hint=error.hint, code=error.code, file=self._path
            ) from None


def _is_list_of_text(value: object) -> bool:
    return isinstance(value, list) and bool(value) and all(isinstance(each, str) for each in value)
