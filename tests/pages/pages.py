"""Run the code blocks of a page, from top to bottom and in one empty folder.

- A block with a title, such as ```` ```text title="qrels.txt" ````, is written to that file.
- A `python` block is a doctest where it has prompts, and is executed where it has none.
- A `console` block runs each line after `$ ` and compares what follows with what is printed.

A page with the comment `<!-- data: NAME -->` uses that folder of real data, under its name. A page
with the comment `<!-- needs: catboost optuna -->` uses these libraries. Its examples are skipped
where the data or a library are absent.

Blocks of other languages (`sh` for what is to be typed once, `py` for what is not ours) are only
shown.
"""

from __future__ import annotations

import doctest
import os
import re
import subprocess
import sysconfig
from importlib.util import find_spec

import pytest

from docs.hooks.blocks import read_blocks
from tests.parity.real import find
from tests.program import start_program


def run_page(page, text, folder):
    """Run the blocks of a page in a folder, which is the current one.

    Args:
        page: The path of the page in the repository.
        text: The text of the page.
        folder: The empty folder.
    """
    for needed in re.findall(r"<!-- needs: ([\w ]+) -->", text):
        for library in needed.split():
            if find_spec(library) is None:
                pytest.skip(f"{library} is not installed; it is in make test-integrations")
    for name in re.findall(r"<!-- data: (\w+) -->", text):
        (folder / name).symlink_to(find(name))
    names = {"__name__": "__page__"}
    for block in read_blocks(text):
        if block.title:
            (folder / block.title).write_text(block.code, encoding="utf-8")
        elif block.language == "python":
            run_python(block, names, page)
        elif block.language == "console":
            run_console(block, folder)


def run_python(block, names, page):
    """Execute a block with the names that the page has defined so far."""
    if ">>>" not in block.code:
        exec(compile("\n" * (block.line - 1) + block.code, page, "exec"), names)  # noqa: S102
        return
    test = doctest.DocTestParser().get_doctest(block.code, {}, page, page, block.line - 1)
    test.globs = names
    report = []
    runner = doctest.DocTestRunner(optionflags=doctest.ELLIPSIS)
    failed, _ = runner.run(test, out=report.append, clear_globs=False)
    assert failed == 0, "".join(report)


def run_console(block, folder):
    """Run the commands of a block, and compare what they print with what the block shows."""
    folders = (str(start_program().folder), sysconfig.get_path("scripts"), os.environ["PATH"])
    environment = os.environ | {"PATH": os.pathsep.join(folders)}
    commands = re.split(r"^\$ ", block.code, flags=re.MULTILINE)
    assert commands.pop(0) == "", "a console block begins with a command after '$ '"
    shown = ""
    for command in commands:
        # A backslash at the end of a line continues the command; the rest is its output.
        line = re.match(r"(?:[^\n]*\\\n)*[^\n]*", command)
        assert line is not None
        done = subprocess.run(
            ["bash", "-c", line[0]],  # noqa: S607 - whichever bash the reader has
            cwd=folder,
            env=environment,
            stdout=subprocess.PIPE,
            stderr=subprocess.STDOUT,
            text=True,
            check=False,
        )
        shown += f"$ {line[0]}\n{done.stdout}"
    assert shown.rstrip("\n") == block.code.rstrip("\n")
