"""Where the rankings and labels of a project are in a lake, and how to read them."""

from __future__ import annotations

import json

from rankscope.monitor.events.limits import DAY
from rankscope.records import as_dict, record

TYPE_CHECKING = False
if TYPE_CHECKING:
    from typing import Literal, Self, TypeAlias

    from rankscope.inputs.lakehouse import Layout

    Kind: TypeAlias = Literal["rankings", "labels"]

LAYOUTS = ("parquet", "delta", "iceberg")


@record(frozen=True, slots=True, kw_only=True)
class TableAddress:
    """A table of rankings or labels in a lake.

    Args:
        url: A folder, a file or a pattern of files, here or in a bucket.
        layout: How it is stored.
        names: By role, the name of a column that has none of the usual names.
        attributes: The columns that describe a ranking.
    """

    url: str
    layout: Layout
    names: tuple[tuple[str, str], ...] = ()
    attributes: tuple[str, ...] = ()


@record(frozen=True, slots=True, kw_only=True)
class Lake:
    """The rankings and labels of a project.

    Args:
        rankings: The rankings.
        labels: The labels, if there are any.
        reach: How long after a ranking its labels are looked for, in microseconds.
        early: How long before a ranking its labels are looked for: clocks may be wrong.
        within: How long after a ranking another one with its id counts as repeated. Their hours are
            compared; 0 compares those of one hour only.
        timezone: The time zone of times that have none, such as `Europe/Berlin`.
    """

    rankings: TableAddress
    labels: TableAddress | None
    reach: int
    early: int
    within: int = DAY
    timezone: str | None = None

    @property
    def sources(self) -> dict[Kind, TableAddress]:
        """The tables by kind."""
        tables: dict[Kind, TableAddress] = {"rankings": self.rankings}
        if self.labels is not None:
            tables["labels"] = self.labels
        return tables

    def to_json(self) -> str:
        """Write it as JSON."""
        tables = {
            kind: as_dict(table) | {"names": dict(table.names)}
            for kind, table in self.sources.items()
        }
        spans = {"reach": self.reach, "early": self.early, "within": self.within}
        return json.dumps({**tables, **spans, "timezone": self.timezone}, sort_keys=True)

    @classmethod
    def from_json(cls, text: str) -> Self:
        """Read what `to_json` gave."""
        fields = json.loads(text)
        tables = {
            kind: TableAddress(
                url=table["url"],
                layout=table["layout"],
                names=tuple(sorted(table["names"].items())),
                attributes=tuple(table["attributes"]),
            )
            for kind in ("rankings", "labels")
            if (table := fields.pop(kind, None)) is not None
        }
        return cls(rankings=tables["rankings"], labels=tables.get("labels"), **fields)
