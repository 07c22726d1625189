"""`rankscope serve`, and commands that plan, apply, read and write over a service or beside one."""

from __future__ import annotations

import json
import signal
import subprocess
from contextlib import contextmanager
from urllib.parse import urlsplit
from urllib.request import urlopen

import jsonschema
import pytest
from rankscope.monitor.monitor import Monitor
from rankscope.monitor.store.keys import make_key
from rankscope.monitor.store.sqlite.store import SQLiteStore

from tests.cli.command import PROGRAM, check_error, run
from tests.cli.monitored import CONFIGURED, LIMIT, Project, make_events, write_lines
from tests.hostile.commands import list_commands

FILE = """
[projects.music]
attributes = ["device"]

[projects.music.definition]
measures = ["nDCG@5"]
window = "24h"
attribution.positive = { click = 1, buy = 5 }

[projects.music.rules.quality]
measure = "nDCG@5"
"""


class Folder(Project):
    """A folder with a file of projects and a store."""

    def __init__(self, program, path):
        super().__init__(program, path)
        self.file = path / "rankscope.toml"
        self.file.write_text(FILE, encoding="utf-8")

    def apply(self, text=None):
        if text is not None:
            self.file.write_text(text, encoding="utf-8")
        done = self.run("apply", str(self.file))
        assert done.returncode == 0, done
        return done.stdout.decode()

    def make_key(self, *words):
        return {"RANKSCOPE_KEY": self.say("key make", "ci", "--scope", *words)["key"]}


@pytest.fixture
def folder(program, tmp_path):
    return Folder(program, tmp_path)


def test_a_plan_is_applied_once(folder):
    said = folder.apply()
    assert said.startswith("music:\n  + configuration\n      definition.measures: nDCG@5\n")
    assert "  + rule quality\n" in said
    assert folder.apply() == "music: no changes\n"
    done = folder.run("plan", str(folder.file), "--check")
    assert (done.returncode, done.stdout) == (0, b"music: no changes\n")


def test_what_a_command_changed_is_told_and_undone(folder):
    folder.apply()
    words = ["--project", "music", "-m", "nDCG@5", "--tolerance", "0.1"]
    folder.say("rule add", "quality", *words)
    done = folder.run("plan", str(folder.file), "--check")
    assert done.returncode == 1
    lines = done.stdout.decode().splitlines()
    assert lines[1:3] == ["  ~ rule quality", "      tolerance: 0.1 → 0.02"]
    assert lines[-1].startswith("      Changed by command line on ")
    folder.apply()
    assert folder.run("plan", str(folder.file), "--check").returncode == 0


def test_what_is_printed_is_a_file_that_changes_nothing(folder):
    folder.apply()
    printed = folder.run("configuration").stdout.decode()
    assert folder.apply(printed) == "music: no changes\n"
    assert folder.run("configuration").stdout.decode() == printed
    said = json.loads(folder.run("configuration", "--json").stdout)
    schema = json.loads(run("monitor", "configuration", "-", "--schema").stdout)
    jsonschema.Draft202012Validator(schema).validate(said)
    assert set(said["projects"]) == {"music"}


def test_projects_that_no_file_has_stay(folder):
    folder.apply()
    folder.file.write_text(FILE.replace("music", "books"), encoding="utf-8")
    done = folder.run("apply", str(folder.file))
    assert done.stderr == b"note: projects that no file has stay as they are: music\n"
    assert folder.run("configuration").stdout.count(b"definition]") == 2
    one = folder.run("configuration", "--project", "music").stdout.decode()
    assert "books" not in one


@pytest.mark.slow
def test_projects_that_no_file_has_are_deleted_when_that_is_asked_for(folder):
    folder.apply(FILE + FILE.replace("music", "books"))
    folder.file.write_text(FILE.replace("music", "films"), encoding="utf-8")
    asked = (str(folder.file), "--delete-projects")
    planned = folder.run("plan", *asked)
    assert planned.stdout.count(b"  - project\n") == 2
    assert planned.stderr == b""
    assert folder.run("configuration").stdout.count(b"definition]") == 2
    check_error(folder.run("apply", *asked, "--project", "films"), 2, "usage")
    with serving(folder.store) as (address, _):
        done = run("monitor", "apply", address, *asked)
        assert "needs the store" in check_error(done, 2, "usage")
    done = folder.run("apply", *asked)
    assert done.stdout == planned.stdout
    assert done.returncode == 0
    assert b"[projects.films" in folder.run("configuration").stdout
    assert folder.run("configuration").stdout.count(b"definition]") == 1
    with Monitor.open(folder.store, "music", writes=False) as monitor:
        assert monitor.store.projects() == ["films"]
        assert monitor.store.audit("music")[-1].actor == "command line"
    assert folder.run("apply", *asked).stdout == b"films: no changes\n"


def test_one_project_of_a_file_can_be_chosen(folder):
    folder.file.write_text(FILE + FILE.replace("music", "books"), encoding="utf-8")
    done = folder.run("apply", str(folder.file), "--project", "books", "--json")
    assert [one["project"] for one in json.loads(done.stdout)["projects"]] == ["books"]
    check_error(folder.run("plan", str(folder.file), "--project", "films"), 2, "no_project")


def test_a_wrong_file_changes_nothing(folder):
    wrong = FILE + FILE.replace("music", "books").replace("window", "windwo")
    folder.file.write_text(wrong, encoding="utf-8")
    done = folder.run("apply", str(folder.file))
    line = wrong.splitlines().index('windwo = "24h"') + 1
    said = check_error(done, 3, "bad_setup")
    assert f"rankscope.toml:{line}: projects.books.definition.windwo: unknown key" in said
    check_error(folder.run("status"), 4, "io")


def test_no_store_is_made_by_a_plan(folder):
    check_error(folder.run("plan", str(folder.file)), 4, "io")


@pytest.mark.slow
def test_projects_are_applied_over_http(folder):
    changed = FILE.replace("24h", "48h")
    assert "+ configuration" in folder.apply()
    key = folder.make_key("admin", "read", "--project", "music")
    with serving(folder.store) as (address, _):

        def ask(command, *words):
            return run("monitor", command, address, *words, environment=key)

        assert ask("plan", str(folder.file), "--check").returncode == 0
        folder.file.write_text(changed, encoding="utf-8")
        planned = ask("plan", str(folder.file), "--check")
        assert planned.returncode == 1
        assert b"definition.window: 24h" in planned.stdout
        assert ask("apply", str(folder.file)).stdout == planned.stdout
        assert ask("apply", str(folder.file)).stdout == b"music: no changes\n"
        assert ask("configuration").stdout == folder.run("configuration").stdout
        folder.file.write_text(changed.replace("music", "books"), encoding="utf-8")
        check_error(ask("apply", str(folder.file)), 2, "other_project")
        folder.file.write_text(changed + FILE.replace("music", "books"), encoding="utf-8")
        check_error(ask("apply", str(folder.file)), 2, "usage")
        chosen = ask("apply", str(folder.file), "--project", "music")
        assert chosen.stdout == b"music: no changes\n"
        refused = run("monitor", "apply", address, str(folder.file), "--project", "music")
        check_error(refused, 2, "unauthorized")
    with Monitor.open(folder.store, "music", writes=False) as monitor:
        assert [rule.name for rule in monitor.rules()] == ["data", "early", "quality"]
        assert [one.action for one in monitor.store.audit("music")].count("setup.apply") == 2


@pytest.mark.slow
def test_a_service_reads_its_channels_from_the_same_file(folder):
    channels = '\n[channels.oncall]\nurl = "json://127.0.0.1/"\nallow_private = true\n'
    assert "+ rule quality" in folder.apply(channels + FILE)
    key = folder.make_key("admin", "read", "--project", "music")
    with serving(folder.store, "--config", str(folder.file)) as (address, _):
        assert b"oncall" in run("monitor", "channels", address, environment=key).stdout


@contextmanager
def serving(store, *words):
    process = subprocess.Popen(
        [PROGRAM, "serve", store, "--port", "0", *words],
        stdout=subprocess.PIPE,
        stderr=subprocess.PIPE,
    )
    try:
        line = process.stdout.readline().decode()
        assert line.startswith("Listening on http://"), process.communicate()
        yield line.split()[-1], process
    finally:
        process.kill()
        process.communicate()


@pytest.mark.slow
def test_events_of_a_service_are_those_of_its_store(tmp_path):
    store = str(tmp_path / "events.db")
    events = make_events()
    log = write_lines(tmp_path / "log.jsonl", [*events["rankings"], {"ranking_id": "x"}])
    labels = write_lines(tmp_path / "labels.jsonl", events["labels"])
    assert run("monitor", "configure", store, *CONFIGURED).returncode == 0
    with serving(store, "--every", "0.1") as (address, process):
        with urlopen(f"{address}healthz", timeout=300) as answer:  # noqa: S310 - our own service
            assert json.loads(answer.read()) == {"status": "ok"}
        done = run("monitor", "ingest", address, log, "--json")
        assert (done.returncode, json.loads(done.stdout)["rejected"]) == (3, 1)
        assert run("monitor", "label", address, labels).returncode == 0
        assert json.loads(run("monitor", "ingest", address, log, "--json").stdout)["duplicate"] > 0
        said = check_error(run("serve", store, "--port", "0"), 4, "store_locked")
        assert f"another process writes to the store: process {process.pid}" in said
        port = str(urlsplit(address).port)
        other = str(tmp_path / "other.db")
        assert port in check_error(run("serve", other, "--port", port), 4, "io")
        process.send_signal(signal.SIGTERM)
        _, told = process.communicate(timeout=300)
        assert process.returncode == 0, told
        lines = [json.loads(line) for line in told.decode().splitlines()]
        assert {"/healthz", "/v1/rankings"} <= {line.get("route") for line in lines}
    with SQLiteStore(store) as opened:
        counted = opened.counters("default")
    assert counted["accepted"] == len(events["rankings"]) + len(events["labels"])


@pytest.mark.slow
def test_a_key_is_read_from_the_environment_and_replaces_no_set(tmp_path):
    store = tmp_path / "events.db"
    key, secret = make_key("music", ["ingest"], name="log", now=0)
    with SQLiteStore(store) as opened:
        opened.add_key(key, "test")
    log = write_lines(tmp_path / "log.jsonl", make_events()["rankings"])
    with serving(str(store)) as (address, _):
        check = run("monitor", "ingest", address, log)
        assert check.returncode == 4
        assert b"[service_refused]" in check.stderr
        environment = {"RANKSCOPE_KEY": secret.reveal()}
        done = run("monitor", "ingest", address, log, environment=environment)
        assert done.returncode == 0
        assert secret.reveal().encode() not in done.stdout + done.stderr
        few = write_lines(tmp_path / "few.jsonl", make_events()["rankings"][:3])
        replacing = ["monitor", "ingest", address, few, "--replace", "validation"]
        done = run(*replacing, environment=environment)
        assert done.returncode == 4
        assert b"expected a key with the scope admin" in done.stderr
    with SQLiteStore(store) as opened:
        assert opened.counters("music")["accepted"] == len(make_events()["rankings"])


@pytest.mark.slow
def test_a_table_is_sent_with_its_attributes_and_what_is_left_out_is_named(tmp_path):
    store, log = str(tmp_path / "events.db"), tmp_path / "log.csv"
    configured = [*CONFIGURED, "country"]
    assert run("monitor", "configure", store, *configured).returncode == 0
    rows = [
        f"s{at},{doc},{rank},2026-09-01T10:00:00Z,training,tv,de,{at}"
        for at in range(5)
        for rank, doc in enumerate("abc", start=1)
    ]
    head = "qid,docno,rank,ts,environment,device,country,price"
    log.write_text("\n".join([head, *rows]) + "\n", encoding="utf-8")
    with serving(store) as (address, _):
        done = run("monitor", "ingest", address, str(log))
        assert done.returncode == 1
        assert done.stdout.decode().splitlines()[-1] == "unknown field price\t5"
        assert done.stderr.decode().startswith("note: not stored: price\nHint: store what ")
        again = run("monitor", "ingest", address, str(log), "--ignore", "price")
        assert (again.returncode, again.stderr) == (0, b"")
        words = ["--replace", "training", "--ignore", "price"]
        log.write_text("\n".join([head, *rows[:6]]) + "\n", encoding="utf-8")
        replaced = run("monitor", "ingest", address, str(log), *words)
        assert replaced.returncode == 0
        assert replaced.stdout.decode().splitlines()[0] == "accepted\t2"
        assert replaced.stdout.decode().splitlines()[-1] == "replaced\t5"
    with SQLiteStore(store) as opened:
        assert opened.counters("default")["unknown_field"] == 5
        found = opened.find_ranking("default", "s0")
        assert found.attributes == (("country", "de"), ("device", "tv"))
        assert opened.find_ranking("default", "s4") is None


@pytest.mark.parametrize(
    ("words", "status", "code"),
    [
        (["--host", "0.0.0.0"], 2, "no_keys"),  # noqa: S104 - it is refused
        (["--port", "70000"], 2, "usage"),
        (["--every", "0"], 2, "usage"),
        (["--every", "nan"], 2, "usage"),
        (["--host", "192.0.2.1"], 2, "no_keys"),
    ],
)
def test_a_service_that_cannot_be_meant_is_refused(words, status, code, tmp_path):
    check_error(run("serve", str(tmp_path / "events.db"), *words), status, code)


def make_table(folder):
    """By command in the order of a working day: what it takes besides the store, and its status."""
    log, labels = str(folder / "log.jsonl"), str(folder / "labels.jsonl")
    days = ["--as-of", "2026-09-10"]
    return {
        "configure": ([*CONFIGURED], 0),
        "ingest": ([log], 0),
        "label": ([labels], 0),
        "configuration": ([], 0),
        "plan": ([str(folder / "rankscope.toml")], 0),
        "apply": ([str(folder / "rankscope.toml")], 0),
        "rule add": (["fall", *LIMIT], 0),
        "evaluate": (days, 0),
        "status": ([], 0),
        "check": (["--fail-on", "ALERT", "--max-age", "500d"], 1),
        "incidents": ([], 0),
        "incident acknowledge": (["INCIDENT", "--note", "seen"], 0),
        "incident snooze": (["INCIDENT", "--for", "4h"], 0),
        "incident resolve": (["INCIDENT"], 0),
        "rule list": ([], 0),
        "rule silence": (["fall", "--for", "8h"], 0),
        "rule resolve": (["fall"], 0),
        "rule remove": (["fall"], 0),
        "trace": ([*days, "--before", "version=3", "--after", "version=4"], 0),
        "compare": ([*days, "--old", "3", "--new", "4"], 3),  # they never serve at a time
        "explain": (["3-0", "-m", "nDCG@5"], 0),
        "channels": ([], 0),
        "channel test": (["webhook"], 2),  # nobody has set one
        "webhook test": ([], 2),
        "webhook set": (["https://1.1.1.1/hook"], 0),  # which nobody calls
        "webhook show": ([], 0),
        "webhook remove": ([], 0),
        "key make": (["ann", "--scope", "admin", "read"], 0),
        "key list": ([], 0),
        "key rotate": (["KEY", "--keep", "1h"], 0),
        "people add": (["ann@example.com", "--role", "operator"], 0),
        "people list": ([], 0),
        "people role": (["group:search", "viewer"], 0),
        "people reset-password": (["ann@example.com"], 0),
        "people disable": (["ann@example.com"], 0),
        "audit": ([], 0),
        "key revoke": (["KEY"], 0),
        "export": ([str(folder / "out")], 0),
        "backup": ([str(folder / "backups")], 0),
        "restore": ([str(folder / "restored.db")], 2),
        "upgrade": ([], 0),
        "delete": (["--user", "u1"], 0),
        "retain": (["--before", "2026-09-02"], 0),
        "doctor": ([], 1),
    }


@pytest.fixture
def filled(folder):
    """A folder with a project that is evaluated and has an incident."""
    folder.file.write_text(FILE.replace("music", "default"), encoding="utf-8")
    folder.fill(make_events(), as_of=None)
    folder.say("rule add", "fall", *LIMIT)
    folder.say("evaluate", "--as-of", "2026-09-10")
    return folder


READING = {
    *("configuration", "plan", "status", "check", "incidents"),
    *("rule list", "trace", "compare", "explain", "channels", "channel test", "webhook test"),
    *("webhook show", "key list", "people list", "audit", "export", "backup", "restore"),
    "doctor",
}
"""Commands that only read the store, which goes on beside a service."""
NEEDS_STORE = {
    *("people add", "people disable", "people reset-password"),
    *("status", "check", "explain"),
    *("export", "backup", "restore", "upgrade", "doctor"),
}
"""Commands that read or write files beside the store, or compute much."""


@pytest.mark.slow
def test_beside_a_service_a_command_reads_the_store_or_says_what_to_do(filled):
    table = make_table(filled.folder)
    names = {command.name for command in list_commands() if command.words[0] == "monitor"}
    assert {f"monitor {name}" for name in table} == names
    with serving(filled.store, "--every", "100000"):
        for command, (words, status) in table.items():
            done = filled.run(command, *words)
            if command in READING:
                assert done.returncode == status, (command, done)
            elif command == "upgrade":
                assert done.returncode == 0  # nothing is to be done
            else:
                check_error(done, 4, "store_locked")
                assert b"pass its URL" in done.stderr
                assert b"RANKSCOPE_KEY" in done.stderr


@pytest.mark.slow
def test_a_command_takes_the_url_of_a_service_or_says_that_it_needs_the_store(filled):
    key = filled.make_key("admin", "ingest", "read")
    listed = filled.run("incidents", "--json")
    given = {"INCIDENT": json.loads(listed.stdout)[0]["id"], "KEY": ""}
    with serving(filled.store, "--every", "100000") as (address, _):
        # Other commands end the incident.
        rows = make_table(filled.folder).items()
        table = sorted(rows, key=lambda row: "incident " not in row[0])
        for command, (words, status) in table:
            if command == "key rotate":
                said = run("monitor", "key", "list", address, "--json", environment=key)
                given["KEY"] = json.loads(said.stdout)["keys"][-1]["key_id"]
            own = {"evaluate", "trace", "compare"}  # times of a store in their words
            found = [given.get(word, word) for word in words if command not in own]
            done = run("monitor", *command.split(), address, *found, environment=key)
            if command in NEEDS_STORE:
                assert "this command needs the store itself" in check_error(done, 2, "usage")
            elif command in {"trace", "compare"}:
                assert done.returncode in {0, 2, 3}, done
                assert b"needs the store" not in done.stderr
            else:
                assert done.returncode == status, (command, done)
        refused = run("monitor", "evaluate", address, "--as-of", "2026-09-10", environment=key)
        assert "the URL of a service" in check_error(refused, 2, "usage")
