"""Writes a gate as JUnit XML, which GitHub actions, GitLab and Jenkins read."""

from __future__ import annotations

from rankscope.gate.result import BROKEN, INCONCLUSIVE
from rankscope.output.text import show

TYPE_CHECKING = False
if TYPE_CHECKING:
    from rankscope.gate.result import Check, GateResult

SUITE = "rankscope gate"
CLASS = "rankscope.gate"


def write_junit(result: GateResult) -> str:
    """Return JUnit XML: a test suite with one test case for each check.

    A broken budget is a `failure`. An inconclusive one is an `error` if it fails the gate, and
    `skipped` if it passes. The attributes are those that the schema of Jenkins' xUnit plugin and
    GitLab's parser ask for.
    """
    failures = sum(_kind(each) == "failure" for each in result.checks)
    errors = sum(_kind(each) == "error" for each in result.checks)
    skipped = sum(_kind(each) == "skipped" for each in result.checks)
    counts = f'tests="{len(result.checks)}" failures="{failures}" errors="{errors}" time="0"'
    name = _quote(f"{SUITE}: {result.candidate} against {result.baseline}")
    return "\n".join(
        [
            '<?xml version="1.0" encoding="UTF-8"?>',
            f'<testsuites name="{SUITE}" {counts}>',
            f'  <testsuite name={name} {counts} skipped="{skipped}">',
            *(line for each in result.checks for line in _write_case(each)),
            "  </testsuite>",
            "</testsuites>",
            "",
        ]
    )


def _write_case(check: Check) -> list[str]:
    head = f'    <testcase classname="{CLASS}" name={_quote(check.name)} time="0"'
    kind = _kind(check)
    message = _quote(check.message)
    if not kind:
        return [
            f"{head}>",
            f"      <system-out>{_escape(check.message)}</system-out>",
            "    </testcase>",
        ]
    if kind == "skipped":
        return [f"{head}>", f"      <skipped message={message}/>", "    </testcase>"]
    body = (
        f'      <{kind} type="{check.verdict}" message={message}>{_escape(check.message)}</{kind}>'
    )
    return [f"{head}>", body, "    </testcase>"]


def _kind(check: Check) -> str:
    """Return the element that says why a test case didn't succeed; empty if it did."""
    if check.verdict == BROKEN:
        return "failure"
    if check.verdict == INCONCLUSIVE:
        return "skipped" if check.passed else "error"
    return ""


def _escape(text: str) -> str:
    """Return text that can stand in XML: characters that XML doesn't have are escaped, too."""
    from html import escape  # noqa: PLC0415 - only summaries need it

    return escape(show(text))


def _quote(text: str) -> str:
    return f'"{_escape(text)}"'
