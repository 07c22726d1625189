"""The commands about rules, checks, traces and explanations."""

from __future__ import annotations

import json
import time
from datetime import datetime
from shutil import copytree

import pytest
from rankscope.monitor.ask.trace import Span
from rankscope.monitor.monitor import Monitor
from rankscope.monitor.store.sqlite.store import SQLiteStore

from tests.cli.command import check_error
from tests.cli.monitored import CONFIGURED, LIMIT, Project, make_events, write_lines
from tests.monitor import served as service
from tests.monitor.notify.listener import listening
from tests.tabular import write_table

FALLEN, ENDED = "2026-09-08", "2026-09-11"
"""Days after the fall, and after the last ranking."""
ENDED_AT = datetime.fromisoformat(f"{ENDED}T00:00:00+00:00")
DAYS, A_DAY = 9, 50
RULE = ["watch", "--measure", "nDCG@5", "--slice", "device"]


@pytest.fixture(scope="module")
def made_once(program, tmp_path_factory):
    """The folder of a project that falls on one device in its second half, and has a rule."""
    folder = tmp_path_factory.mktemp("made")
    made = Project(program, folder)
    made.fill(make_events(DAYS, A_DAY), as_of=None)
    made.say("rule add", *RULE)
    return folder


@pytest.fixture
def project(made_once, program, tmp_path):
    copytree(made_once, tmp_path, dirs_exist_ok=True)
    return Project(program, tmp_path)


@pytest.fixture(scope="module")
def evaluated_once(made_once, program, tmp_path_factory):
    """The folder of that project after its rule has found the fall."""
    folder = tmp_path_factory.mktemp("evaluated")
    copytree(made_once, folder, dirs_exist_ok=True)
    Project(program, folder).say("evaluate", "--as-of", FALLEN)
    return folder


@pytest.fixture
def fallen(evaluated_once, program, tmp_path):
    """That project after its rule has found the fall, to be changed."""
    copytree(evaluated_once, tmp_path, dirs_exist_ok=True)
    return Project(program, tmp_path)


def check(project, *words, name="watch"):
    """The exit status of a check, and what it says of a rule."""
    done = project.run("check", "--json", *words)
    rule = next(one for one in json.loads(done.stdout)["rules"] if one["name"] == name)
    return done.returncode, rule


def test_a_check_says_by_its_status_whether_something_fell(fallen):
    status, rule = check(fallen, "--as-of", "2026-09-05")
    assert (status, rule["state"]) == (0, "OK")
    done = fallen.run("check", "--as-of", FALLEN)
    assert done.returncode == 1
    lines = done.stdout.decode().splitlines()
    assert "ALERT\twatch" in lines
    assert sum("device=tv, model=m, version=4: nDCG@5" in line for line in lines) == 1
    assert max(map(len, lines)) <= 100
    status, rule = check(fallen, "--as-of", FALLEN)
    assert status == 1
    assert "device=tv, model=m, version=4" in rule["named"]
    assert not any("phone" in name for name in rule["named"])


def test_a_check_may_fail_on_other_states(project):
    words = ["--as-of", "2026-09-02"]
    status, rule = check(project, *words)
    assert (status, rule["state"]) == (0, "INSUFFICIENT")
    assert check(project, *words, "--fail-on", "INSUFFICIENT")[0] == 1
    assert check(project, "--as-of", FALLEN, "--fail-on", "NO_DATA")[0] == 0


def test_no_data_fails_a_check(project):
    project.say("rule remove", "watch")
    project.say("rule add", "later", *RULE[1:], "--tolerance", "0.9")
    status, rule = check(project, "--as-of", "2026-09-18", name="later")
    assert (status, rule["state"]) == (1, "NO_DATA")


@pytest.mark.slow
def test_a_rule_that_is_silenced_or_resolved_does_not_fail(fallen):
    words = ("--as-of", FALLEN, "--rule", "watch")
    assert check(fallen, *words)[0] == 1
    fallen.say("rule silence", "watch", "--for", "9999w")
    status, rule = check(fallen, *words)
    assert (status, rule["state"], rule["is_silenced"]) == (0, "ALERT", True)
    assert b"ALERT (silenced)\twatch" in fallen.run("check", *words).stdout
    assert fallen.say("rule silence", "watch")["silenced_until"] is None
    assert check(fallen, *words)[0] == 1
    fallen.say("rule resolve", "watch")
    assert check(fallen, *words)[0] == 0


def test_a_check_reads_what_the_service_found_and_how_old_that_is(fallen):
    with SQLiteStore(fallen.store):
        late = fallen.run("check", "--fail-on", "NO_DATA")
        assert late.returncode == 1
        assert b"hours ago" in late.stderr
        allowed = ["--max-age", "9999w"]
        assert fallen.run("check", *allowed, "--fail-on", "NO_DATA").returncode == 0
        done = fallen.run("check", *allowed)
        assert (done.returncode, done.stderr) == (1, b"")
        # A replay needs no evaluation by the service.
        assert fallen.run("check", "--as-of", FALLEN).returncode == 1


def test_rules_are_listed_changed_and_removed(project):
    (rule,) = project.say("rule list")["rules"]
    assert (rule["name"], rule["measure"], rule["slices"]) == ("watch", "nDCG@5", ["device"])
    words = ["watch", "--measure", "ndcg@1", "--tolerance", "5%", "--period", "hour"]
    changed = project.say("rule add", *words, "--channels", "log")
    assert (changed["measure"], changed["tolerance"], changed["is_relative"]) == (
        "nDCG@1", 0.05, True
    )  # fmt: skip
    assert changed["channels"] == ["log"]
    assert b"5%" in project.run("rule list").stdout
    project.say("rule remove", "watch")
    assert project.say("rule list")["rules"] == []
    for command in ("rule remove", "rule silence", "rule resolve"):
        check_error(project.run(command, "watch"), 2, "no_rule")
    # Whether data arrives is checked in any case.
    assert b"ALERT\tdata\n" in project.run("check", "--as-of", ENDED).stdout


@pytest.mark.slow
def test_a_limit_is_added_and_checked(project):
    added = project.say("rule add", "floor", *LIMIT)
    kept = ("kind", "measure", "below", "above", "hours", "rankings")
    assert tuple(map(added.get, kept)) == ("limit", "nDCG@5", 0.999, None, 48, None)
    status, rule = check(project, "--as-of", FALLEN, name="floor")
    assert (status, rule["state"]) == (1, "ALERT")
    assert "below the limit of 0.9990" in rule["reason"]


@pytest.mark.parametrize(
    ("command", "words", "status", "code"),
    [
        ("rule add", ["x"], 2, "usage"),
        ("rule add", ["x", "--kind", "limit", "--measure", "empty"], 2, "bad_rule"),
        ("rule add", ["x", "--measure", "nDCG@5", "--watch", "volume"], 2, "bad_rule"),
        ("rule add", ["x", "--measure", "nDCG@7"], 2, "bad_rule"),
        ("rule add", ["x", "--measure", "nDCG@5", "--tolerance", "two"], 2, "usage"),
        ("rule add", ["\x1b[2J", "--measure", "nDCG@5"], 2, "bad_rule"),
        ("trace", ["--before", "yesterday"], 2, "usage"),
        ("trace", ["--before", "version=3,version=4"], 2, "usage"),
        ("trace", ["--before", "2026-09-05..2026-09-04"], 2, "bad_period"),
        ("trace", ["--before", "2026-09-05..x"], 2, "usage"),
        ("trace", ["--before", "version=9"], 3, "empty_input"),
        ("trace", ["--measure", "nDCG@7"], 2, "bad_definition"),
        ("trace", ["--attributes", "country"], 2, "unknown_attribute"),
        ("incident acknowledge", ["incident_00"], 2, "no_incident"),
        ("incident snooze", ["incident_00"], 2, "usage"),
        ("incident snooze", ["incident_00", "--for", "4h", "--until", "2099-01-01"], 2, "usage"),
        ("incident snooze", ["incident_00", "--until", "2001-01-01"], 2, "usage"),
    ],
)
def test_a_call_that_is_none_is_refused(command, words, status, code, project):
    ended = ["--as-of", ENDED] if command == "trace" else []
    check_error(project.run(command, *words, *ended), status, code)


def test_a_rule_to_check_has_to_be_there(project):
    said = check_error(project.run("check", "--rule", "wach", "--as-of", ENDED), 2, "no_rule")
    assert "'wach'" in said


def open_afterwards(project):
    """The monitor of a project, after the last ranking."""
    return Monitor.open(project.store, writes=False, now=lambda: ENDED_AT)


def test_a_trace_is_that_of_the_function(project):
    words = ["--before", "version=3,2026-09-02..2026-09-05", "--after", "version=4,model=m"]
    done = project.run("trace", *words, "--measure", "nDCG@5", "--as-of", ENDED)
    with open_afterwards(project) as monitor:
        before = Span("2026-09-02T00:00:00Z", "2026-09-05T00:00:00Z", version="3")
        expected = monitor.trace(before, Span(version="4", model="m"), "nDCG@5")
    assert done.returncode == 0, done.stderr
    assert done.stdout.decode() == f"{expected}\n"
    assert "device=tv, version=4 by ordering" in done.stdout.decode()
    said = project.say("trace", *words, "--measure", "nDCG@5", "--as-of", ENDED)
    assert said == json.loads(json.dumps(expected.to_dict()))


@pytest.mark.parametrize("ending", ["csv", "jsonl", "parquet"])
def test_a_trace_tells_what_documents_cost_by_what_is_known_of_them(ending, project):
    documents = {"doc_id": ["a", "b", "c"], "brand": ["acme", "bolt", None]}
    path = write_table(documents, project.folder / f"documents.{ending}")
    said = project.say("trace", "--documents", str(path), "--as-of", ENDED)
    with open_afterwards(project) as monitor:
        expected = monitor.trace(*monitor.suggest_spans(), documents=documents)
    assert said == json.loads(json.dumps(expected.to_dict()))
    assert "acme" in json.dumps(said)


def test_documents_that_are_none_are_refused(project):
    path = write_lines(project.folder / "documents.jsonl", [1])
    words = ["trace", "--as-of", ENDED, "--documents"]
    check_error(project.run(*words, path), 3, "json_type")
    check_error(project.run(*words, "none.csv"), 4, "io")
    path = write_lines(project.folder / "documents.jsonl", [{"name": "a"}])
    check_error(project.run(*words, path), 3, "columns")


def test_a_trace_of_nothing_in_particular_compares_the_newest_version(project):
    told = project.run("trace", "--as-of", ENDED).stdout.decode()
    assert "before: model m, version 3," in told
    assert "after: model m, version 4," in told
    held = project.run("trace", "--as-of", ENDED, "--before", "validation").stdout.decode()
    assert "before: validation" in held


def test_a_trace_needs_two_spans(program, tmp_path):
    project = Project(program, tmp_path)
    project.fill(make_events(1), as_of=None)
    check_error(project.run("trace", "--as-of", ENDED), 3, "empty_input")


def test_an_explanation_is_that_of_the_function(project):
    done = project.run("explain", "8-0", "--measure", "nDCG@5", "--as-of", ENDED)
    with open_afterwards(project) as monitor:
        expected = monitor.explain("8-0", "nDCG@5")
    assert done.stdout.decode() == f"{expected}\n"
    check_error(project.run("explain", "\x1b[2J"), 2, "unknown_ranking")


def test_hostile_ids_reach_no_terminal(program, tmp_path):
    evil = "\x1b[2J\u202e=1+1"
    events = make_events(4)
    events["rankings"][-1] |= {"ranking_id": evil, "items": [evil, "a"], "version": evil}
    events["rankings"][-1]["attributes"] = {"device": evil}
    project = Project(program, tmp_path)
    project.fill(events, as_of="2026-09-06")
    for command, words in (
        ("status", []),
        ("doctor", []),
        ("trace", ["--as-of", "2026-09-06"]),
        ("trace", ["--as-of", "2026-09-06", "--after", f"version={evil}"]),
        ("explain", [evil]),
    ):
        done = project.run(command, *words)
        told = (done.stdout + done.stderr).decode()
        assert all(line.isprintable() for line in told.replace("\t", " ").split("\n")), command
    path = write_lines(tmp_path / "more.jsonl", [{"ranking_id": evil, "time": 0, "items": [evil]}])
    assert b"\x1b" not in project.run("ingest", path).stderr


def test_a_webhook_is_set_shown_in_part_and_removed(project):
    assert project.say("webhook show")["host"] is None
    check_error(project.run("webhook test"), 2, "no_webhook")
    secret = project.say("webhook set", "https://93.184.215.14/hook/path-nobody-sees")["secret"]
    assert secret.startswith("whsec_")
    shown = project.run("webhook show").stdout.decode()
    assert shown.startswith("host\t93.184.215.14\n")
    assert "path" not in shown
    assert secret not in shown
    assert project.say("webhook remove")["removed"]
    check_error(project.run("webhook remove"), 2, "no_webhook")


@pytest.mark.parametrize(
    ("address", "status", "code"),
    [
        ("http://93.184.215.14/", 2, "webhook_url"),
        ("https://127.0.0.1/", 3, "webhook_address"),
    ],
)
def test_a_webhook_that_may_not_be_is_refused(address, status, code, project):
    check_error(project.run("webhook set", address), status, code)
    assert project.say("webhook show")["host"] is None


def list_incidents(project, *words):
    return json.loads(project.run("incidents", "--json", *words).stdout)


@pytest.mark.slow
def test_a_check_of_a_past_time_prints_incidents_and_writes_nothing(project):
    done = project.run("check", "--as-of", FALLEN, "--json")
    found = [one for one in json.loads(done.stdout)["incidents"] if one["rule"] == "watch"]
    assert {"device": "tv"} in [one["stream"]["slice"] for one in found]
    assert {one["state"] for one in found} == {"open"}
    assert list_incidents(project, "--state", "all") == []
    assert project.say("evaluate", "--as-of", "2026-09-05")["incidents"] == []
    said = project.say("evaluate", "--as-of", FALLEN)
    assert "opened" in {one["event"] for one in said["incidents"]}
    kept = list_incidents(project, "--rule", "watch")
    assert {one["id"] for one in kept} == {one["id"] for one in found}
    assert project.say("evaluate", "--as-of", FALLEN)["incidents"] == []  # none is reported twice


def test_people_acknowledge_snooze_and_resolve_incidents(fallen):
    first, *_ = list_incidents(fallen, "--rule", "watch")
    name = first["id"]
    done = fallen.say("incident acknowledge", name, "--note", "mine")
    assert (done["state"], done["acknowledged_by"]) == ("acknowledged", "command line")
    assert [one["id"] for one in list_incidents(fallen, "--state", "acknowledged")] == [name]
    assert fallen.say("incident snooze", name, "--for", "4h")["state"] == "snoozed"
    until = fallen.say("incident snooze", name, "--until", "2099-01-01")["snoozed_until"]
    assert until == "2099-01-01T00:00:00.000000Z"
    assert fallen.say("incident resolve", name)["state"] == "resolved"
    assert name not in [one["id"] for one in list_incidents(fallen)]
    lines = fallen.run("incidents", "--state", "resolved").stdout.decode().splitlines()
    line = next(line for line in lines if line.startswith(name))
    assert line.split("\t")[1:4:2] == ["resolved", "watch"]


TOKEN = "the-token-of-the-team"  # noqa: S105 - of nobody


@pytest.fixture
def configured(program, tmp_path):
    made = Project(program, tmp_path)
    made.say("configure", "--positive", "click", "--window", "1h")
    return made


def write_channels(folder, text):
    path = folder / "rankscope.toml"
    path.write_text(text, encoding="utf-8")
    return str(path)


def test_channels_are_listed(configured, tmp_path):
    path = write_channels(tmp_path, f'[channels.oncall]\nurl = "json://{TOKEN}.example"\n')
    said = configured.say("channels", "--config", path)
    assert [(one["name"], one["kind"], one["service"]) for one in said["channels"]] == [
        ("log", "log", ""),
        ("oncall", "service", "JSON"),
    ]
    done = configured.run("channels", "--config", path)
    assert done.returncode == 0
    assert TOKEN.encode() not in done.stdout + done.stderr


def test_a_test_says_by_its_status_whether_it_arrived(configured, tmp_path):
    with listening() as listener:
        url = f"json://127.0.0.1:{listener.port}/{TOKEN}"
        path = write_channels(tmp_path, f'[channels.here]\nurl = "{url}"\nallow_private = true\n')
        assert configured.say("channel test", "here", "--config", path) == {
            "is_delivered": True,
            "told": "delivered",
        }
        assert len(listener.requests) == 1
        path = write_channels(tmp_path, f'[channels.here]\nurl = "{url}"\n')
        done = configured.run("channel test", "here", "--config", path, "--json")
        assert done.returncode == 1
        assert not json.loads(done.stdout)["is_delivered"]
        assert len(listener.requests) == 1
        assert TOKEN.encode() not in done.stdout + done.stderr


def test_a_channel_that_is_not_defined_is_refused(configured):
    done = configured.run("channel test", "none")
    assert (done.returncode, b"there is no channel 'none'" in done.stderr) == (2, True)


def test_an_address_of_no_service_is_refused_and_not_shown(configured, tmp_path):
    for scheme in ("nothing", "slack"):  # which needs more than a token
        path = write_channels(tmp_path, f'[channels.oncall]\nurl = "{scheme}://{TOKEN}"\n')
        done = configured.run("channels", "--config", path)
        assert done.returncode == 2
        assert b"channels.oncall: url is not the address of a service" in done.stderr
        assert TOKEN.encode() not in done.stderr


@pytest.fixture(scope="module")
def served(tmp_path_factory):
    """A store in which version 4 is worse than version 3, which serves beside it."""
    folder = tmp_path_factory.mktemp("served")
    with service.open_served(folder, fall=0.3):
        return folder / "served.db"


def test_the_verdict_comes_first_and_then_each_day(program, served):
    done = program.run("monitor", "compare", str(served), "--as-of", "2026-09-19")
    assert done.returncode == 0
    sentence, of_lists, blank, head, *days = done.stdout.decode().splitlines()
    assert sentence.startswith("Version 4 is worse than version 3: nDCG@5 differs by −0.0")
    assert of_lists.startswith("For the same 50 queries, lists of version 4 overlap ")
    assert blank == ""
    assert head.split()[:4] == ["day", "difference", "lower", "upper"]
    assert [line[:10] for line in days] == [
        f"2026-09-{1 + day:02}" for day in range(service.RELEASE, service.DAYS)
    ]
    assert days[-1].endswith("yes")


def test_versions_slices_and_times_are_chosen(program, served):
    chosen = ["--old", "4", "--new", "3", "--slice", "device=tv", "--since", "2026-09-14"]
    done = program.run("monitor", "compare", str(served), *chosen, "--json")
    said = json.loads(done.stdout)
    assert (said["old"], said["new"], said["slice"]) == ("4", "3", {"device": "tv"})
    assert said["verdict"] == "better"
    assert said["since"] == "2026-09-14T00:00:00.000000Z"


@pytest.mark.parametrize(
    ("words", "status", "code"),
    [
        (["--slice", "tv"], 2, "usage"),
        (["--slice", "app=x"], 2, "unknown_slice"),
        (["--new", "9"], 2, "unknown_version"),
        (["--new", "3"], 3, "empty_input"),
    ],
)
def test_what_can_not_be_compared_is_refused(words, status, code, program, served):
    check_error(program.run("monitor", "compare", str(served), *words), status, code)


LABEL = "label 'Click' isn't configured, so it doesn't count (3 of 3 labels); it looks like 'click'"
ATTRIBUTE = "attribute 'device' is missing in all 3 rankings; 'Device' looks like it"


def test_they_are_named_when_they_are_stored_and_by_status_and_doctor(program, tmp_path):
    project = Project(program, tmp_path)
    project.say("configure", *CONFIGURED)
    now = round(time.time() * 1000) - 60_000
    shown = [
        {"ranking_id": name, "time": now, "doc_ids": ["a"], "attributes": {"Device": "tv"}}
        for name in "pqr"
    ]
    clicks = [
        {"ranking_id": name, "time": now + 1, "doc_id": "a", "label": "Click"} for name in "pqr"
    ]
    done = project.run("ingest", write_lines(tmp_path / "rankings.jsonl", shown))
    assert f"note: {ATTRIBUTE}" in done.stderr.decode()
    path = write_lines(tmp_path / "labels.jsonl", clicks)
    done = project.run("label", path)
    assert (done.returncode, done.stderr.decode()) == (0, f"note: {LABEL}\n")
    (said,) = project.say("label", path)["mismatches"]
    assert (said["kind"], said["name"], said["like"]) == ("unknown_label", "Click", "click")
    project.say("evaluate")
    done = project.run("status")
    assert {f"note: {LABEL}", f"note: {ATTRIBUTE}"} <= {*done.stderr.decode().splitlines()}
    assert LABEL in {one["message"] for one in project.say("status")["mismatches"]}
    told = json.loads(project.run("doctor", "--json").stdout)
    (found,) = (one for one in told["findings"] if one["name"] == "names")
    assert not found["is_good"]
    assert LABEL in found["told"]
