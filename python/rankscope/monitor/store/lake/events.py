"""Decodes the tables of a lake as events: with the verdicts of events that are sent."""

from __future__ import annotations

from collections import Counter
from functools import partial
from typing import NamedTuple

from rankscope import _core
from rankscope.deferred import np
from rankscope.inputs.arrow import check_whole, load_arrow, to_array
from rankscope.inputs.files.lists import is_list
from rankscope.inputs.open_column import decode
from rankscope.monitor.events.decoding import move_attributes
from rankscope.monitor.events.limits import DAY, Limits
from rankscope.monitor.events.names import (
    COLUMN_NAMES,
    ITEM_NAMES,
    LABEL_NAMES,
    RANKING_NAMES,
    ROW_NAMES,
    Aliases,
    check_columns,
)
from rankscope.monitor.events.reader import EventReader
from rankscope.monitor.events.table_decoder import TableDecoder
from rankscope.monitor.events.tables import Rows, take_rows
from rankscope.records import record

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Collection, Mapping, Sequence
    from typing import Any, TypeAlias

    from numpy.typing import NDArray

    from rankscope.monitor.events.rejection import Decoded, Reading

    Foreign: TypeAlias = Any  # of PyArrow, which has no types
    Example: TypeAlias = tuple[int, str]
    """The place of a row that was rejected, and what is wrong with it."""

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


class DecodedTable(NamedTuple):
    """Events that were decoded from a table.

    Args:
        batch: The events, an object for each ranking or label that was read.
        places: The places of these objects, ascending.
        rejected: By code, how many were rejected.
        notes: By code, how many of those accepted have something suspicious but legal.
        examples: By code, the first that was rejected.
    """

    batch: _core.EventBatch
    places: NDArray[np.int64]
    rejected: Counter[str]
    notes: Counter[str]
    examples: dict[str, Example]


class RankingDecoder:
    """Decodes tables of rankings.

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
        self._reader = EventReader(names, LENIENT)
        of_ranking = self._reader.names[0].items()
        self._holders = [name for name, role in of_ranking if role == "attributes"]

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
            all_roles = {**roles, **fields} if fields else {**roles, "doc_id": roles["items"]}
            is_grouped = True
        else:
            roles = dict(self._lists.find(names).roles)
            is_grouped = "doc_id" in roles and is_list(schema.field(roles["doc_id"]).type)
            if not is_grouped:
                roles = dict(self._rows.find(names).roles)
            all_roles = roles
        needed = [("ranking_id",), ("time",), ("doc_id",)]
        check_columns(
            needed if is_grouped else [*needed, ("rank", "score")],
            all_roles,
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

    def decode(self, table: Foreign, plan: Plan, places: NDArray[np.int64]) -> DecodedTable:
        """Decode rankings; `places` are those of the rows."""
        # Other fields of documents are left out; a column of attributes has fields of its own.
        fields = {plan.roles.get("items"): plan.fields.values()}
        columns = {
            name: join_chunks(table[name], name, fields.get(name, ())) for name in plan.columns
        }
        rows = Rows(columns, places)
        decoder = TableDecoder(self._reader, plan.attributes)
        if plan.is_grouped:
            return _pack(decoder.decode_lists(rows, partial(self._read, plan), now=0), places)
        name = plan.roles["ranking_id"]
        decoded, firsts = decoder.decode_documents(_sort(rows, name), name, plan.roles, now=0)
        return _pack(decoded, np.array(firsts, dtype=np.int64))

    def _read(self, plan: Plan, objects: Sequence[object]) -> Reading:
        moved = [move_attributes(item, plan.attributes, self._holders) for item in objects]
        return self._reader.read_rankings(moved, now=0)


class LabelDecoder:
    """Decodes tables of labels.

    Args:
        names: By role, the name of a column that has none of the usual names.
    """

    def __init__(self, names: Mapping[str, str]) -> None:
        self._aliases = Aliases(LABEL_NAMES, names)
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

    def decode(
        self, table: Foreign, roles: Mapping[str, str], places: NDArray[np.int64]
    ) -> DecodedTable:
        """Decode labels, as `RankingDecoder` does rankings."""
        rows = Rows({name: join_chunks(table[name], name) for name in roles.values()}, places)
        return _pack(TableDecoder(self._reader).decode_labels(rows, roles, now=0), places)


def join_chunks(column: Foreign, name: str, fields: Collection[str] = ()) -> Foreign:
    """Return a column as one array of plain types; of objects, the known fields only."""
    arrow = load_arrow()
    pieces = column.chunks if isinstance(column, arrow.ChunkedArray) else [column]
    decoded = [decode(piece) for piece in pieces] or [decode(arrow.array([], column.type))]
    joined = decoded[0] if len(decoded) == 1 else arrow.concat_arrays(decoded)
    check_whole(joined, name)
    plain = _name_plain(joined.type, fields)
    return joined if plain == joined.type else joined.cast(plain)


def _name_plain(kind: Foreign, names: Collection[str]) -> Foreign:
    """Return the type of lists whose elements are plain, too."""
    arrow = load_arrow()
    types = arrow.types
    if types.is_list(kind) or types.is_large_list(kind) or types.is_fixed_size_list(kind):
        return arrow.large_list(_name_plain(kind.value_type, names))
    if types.is_struct(kind) and names:
        fields = [kind.field(at) for at in range(kind.num_fields)]
        kept = [field for field in fields if field.name in names]
        return arrow.struct([field.with_type(_name_plain(field.type, ())) for field in kept])
    if types.is_dictionary(kind):
        return _name_plain(kind.value_type, ())
    return arrow.large_string() if types.is_string(kind) or types.is_string_view(kind) else kind


def _sort(rows: Rows, name: str) -> Rows:
    """Put the rows of each ranking together, in the order of their first rows."""
    coded = rows.columns[name].dictionary_encode(null_encoding="encode")
    codes = to_array(coded.indices)
    if (codes[1:] >= codes[:-1]).all():
        return rows
    return take_rows(rows, np.argsort(codes, kind="stable"))


def _pack(decoded: Decoded, places: NDArray[np.int64]) -> DecodedTable:
    examples: dict[str, Example] = {}
    for rejection in decoded.rejections:
        example = int(places[rejection.index]), rejection.message
        examples.setdefault(rejection.code, example)
    rejected = Counter(rejection.code for rejection in decoded.rejections)
    return DecodedTable(decoded.batch, places, rejected, Counter(decoded.notes), examples)


def join_decoded(parts: Sequence[DecodedTable]) -> DecodedTable:
    """Put together what was decoded from several tables, in the order of the places."""
    if not parts:
        nothing = np.zeros(0, dtype=np.int64)
        return DecodedTable(_core.BatchBuilder().finish(), nothing, Counter(), Counter(), {})
    joined = parts[0]
    for part in parts[1:]:
        at = np.searchsorted(joined.places, part.places) + np.arange(len(part.places))
        examples = dict(joined.examples)
        for code, example in part.examples.items():
            examples[code] = min(example, examples.get(code, example))
        joined = DecodedTable(
            joined.batch.merge(part.batch, at.tolist()),
            np.sort(np.concatenate([joined.places, part.places])),
            joined.rejected + part.rejected,
            joined.notes + part.notes,
            examples,
        )
    return joined
