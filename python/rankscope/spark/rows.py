"""What the rows of data frames hold: which column has which role."""

from __future__ import annotations

from contextlib import suppress

from rankscope._inputs.column_names import SYNONYMS, check_names, find_column
from rankscope._inputs.columns import INTEGER_TYPES, read_typed_values
from rankscope._inputs.roles import CHECKS
from rankscope._inputs.rows import Columns
from rankscope._inputs.tabular import JOINED, JUDGED, RETRIEVED, want_columns
from rankscope.deferred import pa
from rankscope.output.ids import AttributeColumn, IdColumn, SourceIds
from rankscope.records import record

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Callable, Mapping, Sequence
    from typing import Any

NEEDED = {"judged": JUDGED, "retrieved": RETRIEVED, "joined": JOINED}
"""The roles of which there must be a column, by what rows are."""
FILES = {"judged": "qrels", "retrieved": "run", "joined": "table"}
"""What messages call a data frame, by what its rows are."""


@record(frozen=True, slots=True, kw_only=True)
class Rows:
    """What the rows of a data frame hold.

    Args:
        side: What they are: `judged`, `retrieved`, or `joined` for both.
        schema: The names of all columns and their types, in order, as Arrow has them.
        names: By role, the names of the columns.
        ids: The columns of ids and attributes as the data frame has them.
        checks: By role, the columns that only `ListChecks` needs.
    """

    side: str
    schema: Any
    names: Mapping[str, str]
    ids: SourceIds
    checks: Mapping[str, str] = {}

    @property
    def columns(self) -> list[str]:
        """The names of all columns, in order."""
        return list(self.schema.names)

    @property
    def attributes(self) -> list[str]:
        """The columns of what belongs to the query."""
        return [attribute.name for attribute in self.ids.attributes]

    def read(self, table: Any) -> Columns:  # noqa: ANN401 - PyArrow has no types
        """Return the columns of an Arrow table by their roles, as the local engine has them."""
        columns = dict(zip(table.column_names, table.columns, strict=True))
        return Columns(columns, self.names, table.column_names)


def spell_names(names: Sequence[str], chosen: Sequence[str]) -> list[str]:
    """Return the names of columns as they were chosen, or usually are: Spark ignores their case."""
    usual = [name for of in SYNONYMS.values() for name in of]
    spelled = {name.lower(): name for name in (*usual, *chosen)}
    return [spelled.get(name.lower(), name) for name in names]


def select_columns(
    side: str,
    columns: Sequence[str],
    convert: Callable[[Sequence[str]], Any],
    named: Mapping[str, str | None],
    attributes: Sequence[str] = (),
) -> Rows:
    """Select the columns that are needed.

    Args:
        side: What rows are, as in `Rows`.
        columns: The names of all columns.
        convert: Returns the schema of some of them in Arrow.
        named: By role, the names of columns that the caller named.
        attributes: The columns of what belongs to the query.

    Raises:
        FormatError: A column is missing, or there are two candidates.
    """
    check_names(columns)
    for name in attributes:
        find_column(columns, name, name)  # or there is none
    is_judged = side == "judged"
    others = () if is_judged else attributes
    # A column that is named as an attribute is no grade.
    columns = [name for name in columns if not is_judged or name not in attributes]
    wanted = want_columns(NEEDED[side], named, others=others, is_judged=is_judged)
    found = wanted.choose(columns, {}, FILES[side])
    wanted.require(found, columns, FILES[side])
    names = {role: found[role] for role in (*wanted.roles, "relevance") if role in found}
    checks = {role: name for role, name in found.items() if role.startswith(CHECKS)}
    # Columns of lists and objects divide nothing, and Arrow has no type for some.
    kinds: list[Any] = []
    with suppress(TypeError):
        kinds = convert([*checks.values()]).types
    checks = {
        role: name
        for (role, name), kind in zip(checks.items(), kinds, strict=False)
        if not pa.types.is_nested(kind)
    }
    schema = convert(list(dict.fromkeys([*names.values(), *attributes, *checks.values()])))
    empty = schema.empty_table()
    types = {role: str(schema.field(name).type) for role, name in names.items()}
    query, doc = (
        IdColumn(names.get(role, usual), types[role] if types.get(role) in INTEGER_TYPES else "")
        for role, usual in (("query", "query_id"), ("doc", "doc_id"))
    )
    described = (
        AttributeColumn(name, read_typed_values(empty[name], name)[1]) for name in attributes
    )
    ids = SourceIds(query, doc, tuple(described))
    return Rows(side=side, schema=schema, names=names, ids=ids, checks=checks)
