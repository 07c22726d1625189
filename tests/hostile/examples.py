"""For every command a call that works, from which hostile ones are made."""

from __future__ import annotations

from typing import NamedTuple


class Example(NamedTuple):
    """The words of a call by name or last spelling, and how it ends (besides 0, 2, 3 and 4)."""

    positionals: dict[str, list[str]]
    options: dict[str, list[str]]
    statuses: frozenset[int] = frozenset()
    status: int = 0


CHECKS = frozenset({1})
"""A command that checks something ends with 1 where the check fails."""

EVALUATED = ["QRELS", "RUN"]
STORE = {"store": ["STORE"]}

EXAMPLES = {
    "eval": Example({"inputs": EVALUATED}, {}),
    "diff": Example({"qrels": ["QRELS"], "a": ["RUN"], "b": ["OTHER"]}, {}),
    "compare": Example({"inputs": [*EVALUATED, "OTHER"]}, {}),
    "leaderboard": Example({"inputs": [*EVALUATED, "OTHER"]}, {}),
    # Two queries decide nothing.
    "gate": Example(
        {"inputs": [*EVALUATED, "OTHER"]}, {"--max-drop": ["nDCG@10=0.1"]}, CHECKS, status=1
    ),
    "fuse": Example({"runs": ["RUN", "OTHER"]}, {}),
    # The exit status is that of trec_eval.
    "trec_eval": Example({"qrels": ["QRELS"], "runs": ["RUN"]}, {}, frozenset({1, 7})),
    "agreement": Example({"a": ["RUN"], "b": ["OTHER"]}, {}),
    "judges": Example({"inputs": ["GRADES"]}, {"--judges": ["ann", "bob"]}),
    "power": Example({"qrels": ["QRELS"], "a": ["RUN"], "b": ["OTHER"]}, {}),
    "explain": Example({"inputs": EVALUATED}, {"--query": ["q1"]}),
    "measures": Example({"name": ["nDCG"]}, {}),
    "conventions": Example({"words": EVALUATED}, {}, CHECKS),
    "sql": Example({}, {"--by": ["country"], "--col": ["query=session"]}),
    "report": Example({"inputs": EVALUATED}, {"--output": ["OUT.html"]}),
    "monitor configure": Example(STORE, {"--positive": ["click=1"], "--window": ["24h"]}),
    "monitor ingest": Example(STORE | {"files": ["RANKINGS"]}, {}),
    "monitor label": Example(STORE | {"files": ["LABELS"]}, {}),
    "monitor evaluate": Example(STORE, {"--as-of": ["2026-09-10"]}),
    "monitor status": Example(STORE, {}),
    "monitor trace": Example(STORE, {}),
    # One version came after the other, so that there is nothing to compare.
    "monitor compare": Example(STORE, {}, status=3),
    "monitor explain": Example(STORE | {"ranking_id": ["1-0"]}, {}),
    "monitor configuration": Example(STORE, {}),
    "monitor plan": Example(STORE | {"file": ["SETUP"]}, {"--check": []}, CHECKS, status=1),
    "monitor apply": Example(STORE | {"file": ["SETUP"]}, {}),
    "monitor rule list": Example(STORE, {}),
    "monitor rule add": Example(STORE | {"name": ["second"]}, {"--measure": ["nDCG@5"]}),
    "monitor rule remove": Example(STORE | {"name": ["quality"]}, {}),
    "monitor rule silence": Example(STORE | {"name": ["quality"]}, {"--for": ["8h"]}),
    "monitor rule resolve": Example(STORE | {"name": ["quality"]}, {}),
    # The store has no incident and no channel, so that nothing changes and nothing is sent.
    "monitor incidents": Example(STORE, {}),
    "monitor incident acknowledge": Example(STORE | {"incident": ["i"]}, {}, status=2),
    "monitor incident snooze": Example(STORE | {"incident": ["i"]}, {"--for": ["4h"]}, status=2),
    "monitor incident resolve": Example(STORE | {"incident": ["i"]}, {}, status=2),
    "monitor channels": Example(STORE, {}),
    "monitor channel test": Example(STORE | {"name": ["oncall"]}, {}, CHECKS, status=2),
    "monitor webhook set": Example(STORE | {"address": ["https://1.1.1.1/hook"]}, {}),
    "monitor webhook show": Example(STORE, {}),
    # There is no webhook in the store, so that nothing is sent.
    "monitor webhook test": Example(STORE, {}, CHECKS, status=2),
    "monitor webhook remove": Example(STORE, {}, status=2),
    # The events are of the past: no data has come since.
    "monitor check": Example(STORE, {}, CHECKS, status=1),
    "monitor key make": Example(STORE | {"name": ["reader"]}, {"--scope": ["read"]}),
    "monitor key list": Example(STORE, {}),
    "monitor key rotate": Example(STORE | {"key_id": ["KEY"]}, {}),
    "monitor people add": Example(STORE | {"email": ["ann@example.com"]}, {"--role": ["viewer"]}),
    "monitor people list": Example(STORE, {}),
    "monitor people role": Example(STORE | {"member": ["group:search"], "role": ["viewer"]}, {}),
    # Nobody has an account yet.
    "monitor people disable": Example(STORE | {"email": ["ann@example.com"]}, {}, status=2),
    "monitor people reset-password": Example(STORE | {"email": ["ann@example.com"]}, {}, status=2),
    "monitor audit": Example(STORE, {}),
    "monitor key revoke": Example(STORE | {"key_id": ["KEY"]}, {}),
    "monitor export": Example(STORE | {"folder": ["OUT"]}, {}),
    "monitor backup": Example(STORE | {"place": ["OUT"]}, {}),
    # There is no backup in the folder.
    "monitor restore": Example({"backup": ["OUT"], "store": ["new.db"]}, {}, status=2),
    "monitor upgrade": Example(STORE, {}),
    "monitor delete": Example(STORE, {"--user": ["u1"]}),
    "monitor retain": Example(STORE, {"--before": ["2026-09-02"]}),
    "monitor doctor": Example(STORE, {}, CHECKS, status=1),
    # Another program listens on the port, so that nothing is served.
    "serve": Example(STORE, {"--port": ["BUSY"]}, status=4),
    "demo": Example({}, {"--offline": [], "--output": ["OUT.html"]}),
}
