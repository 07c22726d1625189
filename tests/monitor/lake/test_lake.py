"""A project that reads a lake has the values and incidents of one that ingests its events."""

from __future__ import annotations

import os
import random
from datetime import UTC, datetime, timedelta
from typing import Any

import pytest

pytest.importorskip("pyarrow", reason="a lake needs PyArrow")
pytest.importorskip("sqlalchemy", reason="the store needs SQLAlchemy")

from rankscope import FileError, InputError, UsageError
from rankscope.monitor import Configuration, Monitor, Rule, Span, define
from rankscope.monitor.doctor import examine
from rankscope.monitor.evaluate.stored_windows import count_labels
from rankscope.monitor.events.event import Items, Label, Ranking
from rankscope.monitor.events.limits import DAY, HOUR, MINUTE, SECOND
from rankscope.monitor.events.times import to_datetime, to_micros
from rankscope.monitor.intake.lake import scan_lake
from rankscope.monitor.signals import kinds as signals
from rankscope.monitor.store.lake.formats import ParquetFiles

from tests.monitor.lake.lakes import to_row, write_lake, write_table
from tests.monitor.stories import search

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Iterator, Sequence
    from pathlib import Path

    from rankscope.inputs.buckets import DataFile
    from rankscope.monitor.events.event import Event
    from rankscope.monitor.round import Round

START = datetime(2026, 11, 2, tzinfo=UTC)
BEGIN = int(START.timestamp()) * SECOND
ATTRIBUTES = ("country", "device")
MEASURES = ("nDCG@5", "RR@10")
HOURS = (0, 1, 13, 23)
"""The hours of a day that have events: each is read by itself, so more of them show nothing new."""


def configure(window: str = "24h") -> Configuration:
    """A configuration with clicks and purchases."""
    definition = define(positive={"click": 1, "buy": 5.1}, window=window, measures=MEASURES)
    return Configuration(definition=definition, attributes=ATTRIBUTES, baseline=None)


class Log:
    """A folder with a lake, a store that reads it and one that ingests the same events."""

    def __init__(self, folder: Path, configuration: Configuration, url: str | None = None) -> None:
        self.folder = folder
        self.now = START + timedelta(days=4)
        self.lake = Monitor.open(url or str(folder / "lake.db"), now=lambda: self.now)
        self.store = Monitor.open(str(folder / "store.db"), now=lambda: self.now)
        for monitor in (self.lake, self.store):
            monitor.configure(configuration)

    def close(self) -> None:
        self.lake.close()
        self.store.close()

    def connect(
        self, names: dict[str, str] | None = None, label_names: dict[str, str] | None = None
    ) -> bool:
        return self.lake.connect_lake(
            self.folder / "impressions",
            f"{self.folder}/clicks/**.parquet",
            names=names,
            label_names=label_names,
        )

    def write(self, events: list[Event], name: str = "part-0", *, explodes: bool = False) -> None:
        """Write events to the lake, and send them to the store."""
        write_lake(self.folder, events, name, explodes=explodes)
        kinds = (Ranking, Label)
        self.store.writer.append(
            "default", sorted(events, key=lambda event: isinstance(event, kinds[1]))
        )

    def check(self) -> None:
        """Evaluate both, and compare everything that follows from the events."""
        rounds = self.evaluate()
        assert rounds[0].hours == rounds[1].hours

    def evaluate(self) -> list[Round]:
        """Evaluate both, whatever hours each of them has to read again, and compare them."""
        rounds = [monitor.evaluate(is_replay=True) for monitor in (self.lake, self.store)]
        lake, store = (describe(monitor) for monitor in (self.lake, self.store))
        for name, found in store.items():
            assert lake[name] == found, name
        return rounds


def describe(monitor: Monitor) -> dict[str, Any]:
    """What a store knows of a project."""
    store, digest = monitor.store, monitor.configuration.digest
    return {
        "cells": store.cells("default", digest),
        "days": store.cells("default", digest, length=DAY),
        "hours": store.hours("default", digest),
        "signals": [
            store.cells("default", signals.digest(monitor.configuration), length=length)
            for length in (HOUR, DAY)
        ],
        "labels": count_labels(store.hours("default", digest)),
        "open hours": store.open_hours("default", digest),
        "versions": store.versions("default"),
        "contexts": sorted(store.contexts("default").values(), key=repr),
        "counters": store.counters("default"),
        "pending": store.count_pending("default"),
        "times": store.touched("default", 0, HOUR).times.tolist(),
        "incidents": [
            {name: value for name, value in one.to_dict().items() if name != "id"}
            for one in monitor.incidents("all")
        ],
    }


@pytest.fixture
def log(tmp_path: Path) -> Iterator[Log]:
    log = Log(tmp_path, configure())
    yield log
    log.close()


def make_events(count: int, seed: int = 0) -> list[Event]:
    """Rankings of three days, and labels of all kinds, some of them late, unshown or early."""
    draw = random.Random(seed)
    events: list[Event] = []
    for number in range(count):
        name = f"r{seed}-{number}"
        start = BEGIN + draw.randrange(3) * DAY + draw.choice(HOURS) * HOUR
        time = start + draw.randrange(HOUR // SECOND) * SECOND
        docs = tuple(draw.sample("abcdefghij", draw.randrange(7)))
        scores = tuple(round(draw.random(), 1) for _ in docs)
        attributes = (("country", draw.choice("xyz")), ("device", draw.choice(["tv", "web"])))
        events.append(
            Ranking(
                name,
                name,
                time,
                Items(docs, tuple(range(1, len(docs) + 1)), scores),
                f"query {draw.randrange(20)}",
                f"user {draw.randrange(30)}",
                "search",
                draw.choice("12"),
                "production",
                attributes[: draw.randrange(1, 3)],
            )
        )
        for at in range(draw.randrange(4) if docs else 0):
            kind = draw.choices(["label", "correction", "retraction"], [8, 1, 1])[0]
            is_grade = draw.random() < 0.2 and kind != "retraction"
            said = () if is_grade or kind == "retraction" else (draw.choice(["click", "buy"]),)
            delay = draw.choice([-MINUTE, 0, 5 * SECOND, HOUR, 23 * HOUR, DAY, DAY + HOUR])
            events.append(
                Label(
                    f"{name} {at}",
                    name,
                    draw.choice([*docs, "unshown"]),
                    time + delay,
                    said,
                    2.5 if is_grade else None,
                    kind,  # type: ignore[arg-type]  # one of them
                )
            )
    events.append(Label(f"nobody {seed}", "nobody", "a", BEGIN + DAY, ("click",)))
    return events


@pytest.mark.slow
@pytest.mark.parametrize("explodes", [False, True], ids=["lists", "rows"])
def test_windows_are_those_of_ingested_events(log: Log, *, explodes: bool) -> None:
    # A ranking without documents has no row.
    events = [
        event
        for event in make_events(100)
        if not explodes or isinstance(event, Label) or len(event.items)
    ]
    log.write(events, explodes=explodes)
    assert log.connect()
    assert not log.connect()
    log.check()
    for number in range(5):
        for monitor_call in ("find_ranking", "find_labels"):
            found = [
                getattr(one.store, monitor_call)("default", f"r0-{number}")
                for one in (log.lake, log.store)
            ]
            assert found[0] == found[1]
    assert log.lake.store.find_ranking("default", "unknown") is None


@pytest.mark.slow
def test_incidents_and_causes_are_those_of_ingested_events(tmp_path: Path) -> None:
    definition = define(positive="click", window="1h", measures=["nDCG@5"], max_grade=6)
    configuration = Configuration(definition=definition, attributes=ATTRIBUTES)
    log = Log(tmp_path, configuration)
    events = [
        *search(1, 300, start=BEGIN - DAY, versions={"3": 1}, environment="validation"),
        *search(2, 600, start=BEGIN, versions={"3": 1}),
        *search(3, 600, start=BEGIN + DAY, versions={"4": 1}),
    ]
    log.write(events)
    log.connect()
    for monitor in (log.lake, log.store):
        monitor.set_rule(Rule(name="quality", measure="nDCG@5", slices=("device",)))
    log.check()
    assert [one.version for one in log.lake.incidents("all") if one.rule == "quality"] != []
    spans = [
        Span(since=START + timedelta(days=day), until=START + timedelta(days=day + 1))
        for day in range(2)
    ]
    traces = [one.trace(*spans).to_dict() for one in (log.lake, log.store)]
    assert traces[0] == traces[1]
    folders = [tmp_path / "one", tmp_path / "other"]
    log.lake.export(folders[0])
    log.store.export(folders[1])
    for name in ("rankings.parquet", "labels.parquet"):
        import pyarrow.parquet as pq  # noqa: PLC0415 - for this test alone

        assert pq.read_table(folders[0] / name).equals(pq.read_table(folders[1] / name))
    log.close()


@pytest.mark.slow
def test_late_files_update_their_hours_and_no_others(log: Log) -> None:
    events = make_events(60)
    late = [event for event in events if isinstance(event, Label)][::3]
    log.write([event for event in events if event not in late])
    log.connect()
    log.check()
    log.write(late, "late")
    log.check()
    log.write(make_events(30, seed=1), "more")
    log.check()


def test_hours_to_which_only_labels_come_are_scanned_by_their_ids(
    log: Log, monkeypatch: pytest.MonkeyPatch
) -> None:
    shown = [one for one in make_events(40) if isinstance(one, Ranking) and len(one.items)]
    log.write([*shown])
    first = Label("first", shown[0].ranking_id, "a", shown[0].time + HOUR, ("click",))
    log.write([first], "first")
    log.connect()
    log.check()
    columns: list[set[str]] = []
    read = ParquetFiles.read

    def watch(
        self: ParquetFiles,
        file: DataFile,
        wanted: Sequence[str],
        groups: Sequence[int] | None = None,
    ) -> Any:  # noqa: ANN401 - of PyArrow
        if "impressions" in file.path:
            columns.append(set(wanted))
        return read(self, file, wanted, groups)

    # The first has its label again, and one has its first.
    more = [
        first,
        *(
            Label(f"{one.event_id} again", one.ranking_id, "a", one.time, ("click",))
            for one in shown[:3]
        ),
    ]
    log.write(more, "more")
    reader = log.lake.store.open_lake("default")
    assert reader is not None
    reader.trim(0)
    with monkeypatch.context() as patch:
        patch.setattr(ParquetFiles, "read", watch)
        scan = scan_lake(log.lake.store, "default", window=DAY, now=to_micros(log.now))
    assert scan is not None
    assert scan.hours == len({one.time // HOUR for one in shown[:3]})
    assert columns != []
    assert all(each == {"event_id", "ranking_id", "time"} for each in columns)
    log.check()
    # Of an hour with repeated labels, all columns are read again.
    log.write([first, Label("x", shown[0].ranking_id, "b", shown[0].time, ("buy",))], "last")
    log.check()
    assert log.lake.store.counters("default")["duplicate"] == 2


def test_removed_and_rewritten_files_are_noticed(log: Log) -> None:
    kept, other = make_events(25), make_events(25, seed=1)
    files = write_lake(log.folder, other, "other")
    log.write(kept)
    log.connect()
    log.lake.evaluate()
    for file in files:
        file.unlink()
    scan = log.lake.evaluate().scan
    assert scan is not None
    assert scan.removed == len(files)
    log.store.evaluate()
    lake, store = (describe(monitor) for monitor in (log.lake, log.store))
    for name in ("cells", "days", "versions", "labels", "counters", "pending"):
        assert lake[name] == store[name]
    [first] = [event for event in kept if isinstance(event, Ranking)][:1]
    path = log.folder / "impressions" / f"{to_datetime(first.time):date=%Y-%m-%d/hour=%H}"
    rewritten = write_table(path / "part-0.parquet", [to_row(first)])
    scan = log.lake.evaluate().scan
    assert scan is not None
    assert (scan.changed, scan.hours, scan.rankings) == (1, 1, 1)
    assert rewritten.exists()
    log.lake.store.verify()


def test_a_run_that_finds_nothing_new_reads_no_file(
    log: Log, monkeypatch: pytest.MonkeyPatch
) -> None:
    log.write(make_events(20))
    log.connect()
    log.lake.evaluate()
    monkeypatch.setattr(ParquetFiles, "read", None)
    monkeypatch.setattr(ParquetFiles, "read_schema", None)
    done = log.lake.evaluate()
    assert done.scan is not None
    assert (done.scan.new, done.scan.hours, done.hours) == (0, 0, 0)


def test_a_longer_attribution_window_looks_for_later_labels(log: Log) -> None:
    log.write(make_events(50))
    log.lake.configure(configure(window="1h"))
    log.connect()
    log.lake.evaluate()
    for monitor in (log.lake, log.store):
        monitor.configure(configure(window="48h"))
    log.check()


def test_rows_that_are_repeated_in_other_files_count_once(log: Log) -> None:
    # It is not known of a label without a ranking whether it is repeated.
    events = [event for event in make_events(30) if event.ranking_id != "nobody"]
    log.write(events)
    log.write(events, "again")
    log.connect()
    log.check()
    assert log.lake.store.counters("default")["duplicate"] == len(events)


def test_rankings_with_rows_in_several_files_are_whole(log: Log) -> None:
    rows = [
        {"ranking_id": "r", "time": START, "doc_id": doc, "rank": rank}
        for rank, doc in enumerate("abcd", start=1)
    ]
    for number, row in enumerate(rows):
        write_table(log.folder / "impressions" / f"part-{number}.parquet", [row])
    log.lake.connect_lake(log.folder / "impressions")
    log.lake.evaluate()
    found = log.lake.store.find_ranking("default", "r")
    assert found is not None
    assert found.items.doc_ids == ("a", "b", "c", "d")


def test_folders_are_columns_and_unfinished_files_are_left_out(log: Log) -> None:
    row = {"ranking_id": "r", "time": START, "doc_ids": ["a"], "colour": "red"}
    folder = log.folder / "impressions"
    write_table(folder / "country=de" / "device=a%20b" / "part.parquet", [row])
    write_table(folder / "_temporary" / "part.parquet", [row | {"ranking_id": "no"}])
    write_table(folder / ".part.parquet", [row | {"ranking_id": "no"}])
    (folder / "_SUCCESS").touch()
    log.lake.connect_lake(folder)
    done = log.lake.evaluate()
    assert done.scan is not None
    assert (done.scan.files, done.scan.unused) == (1, {"rankings": ["colour"]})
    found = log.lake.store.find_ranking("default", "r")
    assert found is not None
    assert found.attributes == (("country", "de"), ("device", "a b"))


def test_rows_that_are_rejected_are_counted_by_code(log: Log) -> None:
    good = {"ranking_id": "good", "time": START, "doc_ids": ["a"]}
    rows = [
        good,
        good | {"ranking_id": ""},
        good | {"ranking_id": "twice", "doc_ids": ["a", "a"]},
        good | {"ranking_id": "future", "time": datetime(2999, 1, 1, tzinfo=UTC)},
        good | {"ranking_id": "timeless", "time": None},
        good | {"doc_ids": ["b"]},
    ]
    shown = write_table(log.folder / "impressions" / "part.parquet", rows)
    write_table(
        log.folder / "clicks" / "part.parquet",
        [
            {"ranking_id": "good", "doc_id": "a", "time": START, "label": "click"},
            {"ranking_id": "good", "doc_id": None, "time": START, "label": "click"},
            {"ranking_id": "good", "doc_id": "a", "time": None, "label": "click"},
        ],
    )
    log.connect()
    scan = log.lake.evaluate().scan
    assert scan is not None
    assert {code: text.partition(": ")[0] for code, text in scan.examples.items()} == {
        # Rows with bad times are left out before the others are numbered.
        "duplicate_doc": str(shown),
        "missing_id": str(shown),
        "future_time": f"{shown}, row 4",
        "missing_field": f"{shown}, row 5",
    }
    assert log.lake.store.counters("default") == {
        "accepted": 2,
        "conflict": 1,
        "duplicate_doc": 1,
        "future_time": 1,
        "missing_field": 3,
        "missing_id": 1,
    }


def test_the_file_and_the_row_of_a_rejected_ranking_are_named(log: Log) -> None:
    good = {"ranking_id": "good", "time": START, "doc_ids": ["a"]}
    wrong = good | {"ranking_id": "wrong", "doc_ids": ["a", "a"]}
    write_table(log.folder / "impressions" / "a.parquet", [good])
    rows = [good | {"ranking_id": "other"}, wrong, wrong | {"ranking_id": "again"}]
    path = write_table(log.folder / "impressions" / "b.parquet", rows)
    log.lake.connect_lake(log.folder / "impressions")
    scan = log.lake.evaluate().scan
    assert scan is not None
    assert scan.examples["duplicate_doc"].startswith(f"{path}, row 2: ")


def test_rows_of_files_that_are_gone_are_rejected_no_more(log: Log) -> None:
    good = {"ranking_id": "good", "time": START, "doc_ids": ["a"]}
    write_table(log.folder / "impressions" / "good.parquet", [good])
    path = write_table(log.folder / "impressions" / "bad.parquet", [good | {"ranking_id": ""}])
    log.lake.connect_lake(log.folder / "impressions")
    for told in ("1 of 2 events were rejected: missing_id 1", "0 of 1 events were rejected"):
        log.lake.evaluate()
        [found] = [one for one in examine(log.lake, log.folder / "lake.db") if one.name == "events"]
        assert found.told == told
        path.unlink(missing_ok=True)


@pytest.mark.parametrize(
    ("rows", "code"),
    [
        ([{"ranking_id": "r", "doc_ids": ["a"]}], "columns"),
        ([{"ranking_id": "r", "time": START, "doc_id": "a"}], "columns"),
        ([{"ranking_id": "r", "time": START.replace(tzinfo=None), "doc_ids": ["a"]}], "time_zone"),
        ([{"ranking_id": "r", "time": True, "doc_ids": ["a"]}], "time_format"),
        ([{"ranking_id": "r", "qid": "r", "time": START, "doc_ids": ["a"]}], "ambiguous_field"),
    ],
)
def test_columns_that_cannot_be_meant_are_an_error(
    log: Log, rows: list[dict[str, Any]], code: str
) -> None:
    path = write_table(log.folder / "impressions" / "part.parquet", rows)
    with pytest.raises(InputError) as raised:
        log.lake.connect_lake(log.folder / "impressions")
    assert (raised.value.code, raised.value.file) == (code, str(path))


def test_an_address_that_cannot_be_read_does_not_replace_one_that_can(log: Log) -> None:
    log.write(make_events(20))
    log.connect()
    log.check()
    before, values = log.lake.store.lake("default"), describe(log.lake)
    for wrong, code in (
        (log.folder / "mistyped", "lake_empty"),
        (log.folder / "clicks", "columns"),
    ):
        with pytest.raises((FileError, InputError)) as raised:
            log.lake.connect_lake(wrong, log.folder / "clicks")
        assert raised.value.code == code
    with pytest.raises(FileError):
        log.lake.connect_lake(log.folder / "impressions", log.folder / "mistyped")
    assert log.lake.store.lake("default") == before
    log.check()
    assert describe(log.lake) == values


def test_columns_with_other_names_are_named(log: Log) -> None:
    shown = {"session": "r", "when": START, "doc_ids": ["a", "b"]}
    clicked = {"search": "r", "doc_id": "b", "time": START, "label": "click"}
    write_table(log.folder / "impressions" / "part.parquet", [shown])
    write_table(log.folder / "clicks" / "part.parquet", [clicked])
    log.connect(
        names={"ranking_id": "session", "time": "when"}, label_names={"ranking_id": "search"}
    )
    log.lake.evaluate()
    assert log.lake.series("RR@10", every="day").values == (0.5,)


def test_empty_listings_and_lakes_without_a_good_file_are_errors_and_keep_the_values(
    log: Log,
) -> None:
    log.write(make_events(20))
    log.connect()
    log.check()
    before = describe(log.lake)
    paths = list((log.folder / "impressions").rglob("*.parquet"))
    files = {path: (path.read_bytes(), path.stat().st_mtime_ns) for path in paths}
    for path in files:
        path.write_bytes(b"PAR1 not PAR1")
    with pytest.raises(FileError) as damaged:
        log.lake.evaluate()
    assert damaged.value.code == "lake_damaged"
    for path, (content, written) in files.items():
        path.write_bytes(content)
        os.utime(path, ns=(written, written))
    (log.folder / "impressions").rename(log.folder / "elsewhere")
    with pytest.raises(FileError) as empty:
        log.lake.evaluate()
    assert empty.value.code == "lake_empty"
    (log.folder / "elsewhere").rename(log.folder / "impressions")
    assert describe(log.lake) == before


def test_a_file_that_changes_while_it_is_read_is_an_error(log: Log) -> None:
    log.write(make_events(20))
    log.connect()
    log.lake.evaluate()
    [path, *_] = sorted((log.folder / "impressions").rglob("*.parquet"))
    path.write_bytes(path.read_bytes() + b" ")
    reader = Monitor.open(str(log.folder / "lake.db"), writes=False)
    with reader, pytest.raises(FileError) as raised:
        list(reader.store.read("default"))
    assert raised.value.code == "lake_changed"


def test_a_project_has_a_lake_or_events_of_its_own(log: Log) -> None:
    log.write(make_events(5))
    with pytest.raises(UsageError) as ingested:
        log.store.connect_lake(log.folder / "impressions")
    assert ingested.value.code == "lake_ingested"
    log.connect()
    log.lake.evaluate()
    shown = {"ranking_id": "x", "time": START, "doc_ids": ["a"]}
    for change in (
        lambda: log.lake.log_rankings([shown]),
        lambda: log.lake.replace_set("validation", [shown | {"environment": "validation"}]),
        lambda: log.lake.delete_before(START - timedelta(days=9)),
    ):
        with pytest.raises(FileError) as refused:
            change()
        assert refused.value.code == "lake_project"


@pytest.mark.parametrize(
    "url",
    [
        "",
        "ftp://host/folder",
        "http://host/x.parquet",
        "s3://key:secret@bucket/folder",
        "s3://secret@bucket/folder",
        "abfs://container:secret@account/folder",
        "gs://bucket/x.parquet?X-Goog-Signature=secret",
        "file://host/secret",
    ],
)
def test_urls_that_are_not_read_are_refused_and_never_show_credentials(log: Log, url: str) -> None:
    with pytest.raises(UsageError) as raised:
        log.lake.connect_lake(url)
    assert raised.value.code == "lake_url"
    assert "secret" not in str(raised.value).replace("file://host/secret", "")


def test_attributes_that_only_rejected_rankings_have_are_no_context(log: Log) -> None:
    good = {"ranking_id": "good", "time": START, "doc_ids": ["a"], "device": "tv"}
    bad = good | {"ranking_id": "bad", "doc_ids": ["a", "a"], "device": "watch"}
    write_table(log.folder / "impressions" / "part.parquet", [good, bad])
    log.lake.connect_lake(log.folder / "impressions")
    done = log.lake.evaluate()
    assert (done.hours, done.rankings) == (1, 1)


def test_a_column_with_a_usual_name_can_have_another_role(log: Log) -> None:
    row = {"session": "r", "ts": START, "documents": ["a", "b"]}
    write_table(log.folder / "impressions" / "part.parquet", [row])
    names = {"ranking_id": "session", "time": "ts", "doc_id": "documents"}
    log.lake.connect_lake(log.folder / "impressions", names=names)
    log.lake.evaluate()
    found = log.lake.store.find_ranking("default", "r")
    assert found is not None
    assert found.items.doc_ids == ("a", "b")


def test_rows_with_bad_times_are_counted_with_an_example(log: Log) -> None:
    row = {"ranking_id": "r", "doc_ids": ["a"]}
    seconds = [row | {"time": int(START.timestamp())}]
    write_table(log.folder / "impressions" / "part.parquet", seconds)
    log.lake.connect_lake(log.folder / "impressions")
    scan = log.lake.evaluate().scan
    assert scan is not None
    assert "1970" in scan.examples["too_old"]


@pytest.mark.parametrize("unit", ["ms", "us"])
def test_a_row_with_a_time_out_of_range_ends_no_scan(log: Log, unit: str) -> None:
    good = BEGIN // {"ms": 1000, "us": 1}[unit]
    arrow = pytest.importorskip("pyarrow")
    times = arrow.array([good, good * 1000, 2**63 - 1, 1 - 2**63], arrow.timestamp(unit, "UTC"))
    rows = [{"ranking_id": f"r{at}", "doc_ids": ["a"], "time": times[at]} for at in range(4)]
    path = log.folder / "impressions" / "part.parquet"
    write_table(path, rows)
    log.lake.connect_lake(path.parent)
    done = log.lake.evaluate()
    assert done.rankings == 1
    assert done.scan is not None
    assert done.scan.examples.keys() == {"time_format"}


def test_files_that_are_not_parquet_say_so(log: Log) -> None:
    (log.folder / "rows.csv").write_text("ranking_id,time\n" * 9)
    with pytest.raises(FileError, match="Parquet") as raised:
        log.lake.connect_lake(f"{log.folder}/*.csv")
    assert raised.value.hint is not None
    assert raised.value.hint.startswith("a lake consists of Parquet files")


def test_all_columns_that_are_missing_are_named(log: Log) -> None:
    write_table(log.folder / "impressions" / "part.parquet", [{"session": "r", "items": ["a"]}])
    with pytest.raises(InputError) as raised:
        log.lake.connect_lake(log.folder / "impressions")
    error = raised.value
    assert "expected a column of ranking_id (" in error.message
    assert "), of time (" in error.message
    assert error.message.endswith("; found session, items")
    assert error.hint == (
        "name them: --col ranking_id=COLUMN --col time=COLUMN, or "
        "names={'ranking_id': …, 'time': …} in Python"
    )
    shown = {"ranking_id": "r", "time": START, "doc_ids": ["a", "b"]}
    write_table(log.folder / "impressions" / "part.parquet", [shown])
    write_table(log.folder / "clicks" / "part.parquet", [{"search": "r", "doc_id": "b"}])
    with pytest.raises(InputError) as raised:
        log.connect()
    assert raised.value.hint.startswith(
        "name them: --label-col ranking_id=COLUMN --label-col time=COLUMN "
        "--label-col labels=COLUMN, or label_names="
    )
