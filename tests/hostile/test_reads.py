"""Reads are bounded: in statements, in steps of SQLite, in time, and in what they show."""

from __future__ import annotations

import asyncio
import itertools
import json
import random
import signal
import subprocess
import sys
import threading
from pathlib import Path

import httpx
import pytest
from prometheus_client.parser import text_string_to_metric_families
from rankscope.errors import DeadlineError
from rankscope.monitor.ask.series import find_newest_cells
from rankscope.monitor.ask.trace import Span
from rankscope.monitor.definition.configuration import Configuration
from rankscope.monitor.definition.definition import define
from rankscope.monitor.definition.slices import Slicing
from rankscope.monitor.evaluate.days import Contexts
from rankscope.monitor.evaluate.stored_windows import add_cells, unpack_cell
from rankscope.monitor.evaluate.values import evaluate_chunks
from rankscope.monitor.evaluate.windows import sum_cells
from rankscope.monitor.events.event import Items, Label, Ranking
from rankscope.monitor.events.limits import DAY, HOUR, MINUTE
from rankscope.monitor.events.times import to_datetime
from rankscope.monitor.incidents.advance import advance_rules
from rankscope.monitor.incidents.management import list_states, set_rule
from rankscope.monitor.monitor import Monitor
from rankscope.monitor.rules.kinds import Rule
from rankscope.monitor.server import metrics
from rankscope.monitor.server.access.authenticator import Principal
from rankscope.monitor.server.api.openapi import describe
from rankscope.monitor.server.http.problems import RefusedRequestError
from rankscope.monitor.server.http.settings import Settings
from rankscope.monitor.server.pages.overview import view_overview
from rankscope.monitor.server.pages.overview_range import Choice
from rankscope.monitor.server.pages.quality import view_quality
from rankscope.monitor.server.routing.pool import Deadlines, MonitorPool
from rankscope.monitor.server.telemetry import Telemetry
from rankscope.monitor.store.deadline import Deadline, limit_reads
from rankscope.monitor.store.folding import MOST_VERSIONS, OTHER, choose_versions
from rankscope.monitor.store.sqlite.store import SQLiteStore
from sqlalchemy import event, text

from tests.hostile.stuck_server import ENDLESS
from tests.monitor.server.test_routes import list_endpoints
from tests.refusals import refuses

PROJECT = "music"
MUSIC = Configuration(
    definition=define(measures=["nDCG@1", "nDCG@3"], positive="click", window=3600),
    attributes=("device",),
    baseline=None,
)
START = 480_000 * HOUR
NOW = START + 40 * HOUR


def show(name, time, version, model="search"):
    """Return a ranking and a click on one of its documents."""
    number = sum(name.encode())
    shown = Ranking(
        name,
        name,
        time,
        Items(("a", "b", "c"), (1, 2, 3)),
        user_id=f"u{number % 7}",
        query_key=f"q{number % 5}",
        model=model,
        version=version,
        attributes=(("device", ("tv", "phone")[number % 2]),),
    )
    return [shown, Label(f"{name} click", name, "abc"[number % 3], time + MINUTE, ("click",))]


def make_log(requests, hours=3, releases=4):
    """Return rankings of requests that are versions, and some of releases in every hour."""
    events = []
    for number in range(requests):
        time = START + number * hours * HOUR // requests
        events += show(f"request {number}", time, f"id-{number:05}")
    for hour in range(hours):
        for number in range(releases):
            for version in ("3", "4"):
                time = START + hour * HOUR + number * MINUTE
                events += show(f"release {version} {hour} {number}", time, version)
    return events


STUCK = Path(__file__).with_name("stuck_server.py")
STEPS = 100
"""After so many instructions of SQLite one step is counted."""
GUARD = 300
"""Seconds after which a process that should have ended is ended by the test."""


def write_metrics(monitor):
    """Write the metrics of a process that did nothing else."""
    return metrics.write_metrics(monitor, Telemetry())


def open_monitor(folder, events, name="events"):
    monitor = Monitor.open(f"{folder}/{name}.db", PROJECT, now=lambda: to_datetime(NOW), threads=1)
    monitor.configure(MUSIC)
    for at in range(0, len(events), 5000):
        monitor.store.append(PROJECT, events[at : at + 5000])
    monitor.evaluate()
    return monitor


def count_work(monitor, read):
    """Count the statements of a read, and the steps that SQLite takes for them."""
    statements, steps = [], itertools.count()
    engine = monitor.store.engine

    def note(*given):
        statements.append(given[2])

    def watch(connection, _record):
        connection.set_progress_handler(lambda: next(steps) < 0, STEPS)

    event.listen(engine, "before_cursor_execute", note)
    event.listen(engine, "connect", watch)
    read(monitor)
    event.remove(engine, "before_cursor_execute", note)
    event.remove(engine, "connect", watch)
    return len(statements), next(steps)


def read_samples(monitor):
    """The samples of windows: by name, model, version and how long windows are."""
    found = {}
    for family in text_string_to_metric_families(write_metrics(monitor).decode()):
        for sample in family.samples:
            labels = sample.labels
            if {"model", "window"} <= set(labels) and labels.get("measure") in {None, "nDCG@3"}:
                place = (sample.name, labels["model"], labels["version"], labels["window"])
                found[place] = sample.value
    return found


def test_more_versions_take_no_more_statements_and_no_more_steps_than_they_are(tmp_path):
    few, many = 150, 1200
    with (
        open_monitor(tmp_path, make_log(few), "few") as small,
        open_monitor(tmp_path, make_log(many), "many") as large,
    ):
        for read in (write_metrics, view_overview, Monitor.versions, Monitor.quality):
            statements, steps = count_work(small, read)
            assert count_work(large, read)[0] <= statements
            assert count_work(large, read)[1] <= 1.5 * steps * many / few


@pytest.mark.slow
def test_a_version_for_each_request_is_one_stream_beside_those_of_releases(tmp_path):
    requests = 500
    with open_monitor(tmp_path, make_log(requests)) as monitor:
        samples = read_samples(monitor)
        for window in ("hour", "day"):
            shown = {place[2] for place in samples if place[::3] == ("rankscope_rankings", window)}
            assert shown == {"3", "4", OTHER}
        days = [
            value for place, value in samples.items() if place[::3] == ("rankscope_rankings", "day")
        ]
        assert sum(days) == requests + 3 * 2 * 4
        for version in ("3", "4"):
            whole = monitor.series("nDCG@3", every="day", version=version)
            assert samples["rankscope_ndcg", "search", version, "day"] == whole.values[-1]
            assert whole.rankings == (3 * 4,)
        # Not even a hundred of the windows are stored that there would be without a limit.
        assert len(monitor.store.cells(PROJECT, MUSIC.digest)) < 100
        quality = monitor.quality()
        assert (quality.folded_versions, quality.folded_rankings) == (-(-requests // 3), requests)
        told = write_metrics(monitor).decode()
        assert f"rankscope_hour_versions_folded {quality.folded_versions:.1f}" in told
        rows = dict(view_quality(monitor, Choice()).besides)
        assert rows["rankings of versions summed as <other>"] == requests


def test_no_more_versions_than_a_hundred_are_kept():
    shown = {("search", f"{number}"): number for number in range(300)}
    folding = choose_versions(shown)
    assert folding.pairs == {("search", f"{number}") for number in range(200, 300)}
    assert (folding.folded, folding.rest) == (200, sum(range(200)))
    # All that weigh the same are kept, or none of them.
    alike = {("search", f"{number}"): number // 60 for number in range(300)}
    assert choose_versions(alike).pairs == {("search", f"{number}") for number in range(240, 300)}
    models = {(f"model {number}", "1"): number for number in range(300)}
    assert choose_versions(models).models == {f"model {number}" for number in range(280, 300)}
    assert choose_versions(models).place("model 3", "1") == (OTHER, OTHER)
    assert choose_versions(models).place("model 299", "2") == ("model 299", OTHER)


def test_versions_that_are_few_in_every_hour_are_folded_where_they_are_shown(tmp_path):
    hours = 30
    events = [
        one
        for number in range(hours * 10)
        for one in show(f"r{number}", START + number * HOUR // 10, f"id-{number:05}")
    ]
    with open_monitor(tmp_path, events) as monitor:
        assert monitor.quality().folded_versions == 0
        samples = read_samples(monitor)
        shown = [place for place in samples if place[::3] == ("rankscope_rankings", "hour")]
        assert len(shown) == MOST_VERSIONS + 1
        told = write_metrics(monitor).decode()
        assert f'rankscope_versions{{window="hour"}} {hours * 10:.1f}' in told
        assert (
            f'rankscope_versions_folded{{window="hour"}} {hours * 10 - MOST_VERSIONS:.1f}' in told
        )
        # Those of the last hours, and the newest hour that any of the others has.
        assert ("rankscope_rankings", "search", "id-00299", "hour") in shown
        ends = samples["rankscope_window_end_timestamp_seconds", "search", OTHER, "hour"]
        assert ends == (START + 20 * HOUR) / 1_000_000
        assert samples["rankscope_rankings", "search", OTHER, "hour"] == 10


def test_folded_windows_depend_neither_on_order_nor_on_batches(tmp_path):
    generator = random.Random(2)
    events = make_log(450)
    # Hours and versions with as many rankings each, and models beyond those that are kept apart.
    for number in range(130):
        events += show(f"model {number}", START + 5 * HOUR, "1", f"model-{number:03}")
    with (
        open_monitor(tmp_path, events, "once") as once,
        open_monitor(tmp_path, [], "often") as often,
    ):
        shuffled = generator.sample(events, len(events))
        for at in range(0, len(shuffled), 300):
            often.store.append(PROJECT, shuffled[at : at + 300] + shuffled[:20])
            often.evaluate()
        for length in (HOUR, DAY):
            cells = [
                monitor.store.cells(PROJECT, MUSIC.digest, length=length)
                for monitor in (once, often)
            ]
            assert cells[0] == cells[1]
            assert any(row.version == OTHER for row in cells[0])
        hours = [monitor.store.hours(PROJECT, MUSIC.digest) for monitor in (once, often)]
        assert hours[0] == hours[1]
        assert write_values(once) == write_values(often)


def write_values(monitor):
    """What is shown of windows."""
    return read_samples(monitor), monitor.versions()


def test_what_is_folded_adds_up_to_the_same_bits(tmp_path):
    with open_monitor(tmp_path, make_log(600)) as monitor:
        store = monitor.store
        progress = store.progress(PROJECT, MUSIC.digest)
        unfolded = {}
        evaluated = evaluate_chunks(store.read(PROJECT), MUSIC.definition, now=NOW)
        slicing = Slicing.from_json(progress.slicing)
        for key, cell in sum_cells(evaluated, Contexts(store, PROJECT), slicing).items():
            window = key.start, key.slice
            unfolded[window] = unfolded[window].merge(cell) if window in unfolded else cell
        stored = map(unpack_cell, store.cells(PROJECT, MUSIC.digest))
        found = {}
        for one in stored:
            found.setdefault((one.key.start, one.key.slice), []).append(one)
        for window, cells in found.items():
            assert add_cells(cells)[0] == unfolded[window]


def test_a_rule_watches_no_more_streams_than_it_may(tmp_path):
    rule = Rule(name="quality", measure="nDCG@3", false_alarms=0.9, period="hour")
    with open_monitor(tmp_path, make_log(900)) as monitor:
        set_rule(monitor.store, PROJECT, MUSIC, rule, now=START, actor="test")
        progress = monitor.store.progress(PROJECT, MUSIC.digest)
        slicing = Slicing.from_json(progress.slicing)
        advance_rules(monitor.store, PROJECT, MUSIC, slicing, now=NOW, threads=1)
        state = next(one for one in list_states(monitor.store, PROJECT) if one.rule == rule)
        streams = {stream.key[:2] for stream in state.streams}
        assert streams == {("search", "3"), ("search", "4"), ("search", OTHER)}


def test_a_list_of_versions_has_all_rankings_in_it(tmp_path):
    with open_monitor(tmp_path, make_log(700)) as monitor:
        versions = monitor.versions()
        assert {one.version for one in versions} == {"3", "4", OTHER}
        [other] = [one for one in versions if one.folded]
        assert (other.model, other.version) == ("search", OTHER)
        assert other.folded == 700
        assert sum(one.rankings for one in versions) == 700 + 3 * 2 * 4
        # What is not listed can still be traced: it is looked for in the time of the others.
        stored = monitor.store.versions(PROJECT)
        [folded] = [one for one in stored if one.folded]
        time = Span(model="search", version="id-00007").narrow(stored)
        assert time == (folded.first, folded.last + 1)


def test_a_version_in_use_is_listed_before_larger_ones_of_long_ago(tmp_path):
    events = []
    for number in range(150):
        for at in range(2 + number % 3):
            events += show(f"old {number} {at}", START - 100 * DAY, f"old-{number:03}")
    events += show("new", START, "new")
    with SQLiteStore(tmp_path / "events.db") as store:
        store.append(PROJECT, events)
        listed = {one.version: one for one in store.versions(PROJECT)}
        assert listed["new"].rankings == 1
        assert set(listed) == {"new", OTHER} | {f"old-{n:03}" for n in range(150) if n % 3 == 2}


def test_a_read_whose_time_is_up_is_answered_with_503(make_service):
    service = make_service(Settings(read_seconds=0))
    for path in ("/metrics", "/v1/overview", "/v1/versions", "/v1/trace"):
        answer = service.ask("GET", path, key=service.make_key("music", "read"))
        assert answer.status_code == 503
        error = answer.json()["error"]
        assert error["code"] == "read_timeout"
        assert error["message"] == "the read did not finish within 0 seconds"
        assert error["hint"]
        assert int(answer.headers["retry-after"]) > 0
    described = describe(list_endpoints())
    assert "503" in described["paths"]["/metrics"]["get"]["responses"]


def make_clock(ticks):
    """A clock that stands still until it was looked at so often."""
    looks = itertools.count()
    return lambda: 0.0 if next(looks) < ticks else 1e9


def test_sqlite_looks_at_the_deadline_while_it_reads(tmp_path):
    with SQLiteStore(tmp_path / "events.db") as store:
        with (
            pytest.raises(DeadlineError) as ended,
            limit_reads(Deadline(1.0, make_clock(10))),
        ):
            store.query(lambda connection: connection.execute(ENDLESS).all())
        assert ended.value.code == "read_timeout"
        # The store goes on, and so do reads without a deadline.
        assert store.query(lambda connection: connection.execute(text("SELECT 1")).all()) == [(1,)]


def test_rankings_that_are_read_ahead_have_the_deadline_of_who_reads(tmp_path):
    with open_monitor(tmp_path, make_log(300)) as monitor:
        read = monitor.store.read(PROJECT, size=1)
        with limit_reads(Deadline(1.0, make_clock(3))), pytest.raises(DeadlineError):
            list(read)
        assert sum(len(chunk.times) for chunk in monitor.store.read(PROJECT)) == 300 + 3 * 2 * 4


@pytest.mark.parametrize("ticks", [2, 3, 5, 8])
def test_python_between_queries_looks_at_the_deadline(tmp_path, ticks):
    with (
        open_monitor(tmp_path, make_log(200)) as monitor,
        limit_reads(Deadline(1.0, make_clock(ticks))),
        pytest.raises(DeadlineError),
    ):
        write_metrics(monitor)


def test_all_reads_end_when_the_service_closes(tmp_path):
    deadlines = Deadlines(lambda: 0.0)
    with SQLiteStore(tmp_path / "events.db") as store:
        begun = threading.Event()

        def read(monitor):
            begun.set()
            return monitor.store.query(lambda connection: connection.execute(ENDLESS).all())

        async def ask():
            pool = MonitorPool(store, Settings(), lambda: NOW, deadlines)
            asked = asyncio.ensure_future(pool.run(Principal({}, "test", project="music"), read))
            await asyncio.to_thread(begun.wait, GUARD)
            assert deadlines.running == 1
            deadlines.stop()
            with refuses(DeadlineError, "read_stopped"):
                await asked
            with pytest.raises(DeadlineError):
                await pool.run(Principal({}, "test", project="music"), lambda _: 1)

        asyncio.run(ask())
    assert deadlines.running == 0


def test_traces_that_take_long_keep_no_thread_from_other_reads(tmp_path):
    principal, gate = Principal({}, "test", project="music"), threading.Event()
    with SQLiteStore(tmp_path / "events.db") as store:

        async def ask():
            pool = MonitorPool(
                store, Settings(readers=1, waiting_reads=1, waiting_traces=3), lambda: NOW
            )
            traces = [
                asyncio.ensure_future(
                    pool.run(principal, lambda _: gate.wait(GUARD), is_trace=True)
                )
                for _ in range(5)
            ]
            await asyncio.sleep(0)
            assert await pool.run(principal, lambda monitor: monitor.project) == "music"
            gate.set()
            answers = await asyncio.gather(*traces, return_exceptions=True)
            assert answers.count(True) == 3
            refused = [one for one in answers if isinstance(one, RefusedRequestError)]
            assert [one.code for one in refused] == ["busy", "busy"]

        asyncio.run(ask())


@pytest.fixture(params=["sql", "python"])
def stuck(tmp_path, request):
    """A service whose readers are stuck as soon as somebody asks for metrics."""
    with subprocess.Popen(
        [sys.executable, str(STUCK), str(tmp_path / "events.db"), request.param],
        stdout=subprocess.PIPE,
        stderr=subprocess.PIPE,
        text=True,
    ) as made:
        yield made
        made.kill()


@pytest.mark.slow
def test_sigterm_ends_the_process_whatever_readers_do(stuck, request):
    address = stuck.stdout.readline().strip()
    answers = []

    def ask():
        try:
            answers.append(httpx.get(f"{address}metrics", timeout=GUARD))
        except httpx.TransportError as error:
            answers.append(error)

    asking = [threading.Thread(target=ask) for _ in range(2)]
    for thread in asking:
        thread.start()
    assert stuck.stdout.readline().strip() == "stuck"
    stuck.send_signal(signal.SIGTERM)
    _, log = stuck.communicate(timeout=GUARD)
    for thread in asking:
        thread.join(GUARD)
    assert stuck.returncode == 0
    lines = [json.loads(line) for line in log.splitlines() if line.startswith("{")]
    if "python" in request.node.name:
        # A read that looks at nothing is left behind.
        assert "ending.forced" in {line["event"] for line in lines}
        return
    assert "ending.forced" not in {line["event"] for line in lines}
    assert {one.status_code for one in answers if isinstance(one, httpx.Response)} == {503}
    codes = {line.get("code") for line in lines if line["event"] == "request"}
    assert "read_stopped" in codes


def test_the_newest_windows_are_found_by_the_index_of_their_slice(tmp_path):
    with open_monitor(tmp_path, make_log(50)) as monitor:
        plans = []
        engine = monitor.store.engine

        def explain(*given):
            _, cursor, statement, parameters, *_ = given
            if "cells" in statement:
                cursor.execute(f"EXPLAIN QUERY PLAN {statement}", parameters)
                plans.extend(row[-1] for row in cursor.fetchall())

        event.listen(engine, "before_cursor_execute", explain)
        find_newest_cells(monitor.store, PROJECT, MUSIC.digest, "hour", START)
        event.remove(engine, "before_cursor_execute", explain)
        scans = [one for one in plans if "cells" in one]
        assert len(scans) == 2
        assert "USING INDEX cells_by_slice" in scans[0]
        assert "slice=? AND start>?" in scans[0]
        assert scans[1].startswith("SEARCH cells")
