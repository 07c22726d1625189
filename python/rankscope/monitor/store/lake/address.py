"""Where the rankings and labels of a project are in a lake, and how to read them."""

from __future__ import annotations

import json
import os
from pathlib import Path
from urllib.parse import unquote, urlsplit

from rankscope.errors import UsageError
from rankscope.monitor.events.limits import DAY
from rankscope.output.text import show
from rankscope.records import as_dict, record

TYPE_CHECKING = False
if TYPE_CHECKING:
    from typing import Literal, Self, TypeAlias

    Kind: TypeAlias = Literal["rankings", "labels"]
    Layout: TypeAlias = Literal["parquet", "delta", "iceberg"]

LAYOUTS = ("parquet", "delta", "iceberg")
SCHEMES = ("file", "s3", "gs", "abfs", "abfss")


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


def check_url(text: str) -> str:
    """Return the URL of a table or a pattern of files; a path here becomes absolute.

    Examples:
        >>> check_url("s3://log/impressions/**.parquet")
        's3://log/impressions/**.parquet'
        >>> check_url("s3://key:secret@log/impressions")
        Traceback (most recent call last):
          ...
        rankscope.errors.UsageError: the URL s3://log/impressions contains credentials
        <BLANKLINE>
        Hint: put them into the environment, as for the tools of the provider
    """
    if "://" not in text:
        if not text:
            raise UsageError(
                "expected a path or a URL, found empty text",
                hint="use a folder or a pattern such as 'impressions/**.parquet'",
                code="lake_url",
            )
        return os.path.abspath(text)  # noqa: PTH100 - Path removes a slash at the end, too
    scheme, _, rest = text.partition("://")
    place, _, path = rest.partition("/")
    user, has_user, host = place.rpartition("@")
    if scheme not in SCHEMES:
        raise UsageError(
            f"cannot read from {show(scheme[:40])}://",
            hint="use a local path, s3://, gs:// or abfs://",
            code="lake_url",
        )
    is_container = scheme.startswith("abfs") and ":" not in user
    is_signed = "?" in path and "=" in path.partition("?")[2]
    if (has_user and not is_container) or is_signed:
        shown = f"{scheme}://{host}/{path.partition('?')[0]}"
        raise UsageError(
            f"the URL {show(shown)} contains credentials",
            hint="put them into the environment, as for the tools of the provider",
            code="lake_url",
        )
    if scheme == "file":
        split = urlsplit(text)
        if split.netloc not in {"", "localhost"}:
            raise UsageError(
                f"the URL {show(text)} names another computer",
                hint="write file:///folder with three slashes, or the path alone",
                code="lake_url",
            )
        return str(Path(unquote(text.removeprefix("file://").removeprefix("localhost"))))
    return text
