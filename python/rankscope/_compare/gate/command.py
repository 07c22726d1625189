"""Reads `gate.toml`: the runs, the budgets, and how they are checked."""

from __future__ import annotations

import math
import os
import re
import tomllib
from argparse import Namespace
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any

import rankscope as rs
from rankscope._cli.options import (
    list_items_files,
    name_file,
    refuse_stdin_twice,
)
from rankscope._cli.parser import (
    OnceFlag,
    Parser,
    print_json,
    print_notes,
    read_number,
)
from rankscope._compare.gate.budget import (
    DIFFERENCES,
    FIELDS,
    Budget,
    Kind,
    check_choices,
    to_number,
)
from rankscope._compare.gate.result import GateResult
from rankscope._compare.gate.summary import lay_out
from rankscope._compare.options import (
    add_input_options,
    add_query_options,
    add_table_of_runs,
    list_input_options,
)
from rankscope._evaluate.evaluating import refuse_diagnostics
from rankscope._names import find_closest, quote
from rankscope._settings import Policy
from rankscope._show.text import write
from rankscope._writing import refuse_overwriting, write_text
from rankscope.errors import FileError, FormatError, UsageError
from rankscope.measures.parse import read_measure

PATHS = ("qrels", "baseline", "candidate", "table", "attributes")
NAMES = ("cluster", "weights", "policy", "convention")
SETTINGS = ("attributes", *NAMES, "confidence", "interval_method", "on_inconclusive")
"""The arguments of `gate` that options of the command line replace."""
KEYS = (*PATHS, "scores", *NAMES, "confidence", "interval-method", "on-inconclusive", "budget")
MOST_BYTES = 256 << 10
MOST_DOTS = 100
"""In one line: the time to read a key grows with the square of its parts, which dots divide."""
BUDGET_KEYS = ("measure", *FIELDS, "quantile", "by", "confidence", "on-inconclusive")


def read_gate_file(path: str | os.PathLike[str]) -> dict[str, Any]:
    """Return the files, the budgets and the other arguments of `gate` that a file names.

    Paths are relative to the file. Errors name it, and the table and the key.
    """
    name = os.fsdecode(path)
    where, budgets = "", []
    try:
        content = _read_toml(name)
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
    arguments |= {key: str(folder / content[key]) for key in PATHS if key in content}
    return arguments | {"budgets": budgets}


def _read_toml(path: str) -> dict[str, Any]:
    try:
        with Path(path).open("rb") as file:
            raw = file.read(MOST_BYTES + 1)
    except (OSError, ValueError) as error:  # a path with a null byte is a ValueError
        message = f"the file can't be read ({getattr(error, 'strerror', None) or 'no such path'})"
        hint = "check the path of the gate file"
        raise FileError(message, hint=hint, code="io", file=path) from None
    if len(raw) > MOST_BYTES:
        raise _bad(f"expected at most {MOST_BYTES >> 10} KiB, found more", "remove what isn't used")
    if any(line.count(b".") > MOST_DOTS for line in raw.split(b"\n")):
        raise _bad(
            f"expected at most {MOST_DOTS} dots in a line, found more",
            "no key has more than three parts",
        )
    try:
        content = tomllib.loads(raw.decode("utf-8-sig"))
        _refuse_large(content)
    except UnicodeDecodeError:
        raise _bad("expected UTF-8, found another encoding", "save it as UTF-8") from None
    except tomllib.TOMLDecodeError as error:
        message, _, place = str(error).partition(" (at ")
        line, column = [*map(int, re.findall(r"\d+", place)), None, None][:2]
        raise FormatError(
            f"invalid TOML: {message}",
            hint="check quotes, brackets and equals signs",
            code="bad_gate_file",
            file=path,
            line=line,
            column=column,
        ) from None
    except RecursionError:
        raise _bad("invalid TOML: too many levels", "two levels are used") from None
    except ValueError:
        raise _bad(
            "expected integers of 64 bits, found a larger one", "write a smaller number"
        ) from None
    return content


def _refuse_large(value: object) -> None:
    """Refuse integers beyond 64 bits, as Python does decimal ones of thousands of digits."""
    if isinstance(value, int) and value >> 63 not in (0, -1):
        raise ValueError
    if isinstance(value, dict | list):
        for part in value.values() if isinstance(value, dict) else value:
            _refuse_large(part)


def _check(content: Mapping[str, Any]) -> Sequence[Mapping[str, Any]]:
    """Check what a file says besides its budgets, and return the tables of these."""
    _check_keys(content, KEYS)
    tables = content.get("budget")
    if not (
        isinstance(tables, list) and tables and all(isinstance(table, dict) for table in tables)
    ):
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
    method = content.get("interval-method", "auto")
    check_choices(content.get("confidence"), content.get("on-inconclusive"), method)
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


def _check_keys(table: Mapping[str, object], keys: Sequence[str]) -> None:
    """Refuse unknown keys, and anything but text for those that need it."""
    for key, value in table.items():
        if key not in keys:
            closest = find_closest(key, keys)
            raise _bad(
                f"unknown key {quote(key)}",
                f"did you mean {closest}?" if closest else f"the keys are {', '.join(keys)}",
            )
        texts = value if key == "by" and isinstance(value, list) else [value]
        is_text = texts and all(text and isinstance(text, str) for text in texts)
        if key in {*PATHS, *NAMES, "measure", "by"} and not is_text:
            raise _bad(f"expected text for {key}, found {quote(value)}", "write it in quotes")


def _bad(message: str, hint: str) -> UsageError:
    return UsageError(message, hint=hint, code="bad_gate_file")


LIMITS: dict[Kind, str] = {
    "max-drop": "how far the mean may drop, such as nDCG@10=0.005, or nDCG@10=2% for a share of "
    "the mean of the baseline",
    "max-loss": "the most that a percentile of the losses of queries may be, such as "
    "p95:nDCG@10=0.3: 5% of the queries may lose more",
    "min": "lowest mean that the candidate may have, such as nDCG@10=0.4",
    "tolerance": "how much worse the value of a measure of all lists together may be, such as "
    "Coverage@10=0.02, or Coverage@10=5% for a share of the value of the baseline; the two values "
    "are compared without an interval",
}
SUMMARY, OUTPUT = "GITHUB_STEP_SUMMARY", "GITHUB_OUTPUT"


def add_arguments(parser: Parser) -> None:
    """Add the arguments of the command."""
    parser.usage = (
        "%(prog)s [options] QRELS BASELINE CANDIDATE --max-drop MEASURE=LIMIT\n"
        "       %(prog)s [options] TABLE --scores OLD,NEW --max-drop MEASURE=LIMIT\n"
        "       %(prog)s [options] TABLE --runs COLUMN --max-drop MEASURE=LIMIT\n"
        "       %(prog)s [options] gate.toml [[QRELS BASELINE] CANDIDATE]"
    )
    parser.add_argument(
        "inputs",
        metavar="[gate.toml] [[QRELS BASELINE] CANDIDATE]",
        nargs="+",
        help="a file of budgets, which can also name the runs; judgments, the run to compare with, "
        "and the run to check; or one table with the scores of both; - reads standard input",
    )
    add_table_of_runs(
        parser, "OLD,NEW", "columns of scores of a table: the baseline's and the candidate's"
    )
    for kind, text in LIMITS.items():
        metavar = f"{'pN:' * (kind == 'max-loss')}MEASURE=LIMIT"
        parser.add_argument(
            f"--{kind}", dest=FIELDS[kind], action="append", default=[], metavar=metavar, help=text
        )
    parser.add_argument(
        "--confidence",
        type=read_number,
        metavar="LEVEL",
        help="confidence level of the two-sided intervals (default: 0.95)",
    )
    parser.add_argument(
        "--interval-method",
        choices=("bounded", "dense", "t"),
        metavar="METHOD",
        help="what intervals of means promise (default: bounded)",
    )
    parser.add_argument(
        "--by",
        action="append",
        metavar="COLUMN",
        help="also check each budget in each slice, with intervals corrected for the number of "
        "slices",
    )
    add_query_options(parser)
    parser.add_argument(
        "--on-inconclusive",
        choices=("fail", "pass"),
        metavar="WHAT",
        help="what happens if the data don't decide (default: fail)",
    )
    parser.add_argument(
        "--markdown", metavar="FILE", help="also write a summary for a pull request"
    )
    parser.add_argument("--junit", metavar="FILE", help="also write JUnit XML, for CI servers")
    parser.add_argument(
        "--github",
        action=OnceFlag,
        help="in GitHub Actions: add the summary to the page of the job, and set the outputs "
        "verdict and passed",
    )
    parser.add_argument("--json", action=OnceFlag, help="print the result as JSON")
    add_input_options(parser, "random seed of the intervals")
    parser.add_examples(
        "rankscope gate qrels.txt bm25.run dense.run --max-drop nDCG@10=0.005",
        "rankscope gate qrels.txt old.run new.run --max-drop nDCG@10=2% --max-loss p95:nDCG@10=0.3",
        "rankscope gate gate.toml --markdown summary.md --junit gate.xml",
    )
    parser.set_defaults(run=run)


def run(options: Namespace) -> int:
    """Check the budgets, print the result, and return 1 if the candidate doesn't pass."""
    if options.github and SUMMARY not in os.environ:
        raise UsageError(
            f"--github needs the environment variable {SUMMARY}",
            hint="use it in a step of GitHub Actions, or write --markdown FILE",
            code="usage",
        )
    files = [*options.inputs, *filter(None, [options.attributes]), *list_items_files(options)]
    refuse_stdin_twice(files)
    for output in filter(None, (options.markdown, options.junit)):
        refuse_overwriting(output, files)
    result = _gate(options)
    if options.strict:
        refuse_diagnostics(result.notes)
    # A file that can't be written is an error, which isn't printed beside a verdict.
    if options.markdown is not None:
        write_text(options.markdown, result.markdown())
    if options.junit is not None:
        write_text(options.junit, result.junit())
    if options.github:
        outputs = f"verdict={result.verdict}\npassed={str(result.passed).lower()}\n"
        for name, text in ((SUMMARY, result.markdown()), (OUTPUT, outputs)):
            with open(os.environ.get(name) or os.devnull, "a", encoding="utf-8") as file:  # noqa: PTH123 - pathlib loads slowly
                file.write(text)
    if options.json:
        print_notes(result.notes)
        print_json(result.to_dict())
    else:
        print(write(lay_out(result)) if options.small_print else result)
    return 0 if result.passed else 1


def _gate(options: Namespace) -> GateResult:
    """Check the budgets of the options and of the gate file."""
    first = options.inputs[0]
    file = read_gate_file(first) if first.endswith(".toml") else {}
    paths = options.inputs[1:] if file else options.inputs
    scores = options.scores.split(",") if options.scores else file.get("scores")
    is_table = bool(scores or options.runs)
    roles = ["table"] if is_table else ["qrels", "baseline", "candidate"]
    # Paths of the command line, of which the candidate is the last, replace those of the file.
    files = file | dict(zip(roles[-len(paths) :], paths, strict=False))
    missing = [role for role in roles if role not in files]
    if missing or len(paths) > len(roles):
        raise UsageError(
            f"{first} doesn't name {' and '.join(missing)}"
            if file and missing
            else "gate needs judgments and two runs, a table with scores of both, or a gate file",
            hint="write QRELS BASELINE CANDIDATE --max-drop nDCG@10=0.005; TABLE --scores old,new "
            "--max-drop nDCG@10=0.005; or gate.toml, with its paths in it or after it",
            code="usage",
        )
    budgets = file.get("budgets", [])
    budgets += [
        parse_budget(kind, text) for kind in LIMITS for text in getattr(options, FIELDS[kind])
    ]
    if not budgets:
        raise UsageError(
            "there is no budget to check", hint="add --max-drop nDCG@10=0.005", code="usage"
        )
    written = {name: value for name, value in vars(options).items() if value not in (None, "")}
    settings = {name: value for name, value in (file | written).items() if name in SETTINGS}
    has_slices = options.by or any(budget.by for budget in budgets)
    needs_attributes = has_slices or not {"cluster", "weights"}.isdisjoint(settings)
    if needs_attributes and not (is_table or "attributes" in settings):
        raise UsageError(
            "slices, clusters and weights need attributes of queries",
            hint="add --attributes FILE, a table with one row per query",
            code="usage",
        )
    parts = {"table": "table", "qrels": "qrels"}
    named = [name_file(files[role], parts.get(role, "run"), options) for role in roles]
    judgments, baseline, candidate = named if len(named) == 3 else (*named, options.runs, None)
    reading = list_input_options(options) | ({"score_type": None} if is_table else {})
    return rs.gate(
        judgments,
        baseline,
        candidate,
        budgets,
        scores=scores,
        by=options.by,
        method=settings.pop("interval_method", "auto"),
        seed=options.seed,
        **reading,
        **settings,
    )


def parse_budget(kind: Kind, text: str) -> Budget:
    """Return the budget that an option of the command line describes.

    Examples:
        >>> print(parse_budget("max-drop", "P(rel=2)@5=1%"))
        P(rel=2)@5: max drop 1%
        >>> print(parse_budget("max-loss", "p90:nDCG@10=0.3"))
        nDCG@10: max p90 loss 0.3
    """
    measure, _, limit = map(str.strip, text.rpartition("="))
    percentile, is_share = 95.0, kind in DIFFERENCES and limit.endswith("%")
    if kind == "max-loss" and measure[:1] == "p" and ":" in measure:
        name, _, measure = measure.partition(":")
        percentile = to_number(name[1:])
    number = to_number(limit.removesuffix("%") if is_share else limit)
    if not measure or math.isnan(number) or math.isnan(percentile):
        raise UsageError(
            f"cannot read --{kind} {quote(text)}", hint=f"--{kind}: {LIMITS[kind]}", code="usage"
        )
    fields: dict[str, Any] = {FIELDS[kind]: limit if is_share else number}
    return Budget(measure, quantile=percentile / 100, **fields)
