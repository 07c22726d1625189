"""`rankscope trec_eval` on judgments and a run in a folder."""

from __future__ import annotations

import pytest
from rankscope._cli import main


class Command:
    """Runs it, and keeps what it said on standard error."""

    def __init__(self, folder, capfd):
        self.folder, self.capfd, self.said = folder, capfd, ""
        self.files = folder / "qrels", folder / "run"

    def write(self, qrels, run):
        for path, text in zip(self.files, (qrels, run), strict=True):
            path.write_text(text)

    def print(self, *words, status=0):
        assert main(["trec_eval", *map(str, words)]) == status
        printed, self.said = self.capfd.readouterr()
        return printed

    def values(self, *words, status=0):
        found = {}
        for line in self.print(*words, *self.files, status=status).splitlines():
            name, query, value = line.split("\t")
            found.setdefault(query, {})[name.rstrip()] = value
        return found


@pytest.fixture
def command(tmp_path, capfd):
    return Command(tmp_path, capfd)
