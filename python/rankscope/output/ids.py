"""The columns of identifiers as the caller has them, to which results give them back."""

from __future__ import annotations

import sys

from rankscope.deferred import np
from rankscope.records import record

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence
    from collections.abc import Set as AbstractSet
    from typing import Any, TypeAlias
    from uuid import UUID

    from numpy.typing import NDArray

    Ids: TypeAlias = list[str] | list[int] | list[UUID]


UUIDS = "uuid"
"""The type of a column of UUIDs. The core has their usual text, with hyphens."""


def are_uuids(kinds: AbstractSet[type]) -> bool:
    """Check whether the types of objects are all Python's type of UUIDs."""
    uuid = sys.modules.get("uuid")  # which is there if there are such objects
    return bool(kinds) and uuid is not None and kinds == {uuid.UUID}


@record(frozen=True, slots=True)
class IdColumn:
    """A column of identifiers. The core knows them as text.

    Args:
        name: The name of the column.
        dtype: The NumPy name of the type if they are integers, such as `int64`; `uuid` if they are
            UUIDs; else empty.
    """

    name: str
    dtype: str = ""

    def restore(self, texts: list[str]) -> Ids:
        """Return identifiers as the caller has them."""
        ids = self._read(texts)
        return texts if ids is None else ids

    def restore_column(self, texts: Sequence[Any] | NDArray[Any]) -> Sequence[Any] | NDArray[Any]:
        """Return the cells of a column, of which some may be `None`, as the caller has them."""
        ids = self._read([str(text) for text in texts if text is not None])
        if ids is None:
            return texts
        if len(ids) < len(texts):
            rest = iter(ids)
            return [None if text is None else next(rest) for text in texts]
        if self.dtype == UUIDS:
            return ids
        return np.array(ids, dtype=self.dtype)

    def _read(self, texts: list[str]) -> list[int] | list[UUID] | None:
        """Return integers or UUIDs; `None` if the caller has text, or one of them is another text.

        A document of a run can be one that no judgments of integers have.
        """
        if not self.dtype:
            return None
        try:
            if self.dtype == UUIDS:
                from uuid import UUID  # noqa: PLC0415 - few ids are of this type

                uuids = list(map(UUID, texts))
                return uuids if list(map(str, uuids)) == texts else None
            numbers = list(map(int, texts))
        except ValueError:
            return None
        return numbers if list(map(str, numbers)) == texts else None


MISSING = "<missing>"
"""The text of an attribute that is null."""


@record(frozen=True, slots=True)
class AttributeColumn:
    """A column of an attribute of queries. The core knows its values as text.

    Args:
        name: The name of the column.
        dtype: The type of its values: the NumPy name of a type of integers, `bool`, `float64`,
            `date` or `datetime`; else empty, for text.
    """

    name: str
    dtype: str = ""

    def restore_column(self, texts: list[str]) -> list[Any] | NDArray[Any]:
        """Return values as the caller has them, `None` where there is none."""
        try:
            values = [None if text == MISSING else self._read(text) for text in texts]
        except ValueError:
            return texts
        if self.dtype in {"", "date", "datetime"} or None in values:
            return values

        return np.array(values, dtype=self.dtype)

    def _read(self, text: str) -> object:
        if self.dtype in {"date", "datetime"}:
            import datetime as dt  # noqa: PLC0415 - few attributes need it

            return getattr(dt, self.dtype).fromisoformat(text)
        if self.dtype == "bool":
            return {"true": True, "false": False}[text]
        if self.dtype == "float64":
            return float(text)
        return int(text) if self.dtype else text


@record(frozen=True, slots=True)
class SourceIds:
    """The columns of queries, documents and attributes as the caller has them.

    Args:
        query: The column of queries.
        doc: The column of documents.
        attributes: The attributes of queries.
        usual: By role, the columns that were found by their usual names.
    """

    query: IdColumn = IdColumn("query_id")
    doc: IdColumn = IdColumn("doc_id")
    attributes: tuple[AttributeColumn, ...] = ()
    usual: Mapping[str, str] = {}

    def attribute(self, name: str) -> AttributeColumn:
        """Return the column of an attribute."""
        held = {each.name: each for each in self.attributes}
        return held.get(name, AttributeColumn(name))

    def column(self, name: str) -> IdColumn | None:
        """Return the column of a result as the caller has it, if it holds identifiers."""
        if name == "query_id":
            return self.query
        if name in {"doc_id", "other_doc_id"}:
            prefix = name.removesuffix("doc_id")
            return IdColumn(prefix + self.doc.name, self.doc.dtype)
        return None


TEXT = SourceIds()
"""Identifiers of files and arrays."""
