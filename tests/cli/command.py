"""Starts the program as a shell does."""

from __future__ import annotations

import random
import sys
from pathlib import Path

from tests.program import start_program

PROGRAM = str(Path(sys.executable).with_name("rankscope"))


def run(*words, environment=None, folder=None):
    return start_program().run(*words, environment=environment, folder=folder)


def write_files(folder, texts):
    for name, text in texts.items():
        (folder / name).write_text(text, encoding="utf-8")
    return [str(folder / name) for name in texts]


def write_runs(folder, place=""):
    """Write judgments and attributes of 30 queries, and three runs of which each next is better."""
    chance = random.Random(5)
    queries = [f"q{number}" for number in range(30)]
    judged = [f"{query} 0 d{grade} {grade}\n" for query in queries for grade in range(3)]
    (folder / "qrels.txt").write_text("".join(judged))
    (folder / place).mkdir(exist_ok=True)
    for name, good in (("old", 0.1), ("new", 0.5), ("best", 0.9)):
        lines = []
        for query in queries:
            docs = ["d2", "d1", "d0", "x"]
            if chance.random() > good:
                chance.shuffle(docs)
            lines += [f"{query} Q0 {doc} {at} {9 - at} {name}\n" for at, doc in enumerate(docs, 1)]
        (folder / place / f"{name}.run").write_text("".join(lines))
    rows = [f"{query},u{at % 7},{'de' if at % 2 else 'at'}\n" for at, query in enumerate(queries)]
    (folder / "queries.csv").write_text("query_id,user_id,country\n" + "".join(rows))
    return folder


def check_error(done, status, code):
    """Hold a refusal against what all of them have in common, and give what was said."""
    assert done.returncode == status, done
    assert done.stdout == b""
    said, hint = done.stderr.decode().splitlines()
    assert said.startswith("rankscope: error: ")
    assert said.endswith(f" [{code}]")
    assert hint.startswith("Hint: ")
    return said
