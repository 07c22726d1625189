"""Count the lines of the project and hold them to dev/budget.toml.

`python -m dev.lines` prints the counts, `--check` fails where one is above its budget, and
`--lower` lowers the budgets to the counts. Only an edit of the file raises a budget.

Code lines are what is left of a file of Python without docstrings, imports, comments and blank
lines. The tokens that a code line has show whether lines were packed in order to be fewer.
"""

from __future__ import annotations

import argparse
import ast
import io
import re
import sys
import tokenize
import tomllib
from collections import Counter
from pathlib import Path

ROOT = Path(__file__).resolve().parents[1]
PACKAGE = ROOT / "python" / "rankscope"
BUDGET = ROOT / "dev" / "budget.toml"
# A count further below its budget than this is reported, so that the budget follows.
SLACK = 50
WITHOUT_CODE = {tokenize.COMMENT, tokenize.INDENT, tokenize.DEDENT, tokenize.ENDMARKER}
Counts = dict[str, dict[str, float]]


def count_code(text: str) -> tuple[int, int]:
    """Return the code lines of a Python file and the tokens on them."""
    lines = text.splitlines()
    left = {
        number
        for number, line in enumerate(lines, 1)
        if line.strip() and not line.lstrip().startswith("#")
    }
    for node in ast.walk(ast.parse(text)):
        if isinstance(node, ast.Import | ast.ImportFrom):
            left -= {*range(node.lineno, (node.end_lineno or 0) + 1)}
        elif isinstance(node, ast.Module | ast.ClassDef | ast.FunctionDef | ast.AsyncFunctionDef):
            match node.body[:1]:
                case [ast.Expr(value=ast.Constant(value=str())) as doc]:
                    left -= {*range(doc.lineno, (doc.end_lineno or 0) + 1)}
    tokens = tokenize.generate_tokens(io.StringIO(text).readline)
    return len(left), sum(
        token.type not in WITHOUT_CODE and token.start[0] in left for token in tokens
    )


def name_folder(path: Path) -> str:
    """Return the folder whose budget a file of the package belongs to."""
    parts = path.relative_to(PACKAGE).parts
    if len(parts) == 1:
        return "."
    return "/".join(parts[:2]) if parts[0] == "monitor" and len(parts) > 2 else parts[0]


def count_matches(folder: Path, pattern: str, unit: str) -> int:
    """Count the lines, or the words, of the files below a folder whose endings match."""
    texts = [
        path.read_text(encoding="utf-8")
        for path in folder.rglob("*")
        if re.fullmatch(pattern, path.suffix) and "work" not in path.relative_to(folder).parts
    ]
    return sum(len(text.split()) if unit == "words" else text.count("\n") for text in texts)


def count_project() -> Counts:
    """Return all counts, as dev/budget.toml has them."""
    code: Counter[str] = Counter()
    files: Counter[str] = Counter()
    tokens = 0
    for path in sorted(PACKAGE.rglob("*.py")):
        lines, found = count_code(path.read_text(encoding="utf-8"))
        code[name_folder(path)] += lines
        files[name_folder(path)] += 1
        tokens += found
    monitor = [name for name in code if name.split("/")[0] == "monitor"]
    return {
        "whole": {
            "package code": code.total(),
            "package files": files.total(),
            "monitor code": sum(code[name] for name in monitor),
            "monitor files": sum(files[name] for name in monitor),
            "tokens of a code line": round(tokens / code.total(), 2),
            "lines of templates, scripts and styles": count_matches(
                PACKAGE, r"\.(j2|js|css)", "lines"
            ),
            "lines of Rust": count_matches(ROOT / "crates", r"\.rs", "lines"),
            "lines of tests": count_matches(ROOT / "tests", r"\.py", "lines"),
            "lines of dev": count_matches(ROOT / "dev", r"\.py", "lines"),
            "words of docs": count_matches(ROOT / "docs", r"\.md", "words"),
        },
        "code": dict(sorted(code.items())),
        "files": dict(sorted(files.items())),
    }


def compare(counts: Counts, budget: Counts) -> tuple[list[str], list[str]]:
    """Return what is above its budget, and what is so far below it that it should be lowered."""
    above, below = [], []
    for table, rows in counts.items():
        allowed = budget.get(table, {})
        for name, count in rows.items():
            text = f"{table}: {name} {count:,}, budget {allowed.get(name, 0):,}"
            if count > allowed.get(name, 0):
                above.append(text)
            elif allowed[name] - count > SLACK:
                below.append(text)
        below += [f"{table}: {name} is gone" for name in allowed if name not in rows]
    return above, below


def lower(counts: Counts, budget: Counts) -> None:
    """Write the smaller one of each count and its budget."""
    text = "# Upper bounds that `make lint` checks; `python -m dev.lines --lower` lowers them.\n"
    for table, rows in counts.items():
        text += f"\n[{table}]\n"
        for name, count in rows.items():
            bound = budget.get(table, {}).get(name, count)
            kept = bound if name.startswith("tokens") else min(count, bound)
            text += f'"{name}" = {kept}\n'
    BUDGET.write_text(text, encoding="utf-8")


def main() -> int:
    """Print, check or lower.

    Returns:
        Exit status: 1 where a count is above its budget.
    """
    parser = argparse.ArgumentParser(prog="python -m dev.lines", description=__doc__)
    parser.add_argument("--check", action="store_true", help="fail where a count is above")
    parser.add_argument("--lower", action="store_true", help="lower the budgets to the counts")
    options = parser.parse_args()
    counts = count_project()
    budget = tomllib.loads(BUDGET.read_text(encoding="utf-8")) if BUDGET.exists() else {}
    if options.lower:
        lower(counts, budget)
        return 0
    if not options.check:
        for table, rows in counts.items():
            print(table)
            for name, count in rows.items():
                print(f"  {name:42}{count:>10,}")
        return 0
    above, below = compare(counts, budget)
    for line in below:
        print(f"below its budget: {line} (python -m dev.lines --lower)")
    for line in above:
        print(f"ABOVE ITS BUDGET: {line}")
    if above:
        print(
            "Hint: make it smaller; raise dev/budget.toml only with a reason in the commit message"
        )
    return int(bool(above))


if __name__ == "__main__":
    sys.exit(main())
