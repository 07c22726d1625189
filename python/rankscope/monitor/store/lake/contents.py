"""Reads what rankings have in common (model, version, environment, attributes), each once."""

from __future__ import annotations

from collections.abc import Mapping

from rankscope.deferred import np
from rankscope.errors import FormatError
from rankscope.inputs.arrow import load_arrow
from rankscope.monitor.events.event import ENVIRONMENTS
from rankscope.monitor.events.fields import read_attributes, read_text
from rankscope.monitor.store.lake.cells import code_values, join_chunks, join_codes, to_marks

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Sequence
    from typing import Any

    from numpy.typing import NDArray

    from rankscope.monitor.events.limits import Limits
    from rankscope.monitor.store.lake.cells import Foreign, Marks
    from rankscope.monitor.store.lake.shown import Content

HOLDERS = ("attributes", "features", "tags")
"""The roles of columns with many attributes each."""


def read_contents(
    count: int,
    roles: Mapping[str, Foreign],
    attributes: Mapping[str, Foreign],
    limits: Limits,
) -> tuple[NDArray[np.int64], tuple[Content, ...], Marks]:
    """Read the contexts of rankings."""
    named = [(role, roles[role]) for role in ("model", "version", "environment") if role in roles]
    holders = [(role, roles[role]) for role in HOLDERS if role in roles]
    coded = [
        *(("role", name, *code_values(column)) for name, column in named),
        *(("attribute", name, *code_values(column)) for name, column in attributes.items()),
        *(("holder", name, *_code_objects(column)) for name, column in holders),
    ]
    if not coded or not count:
        only: Content = ("", "", "production", ())
        nothing = np.zeros(count, dtype=np.int64)
        return nothing, (only,), np.zeros(count, dtype=np.bool_)
    joined = join_codes((codes, max(len(values), 1)) for _, _, codes, values in coded)
    _, first, of_ranking = np.unique(joined, return_index=True, return_inverse=True)
    contents: list[Content] = []
    is_bad = np.zeros(len(first), dtype=np.bool_)
    for number, place in enumerate(first.tolist()):
        parts = [(what, name, values[codes[place]]) for what, name, codes, values in coded]
        try:
            contents.append(_read_content(parts, limits))
        except FormatError:  # each row of it gets its own rejection
            contents.append(("", "", "production", ()))
            is_bad[number] = True
    return np.asarray(of_ranking, dtype=np.int64), tuple(contents), is_bad[of_ranking]


def _read_content(parts: Sequence[tuple[str, str, Any]], limits: Limits) -> Content:
    """Read one context as the event reader does."""
    texts = {"model": "", "version": "", "environment": ""}
    moved: dict[str, object] = {}
    objects: dict[str, object] = {}
    for what, name, value in parts:
        if value is None:
            continue
        if what == "role":
            texts[name] = read_text(value, name, limits.id_bytes)
        elif what == "attribute":
            moved[name] = value
        else:
            objects[name] = value
    environment: Any = texts["environment"].lower() or ENVIRONMENTS[0]
    there = objects.get("attributes")
    if moved and (there is None or isinstance(there, Mapping)):
        objects["attributes"] = {**(there or {}), **moved}
    if environment not in ENVIRONMENTS:
        raise FormatError("there is no such environment", code="environment")
    given = [(role, objects[role]) for role in HOLDERS if role in objects]
    return texts["model"], texts["version"], environment, read_attributes(given, limits)


def _code_objects(column: Foreign) -> tuple[NDArray[np.int64], list[Any]]:
    """Number the different objects of a column of maps or structs."""
    kinds = load_arrow().types
    if kinds.is_map(column.type):
        return _code_maps(column)
    if not kinds.is_struct(column.type):
        return code_values(column)
    compute = load_arrow("pyarrow.compute")
    names = [column.type.field(at).name for at in range(column.type.num_fields)]
    parts = [
        code_values(join_chunks(compute.struct_field(column, [at]), name))
        for at, name in enumerate(names)
    ]
    is_there = to_marks(column.is_valid())
    joined = join_codes(
        [(is_there.astype(np.int64), 2), *((codes, len(values)) for codes, values in parts)]
    )
    _, first, of_row = np.unique(joined, return_index=True, return_inverse=True)
    objects = [
        {name: values[codes[at]] for name, (codes, values) in zip(names, parts, strict=True)}
        if is_there[at]
        else None
        for at in first.tolist()
    ]
    return np.asarray(of_row, dtype=np.int64), objects


def _code_maps(column: Foreign) -> tuple[NDArray[np.int64], list[Any]]:
    """Number the different maps of a column by their entries, one after the other."""
    is_there = to_marks(column.is_valid())
    offsets = column.offsets.to_numpy().astype(np.int64)
    sizes = np.where(is_there, np.diff(offsets), 0)
    keys, key_values = code_values(join_chunks(column.keys, "attributes"))
    items, item_values = code_values(join_chunks(column.items, "attributes"))
    pairs = keys * len(item_values) + items
    most = len(key_values) * len(item_values) + 1
    columns = [(is_there.astype(np.int64), 2)]
    for at in range(int(sizes.max(initial=0))):
        has = np.flatnonzero(sizes > at)
        codes = np.zeros(len(sizes), dtype=np.int64)
        codes[has] = pairs[offsets[has] + at] + 1
        columns.append((codes, most))
    _, first, of_row = np.unique(join_codes(columns), return_index=True, return_inverse=True)
    objects = [dict(column[at].as_py()) if is_there[at] else None for at in first.tolist()]
    return np.asarray(of_row, dtype=np.int64), objects
