"""The roles of columns: which column holds what, and the types they are converted to."""

from __future__ import annotations

from rankscope._inputs.arrow import load_arrow
from rankscope._inputs.column_names import check_names, find_column, find_grades, no_role
from rankscope._inputs.id_texts import spell_column
from rankscope._inputs.open_column import decode, is_uuid_type, read_utf8
from rankscope.errors import FormatError
from rankscope.records import record

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence
    from typing import Any

ID_ROLES = ("query", "doc")
NUMBER_ROLES = ("relevance", "score", "rank", "weight")
ITEMS = ("items", "docs", "documents", "results", "ranking")
"""The names under which a list of objects is found, each a document with its score or grade."""


@record(frozen=True, slots=True)
class Wanted:
    """The columns that are wanted from a file.

    Args:
        roles: By role, the name of its column, or none to find it by its usual names.
        others: The names of further columns, such as those to group by.
        needed: Roles of which there must be a column; of several together, one.
        besides: Columns that aren't taken for a query if there is another one.
        is_judged: Whether the rows are judgments, which may have no grades: see `find_grades`.
        has_real_numbers: Whether numbers of further columns needn't be whole in JSON Lines, where
            those of the first row are.
    """

    roles: Mapping[str, str | None]
    others: Sequence[str] = ()
    needed: Sequence[Sequence[str]] = ()
    besides: Sequence[str] = ()
    is_judged: bool = False
    has_real_numbers: bool = False

    def choose(
        self, names: Sequence[str], inside: Mapping[str, Sequence[str]], file: str
    ) -> dict[str, str]:
        """Choose the columns of a file by role."""
        fields = {field: f"{outer}.{field}" for outer, of in inside.items() for field in of}
        found: dict[str, str] = {}
        try:
            check_names(names)
            for role, name in [*self.roles.items(), *zip(self.others, self.others, strict=True)]:
                column = None
                if name is None or name in fields:
                    column = fields.get(find_column(list(fields), role, name) or "")
                column = column or find_column(names, role, name, (*self.others, *self.besides))
                if column is not None:
                    found[role] = column
            if self.is_judged and "relevance" not in found:
                column = find_grades([*names, *fields.values()], {**self.roles, **found})
                found |= {} if column is None else {"relevance": column}
        except FormatError as error:
            error.file = file
            raise
        return found

    def require(self, columns: Mapping[str, str], names: Sequence[str], file: str) -> None:
        """Raise an error for a file that lacks a required column."""
        for roles in self.needed:
            if not any(role in columns for role in roles):
                error = no_role(names, roles[0])
                error.file = file
                raise error


def role_of(name: str, columns: Mapping[str, str]) -> str:
    """Return the role for which a column was chosen, or its name if it was chosen by name."""
    return next((role for role, column in columns.items() if column == name), name)


def normalise(column: Any, role: str) -> Any:  # noqa: ANN401 - PyArrow has no types
    """Convert a column: ids to text or integers, UUIDs to text, numbers to float64.

    Other types are passed on, and rejected by their reader.
    """
    arrow = load_arrow()
    types = arrow.types
    if isinstance(column.type, arrow.BaseExtensionType) and not is_uuid_type(column.type):
        column = column.storage
    column = decode(column)
    if role in ID_ROLES:
        column = spell_column(column)
    kind = column.type
    if types.is_large_binary(kind) and role in ID_ROLES:
        return read_utf8(column, role)
    if role in ID_ROLES and types.is_integer(kind) and kind != arrow.uint64():
        return column.cast(arrow.int64())
    if role == "relevance" and types.is_boolean(kind):
        return column.cast(arrow.int8()).cast(arrow.float64())
    if role in NUMBER_ROLES and (types.is_floating(kind) or types.is_null(kind)):
        return column.cast(arrow.float64())
    if role in NUMBER_ROLES and types.is_integer(kind):
        try:
            return column.cast(arrow.float64())
        except arrow.ArrowInvalid:
            # Arrow refuses all integers above 2^53, also those that a double holds.
            rounded = _find_rounded(column)
            if rounded is not None:
                raise rounded from None
            return column.cast(arrow.float64(), safe=False)
    return column


def _find_rounded(column: Any) -> FormatError | None:  # noqa: ANN401 - as above
    values = enumerate(column.to_pylist(), start=1)
    found = next(
        ((row, value) for row, value in values if value is not None and int(float(value)) != value),
        None,
    )
    if found is None:
        return None
    row, value = found
    return FormatError(
        f"expected numbers that double precision holds, found {value}",
        hint="round them first",
        code="inexact_number",
        line=row,
    )
