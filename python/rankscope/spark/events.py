"""The events of one hour, from tables of Arrow, each event once."""

from __future__ import annotations

from typing import NamedTuple

from rankscope import _core
from rankscope._inputs.arrow import check_whole
from rankscope._inputs.columns import decode, is_list
from rankscope.deferred import np, pa
from rankscope.errors import FormatError
from rankscope.monitor.events.bins import bin_content
from rankscope.monitor.events.limits import DAY, Limits
from rankscope.monitor.events.names import (
    COLUMN_NAMES,
    ITEM_NAMES,
    LABEL_NAMES,
    RANKING_NAMES,
    Aliases,
)
from rankscope.monitor.events.reader import EventReader
from rankscope.monitor.events.table_decoder import TableDecoder
from rankscope.monitor.events.tables import Rows
from rankscope.monitor.store.chunks import make_chunk

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Collection, Iterable, Sequence
    from typing import Any, TypeAlias

    from rankscope.monitor.events.bins import Bins, Content
    from rankscope.monitor.events.rejection import Decoded
    from rankscope.monitor.store.records import Chunk

    Foreign: TypeAlias = Any  # of PyArrow, which has no types

PROJECT = 0
"""Ids are compared with those of the same hour only."""
LENIENT = Limits(ahead=36_530 * DAY, age=36_530 * DAY)
"""Rows of any time count."""


class Hour(NamedTuple):
    """The rankings of an hour with their labels.

    Args:
        contents: The contexts of the rankings.
        chunk: The rankings by time, then by `ranking_id`; a context is a position in `contents`.
    """

    contents: list[Content]
    chunk: Chunk


def decode_rankings(table: Foreign) -> Decoded:
    """Decode rankings, one a row with lists of documents."""
    names = table.schema.names
    fields: Iterable[str] = ()
    if any(name in RANKING_NAMES["items"] for name in names):
        roles = dict(Aliases(RANKING_NAMES).find(names).roles)
        all_roles = {**roles, "doc_id": roles["items"]}
        kind = table.schema.field(roles["items"]).type
        inner = kind.value_type if is_list(kind) else kind
        if pa.types.is_struct(inner):
            names_of_items = [inner.field(at).name for at in range(inner.num_fields)]
            of_items = Aliases(ITEM_NAMES).find(names_of_items).roles
            fields = of_items.values()
            all_roles = {**roles, **of_items}
    else:
        roles = all_roles = dict(Aliases(COLUMN_NAMES).find(names).roles)
    _check_columns(all_roles, names, (("ranking_id",), ("time",), ("doc_id",)))
    if "doc_id" in roles and not is_list(table.schema.field(roles["doc_id"]).type):
        raise FormatError(
            f"expected a list of documents in each row of {roles['doc_id']!r}, found "
            f"{table.schema.field(roles['doc_id']).type}",
            hint="group the rows of each ranking: one row per ranking, with an array of ids",
            code="columns",
        )
    # Other fields of documents are left out.
    columns = {
        name: _join(table[name], name, fields if name == roles.get("items") else ())
        for name in roles.values()
    }
    reader = EventReader({}, LENIENT)
    return TableDecoder(reader).decode_lists(
        _number(columns, table), lambda objects: reader.read_rankings(objects, now=0), now=0
    )


def decode_labels(table: Foreign) -> Decoded:
    """Decode labels, one a row."""
    names = table.schema.names
    roles = dict(Aliases(LABEL_NAMES).find(names).roles)
    _check_columns(roles, names, (("ranking_id",), ("doc_id",), ("time",), ("labels", "value")))
    columns = {name: _join(table[name], name) for name in roles.values()}
    reader = EventReader({}, LENIENT)
    return TableDecoder(reader).decode_labels(_number(columns, table), roles, now=0)


def settle_hour(
    start: int, rankings: _core.EventBatch, labels: _core.EventBatch, bins: Bins
) -> Hour:
    """Return the rankings of an hour with their labels: of events with one id, the first counts."""
    batch = _core.EventBatch.join([rankings, labels])
    events = batch.hash_ids(PROJECT).settle([], 1)
    contents = events.contexts()
    numbers: dict[Content, int] = {}
    contexts = [
        # Those of no ranking that counts are `None`.
        0 if each is None else numbers.setdefault(bin_content(each, bins), len(numbers))
        for each in contents
    ]
    shown = [block for _, _, block in events.rankings(contexts)]
    label_blocks, _ = events.labels([])
    told = [block for at, _, block in label_blocks if at == start]
    chunk = make_chunk(_core.RankingBlock.join(shown), _core.LabelBlock.join(told), event_ids=False)
    return Hour(list(numbers), chunk)


def _check_columns(
    roles: Collection[str], names: Sequence[str], needed: Sequence[Sequence[str]]
) -> None:
    missing = [" or ".join(each) for each in needed if not any(role in roles for role in each)]
    if missing:
        raise FormatError(
            f"expected columns of {', '.join(missing)}; found {', '.join(names) or 'no columns'}",
            hint="rename the columns of the DataFrame",
            code="columns",
        )


def _number(columns: dict[str, Foreign], table: Foreign) -> Rows:
    return Rows(columns, np.arange(table.num_rows))


def _join(column: Foreign, name: str, fields: Iterable[str] = ()) -> Foreign:
    """Return a column as one array of plain types; of objects, the known fields only."""
    pieces = column.chunks if isinstance(column, pa.ChunkedArray) else [column]
    decoded = [decode(piece) for piece in pieces] or [decode(pa.array([], column.type))]
    joined = decoded[0] if len(decoded) == 1 else pa.concat_arrays(decoded)
    check_whole(joined, name)
    plain = _name_plain(joined.type, set(fields))
    return joined if plain == joined.type else joined.cast(plain)


def _name_plain(kind: Foreign, names: Collection[str]) -> Foreign:
    """Return the type of lists whose elements are plain, too."""
    if pa.types.is_list(kind) or pa.types.is_large_list(kind) or pa.types.is_fixed_size_list(kind):
        return pa.large_list(_name_plain(kind.value_type, names))
    if pa.types.is_struct(kind) and names:
        fields = [kind.field(at) for at in range(kind.num_fields)]
        kept = [field for field in fields if field.name in names]
        return pa.struct([field.with_type(_name_plain(field.type, ())) for field in kept])
    if pa.types.is_dictionary(kind):
        return _name_plain(kind.value_type, ())
    return pa.large_string() if pa.types.is_string(kind) or pa.types.is_string_view(kind) else kind
