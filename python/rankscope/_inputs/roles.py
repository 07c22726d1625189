"""The roles of columns: which column holds what, and the types they are converted to."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

from rankscope._inputs.column_names import (
    TAGS,
    check_names,
    find_column,
    find_grades,
    no_role,
    splits_of,
)
from rankscope._inputs.columns import simplify, spell_ids, to_doubles
from rankscope.deferred import pa
from rankscope.errors import FormatError

if TYPE_CHECKING:
    from collections.abc import Collection, Mapping, Sequence
    from typing import Any

ID_ROLES = ("query", "doc")
SPLIT, TAG = CHECKS = ("split ", "tag ")
"""How the roles of columns begin that are only read for `ListChecks`."""
NUMBER_ROLES = ("relevance", "score", "rank", "weight")


@dataclass(frozen=True, slots=True)
class Wanted:
    """The columns that are wanted from a file.

    Args:
        roles: By role, the name of its column, or none to find it by its usual names.
        others: The names of further columns, such as those to group by.
        needed: Roles of which there must be a column; of several together, one.
        besides: Columns that aren't taken for a query if there is another one.
        labels: Those of the further columns that hold labels in place of grades.
        is_judged: Whether the rows are judgments, which may have no grades: see `find_grades`.
        is_ranked: Whether the rows of a query are a list, which another column may divide.
        has_real_numbers: Whether numbers of further columns needn't be whole in JSON Lines, where
            those of the first row are.
        is_flat: Whether a list of objects is a value of its row, and not the documents of a query.
    """

    roles: Mapping[str, str | None]
    others: Sequence[str] = ()
    needed: Sequence[Sequence[str]] = ()
    besides: Sequence[str] = ()
    labels: Sequence[str] = ()
    is_judged: bool = False
    is_ranked: bool = False
    has_real_numbers: bool = False
    is_flat: bool = False

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
                if column is not None and found.get(role, column) != column:
                    found[f"column {role}"] = column  # of the name of a role that another one has
                elif column is not None:
                    found[role] = column
            if self.is_judged and "relevance" not in found:
                column = find_grades([*names, *fields.values()], {**self.roles, **found})
                found |= {} if column is None else {"relevance": column}
        except FormatError as error:
            error.file = file
            raise
        if found.get("relevance", "") == found.get("score"):
            message = f"expected columns of relevance and score, found {found['score']!r} for both"
            hint = "name both: relevance='…', score='…'"
            raise FormatError(message, hint=hint, code="columns", file=file)
        if self.is_ranked:
            finds_query = "query" in found and self.roles["query"] is None
            found |= find_checks(names, found.values(), finds_query=finds_query)
        return found

    def require(self, columns: Mapping[str, str], names: Sequence[str], file: str) -> None:
        """Raise an error for a file that lacks a required column."""
        for roles in self.needed:
            if not any(role in columns for role in roles):
                error = no_role(names, roles[0])
                error.file = file
                raise error


def find_checks(
    names: Sequence[str], used: Collection[str], *, finds_query: bool
) -> dict[str, str]:
    """Return the columns of rankings that nothing else needs than `ListChecks`, by role.

    What divides the rows of a query is meant to do so where the caller named the query.
    """
    splits = splits_of(names, used) if finds_query else []
    tags = [name for name in TAGS if name in names and name not in used]
    return {f"{SPLIT}{name}": name for name in splits} | {f"{TAG}{name}": name for name in tags}


def tags_of(columns: Mapping[str, str]) -> list[str]:
    """Return the columns that name runs."""
    return [name for role, name in columns.items() if role.startswith(TAG)]


def without_tags(columns: Mapping[str, str]) -> dict[str, str]:
    """Return the other columns by role."""
    return {role: name for role, name in columns.items() if not role.startswith(TAG)}


def role_of(name: str, columns: Mapping[str, str]) -> str:
    """Return the role for which a column was chosen, or its name if it was chosen by name."""
    return next((role for role, column in columns.items() if column == name), name)


def normalise(column: Any, name: str, role: str) -> Any:  # noqa: ANN401 - PyArrow has no types
    """Convert a column: IDs to text or integers of 64 bits, numbers to double precision."""
    column = simplify(column)
    if role in NUMBER_ROLES:
        return to_doubles(column, name, role)
    if role not in ID_ROLES:
        return column
    column = spell_ids(column, name)
    is_small = pa.types.is_integer(column.type) and column.type != pa.uint64()
    return column.cast(pa.int64()) if is_small else column
