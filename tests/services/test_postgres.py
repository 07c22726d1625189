"""A store in PostgreSQL passes the conformance tests, and keeps its promises beside others."""

from __future__ import annotations

import os
import shlex
import signal
import subprocess
import sys
import threading
from collections import Counter
from contextlib import ExitStack, closing, contextmanager, suppress
from dataclasses import replace
from itertools import combinations
from pathlib import Path

import httpx
import psycopg
import pytest
from hypothesis import given
from hypothesis import strategies as st
from rankscope._cli import main
from rankscope._demo.generator import make_story
from rankscope._demo.story import ATTRIBUTES, define_story
from rankscope.errors import DeadlineError, FileError, UsageError
from rankscope.monitor import Configuration, Monitor
from rankscope.monitor.doctor import examine
from rankscope.monitor.events.event import Items, Label, Ranking
from rankscope.monitor.events.limits import DAY
from rankscope.monitor.events.reader import EventReader
from rankscope.monitor.events.rejection import RefusedError
from rankscope.monitor.events.times import to_datetime
from rankscope.monitor.store import open_reader, open_store
from rankscope.monitor.store.deadline import Deadline, limit_reads
from rankscope.monitor.store.keys import AuditEntry, Secret, make_key
from rankscope.monitor.store.postgres.store import PostgresStore
from rankscope.monitor.store.records import Progress, Webhook
from rankscope.monitor.store.sqlite.store import SQLiteStore
from rankscope.monitor.store.tables import schema
from sqlalchemy import event, select, text, update

from tests.generated import examples
from tests.monitor.store.conformance import StoreConformance, make_label, make_ranking, read_back
from tests.monitor.store.logs import events
from tests.monitor.store.processes import find_tests
from tests.refusals import refuses

WRITER = Path(__file__).with_name("postgres_writer.py")
END = 20_778 * DAY


@pytest.fixture
def url(cluster):
    return cluster.url()


@pytest.fixture
def store(url):
    with PostgresStore(url) as opened:
        yield opened


class TestPostgres(StoreConformance):
    """A store in a PostgreSQL database."""

    @pytest.fixture
    def opened(self, url):
        return lambda: open_store(url)


@contextmanager
def start(*command, **given):
    """Run Python with the tests in its path; it is killed in the end."""
    with subprocess.Popen(
        [sys.executable, *map(str, command)],
        env=find_tests(),
        stdin=subprocess.PIPE,
        stdout=subprocess.PIPE,
        text=True,
        **given,
    ) as process:
        try:
            yield process
        finally:
            process.kill()


def read_line(process):
    assert process.stdout is not None
    return process.stdout.readline().strip()


def seqs_of(store):
    """The numbers of all events."""
    wanted = select(schema.ids.c.seq).distinct().order_by(schema.ids.c.seq)
    return store.query(lambda connection: list(connection.execute(wanted).scalars()))


# Several writers.


@examples(6)
@given(
    batches=st.lists(
        st.tuples(st.integers(0, 2), st.lists(events, min_size=1, max_size=5)), max_size=8
    )
)
def test_writers_at_the_same_time_store_what_one_would_store_in_some_order(
    cluster, tmp_path_factory, batches
):
    url = cluster.url()
    sent = []
    with ExitStack() as stack:
        stores = [stack.enter_context(PostgresStore(url, group_seconds=0)) for _ in range(3)]
        coming = []
        for writer, batch in batches:
            coming.append(stores[writer].submit("music", batch))
            sent += batch
        outcomes = [outcome for future in coming for outcome in future.result()]
        accepted = {
            outcome.seq: event
            for event, outcome in zip(sent, outcomes, strict=True)
            if outcome.status == "accepted"
        }
        assert sorted(accepted) == seqs_of(stores[0]) == list(range(1, len(accepted) + 1))
        assert stores[0].counters("music") == Counter(outcome.status for outcome in outcomes)
        stores[0].verify()
        # The first of two events with one id is the one with the lower number.
        with SQLiteStore(tmp_path_factory.mktemp("model") / "events.db", group_seconds=0) as model:
            if accepted:
                expected = model.append("music", [accepted[seq] for seq in sorted(accepted)])
                assert {outcome.status for outcome in expected} == {"accepted"}
            again = [outcome.status for outcome in model.append("music", sent)]
            first = ["accepted" if one.status == "accepted" else one.status for one in outcomes]
            assert [was if was != "accepted" else "duplicate" for was in first] == again
            assert read_back(stores[1], "music") == read_back(model, "music")
            assert stores[2].versions("music") == model.versions("music")
            assert stores[2].count_pending("music") == model.count_pending("music")


@pytest.mark.slow
def test_through_kills_and_restarts_nothing_acknowledged_is_lost_or_there_twice(cluster):
    """A reader that follows the numbers meanwhile misses nothing either."""
    url = cluster.url()
    with open_store(url) as store, ExitStack() as stack:
        ending = threading.Event()
        seen = set()

        def follow():
            """Ask for what is new, as an evaluator does, from the last number on."""
            seq, is_last = 0, False
            while not is_last:
                is_last = ending.is_set()
                try:
                    changes = store.touched("music", seq)
                except FileError as error:
                    assert error.code == "store_unreachable"  # noqa: PT017 - it is asked again
                    is_last = False
                else:
                    seq = changes.seq
                    seen.update(changes.times.tolist())

        follower = threading.Thread(target=follow)
        follower.start()
        writers = [
            stack.enter_context(start(WRITER, "write", url, 1_000_000 * number))
            for number in range(1, 4)
        ]
        acknowledged = [int(read_line(writer)) for _ in range(5) for writer in writers]
        writers[0].kill()
        for _ in range(2):
            acknowledged += [int(read_line(writer)) for _ in range(3) for writer in writers[1:]]
            cluster.stop()
            cluster.start()
        acknowledged += [int(read_line(writer)) for _ in range(3) for writer in writers[1:]]
        for writer in writers:
            writer.kill()
            rest, _ = writer.communicate()
            acknowledged += [int(line) for line in rest.splitlines()]
        # The server ends the transactions of the killed before this one begins.
        store.append("music", [make_ranking(1)])
        ending.set()
        follower.join()
        found = read_back(store, "music", 1000)
        numbers = [start + at for start in acknowledged for at in range(10)]
        for number in numbers:
            assert len(found[f"ranking-{number}"]) == 2
        assert len(numbers) == len(set(numbers))
        assert seen == {ranking.time for ranking, *_ in found.values()}
        seqs = seqs_of(store)
        assert seqs == list(range(1, len(seqs) + 1))
        assert store.last_seq == store.counters("music")["accepted"] == len(seqs)
        store.verify()


def test_a_writer_goes_on_after_a_restart_of_the_server(cluster, url):
    with PostgresStore(url, busy_seconds=0.05) as store:
        assert store.append("music", [make_ranking(1)])[0].seq == 1
        cluster.stop()
        try:
            with pytest.raises(FileError) as down:
                store.append("music", [make_ranking(2)])
            with pytest.raises(FileError) as unread:
                store.counters("music")
        finally:
            cluster.start()
        assert (down.value.code, unread.value.code) == ("store_unreachable", "store_unreachable")
        assert store.failure is None
        assert store.append("music", [make_ranking(2)])[0].seq == 2
        assert store.counters("music") == {"accepted": 2}


def test_a_transaction_that_others_hold_up_is_refused_and_then_stored(url):
    with PostgresStore(url, busy_seconds=0.05) as store, PostgresStore(url) as other:
        holding, ending = threading.Event(), threading.Event()

        def hold(_transaction):
            holding.set()
            ending.wait()

        held = other.transact(hold)
        holding.wait()
        with refuses(FileError, "store_busy"):
            store.append("music", [make_ranking(1)])
        ending.set()
        held.result()
        assert store.append("music", [make_ranking(1)])[0].status == "accepted"


def test_a_deadlock_is_repeated(store):
    tries = []

    def fail_once(transaction):
        tries.append(1)
        if len(tries) == 1:
            code = "DO $$ BEGIN RAISE SQLSTATE '40P01'; END $$"
            transaction.connection.exec_driver_sql(code)
        return transaction.next_seq()

    assert store.transact(fail_once).result() == 1
    assert (len(tries), store.last_seq) == (2, 1)


def end_connection(connection):
    """Let the server end a connection, as a failover does."""
    number = connection.connection.driver_connection.info.backend_pid
    url = connection.engine.url
    with closing(
        psycopg.connect(host=url.query["host"], user="postgres", autocommit=True)
    ) as other:
        other.execute("SELECT pg_terminate_backend(%s, 60000)", (number,))


def test_work_that_loses_its_connection_is_repeated(store):
    tries = []

    def lose_once(transaction):
        tries.append(transaction.next_seq())
        if len(tries) == 1:
            end_connection(transaction.connection)
        return transaction.seq

    stored, repeated = store.submit("music", [make_ranking(1)]), store.transact(lose_once)
    assert (stored.result()[0].seq, repeated.result()) == (1, 2)
    assert len(tries) == 2
    assert store.counters("music") == {"accepted": 1}


def test_a_commit_without_an_answer_is_not_acknowledged_and_can_be_sent_again(store):
    store.append("music", [make_ranking(1)])
    event.listen(store._writing, "commit", end_connection, once=True)
    with refuses(FileError, "store_unreachable", match="not certain"):
        store.append("music", [make_ranking(2)])
    again = store.append("music", [make_ranking(2)])
    assert [outcome.seq for outcome in again] == [2]
    assert store.last_seq == 2


def set_revision(store, revision, oldest):
    """Say that a newer release has upgraded a store."""
    newer = update(schema.alembic_version).values(version_num=revision)
    fact = update(schema.meta).where(schema.meta.c.name == "oldest").values(value=oldest)

    def work(one):
        for statement in (newer, fact):
            one.connection.execute(statement)

    store.transact(work).result()


def test_a_store_that_a_newer_release_upgrades_takes_nothing_more_unless_it_may(store):
    set_revision(store, "9998", "0001")
    assert store.append("music", [make_ranking(1)])[0].seq == 1
    set_revision(store, "9999", "9999")
    for _ in range(2):
        with refuses(FileError, "store_failed", match="upgraded the store to revision 9999"):
            store.append("music", [make_ranking(2)])
    assert store.failure is not None


def test_what_is_acknowledged_is_synced(store):
    shown = []

    def ask(transaction):
        connection = transaction.connection
        shown.append(connection.exec_driver_sql("SHOW synchronous_commit").scalar_one())

    store.transact(ask).result()
    assert shown == ["on"]


# The evaluator.


def put_nothing(store):
    """Write windows."""
    done = Progress(1, 1, "{}", "")
    store.put_windows(
        "music", bytes(16), replaced={}, cells=[], hours=[], open_hours=[], progress=done
    )


def test_one_process_evaluates_and_another_takes_over_when_it_dies(url):
    with open_store(url) as store, start(WRITER, "evaluate", url, 0) as evaluator:
        assert read_line(evaluator) == "True"
        assert not store.take_evaluation()
        with refuses(FileError, "store_evaluated"):
            put_nothing(store)
        assert store.append("music", [make_ranking(1)])[0].status == "accepted"
        evaluator.kill()
        while not store.take_evaluation():
            pass
        assert store.take_evaluation()
        put_nothing(store)
        with open_store(url) as other, pytest.raises(FileError):
            put_nothing(other)
    with open_store(url) as again:
        assert again.take_evaluation()


def test_windows_that_were_computed_under_a_lost_lease_are_not_written(url):
    with open_store(url) as store, open_store(url) as other:
        assert store.take_evaluation()
        end = "SELECT pg_terminate_backend(pid) FROM pg_locks WHERE locktype = 'advisory'"
        other.transact(lambda one: one.connection.exec_driver_sql(end).all()).result()
        # Nobody else has it, but somebody may have had it.
        with refuses(FileError, "store_evaluated"):
            put_nothing(store)
        assert store.append("music", [make_ranking(1)])[0].status == "accepted"
        assert not store.is_evaluator
        assert store.take_evaluation()
        assert store.is_evaluator
        put_nothing(store)


def test_an_evaluation_beside_that_of_a_service_is_refused(url, capfd):
    with open_store(url) as store:
        assert store.take_evaluation()
        assert main(["monitor", "configure", url, "--positive", "click", "--window", "1h"]) == 0
        assert main(["monitor", "evaluate", url]) == 4
        assert "[store_evaluated]" in capfd.readouterr().err


def test_keys_of_another_process_are_noticed(url):
    with open_store(url) as store, open_store(url) as other:
        before = store.keys_version
        key, _ = make_key("music", ["read", "admin"], name="ada", now=1)
        other.add_key(key, "root")
        while store.keys_version == before:
            pass
        made = store.keys_version
        other.revoke_key("music", key.key_id, 2, "root")
        while store.keys_version == made:
            pass


# Opening.


def test_processes_that_make_a_store_at_the_same_time_make_one(url):
    stores = []
    threads = [threading.Thread(target=lambda: stores.append(open_store(url))) for _ in range(4)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    for number, store in enumerate(stores, start=1):
        with store:
            assert store.append("music", [make_ranking(number)])[0].seq == number
    assert len(stores) == 4


def test_a_store_of_another_revision_is_refused_and_stays_as_it_was(url):
    with open_store(url) as store:
        set_revision(store, "9999", "9999")
    for opens in (open_store, open_reader):
        with refuses(FileError, "store_version", match="revision 9999, which this release doesn't"):
            opens(url)


def test_a_schema_of_others_is_refused(cluster, url):
    with open_store(cluster.url()) as store:
        name = url.rpartition("=")[2]
        make = f'CREATE SCHEMA "{name}" CREATE TABLE orders (number integer)'
        store.transact(lambda one: one.connection.execute(text(make)).close()).result()
    for opens in (open_store, open_reader):
        with refuses(FileError, "store_version", match="is not a store: its tables are orders"):
            opens(url)


def test_a_reader_makes_no_store(url):
    for _ in range(2):
        with pytest.raises(FileError, match="there is no store"):
            open_reader(url)


def test_no_message_has_the_password(cluster, capfd):
    secret = f"postgresql://ada:hunter2@/postgres?host={cluster.folder}&schema=secret"
    for bad in (secret, "postgresql://ada:hunter2@localhost:1/x"):
        with refuses(FileError, "store_unreachable") as refused:
            open_store(bad)
        assert "hunter2" not in f"{refused.value}{refused.value.__cause__}"
    with pytest.raises(UsageError) as unread:
        open_store("postgresql://ada:hun@ter2@localhost/x")
    assert "ter2" not in str(unread.value)
    assert main(["monitor", "status", secret]) == 4
    said = capfd.readouterr()
    assert "hunter2" not in said.out + said.err
    assert "PGPASSWORD" in said.err
    with open_store(cluster.url().replace("postgres@", "postgres:hunter2@")) as store:
        assert "hunter2" not in repr(store) + repr(vars(store))


# What SQLite and PostgreSQL could do in different ways.


TEXTS = ["a\\x41b", "\\", "'; DROP TABLE events; --", "%s %(name)s :name", "日本", "\x01\n"]


def test_any_text_comes_back_and_sorts_by_its_bytes(url, tmp_path):
    names = [*TEXTS, "B", "a", "Z", "ä", "z", "_", "A"]
    shown = [
        Ranking(f"e{name}", name, 5, Items((name,), (1,)), name, name, name, name, "production")
        for name in names
    ]
    clicks = [Label(f"l{name}", name, name, 7, (name,)) for name in names]
    with open_store(url) as store, SQLiteStore(tmp_path / "events.db") as model:
        for each in (store, model):
            each.append("music", [*shown, *clicks])
            each.append("films", [])
        assert list(read_back(store, "music")) == sorted(names, key=str.encode)
        assert read_back(store, "music") == read_back(model, "music")
        assert store.versions("music") == model.versions("music")
        for name in names:
            assert store.find_ranking("music", name) == model.find_ranking("music", name)


@pytest.mark.parametrize("name", ["a\0b", "a\ud800b"])
def test_text_that_no_database_takes_is_refused(store, name):
    assert store.append("music", [make_ranking(1)])[0].status == "accepted"
    with pytest.raises(RefusedError):
        store.append("music", [replace(make_ranking(2), ranking_id=name)])
    with pytest.raises(RefusedError):
        store.find_ranking("music", name)
    assert store.append("music", [make_ranking(2)])[0].status == "accepted"


def test_a_read_stops_at_its_deadline(store):
    slow = text("SELECT pg_sleep(600)")
    with limit_reads(Deadline(0.05)), refuses(DeadlineError, "read_timeout"):
        store.query(lambda connection: connection.execute(slow).all())
    with limit_reads(Deadline(0)), pytest.raises(DeadlineError):
        store.counters("music")
    assert store.counters("music") == {}


@pytest.mark.parametrize(
    "change",
    [
        "UPDATE contexts SET rankings = rankings + 1",
        "UPDATE projects SET pending = pending - 1",
        "DELETE FROM bodies WHERE block_id = 1",
        "DELETE FROM ids WHERE seq = 3",
        "UPDATE meta SET value = '3' WHERE name = 'last_seq'",
    ],
)
def test_a_number_that_is_wrong_is_noticed(store, change):
    store.append("music", [make_ranking(number) for number in range(10)])
    store.append("music", [make_label(1, 3), make_label(2, 77)])
    store.verify()
    store.transact(lambda one: one.connection.execute(text(change)).rowcount).result()
    with refuses(FileError, "store_damaged"):
        store.verify()


def test_the_command_that_makes_a_backup_leaves_out_secrets(cluster, url):
    with open_store(url) as store:
        hook = Webhook("https://example.com/hook", Secret("whsec_abc"), False, 3)
        store.set_webhook("music", hook, AuditEntry(3, "ada", "webhook.set", "example.com"))
        store.append("music", [make_ranking(1)])
        with pytest.raises(UsageError) as refused:
            store.copy(cluster.folder / "copy")
    command = shlex.split(refused.value.hint.partition("`")[2].rpartition("`")[0])
    assert "--format=custom" in command
    subprocess.run(
        [*command, "--format=plain"], env=os.environ | {"PGUSER": "postgres"}, check=True
    )
    copy = (cluster.folder / "copy").read_text()
    assert b"ranking-1".hex() in copy
    assert "whsec_abc" not in copy


# The whole way.


@pytest.fixture(scope="module")
def story():
    return make_story(3, end=END, daily=12)


def fill(url, story):
    """Store a story, and evaluate it."""
    reader = EventReader()
    told = list(reader.read_rankings(story.validation, now=story.start).events)
    for each in story.deliveries:
        read = reader.read_rankings if each.route == "rankings" else reader.read_labels
        told += read([each.event], now=each.arrives).events
    monitor = Monitor.open(url, now=lambda: to_datetime(END))
    for at in range(0, len(told), 10_000):
        monitor.writer.append(monitor.project, told[at : at + 10_000])
    pairs = tuple(combinations(ATTRIBUTES, 2))
    monitor.configure(Configuration(definition=define_story(), attributes=ATTRIBUTES, pairs=pairs))
    monitor.evaluate()
    return monitor


@pytest.mark.slow
def test_windows_are_those_of_sqlite_to_the_last_bit(url, tmp_path, story):
    with closing(fill(url, story)) as here, closing(fill(str(tmp_path / "a.db"), story)) as there:
        digest = here.configuration.digest
        for length in ("hour", "day"):
            shown = [one.series("nDCG@5", every=length) for one in (here, there)]
            assert repr(shown[0]) == repr(shown[1])  # some values are NaN
        for read in ("cells", "hours", "open_hours", "progress"):
            found = [getattr(one.store, read)(one.project, digest) for one in (here, there)]
            assert found[0]
            assert found[0] == found[1]
        findings = {one.name: one for one in examine(here, None, is_complete=True)}
        assert findings["windows"].is_good
        assert findings["store"].is_good
        # The server of these tests is not safe from a power loss, and that is reported.
        assert "fsync is off" in findings["server"].told


PAGES = ("/", "/incidents", "/trace", "/rules", "/slices", "/quality", "/settings", "/channels")


@pytest.mark.slow
def test_services_share_a_store(url):
    """One takes events and shows pages, another evaluates, and a third takes over from that."""
    serve = ("-m", "rankscope", "serve", url, "--port", "0", "--every", "0.1")
    with closing(Monitor.open(url)) as monitor:
        monitor.configure(Configuration(definition=define_story(), baseline=None))
    with start(*serve, "--no-evaluate") as taking, start(*serve) as evaluating:
        address = read_line(taking).removeprefix("Listening on ")
        read_line(evaluating)
        with httpx.Client(base_url=address, timeout=300) as client:
            shown = {"ranking_id": "new", "time": "2026-11-20T10:00:00Z", "doc_ids": ["a"]}
            posted = client.post("/v1/rankings", json=shown)
            assert (posted.status_code, posted.json()["accepted"]) == (200, 1), posted.text
            for page in PAGES:
                assert client.get(page, follow_redirects=True).status_code == 200, page
        with closing(open_reader(url)) as store:
            digest = Monitor(store).configuration.digest
            wait_for(store, digest, store.last_seq)
            with start(*serve) as standing:
                read_line(standing)
                evaluating.kill()
                with closing(open_store(url)) as writer:
                    seq = writer.append("default", [make_ranking(1)])[0].seq
                wait_for(store, digest, seq)


def test_sigterm_ends_services_whose_database_holds_them_up(url):
    """Their writers wait for a statement that never ends, and requests wait for their writers."""
    serve = ("-m", "rankscope", "serve", url, "--port", "0", "--every", "0.1")
    asked = {"stderr": subprocess.PIPE}
    with start(*serve, **asked) as one, start(*serve, "--no-evaluate", **asked) as other:
        addresses = [read_line(each).removeprefix("Listening on ") for each in (one, other)]
        with closing(PostgresStore(url)) as store, store._writing.begin() as connection:
            connection.exec_driver_sql(
                "CREATE FUNCTION wait() RETURNS trigger LANGUAGE plpgsql AS "
                "$$ BEGIN PERFORM pg_sleep(100000); END $$"
            )
            connection.exec_driver_sql(
                "CREATE TRIGGER waits BEFORE INSERT ON blocks EXECUTE FUNCTION wait()"
            )
        shown = {"ranking_id": "new", "time": "2026-11-20T10:00:00Z", "doc_ids": ["a"]}

        def post(address):
            with suppress(httpx.TransportError):
                httpx.post(f"{address}v1/rankings", json=shown, timeout=300)

        posting = [threading.Thread(target=post, args=(address,)) for address in addresses]
        for thread in posting:
            thread.start()
        with closing(open_reader(url)) as reader:
            while not reader.query(_is_held_up):
                pass
        for each in (one, other):
            each.send_signal(signal.SIGTERM)
        for each in (one, other):
            _, log = each.communicate(timeout=300)
            assert each.returncode == 0
            assert '"ending.forced"' in log
        for thread in posting:
            thread.join()


def _is_held_up(connection):
    asked = "SELECT count(*) FROM pg_stat_activity WHERE wait_event = 'PgSleep'"
    return connection.exec_driver_sql(asked).scalar_one() > 0


def wait_for(store, digest, seq):
    """Ask until an evaluation has seen an event."""
    while (done := store.progress("default", digest)) is None or done.seq < seq:
        pass
