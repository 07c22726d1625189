"""Reads tables of labels at once.

As in tables of rankings, the event reader judges every row that has something unusual.
"""

from __future__ import annotations

from collections import Counter
from typing import NamedTuple

from rankscope.deferred import np
from rankscope.errors import FormatError
from rankscope.inputs.arrow import load_arrow
from rankscope.inputs.files.lists import is_list
from rankscope.monitor.events.event import LABEL_KINDS, Label
from rankscope.monitor.events.fields import read_labels
from rankscope.monitor.events.names import LABEL_NAMES, Aliases, check_columns
from rankscope.monitor.events.reader import EventReader
from rankscope.monitor.events.rejection import Rejection
from rankscope.monitor.store.lake.cells import (
    code_values,
    join_chunks,
    join_codes,
    join_texts,
    read_numbers,
    read_texts,
    take,
    to_marks,
)
from rankscope.monitor.store.lake.rankings import LENIENT, find_examples
from rankscope.monitor.store.tables.documents import offsets_of
from rankscope.records import record

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence

    from numpy.typing import NDArray

    from rankscope.monitor.store.lake.cells import Foreign, Marks

NAN = float("nan")
ROLES = ("ranking_id", "doc_id", "time", "labels", "value", "kind", "event_id")
RETRACTION = LABEL_KINDS.index("retraction")


@record(frozen=True, slots=True)
class Given:
    """Labels as columns, in the order of their files and rows.

    Args:
        ranking_ids: Texts of Arrow, as are the next two.
        doc_ids: Their documents.
        event_ids: Their event ids; empty for labels that have none.
        times: Microseconds since 1970 in UTC.
        kinds: Positions in `LABEL_KINDS`.
        names: Every different list of labels once.
        codes: The position of each label's list in `names`.
        values: Grades, NaN where there is none.
    """

    ranking_ids: Foreign
    doc_ids: Foreign
    event_ids: Foreign
    times: NDArray[np.int64]
    kinds: NDArray[np.int8]
    names: tuple[tuple[str, ...], ...]
    codes: NDArray[np.int64]
    values: NDArray[np.float64]

    def __len__(self) -> int:
        return len(self.times)

    @property
    def nbytes(self) -> int:
        """The memory of the columns."""
        arrays = (self.times, self.kinds, self.codes, self.values)
        texts = (self.ranking_ids, self.doc_ids, self.event_ids)
        return sum(one.nbytes for one in (*arrays, *texts))

    def choose(self, chosen: NDArray[np.int64]) -> Given:
        """Return some labels, in an order."""
        return Given(
            take(self.ranking_ids, chosen),
            take(self.doc_ids, chosen),
            take(self.event_ids, chosen),
            self.times[chosen],
            self.kinds[chosen],
            self.names,
            self.codes[chosen],
            self.values[chosen],
        )


class ReadLabels(NamedTuple):
    """Labels that were read, and counts of what was found, as in `Read`."""

    given: Given
    rejected: Counter[str]
    notes: Counter[str]
    examples: Mapping[str, tuple[int, str]]


def join_given(parts: Sequence[Given]) -> Given:
    """Put labels one after another."""
    if len(parts) == 1:
        return parts[0]
    known: dict[tuple[str, ...], int] = {}
    codes = [
        np.array([known.setdefault(names, len(known)) for names in part.names], dtype=np.int64)[
            part.codes
        ]
        for part in parts
        if len(part)
    ]
    some = [part for part in parts if len(part)]
    return Given(
        join_texts([part.ranking_ids for part in some]),
        join_texts([part.doc_ids for part in some]),
        join_texts([part.event_ids for part in some]),
        np.concatenate([part.times for part in some] or [np.zeros(0, dtype=np.int64)]),
        np.concatenate([part.kinds for part in some] or [np.zeros(0, dtype=np.int8)]),
        tuple(known),
        np.concatenate([*codes] or [np.zeros(0, dtype=np.int64)]),
        np.concatenate([part.values for part in some] or [np.zeros(0)]),
    )


def make_given(labels: Sequence[Label]) -> Given:
    """Turn labels into columns."""
    arrow = load_arrow()
    names: dict[tuple[str, ...], int] = {}
    codes = [names.setdefault(label.labels, len(names)) for label in labels]

    def texts(name: str) -> Foreign:
        return arrow.array([getattr(label, name) for label in labels], arrow.large_string())

    return Given(
        texts("ranking_id"),
        texts("doc_id"),
        texts("event_id"),
        np.array([label.time for label in labels], dtype=np.int64),
        np.array([LABEL_KINDS.index(label.kind) for label in labels], dtype=np.int8),
        tuple(names),
        np.array(codes, dtype=np.int64),
        np.array(
            [NAN if label.value is None else label.value for label in labels], dtype=np.float64
        ),
    )


class LabelReader:
    """Reads tables of labels.

    Args:
        names: By role, the name of a column that has none of the usual names.
    """

    def __init__(self, names: Mapping[str, str]) -> None:
        self._aliases = Aliases(LABEL_NAMES, names)
        self._limits = LENIENT
        self._reader = EventReader(names, LENIENT)

    def plan(self, schema: Foreign) -> dict[str, str]:
        """Find the columns of a table, by role."""
        roles = dict(self._aliases.find(schema.names).roles)
        check_columns(
            (("ranking_id",), ("doc_id",), ("time",), ("labels", "value")),
            roles,
            schema.names,
            usual=LABEL_NAMES,
            option="--label-col",
            argument="label_names",
        )
        return roles

    def read(self, table: Foreign, roles: Mapping[str, str]) -> ReadLabels:
        """Read labels."""
        arrow = load_arrow()
        count = table.num_rows
        columns = {role: join_chunks(table[name], name) for role, name in roles.items()}
        ranking_ids, marks = read_texts(columns["ranking_id"], self._limits.id_bytes, fewest=1)
        doc_ids, wrong = read_texts(columns["doc_id"], self._limits.id_bytes, fewest=1)
        marks = marks | wrong
        kinds, wrong = _read_kinds(columns.get("kind"), count)
        marks |= wrong
        codes, names, has_names, wrong = self._read_names(columns.get("labels"), count)
        marks |= wrong
        values = np.full(count, np.nan)
        if "value" in columns:
            values, wrong = read_numbers(columns["value"])
            # In a table, NaN is none.
            marks |= wrong & ~np.isnan(values)
            if not (
                arrow.types.is_integer(columns["value"].type)
                or arrow.types.is_floating(columns["value"].type)
            ):
                marks |= wrong
        has_value = ~np.isnan(values)
        marks |= np.where(kinds == RETRACTION, has_names | has_value, has_names == has_value)
        event_ids = take(arrow.array([""], arrow.large_string()), np.zeros(count, dtype=np.int64))
        has_event_id = np.zeros(count, dtype=np.bool_)
        if "event_id" in columns:
            has_event_id = to_marks(columns["event_id"].is_valid())
            event_ids, wrong = read_texts(columns["event_id"], self._limits.id_bytes, fewest=1)
            marks |= wrong & has_event_id
        times = np.array(columns["time"].cast(arrow.int64()).to_numpy(), dtype=np.int64)
        given = Given(ranking_ids, doc_ids, event_ids, times, kinds, names, codes, values)
        notes = Counter({"made_event_ids": int((~has_event_id & ~marks).sum())})
        if not marks.any():
            return ReadLabels(given, Counter(), +notes, {})
        bad, good = np.flatnonzero(marks), np.flatnonzero(~marks)
        some = table.select(list(roles.values())).take(arrow.array(bad))
        reading = self._reader.read_label_rows(some, now=0)
        judged = [
            (event, place)
            for answer, place in zip(reading.answers, bad.tolist(), strict=True)
            if not isinstance(answer, Rejection)
            for event in answer
            if isinstance(event, Label)
        ]
        both = join_given([given.choose(good), make_given([label for label, _ in judged])])
        places = np.concatenate([good, np.array([at for _, at in judged], dtype=np.int64)])
        return ReadLabels(
            both.choose(np.argsort(places)),
            Counter(rejection.code for rejection in reading.rejections),
            notes + Counter(reading.notes),
            find_examples(reading.rejections, bad.tolist()),
        )

    def _read_names(
        self, column: Foreign | None, count: int
    ) -> tuple[NDArray[np.int64], tuple[tuple[str, ...], ...], Marks, Marks]:
        """Read what happened."""
        if column is None:
            nothing = np.zeros(count, dtype=np.bool_)
            return np.zeros(count, dtype=np.int64), ((),), nothing, nothing
        is_there = to_marks(column.is_valid())
        codes, values = _code_lists(column) if is_list(column.type) else code_values(column)
        names: list[tuple[str, ...]] = []
        is_bad = np.zeros(max(len(values), 1), dtype=np.bool_)
        for number, value in enumerate(values):
            try:
                names.append(() if value is None else read_labels(value, "labels", self._limits))
            except FormatError:
                names.append(())
                is_bad[number] = True
        return codes, tuple(names) or ((),), is_there, is_bad[codes]


def _read_kinds(column: Foreign | None, count: int) -> tuple[NDArray[np.int8], Marks]:

    if column is None:
        return np.zeros(count, dtype=np.int8), np.zeros(count, dtype=np.bool_)
    codes, values = code_values(column)
    known = [
        0 if value is None else LABEL_KINDS.index(value) if value in LABEL_KINDS else -1
        for value in values
    ]
    kinds = np.array(known or [0], dtype=np.int8)[codes]
    return np.maximum(kinds, 0).astype(np.int8), np.asarray(kinds < 0)


def _code_lists(column: Foreign) -> tuple[NDArray[np.int64], list[object]]:
    """Number the different lists of a column."""
    compute = load_arrow("pyarrow.compute")
    sizes = compute.fill_null(compute.list_value_length(column), 0).to_numpy().astype(np.int64)
    flat, values = code_values(join_chunks(compute.list_flatten(column), "labels"))
    offsets = offsets_of(sizes)
    parts = [(to_marks(column.is_valid()).astype(np.int64), 2)]
    for at in range(int(sizes.max(initial=0))):
        has = np.flatnonzero(sizes > at)
        codes = np.zeros(len(sizes), dtype=np.int64)
        codes[has] = flat[offsets[has] + at] + 1
        parts.append((codes, len(values) + 1))
    _, first, of_row = np.unique(join_codes(parts), return_index=True, return_inverse=True)
    return np.asarray(of_row, dtype=np.int64), [column[at].as_py() for at in first.tolist()]
