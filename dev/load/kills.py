"""Kills processes that store and delete, and writes a record of what is left.

    python -m dev.load.kills STORES KILLS [WORD]

fills as many stores, each with processes that are killed so many times, compares all that is left
with what was acknowledged, and writes `dev/load/records/DATE-kills.md`. With a word such as
`deleting`, processes are killed only while they do something that has this word in its name, and
the record has the word in its name. It fails at the first event that is lost or there twice, and at
the first window that is not that of the plain model.
"""

from __future__ import annotations

import sys
import tempfile
from collections import Counter
from datetime import UTC, datetime
from pathlib import Path

from tests.monitor.store.processes import ROOT
from tests.monitor.store.test_killed_writer import Told, kill_and_check

RECORDS = ROOT / "dev" / "load" / "records"
SEED = 7
HOW = (
    "`python -m dev.load.kills {command}`: each process stores rankings and labels, "
    "deletes and evaluates at once, in threads of its own, and kills itself with SIGKILL at a "
    "random statement, sync or change of a name. "
    "The first comparison that fails ends the run without a record."
)
DELETED = {
    "user": "the rankings of a user",
    "span": "the rankings of a span of time",
    "before": "everything before a time",
}


def write_record(found: list[Told], rounds: int, word: str) -> str:
    """Write what was found as Markdown."""
    stages = sum((one.stages for one in found), Counter[str]())
    kills = sum(one.rounds["killed"] for one in found)
    kinds = Counter(deletion.kind for one in found for deletion in one.deletions)
    events = [2 * len(one.kept) + len(one.kept_late) for one in found]
    there = [sum(one.there) for one in found]
    certain = [sum(one.must_be_there(number) for number in one.kept) for one in found]
    rows = [
        ("stores", len(found)),
        ("processes started", rounds * len(found)),
        ("of them killed", kills),
        ("events acknowledged (rankings and labels)", sum(events)),
        ("rankings that no deletion may have met", sum(certain)),
        ("of them lost", 0),
        ("deletions begun", kinds.total()),
        ("events left, each compared with what was sent", sum(there)),
        ("of them there twice", 0),
        ("of them not recognized when they were sent again", 0),
        ("windows compared with the plain model", sum(one.windows for one in found)),
        ("of them unequal", 0),
    ]
    lines = [
        f"# Killed processes, {datetime.now(UTC).date().isoformat()}",
        "",
        HOW.format(command=f"{len(found)} {rounds} {word}".strip()),
        "",
        "| | |",
        "|---|--:|",
        *(f"| {name} | {count:,} |" for name, count in rows),
        "",
        "| what the process was doing when it was killed | kills |",
        "|---|--:|",
        *(f"| {stage} | {count:,} |" for stage, count in stages.most_common()),
        "",
        "| what was to be deleted | deletions begun |",
        "|---|--:|",
        *(f"| {DELETED[kind]} | {count:,} |" for kind, count in kinds.most_common()),
        "",
    ]
    return "\n".join(lines)


def main(stores: int, rounds: int, word: str = "") -> None:
    """Kill, compare, and write the record."""
    found = []
    with tempfile.TemporaryDirectory(prefix="rankscope-kills-") as made:
        for number in range(stores):
            folder = Path(made) / str(number)
            folder.mkdir()
            found.append(kill_and_check(folder, rounds, SEED + number, word))
            print(f"store {number + 1}: {found[-1].rounds['killed']} killed", flush=True)
    text = write_record(found, rounds, word)
    name = "-".join(filter(None, [datetime.now(UTC).date().isoformat(), "kills", word]))
    target = RECORDS / f"{name}.md"
    target.write_text(text, encoding="utf-8")
    print(text)
    print(f"Written to {target}", file=sys.stderr)


if __name__ == "__main__":
    main(int(sys.argv[1]), int(sys.argv[2]), *sys.argv[3:])
