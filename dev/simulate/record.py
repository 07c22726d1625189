"""Writes the records."""

from __future__ import annotations

import json
from dataclasses import asdict, dataclass, field
from typing import TYPE_CHECKING

from dev.record import write_page
from dev.simulate.case import Row

if TYPE_CHECKING:
    from collections.abc import Callable, Iterable, Mapping, Sequence
    from pathlib import Path

    from dev.simulate.case import Case


@dataclass(frozen=True, slots=True, kw_only=True)
class Page:
    """What a record is about, and how its page is written.

    Args:
        about: What it is about, as the command names it.
        title: The title of the page.
        folder: Where the records are kept.
        head: What comes before the tables.
        tables: By name of the table, in the order of the page, what comes before its rows.
        list_cases: Returns the cases, in the order of the page.
    """

    about: str
    title: str
    folder: Path
    head: str
    tables: Mapping[str, str]
    list_cases: Callable[[], Iterable[Case]]


@dataclass(slots=True)
class Record:
    """The record of a day: the rows of each case, kept as JSON beside the page.

    Args:
        page: The page.
        cases: By name of the case, its rows.
    """

    page: Page
    cases: dict[str, list[Row]] = field(default_factory=dict)

    @staticmethod
    def read(page: Page) -> Record:
        """Return the newest record, of which some cases are made anew; empty if there is none."""
        newest = max(page.folder.glob("*.json"), default=None)  # they are named by their days
        stored = {} if newest is None else json.loads(newest.read_text(encoding="utf-8"))
        return Record(
            page,
            {
                name: [Row(row["table"], tuple(row["cells"]), row["problem"]) for row in rows]
                for name, rows in stored.items()
            },
        )

    def write(self) -> None:
        """Write the rows as JSON, and the page."""
        order = [case.name for case in self.page.list_cases()]
        named = {name: self.cases[name] for name in order if name in self.cases}
        path = write_page(self.page.title, _render(self.page, named), self.page.folder)
        stored = {name: [asdict(row) for row in rows] for name, rows in named.items()}
        path.with_suffix(".json").write_text(json.dumps(stored, indent=1) + "\n", encoding="utf-8")


def _render(page: Page, cases: Mapping[str, Sequence[Row]]) -> str:
    """Return the page as Markdown."""
    rows = [row for each in cases.values() for row in each]
    parts = [page.head]
    for table, head in page.tables.items():
        lines = [f"| {' | '.join(row.cells)} |\n" for row in rows if row.table == table]
        if lines:
            parts.append(head + "".join(lines))
    return "\n".join(parts)
