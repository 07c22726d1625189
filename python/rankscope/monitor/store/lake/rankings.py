"""Reads tables of rankings at once: one ranking per row with lists, or one document per row.

Rows without anything unusual become columns as they are. The event reader judges all others one by
one, so that they are accepted or rejected, with the same codes, as if they had been sent.
"""

from __future__ import annotations

from collections import Counter
from typing import NamedTuple

from rankscope.deferred import np
from rankscope.inputs.arrow import load_arrow
from rankscope.inputs.files.lists import is_list
from rankscope.monitor.events.event import Ranking
from rankscope.monitor.events.limits import DAY, Limits
from rankscope.monitor.events.names import (
    COLUMN_NAMES,
    ITEM_NAMES,
    RANKING_NAMES,
    ROW_NAMES,
    Aliases,
    check_columns,
)
from rankscope.monitor.events.reader import EventReader
from rankscope.monitor.events.rejection import Rejection
from rankscope.monitor.store.lake.cells import (
    join_chunks,
    read_texts,
    take,
    to_marks,
)
from rankscope.monitor.store.lake.contents import read_contents
from rankscope.monitor.store.lake.grouping import group_rows
from rankscope.monitor.store.lake.items import check_items
from rankscope.monitor.store.lake.shown import Shown, join_shown, make_shown
from rankscope.records import record

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Iterable, Mapping, Sequence
    from typing import Any

    from numpy.typing import NDArray

    from rankscope.monitor.events.event import Label
    from rankscope.monitor.events.rejection import Reading
    from rankscope.monitor.store.lake.cells import Foreign, Marks

ITEM_ROLES = ("doc_id", "rank", "score", "relevance")
LENIENT = Limits(ahead=36_530 * DAY, age=36_530 * DAY)
"""The times of rows are checked when their file is, and not again."""


@record(frozen=True, slots=True)
class Plan:
    """Which columns of a table of rankings hold what.

    Args:
        is_grouped: Whether a row is a whole ranking.
        roles: By role, the name of a column.
        fields: By role, the name of a field of the objects in the column of items.
        attributes: The columns that are attributes.
    """

    is_grouped: bool
    roles: dict[str, str]
    fields: dict[str, str]
    attributes: tuple[str, ...]

    @property
    def columns(self) -> list[str]:
        """The columns that are needed."""
        return list(dict.fromkeys([*self.roles.values(), *self.attributes]))


class Read(NamedTuple):
    """Rankings that were read, and counts of what was found.

    Args:
        shown: The rankings that were accepted.
        rejected: By code, how many were rejected.
        notes: By code, how many of those accepted have something suspicious but legal.
        examples: By code, the place of the first that was rejected, and what is wrong with it.
    """

    shown: Shown
    rejected: Counter[str]
    notes: Counter[str]
    examples: Mapping[str, tuple[int, str]]


class RankingReader:
    """Reads tables of rankings.

    Args:
        names: By role, the name of a column that has none of the usual names.
        attributes: The columns that describe a ranking, such as its country. Those that a table
            lacks are missing.
    """

    def __init__(self, names: Mapping[str, str], attributes: Sequence[str]) -> None:
        self._attributes = tuple(attributes)
        self._objects = Aliases(RANKING_NAMES, names)
        self._lists = Aliases(COLUMN_NAMES, names)
        self._items = Aliases(ITEM_NAMES, names)
        self._rows = Aliases(ROW_NAMES, names)
        self._limits = LENIENT
        self._reader = EventReader(names, LENIENT)

    def plan(self, schema: Foreign) -> Plan:
        """Find the columns of a table."""
        attributes = tuple(name for name in self._attributes if name in schema.names)
        names = [name for name in schema.names if name not in attributes]
        fields: dict[str, str] = {}
        roles: dict[str, str] = {}
        if any(name in RANKING_NAMES["items"] for name in names):
            roles = dict(self._objects.find(names).roles)
        # A column with a usual name of items has another role if somebody says so.
        if "items" in roles:
            fields = self._find_fields(schema.field(roles["items"]).type)
            found = {**roles, **fields} if fields else {**roles, "doc_id": roles["items"]}
            is_grouped = True
        else:
            roles = dict(self._lists.find(names).roles)
            is_grouped = "doc_id" in roles and is_list(schema.field(roles["doc_id"]).type)
            if not is_grouped:
                roles = dict(self._rows.find(names).roles)
            found = roles
        needed = [("ranking_id",), ("time",), ("doc_id",)]
        check_columns(
            needed if is_grouped else [*needed, ("rank", "score")],
            found,
            schema.names,
            usual=RANKING_NAMES | ITEM_NAMES,
            option="--col",
            argument="names",
        )
        return Plan(is_grouped, roles, fields, attributes)

    def _find_fields(self, kind: Foreign) -> dict[str, str]:
        """Find the fields of the objects in a column of items."""
        inner = kind.value_type if is_list(kind) else kind
        if not load_arrow().types.is_struct(inner):
            return {}
        names = [inner.field(at).name for at in range(inner.num_fields)]
        return dict(self._items.find(names).roles)

    def read(
        self, table: Foreign, plan: Plan, places: NDArray[np.int64], *, is_plain: bool = False
    ) -> Read:
        """Read rankings."""
        if not plan.is_grouped:
            return self._read_rows(table, plan, places, is_plain=is_plain)

        columns = {name: join_chunks(table[name], name) for name in plan.columns}
        usual = np.flatnonzero(~self._find_unusual(columns, plan))
        if len(usual) < len(places):
            columns = {name: take(column, usual) for name, column in columns.items()}
        found, kept = self._make(
            columns, plan, places[usual], *_flatten(columns, plan), is_plain=is_plain
        )
        is_unusual = np.ones(len(places), dtype=np.bool_)
        is_unusual[usual[kept]] = False
        rows = np.flatnonzero(is_unusual)
        if not len(rows):
            return found
        some = table.select(plan.columns).take(load_arrow().array(rows))
        reading = self._reader.read_rankings(_list_objects(some, plan), now=0)
        return _merge(found, _to_read(reading, places[rows].tolist()))

    def _find_unusual(self, columns: Mapping[str, Foreign], plan: Plan) -> Marks:
        """Mark the rows whose lists of documents need a closer look."""
        compute = load_arrow("pyarrow.compute")
        listed = {
            role: columns[plan.roles[role]]
            for role in (*ITEM_ROLES, "labels", "items")
            if role in plan.roles
        }
        docs = listed["items" if "items" in listed else "doc_id"]
        marks = ~to_marks(docs.is_valid())
        if not is_list(docs.type):
            return np.ones(len(docs), dtype=np.bool_)
        sizes = _sizes(docs)
        for role, column in listed.items():
            is_there = to_marks(column.is_valid())
            if role == "labels":
                # Labels that were logged with documents become events of their own.
                marks |= is_there
            elif not is_list(column.type):
                marks |= is_there
            else:
                marks |= is_there & (_sizes(column) != sizes)
        if "items" in listed:
            flat = compute.list_flatten(docs)
            wrong = ~to_marks(flat.is_valid())
            if "labels" in plan.fields:
                wrong |= to_marks(_field(flat, plan.fields["labels"]).is_valid())
            marks |= (
                np.bincount(np.repeat(np.arange(len(sizes)), sizes)[wrong], minlength=len(sizes))
                > 0
            )
        return marks

    def _make(
        self,
        columns: Mapping[str, Foreign],
        plan: Plan,
        places: NDArray[np.int64],
        sizes: NDArray[np.int64],
        flat: Mapping[str, tuple[Foreign, Marks]],
        *,
        is_plain: bool,
    ) -> tuple[Read, NDArray[np.int64]]:
        """Make rankings of columns."""
        arrow, compute = load_arrow(), load_arrow("pyarrow.compute")
        limits, count = self._limits, len(places)
        checked = check_items(sizes, flat, limits, is_plain=is_plain)
        roles = {role: columns[name] for role, name in plan.roles.items() if name in columns}
        ranking_ids, marks = read_texts(roles["ranking_id"], limits.id_bytes, fewest=1)
        event_ids, has_no_event_id = ranking_ids, np.ones(count, dtype=np.bool_)
        if "event_id" in roles:
            has_no_event_id = ~to_marks(roles["event_id"].is_valid())
            given, wrong = read_texts(roles["event_id"], limits.id_bytes, fewest=1)
            marks = marks | (wrong & ~has_no_event_id)
            event_ids = compute.if_else(arrow.array(has_no_event_id), ranking_ids, given)
        texts = {}
        for role, most in (("query_key", limits.value_bytes), ("user_id", limits.id_bytes)):
            column = roles.get(role, arrow.nulls(count, arrow.large_string()))
            texts[role], wrong = read_texts(column, most)
            marks = marks | wrong
        attributes = {name: columns[name] for name in plan.attributes}
        contexts, contents, wrong = read_contents(count, roles, attributes, limits)
        shown = Shown(
            places=places,
            event_ids=event_ids,
            ranking_ids=ranking_ids,
            query_keys=texts["query_key"],
            user_ids=texts["user_id"],
            times=np.array(roles["time"].cast(arrow.int64()).to_numpy(), dtype=np.int64),
            contexts=contexts,
            contents=contents,
            offsets=checked.offsets,
            doc_ids=checked.doc_ids,
            ranks=checked.ranks,
            scores=checked.scores,
            relevance=checked.relevance,
        )
        kept = np.flatnonzero(~(marks | wrong | checked.marks))
        noted = {**checked.notes, "made_event_ids": has_no_event_id}
        notes = Counter({code: int(marked[kept].sum()) for code, marked in noted.items()})
        return Read(shown.choose(kept), Counter(), +notes, {}), kept

    def _read_rows(
        self, table: Foreign, plan: Plan, places: NDArray[np.int64], *, is_plain: bool
    ) -> Read:
        """Read rows with one document each."""
        columns = {name: join_chunks(table[name], name) for name in plan.columns}
        grouped = group_rows(columns, plan.roles, plan.attributes)
        of_documents = {plan.roles.get(role) for role in ITEM_ROLES}
        first = np.flatnonzero(~grouped.marks)
        whole = grouped.choose(first)
        heads = {
            name: take(column, whole.first)
            for name, column in columns.items()
            if name not in of_documents
        }
        everywhere = np.ones(len(first), dtype=np.bool_)
        flat = {
            role: (take(columns[plan.roles[role]], whole.rows), everywhere)
            for role in ITEM_ROLES
            if role in plan.roles
        }
        if "relevance" in flat:
            flat["relevance"] = _without_nan(flat["relevance"][0]), everywhere
        found, kept = self._make(
            heads, plan, places[whole.first], whole.sizes, flat, is_plain=is_plain
        )
        others = np.ones(len(grouped.first), dtype=np.bool_)
        others[first[kept]] = False
        if not others.any():
            return found
        rest = grouped.choose(np.flatnonzero(others))
        some = table.select(plan.columns).take(load_arrow().array(np.sort(rest.rows)))
        reading = self._reader.read_ranking_rows(some, now=0, attributes=plan.attributes)
        return _merge(found, _to_read(reading, places[rest.first].tolist()))


def _flatten(
    columns: Mapping[str, Foreign], plan: Plan
) -> tuple[NDArray[np.int64], dict[str, tuple[Foreign, Marks]]]:
    """Return how many documents rankings have, and their columns as `check_items` takes them."""
    compute = load_arrow("pyarrow.compute")
    flat: dict[str, tuple[Foreign, Marks]] = {}
    if "items" in plan.roles:
        column = columns[plan.roles["items"]]
        if not is_list(column.type):  # all rows need a closer look, so that none is here
            nothing = load_arrow().array([], load_arrow().large_string())
            return np.zeros(0, dtype=np.int64), {"doc_id": (nothing, np.zeros(0, dtype=np.bool_))}
        items = compute.list_flatten(column)
        everywhere = np.ones(len(column), dtype=np.bool_)
        for role, name in (plan.fields or {"doc_id": ""}).items():
            if role in ITEM_ROLES:
                field = _field(items, name) if name else items
                flat[role] = join_chunks(field, name or plan.roles["items"]), everywhere
        return _sizes(column), flat
    for role in ITEM_ROLES:
        if role in plan.roles and is_list(columns[plan.roles[role]].type):
            column = columns[plan.roles[role]]
            inner = join_chunks(compute.list_flatten(column), plan.roles[role])
            flat[role] = inner, to_marks(column.is_valid())
    return _sizes(columns[plan.roles["doc_id"]]), flat


def _sizes(column: Foreign) -> NDArray[np.int64]:
    """Return the lengths of lists, 0 for null."""
    compute = load_arrow("pyarrow.compute")
    lengths = compute.fill_null(compute.list_value_length(column), 0)
    return np.array(lengths.to_numpy(zero_copy_only=False), dtype=np.int64)


def _field(objects: Foreign, name: str) -> Foreign:
    """Return a field of objects."""
    return load_arrow("pyarrow.compute").struct_field(objects, [objects.type.get_field_index(name)])


def _without_nan(column: Foreign) -> Foreign:
    """Return a column with null for NaN."""
    arrow, compute = load_arrow(), load_arrow("pyarrow.compute")
    if not arrow.types.is_floating(column.type):
        return column
    return compute.if_else(compute.is_nan(column), arrow.scalar(None, column.type), column)


def _list_objects(table: Foreign, plan: Plan) -> list[dict[str, Any]]:
    """Return rows as objects as they would be sent, without nulls."""
    types = load_arrow().types
    columns = {}
    for name in table.column_names:
        values = table[name].to_pylist()
        is_map = types.is_map(table.schema.field(name).type)
        columns[name] = [None if one is None else dict(one) for one in values] if is_map else values
    rows = [
        {name: value for name, value in zip(columns, row, strict=True) if value is not None}
        for row in zip(*columns.values(), strict=True)
    ]
    return [_move_attributes(row, plan) for row in rows]


def _move_attributes(row: dict[str, Any], plan: Plan) -> dict[str, Any]:
    """Move the columns that are attributes into the attributes of an object."""
    moved = {name: row[name] for name in plan.attributes if name in row}
    place = plan.roles.get("attributes", "attributes")
    there = row.get(place) or {}
    if not moved or not isinstance(there, dict):
        return row
    rest = {name: value for name, value in row.items() if name not in moved}
    return rest | {place: {**there, **moved}}


def _to_read(reading: Reading, places: Sequence[int]) -> Read:
    """Turn what the event reader has read into columns."""
    rankings: list[Ranking] = []
    labels: list[Label] = []
    kept: list[int] = []
    for answer, place in zip(reading.answers, places, strict=True):
        if isinstance(answer, Rejection):
            continue
        for event in answer:
            if isinstance(event, Ranking):
                rankings.append(event)
                kept.append(place)
            else:
                labels.append(event)
    rejected = Counter(rejection.code for rejection in reading.rejections)
    examples = find_examples(reading.rejections, places)
    return Read(make_shown(rankings, kept, labels), rejected, Counter(reading.notes), examples)


def find_examples(
    rejections: Iterable[Rejection], places: Sequence[int]
) -> dict[str, tuple[int, str]]:
    """Return by code the place of the first that was rejected, and what is wrong with it."""
    found: dict[str, tuple[int, str]] = {}
    for one in rejections:
        where = f"{one.where}: " if one.where else ""
        said = f"{where}expected {one.expected}, found {one.found}"
        found.setdefault(one.code, (int(places[one.index]), said))
    return found


def _merge(one: Read, other: Read | None) -> Read:
    if other is None:
        return one
    return Read(
        join_shown([one.shown, other.shown]),
        one.rejected + other.rejected,
        one.notes + other.notes,
        join_examples([one.examples, other.examples]),
    )


def join_examples(found: Iterable[Mapping[str, tuple[int, str]]]) -> dict[str, tuple[int, str]]:
    """Return by code the example that comes first."""
    joined: dict[str, tuple[int, str]] = {}
    for code, example in (pair for one in found for pair in one.items()):
        joined[code] = min(example, joined.get(code, example))
    return joined
