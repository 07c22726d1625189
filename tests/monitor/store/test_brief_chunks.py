"""Values from the columns of a history file that they need are those from whole rankings."""

from __future__ import annotations

from functools import partial
from itertools import pairwise
from pathlib import Path
from tempfile import TemporaryDirectory

import pyarrow as pa
import pyarrow.parquet as pq
import pytest
from hypothesis import given
from hypothesis import strategies as st

pytest.importorskip("sqlalchemy", reason="chunks are read from a store")

from rankscope import FileError
from rankscope.monitor.evaluate.grades import Graded
from rankscope.monitor.evaluate.values import evaluate_chunks
from rankscope.monitor.events.event import Items, Label, Ranking
from rankscope.monitor.events.limits import HOUR
from rankscope.monitor.store.log.blocks import FILE, Block, list_blocks
from rankscope.monitor.store.log.files import HistoryFolder
from rankscope.monitor.store.log.hour_file import HourFile
from rankscope.monitor.store.log.layout import find_tied, write_hour
from rankscope.monitor.store.merging import choose, concatenate
from rankscope.records import replace

from tests.generated import examples
from tests.monitor import chunk_twin
from tests.monitor.chunks import integers, texts
from tests.monitor.test_chunks import DEFINITIONS, chunks

TYPE_CHECKING = False
if TYPE_CHECKING:
    from rankscope.monitor.definition.definition import Definition
    from rankscope.monitor.evaluate.values import Evaluated
    from rankscope.monitor.store.records import Chunk, Context
    from rankscope.monitor.store.sqlite.store import SQLiteStore

COUNTS = ("documents", "relevant", "is_empty", "is_missing", "is_tied", "has_gaps", "is_refused")


def write(folder: HistoryFolder, chunk: Chunk, contexts: dict[int, Context]) -> HourFile:
    """The file of a chunk that has no ids of events."""
    count = len(chunk.labels.codes)
    labels = replace(
        chunk.labels,
        event_ids=texts([f"event-{at}" for at in range(count)]),
        seqs=integers(list(range(count))),
    )
    told = replace(chunk, event_ids=chunk.ranking_ids, labels=labels)
    with folder.open_part("music", 0) as part:
        written = write_hour(part, [told], contexts)
        place = folder.publish(part)
    block = Block(0, 1, 0, FILE, 0, count, 0, 0, written.rankings, count, "[]", *place)
    return HourFile(folder, block)


def spell_out(each: Evaluated) -> tuple[object, ...]:
    """All that is kept of the values of rankings."""
    chunk = each.chunk
    graded = [(getattr(each.graded, name) + 0).tobytes() for name in Graded.__slots__]
    columns = [(name, (one + 0).tobytes()) for name, one in each.values.columns().items()]
    counts = [getattr(each.values, name).tolist() for name in COUNTS]
    clusters = chunk_twin.name_clusters(chunk)
    return graded, columns, counts, clusters, chunk.times.tolist(), chunk.contexts.tolist()


def compare(brief: Chunk, whole: Chunk, definition: Definition, now: int | None) -> None:
    """Assert that both have the same values, to the bit."""
    (found,), (expected,) = (
        [*evaluate_chunks([one], definition, now=now, threads=1)] for one in (brief, whole)
    )
    assert spell_out(found) == spell_out(expected)


@examples(60)
@given(chunks(), st.sampled_from(DEFINITIONS), st.sampled_from([None, 0, HOUR, 2 * HOUR, 9 * HOUR]))
def test_brief_chunks_have_the_values_of_whole_ones(
    drawn: tuple[Chunk, dict[int, Context]], definition: Definition, now: int | None
) -> None:
    chunk, contexts = drawn
    with TemporaryDirectory() as name:
        file = write(HistoryFolder(Path(name)), chunk, contexts)
        ((brief,), (whole,)) = ([*file.read(is_brief=is_brief)] for is_brief in (True, False))
        assert brief.labels.positions is not None
        assert whole.labels.positions is None
        compare(brief, whole, definition, now)
        # In parts, and put together again.
        parts = [*file.read(is_brief=True, size=2)]
        compare(concatenate(parts), whole, definition, now)
        backwards = integers([*range(len(whole.times))][::-1])
        compare(choose(brief, backwards), choose(whole, backwards), definition, now)
        named = {f"r{len(whole.times) - 1}"}
        (read,) = file.read(is_brief=True, whole=named)
        assert read.labels.positions is None
        (read,) = file.read(is_brief=True, whole={"another"})
        assert read.labels.positions is not None


@given(chunks())
def test_ties_are_those_of_neighboring_documents(drawn: tuple[Chunk, dict[int, Context]]) -> None:
    items = drawn[0].items
    scores = items.scores.tolist()
    ends = items.offsets.tolist()
    expected = [
        any(scores[at] == scores[at + 1] for at in range(start, end - 1))
        for start, end in pairwise(ends)
    ]
    assert find_tied(items).tolist() == expected


@pytest.mark.parametrize("name", ["documents", "tied"])
def test_counts_of_documents_that_differ_from_the_documents_are_damage(
    store: SQLiteStore, name: str
) -> None:
    shown = [Ranking(f"r{at}", f"r{at}", at, Items(("a", "b"), (1, 2))) for at in range(2)]
    store.append("music", shown)
    store.archive("music", HOUR)
    (hour,) = store.query(partial(list_blocks, project="music", kinds=(FILE,)))
    folder = store.history
    HourFile(folder, hour).verify()
    table = pq.ParquetFile(folder.path / hour.path).read()
    other = {"documents": pa.array([2, 3], pa.int32()), "tied": pa.array([False, True])}[name]
    with folder.open_part("music", 0) as part:
        at = table.column_names.index(name)
        pq.write_table(table.set_column(at, table.schema.field(at), other), part)
        place = folder.publish(part)
    wrong = hour._replace(path=place.path, size=place.size, checksum=place.checksum)
    with pytest.raises(FileError, match="documents and tied"):
        HourFile(folder, wrong).verify()


def test_a_late_label_is_joined_by_its_document(store: SQLiteStore) -> None:
    shown = [
        Ranking(
            f"r{at}", f"r{at}", at, Items(("a", "b"), (1, 2)), "q", "", "m", "1", "production", ()
        )
        for at in range(4)
    ]
    told = [Label(f"l{at}", f"r{at}", "b", at + 1, ("click",)) for at in range(4)]
    store.append("music", [*shown, *told])
    store.archive("music", HOUR)
    (brief,) = store.read("music", is_brief=True)
    assert brief.labels.positions is not None
    store.append("music", [Label("late", "r1", "a", 9, ("buy",))])
    (brief,), (whole,) = (store.read("music", is_brief=one) for one in (True, False))
    # The ranking of the late label is in this row group.
    assert brief.labels.positions is None
    assert brief.labels.event_ids is None
    for now in (5, 9, None):
        compare(brief, whole, DEFINITIONS[0], now)
    # A ranking of the hour in the tables: chunks are merged.
    store.append("music", [replace(shown[0], event_id="r9", ranking_id="r9")])
    brief, whole = (concatenate([*store.read("music", is_brief=one)]) for one in (True, False))
    compare(brief, whole, DEFINITIONS[0], None)
