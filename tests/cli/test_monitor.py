"""The commands of the monitor: what they print, how they end, accounts, roles and the audit log."""

from __future__ import annotations

import json
import os
import re
from contextlib import closing
from dataclasses import replace
from pathlib import Path
from shutil import copytree

import pytest
import rankscope as rs
from pyarrow import parquet
from rankscope.monitor.definition.document import write_configuration
from rankscope.monitor.events.limits import HOUR
from rankscope.monitor.monitor import Monitor
from rankscope.monitor.store.sqlite.store import SQLiteStore

from tests.cli.command import check_error
from tests.cli.monitored import CONFIGURED, START, Project, make_events, write_lines

READING = ("status", "doctor", "export", "backup", "configuration", "key list")
WRITING = ("evaluate", "ingest", "label", "delete", "retain", "key make")


@pytest.fixture
def project(program, tmp_path):
    return Project(program, tmp_path)


@pytest.fixture(scope="module")
def filled_once(program, tmp_path_factory):
    """The folder of a project whose events are evaluated."""
    folder = tmp_path_factory.mktemp("filled")
    Project(program, folder).fill(make_events(), as_of="2026-09-10")
    return folder


@pytest.fixture
def filled(filled_once, project):
    """A project whose events are evaluated, to be changed."""
    copytree(filled_once, project.folder, dirs_exist_ok=True)
    return project


def words_of(command, project):
    """What a command takes besides the store."""
    log = project.folder / "log.jsonl"
    return {
        "export": [str(project.folder / "exported")],
        "backup": [str(project.folder / "backups")],
        "ingest": [str(log)],
        "label": [str(log)],
        "delete": ["--user", "somebody"],
        "retain": ["--before", "2026-09-02"],
        "key make": ["name", "--scope", "admin"],
    }.get(command, [])


def test_what_is_configured_is_shown(project):
    said = project.run("configure", *CONFIGURED, "--baseline", "none")
    lines = dict(line.split("\t") for line in said.stdout.decode().splitlines())
    assert said.returncode == 0
    assert lines["measures"] == "nDCG@1, nDCG@5, nDCG@10"
    assert lines["positive"] == "buy=5, click=1"
    assert lines["window"] == "24h"
    again = project.say("configure", *CONFIGURED, "--baseline", "none")
    with Monitor.open(project.store, writes=False) as monitor:
        assert again == write_configuration(monitor.configuration)
        assert again["baseline"] is None
        assert lines["definition"] == monitor.configuration.definition.hash


def test_an_option_changes_its_setting_and_leaves_the_others(project):
    check_error(project.run("configure", "--slice", "a"), 2, "usage")
    before = project.say("configure", *CONFIGURED)
    with Monitor.open(project.store) as monitor:
        kept = replace(monitor.configuration, retention="90d", grace="2h", most=7)
        monitor.configure(kept)
    said = project.say("configure", "--slice", "a", "b", "-m", "RR@5")
    changed = {"attributes": ["a", "b"], "retention": "90d", "grace": "2h", "most": 7}
    assert said == {**before, **changed, "definition": said["definition"]}
    assert said["definition"] == {**before["definition"], "measures": ["RR@5"]}
    check_error(project.run("configure", "--slice", "a", "--project", "new"), 2, "usage")


@pytest.mark.parametrize(
    ("words", "code"),
    [
        (["--positive", "click=1"], "usage"),
        (["--window", "24h"], "usage"),
        (["--positive", "click=x", "--window", "24h"], "usage"),
        (["--positive", "click", "--window", "24"], "usage"),
        (["--positive", "click", "--window", "0h"], "bad_configuration"),
        ([*CONFIGURED, "--measures", "nDCG"], "bad_definition"),
        ([*CONFIGURED, "--measures", "nDGC@5"], "unknown_measure"),
        ([*CONFIGURED, "--baseline", "yesterday"], "usage"),
    ],
)
def test_a_configuration_that_is_none_is_refused_before_a_store_is_made(words, code, project):
    check_error(project.run("configure", *words), 2, code)
    assert not Path(project.store).exists()


def test_events_are_counted_and_taken_once(project):
    events = make_events()
    path = write_lines(project.folder / "log.jsonl", events["rankings"])
    count = len(events["rankings"])
    done = project.run("ingest", path)
    assert done.returncode == 0
    assert done.stderr.decode() == f"note: created the store {project.store}\n"
    assert done.stdout.decode() == (
        f"accepted\t{count}\nduplicate\t0\nconflict\t0\nrejected\t0\nnote made_event_ids\t{count}\n"
    )
    assert project.run("ingest", path).stderr == b""
    again = project.say("ingest", path)
    assert (again["accepted"], again["duplicate"]) == (0, count)


def test_what_is_not_stored_is_named_and_ends_with_1(project):
    project.say("configure", *CONFIGURED)
    event = make_events()["rankings"][0] | {"price": 1, "brand": "x"}
    path = write_lines(project.folder / "log.jsonl", [event])
    done = project.run("ingest", path)
    assert done.returncode == 1
    assert done.stderr.decode().splitlines()[0] == "note: not stored: brand, price"
    assert project.run("ingest", path, "--ignore", "price").returncode == 1
    assert project.run("ingest", path, "--ignore", "price", "brand").stderr == b""


@pytest.mark.slow
def test_a_set_is_replaced_as_a_whole_or_not_at_all(project):
    events = make_events()
    project.fill(events, "2026-09-10")
    old = [one for one in events["rankings"] if one["environment"] == "validation"]
    path = write_lines(project.folder / "new.jsonl", old[:2])
    said = project.say("ingest", path, "--replace", "validation")
    assert (said["accepted"], said["replaced"]) == (2, len(old))
    again = project.say("ingest", path, "--replace", "validation")
    assert (again["accepted"], again["replaced"]) == (2, 2)
    bad = write_lines(project.folder / "bad.jsonl", [old[0], {"ranking_id": "x"}])
    done = project.run("ingest", bad, "--replace", "validation")
    assert done.returncode == 3
    assert b"the validation set stays as it was" in done.stderr
    with SQLiteStore(project.store) as store:
        kept = [one for one in store.versions("default") if one.environment == "validation"]
    assert sum(one.rankings for one in kept) == 2


def test_what_is_wrong_is_named_by_its_line_and_ends_with_3(project):
    project.say("configure", *CONFIGURED)
    path = project.folder / "log\x1b[2J.jsonl"
    rankings = make_events()["rankings"]
    write_lines(path, [rankings[0], {"ranking_id": "\x1b[31m=1+1", "time": "\u202e"}, rankings[1]])
    done = project.run("ingest", str(path))
    assert done.returncode == 3
    assert b"accepted\t2\n" in done.stdout
    assert b"reason time_format\t1\n" in done.stdout
    said = done.stderr.decode()
    assert said.startswith(f"{project.folder}/log\\x1b[2J.jsonl:2: time: expected a time, found")
    assert said.replace("\n", "").isprintable()
    assert json.loads(project.run("ingest", str(path), "--json").stdout)["refused"][0]["place"] == 2


def test_a_file_that_ends_badly_says_what_was_taken_before(project):
    rows = "ranking_id,doc_id,rank,time\n" + "".join(f"r{at},a,1,{START}\n" for at in range(3))
    path = project.folder / "log.csv"
    path.write_text(rows + "r3,a\n", encoding="utf-8")
    done = project.run("ingest", str(path))
    assert done.returncode == 3
    assert done.stderr.decode().splitlines()[-2].endswith("[field_count]")
    assert done.stdout.startswith(b"accepted\t")


def test_standard_input_has_a_format(program, tmp_path):
    rows = f"qid,docno,similarity,ts\nr,a,0.5,{START}\nr,b,0.75,{START}\n".encode()
    store = str(tmp_path / "events.db")
    words = ["monitor", "ingest", store, "-"]
    check_error(program.run(*words, given=rows), 2, "bad_format")
    check_error(program.run(*words, "-", given=rows), 2, "stdin_twice")
    done = program.run(*words, "--format", "csv", "--col", "score=similarity", given=rows)
    assert done.returncode == 0
    with SQLiteStore(store) as opened:
        ranking = opened.find_ranking("default", "r")
    assert ranking.items.doc_ids == ("b", "a")


def test_projects_are_apart(project):
    path = write_lines(project.folder / "log.jsonl", make_events()["rankings"])
    assert project.say("ingest", path, "--project", "one")["accepted"] > 0
    assert project.say("ingest", path, "--project", "two")["accepted"] > 0
    check_error(project.run("status", "--project", "one"), 2, "not_configured")


def rankings_of(day):
    return [one for one in make_events()["rankings"] if one["ranking_id"].startswith(f"{day}-")]


def test_values_are_those_of_evaluate(filled):
    grades = {"a": 5.0, "b": 1.0, "c": 0.0}
    held, expected = (
        rs.Rankings.from_lists(
            [[grades[doc_id] for doc_id in one["items"]] for one in rankings_of(day)]
        ).evaluate(["nDCG@1", "nDCG@5"])
        for day in (0, 3)
    )
    said = filled.say("status")
    assert said["as_of"] == "2026-09-10T00:00:00.000000Z"
    for row in said["values"][:2]:
        assert row["value"] == expected[row["measure"]]
        assert row["baseline"] == held[row["measure"]]
        assert row["rankings"] == len(rankings_of(3))
        assert row["is_final"]
    assert [one["version"] for one in said["versions"]] == ["3", "4"]
    text = filled.run("status").stdout.decode()
    assert f"{expected['nDCG@1']:.4f}" in text
    again = filled.say("evaluate", "--as-of", "2026-09-10")
    assert (again["hours"], again["rankings"]) == (0, 0)


@pytest.mark.parametrize("command", READING)
def test_reading_goes_on_while_another_process_writes(command, filled):
    with SQLiteStore(filled.store):
        done = filled.run(command, *words_of(command, filled))
    assert done.stderr == b""
    assert done.returncode == (1 if command == "doctor" else 0)


@pytest.mark.parametrize("command", WRITING)
def test_writing_is_refused_while_another_process_writes(command, filled):
    with SQLiteStore(filled.store):
        done = filled.run(command, *words_of(command, filled))
    assert "another process writes to the store" in check_error(done, 4, "store_locked")


@pytest.mark.parametrize("command", [*READING, "evaluate", "retain"])
def test_no_store_is_made_by_looking_for_one(command, project):
    check_error(project.run(command, *words_of(command, project)), 4, "io")
    assert list(project.folder.iterdir()) == []


@pytest.mark.parametrize("command", READING)
def test_what_is_no_store_is_refused(command, project):
    Path(project.store).write_bytes(b"ranking_id,doc_id\n" * 1000)
    done = project.run(command, *words_of(command, project))
    check_error(done, 4, "store_damaged")


def test_a_url_names_a_store_too(filled, program):
    url = f"sqlite:///{filled.store}"
    assert program.run("monitor", "status", url).stdout == filled.run("status").stdout
    check_error(program.run("monitor", "status", "mysql://a:b@host/events"), 2, "store_url")


def restore(project, place, name):
    done = project._program.run("monitor", "restore", place, str(project.folder / name))
    assert done.returncode == 0, done.stderr
    restored = Project(project._program, project.folder)
    restored.store = str(project.folder / name)
    return restored


def test_a_backup_is_the_store(filled, program):
    place = str(filled.folder / "backups")
    made = filled.say("backup", place)
    restored = restore(filled, place, "copy.db")
    assert restored.run("status").stdout == filled.run("status").stdout
    assert restored.say("evaluate", "--as-of", "2026-09-10")["hours"] == 0
    check_error(program.run("monitor", "restore", place, restored.store), 4, "io")
    again = filled.say("backup", place, "--keep", "1")
    assert [str(path) for path in Path(place).iterdir() if path.name[0] == "2"] == [again["backup"]]
    gone = program.run("monitor", "restore", made["backup"], "a.db")
    check_error(gone, 4, "backup_unreachable")
    check_error(filled.run("backup", place, "--keep", "0"), 2, "usage")


def test_a_restore_names_the_damaged_backup_and_the_one_it_took_instead(filled, program):
    place = str(filled.folder / "backups")
    older, newest = (str(filled.say("backup", place)["backup"]) for _ in range(2))
    damaged = Path(newest, "store.db")
    os.truncate(damaged, damaged.stat().st_size - 1)
    target = str(filled.folder / "restored.db")
    done = program.run("monitor", "restore", place, target, "--json")
    assert done.returncode == 0
    wrong = "the backup is damaged: it is not the file that was written"
    said = json.loads(done.stdout)
    assert said["backup"] == older
    assert said["skipped"] == [{"file": str(damaged), "message": wrong}]
    day, _, clock = Path(older).name.partition("T")
    assert done.stderr.decode().splitlines() == [
        f"note: {damaged}: {wrong}",
        f"note: restored the backup of {day}T{clock.replace('-', ':')} instead: {older}",
    ]


def test_a_drill_says_by_its_status_whether_all_values_are_equal(filled, program):
    place = str(filled.folder / "backups")
    filled.say("backup", place)
    words = ("--verify", "--against", filled.store)
    done = program.run("monitor", "restore", place, str(filled.folder / "good.db"), *words)
    assert done.returncode == 0, done.stderr
    assert done.stdout.count(b"final hours compared with") == 2
    assert done.stdout.count(b": equal\n") == 2
    # A value of another release, which has the checksum that belongs to it.
    with closing(Monitor.open(filled.store)) as monitor:
        store, digest = monitor.writer, monitor.configuration.digest
        [hour, *_] = store.hours(monitor.project, digest)
        [cell, *cells] = store.cells(monitor.project, digest, hour.start, hour.start + 1)
        progress = store.progress(monitor.project, digest)
        store.put_windows(
            monitor.project,
            digest,
            replaced={HOUR: [hour.start]},
            cells=[cell._replace(sums=bytes(len(cell.sums))), *cells],
            hours=[hour],
            open_hours=[],
            progress=progress,
        )
    target = str(filled.folder / "against.db")
    done = program.run("monitor", "restore", place, target, *words, "--json")
    assert done.returncode == 1
    own, against = json.loads(done.stdout)["checks"]
    assert own["wrong"] == []
    assert len(against["wrong"]) == 1
    filled.say("backup", place)
    done = program.run("monitor", "restore", place, str(filled.folder / "bad.db"), "--verify")
    assert done.returncode == 1
    assert b"other values: the hour of" in done.stdout
    check_error(program.run("monitor", "restore", place, "new.db", "--against", "x"), 2, "usage")


def test_an_export_is_read_again(filled):
    folder = filled.folder / "out"
    said = filled.say("export", str(folder), "--until", "2026-09-02")
    count = len(rankings_of(0))
    assert (said["rankings"], said["labels"]) == (count, 2 * count)
    assert parquet.read_table(folder / "rankings.parquet").num_rows == count
    assert filled.say("ingest", str(folder / "rankings.parquet"))["duplicate"] == count
    assert filled.say("label", str(folder / "labels.parquet"))["duplicate"] == 2 * count


def test_old_events_are_deleted_and_their_values_stay(filled):
    before = read_series(filled)
    old = len(rankings_of(0) + rankings_of(1))
    said = filled.say("retain", "--before", "2026-09-03")
    assert (said["rankings"], said["labels"]) == (old, 2 * old)
    assert read_series(filled) == before
    filled.say("evaluate", "--as-of", "2026-09-10")
    assert read_series(filled) == before


def test_a_ranking_that_is_deleted_is_unknown(filled):
    gone = make_events()["rankings"][0]["ranking_id"]
    assert filled.say("delete", "--ranking", gone)["rankings"] == 1
    check_error(filled.run("explain", gone), 2, "unknown_ranking")
    check_error(filled.run("delete"), 2, "usage")


@pytest.mark.parametrize("before", ["23h", "0h", "2999-01-01"])
def test_events_whose_labels_may_still_come_are_not_deleted(filled, before):
    # Labels count for 24 hours.
    check_error(filled.run("retain", "--before", before), 2, "open_windows")
    assert filled.say("retain", "--before", "3000d") == {"rankings": 0, "labels": 0}


def read_series(project):
    """The values of all hours."""
    with Monitor.open(project.store, writes=False) as monitor:
        return monitor.series("nDCG@5").to_dict()


def test_keys_are_shown_once(project):
    project.say("key make", "ann", "--scope", "admin")
    done = project.run("key make", "search", "--scope", "ingest", "read")
    shown = done.stdout.decode().strip()
    _, key_id, secret = shown.split("_")
    assert secret.encode() not in Path(project.store).read_bytes()
    _, listed = project.say("key list")["keys"]
    assert (listed["key_id"], listed["scopes"], listed["revoked"]) == (
        key_id, ["ingest", "read"], None
    )  # fmt: skip
    assert project.say("key revoke", key_id)["revoked"]
    assert project.say("key list")["keys"][1]["revoked"] is not None
    check_error(project.run("key revoke", key_id), 2, "unknown_key")
    check_error(project.run("key make", "search", "--scope", "all"), 2, "usage")


def test_a_project_with_keys_always_has_one_of_an_administrator(project):
    check_error(project.run("key make", "search", "--scope", "ingest"), 4, "io")
    assert not Path(project.store).exists()
    project.say("configure", *CONFIGURED)
    check_error(project.run("key make", "search", "--scope", "ingest"), 2, "no_administrator")
    assert project.say("key list")["keys"] == []
    first = project.say("key make", "ann", "--scope", "read", "admin")["key_id"]
    project.say("key make", "search", "--scope", "ingest")
    check_error(project.run("key revoke", first), 2, "no_administrator")
    project.say("key make", "ben", "--scope", "admin")
    assert project.say("key revoke", first)["revoked"]


def test_keys_are_listed_with_times_to_the_second(project):
    project.say("key make", "ann", "--scope", "admin")
    head, row = project.run("key list").stdout.decode().splitlines()
    times = ["created", "expires", "used", "revoked"]
    assert head.split() == ["key_id", "name", "scopes", *times, "creator"]
    _, name, *scopes, created, expires, used, revoked, command, line = row.split()
    assert (name, scopes, expires, used, revoked) == ("ann", ["edit", "admin"], "-", "-", "-")
    assert (command, line) == ("command", "line")
    assert re.fullmatch(r"\d{4}-\d\d-\d\dT\d\d:\d\d:\d\dZ", created)


def test_the_doctor_finds_nothing_in_a_store_that_is_well(filled):
    done = filled.run("doctor", "--as-of", "2026-09-05")
    assert done.returncode == 0, done.stdout.decode()
    assert {line.split("\t")[0] for line in done.stdout.decode().splitlines()} == {"ok"}


def find_cares(project, *words):
    """What the doctor finds that needs care."""
    done = project.run("doctor", "--json", *words)
    findings = json.loads(done.stdout)["findings"]
    cares = {one["name"] for one in findings if not one["is_good"]}
    assert done.returncode == bool(cares)
    return cares


def test_the_doctor_finds_what_is_wrong(filled):
    assert find_cares(filled, "--as-of", "2026-10-05") == {"flow"}
    path = filled.folder / "more.jsonl"
    filled.run("label", write_lines(path, [{"ranking_id": "none", "doc_id": "a", "time": "soon"}]))
    ids = [f"none{at}" for at in range(50)]
    lost = [{"ranking_id": one, "doc_id": "a", "time": START, "labels": "buy"} for one in ids]
    filled.say("label", write_lines(path, lost))
    assert find_cares(filled, "--as-of", "2026-09-10T01:00:00Z") == {
        "clocks", "labels", "evaluation", "flow"
    }  # fmt: skip
    mark = Path(filled.store + ".high-water")
    kept = mark.read_bytes()
    mark.unlink()
    assert "high-water mark" in find_cares(filled)
    mark.write_bytes(b"\0" * len(kept))
    assert "high-water mark" in find_cares(filled)


def test_the_doctor_finds_a_loss(filled):
    place = str(filled.folder / "backups")
    filled.say("backup", place)
    copy = Path(restore(filled, place, "copy.db").store)
    more = write_lines(filled.folder / "more.jsonl", [make_events(5)["rankings"][-1]])
    filled.say("ingest", more)
    Path(filled.store).write_bytes(copy.read_bytes())
    for ending in ("-wal", "-shm"):
        Path(filled.store + ending).unlink(missing_ok=True)
    assert "high-water mark" in find_cares(filled, "--as-of", "2026-09-05")


def test_the_doctor_asks_for_a_configuration(project):
    project.say("ingest", write_lines(project.folder / "log.jsonl", make_events()["rankings"]))
    assert find_cares(project) == {"configuration"}


@pytest.mark.parametrize(
    "words",
    [
        [],
        ["nothing"],
        ["ingest"],
        ["ingest", "STORE"],
        ["ingest", "STORE", "FILE", "--col", "ranking"],
        ["ingest", "STORE", "FILE", "--col", "nothing=x"],
        ["ingest", "STORE", "FILE", "--col", "rank=x", "--col", "rank=y"],
        ["ingest", "http://127.0.0.1:1", "FILE.csv", "--project", "x"],
        ["label", "STORE", "FILE", "--format", "xlsx"],
        ["evaluate", "STORE", "--as-of", "tomorrow"],
        ["retain", "STORE"],
        ["retain", "STORE", "--before", "2026-13-01"],
        ["status", "STORE", "--every", "week"],
        ["key"],
        ["key", "make", "STORE", "name"],
        ["backup", "STORE", "PLACE", "more"],
    ],
    ids=" ".join,
)
def test_a_call_that_is_none_is_refused(words, program):
    check_error(program.run("monitor", *words), 2, "usage")


def test_several_values_of_an_option_are_separated_by_spaces_or_commas(project):
    for words in (
        ["--positive", "click=1,buy=3", "--slice", "device,country"],
        ["--positive", "click=1,", "buy=3", "--slice", "device", "country"],
    ):
        project.say("configure", *words, "--window", "24h")
        with Monitor.open(project.store, writes=False) as monitor:
            configuration = monitor.configuration
        assert configuration.definition.attribution.weights == {"click": 1, "buy": 3}
        assert configuration.attributes == ("device", "country")
    shown = {"ranking_id": "r", "time": "2026-09-01T00:00:00Z", "doc_ids": ["x"]}
    shown |= {"device": "tv", "country": "de", "a": 1, "b": 2}
    log = write_lines(project.folder / "log.jsonl", [shown])
    said = project.run("ingest", log, "--attributes", "device,country", "--ignore", "a,b")
    assert said.stderr == b""  # no column is left out
    words = ["--measure", "nDCG@5", "--slice", "device,country"]
    assert project.say("rule add", "quality", *words)["slices"] == ["device", "country"]
    check_error(project.run("configure", "--positive", ",", "--window", "24h"), 2, "usage")


@pytest.mark.parametrize("command", ["ingest", "configure", "status"])
def test_a_host_and_a_port_are_no_store(command, program, project):
    log = write_lines(project.folder / "log.jsonl", [])
    words = {"ingest": [log], "configure": ["--positive", "click", "--window", "24h"], "status": []}
    done = program.run("monitor", command, "localhost:8719", *words[command])
    check_error(done, 2, "usage")
    assert b"http://localhost:8719" in done.stderr


def test_a_link_is_printed_once_and_stored_nowhere(project, monkeypatch):
    added = project.run("people add", "Ann@example.com")
    assert re.fullmatch(rb"/set-password\?link=[0-9a-f]{64}\n", added.stdout)
    assert b"RANKSCOPE_PUBLIC_URL" in added.stderr
    link = added.stdout.decode().strip().partition("=")[2]
    assert all(link.encode() not in path.read_bytes() for path in project.folder.glob("events.db*"))
    monkeypatch.setenv("RANKSCOPE_PUBLIC_URL", "https://rank.example.com/")
    reset = project.run("people reset-password", "ann@example.com")
    assert reset.stdout.startswith(b"https://rank.example.com/set-password?link=")
    assert (reset.stderr, link.encode() in reset.stdout) == (b"", False)


def test_what_is_no_person_is_refused(project):
    project.say("people add", "ann@example.com")
    for verb, *words, code in (
        ("add", "ann@example.com", "known_person"),
        ("add", "ann", "bad_email"),
        ("add", "group:search", "bad_email"),
        ("disable", "ben@example.com", "unknown_person"),
        ("reset-password", "ben@example.com", "unknown_person"),
        ("role", "group:", "viewer", "bad_group"),
        ("role", "ann@example.com", "viewer", "--all-projects", "usage"),
        ("role", "ann@example.com", "owner", "usage"),
    ):
        check_error(project.run(f"people {verb}", *words), 2, code)
    project.store = "https://rank.example.com"
    for verb in ("add", "disable", "reset-password"):
        check_error(project.run(f"people {verb}", "ann@example.com"), 2, "usage")


def test_roles_are_listed_by_member(project):
    project.say("people add", "ann@example.com", "--role", "operator")
    project.say("people role", "group:search", "editor", "--project", "music")
    project.say("people role", "group:search", "viewer", "--project", "films")
    assert project.say("people list")["people"] == [
        {"member": "ann@example.com", "roles": "operator", "account": "invited"},
        {"member": "group:search", "roles": "films: viewer, music: editor", "account": "-"},
    ]
    project.say("people role", "group:search", "none", "--project", "films")
    [_, group] = project.say("people list", "--project", "music")["people"]
    assert group["roles"] == "music: editor"
    project.say("people role", "ben@example.com", "operator")
    project.say("people role", "ann@example.com", "none", "--all-projects")
    assert project.say("people list")["people"][0]["roles"] == ""
    last = project.run("people role", "ben@example.com", "none", "--all-projects")
    check_error(last, 2, "no_administrator")


def test_a_key_is_rotated_with_its_scopes_and_its_lifetime(project):
    project.say("people add", "ann@example.com", "--role", "operator")
    made = project.say("key make", "log", "--scope", "ingest", "--expires", "90d")
    new = project.say("key rotate", made["key_id"], "--keep", "2h")
    assert (new["name"], new["scopes"]) == (made["name"], made["scopes"])
    assert new["key"] != made["key"]
    old, successor = project.say("key list")["keys"]
    assert old["expires"] < successor["expires"]
    assert successor["creator"] == "command line"
    check_error(project.run("key rotate", "0" * 16), 2, "unknown_key")


def test_the_audit_log_is_read_by_project_or_whole(project):
    project.say("people add", "ann@example.com")
    project.say("people role", "ann@example.com", "viewer", "--project", "music")
    project.say("people role", "ann@example.com", "admin", "--project", "music")
    entries = [json.loads(line) for line in project.run("audit", "--ndjson").stdout.splitlines()]
    assert [each["action"] for each in entries] == ["role.set", "role.set", "person.add"]
    assert (entries[0]["before"], entries[0]["after"]) == ("viewer", "admin")
    assert project.say("audit", "--project", "music")["entries"] == entries[:2]
