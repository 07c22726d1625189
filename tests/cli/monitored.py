"""A small project in a store: what the tests of its commands share."""

from __future__ import annotations

import json

DAY = 86_400_000
START = 1_788_220_800_000  # 2026-09-01
CONFIGURED = ["--positive", "click=1", "buy=5", "--window", "24h", "--slice", "device"]
LIMIT = ["--kind", "limit", "-m", "nDCG@5", "--below", "0.999", "--hours", "48"]
"""A rule that finds the fall."""


def make_events(days=4, a_day=12):
    """Rankings of validation, then of two versions, the second of which swaps the ends on tv."""
    rankings, labels = [], []
    for day in range(days):
        for at in range(a_day):
            name = f"{day}-{at}"
            device = ("tv", "phone")[at % 2]
            version = "4" if day >= days // 2 else "3"
            docs = ["a", "b", "c"] if at % 5 else ["a", "c", "b"]
            if (device, version) == ("tv", "4"):
                docs.reverse()
            time = START + day * DAY + at * DAY // a_day
            rankings.append(
                {
                    "ranking_id": name,
                    "time": time,
                    "user_id": f"u{at}",
                    "model": "m",
                    "version": version,
                    "environment": "production" if day else "validation",
                    "attributes": {"device": device},
                    "items": docs,
                }
            )
            labels += [
                {"ranking_id": name, "doc_id": doc_id, "time": time + 60_000, "labels": said}
                for doc_id, said in (("a", "buy"), ("b", "click"))
            ]
    return {"rankings": rankings, "labels": labels}


def write_lines(path, objects):
    path.write_text("".join(json.dumps(one) + "\n" for one in objects), encoding="utf-8")
    return str(path)


class Project:
    """A store, and the program that works on it."""

    def __init__(self, program, folder):
        self.folder = folder
        self.store = str(folder / "events.db")
        self._program = program

    def run(self, command, *words):
        head, *action = command.split()
        return self._program.run("monitor", head, *action, self.store, *words)

    def say(self, command, *words):
        """Run a command that succeeds, and give its JSON."""
        done = self.run(command, *words, "--json")
        assert done.returncode == 0, done
        return json.loads(done.stdout)

    def fill(self, events, as_of):
        """Configure it, put events into it, and evaluate it if there is a time to do so."""
        self.say("configure", *CONFIGURED)
        self.say("ingest", write_lines(self.folder / "log.jsonl", events["rankings"]))
        self.say("label", write_lines(self.folder / "labels.jsonl", events["labels"]))
        if as_of is not None:
            self.say("evaluate", "--as-of", as_of)
