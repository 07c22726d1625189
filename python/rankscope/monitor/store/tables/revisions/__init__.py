"""Upgrades the tables of a store, revision by revision, with Alembic."""

from __future__ import annotations

from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING

from sqlalchemy import select, update

from rankscope.monitor.store.tables import version
from rankscope.monitor.store.tables.schema import alembic_version, meta

if TYPE_CHECKING:
    from alembic.config import Config
    from sqlalchemy import Connection


FOLDERS = [Path(__file__).parent / "versions"]
"""Where the files of the revisions are."""


@dataclass(frozen=True, slots=True)
class Revision:
    """A step of an upgrade.

    Args:
        number: Its number, such as `0002`.
        summary: What it does.
        only_adds: Whether the releases of the revision before work with its tables, too.
    """

    number: str
    summary: str
    only_adds: bool


def find_revision(connection: Connection) -> str:
    """Return the revision of a store."""
    return str(connection.execute(select(alembic_version)).scalar_one())


def plan_upgrade(revision: str) -> list[Revision]:
    """List the revisions from that of a store to that of this release."""
    from alembic.script import ScriptDirectory

    scripts = ScriptDirectory.from_config(_configure())
    known = list(version.REVISIONS)
    # A release that doesn't know the revision of a store has nothing to do.
    at = known.index(revision) if revision in known else len(known)
    return [
        Revision(
            number,
            (scripts.get_revision(number).doc or "").rstrip("."),
            version.REVISIONS[number] <= before,
        )
        for before, number in zip(known[at:], known[at + 1 :], strict=False)
    ]


def upgrade_tables(connection: Connection) -> bool:
    """Bring the tables to the revision of this release, in the transaction of a connection.

    Returns:
        Whether anything was changed.
    """
    head = version.find_head()
    if not plan_upgrade(find_revision(connection)):
        return False
    from alembic import command

    config = _configure()
    config.attributes["connection"] = connection
    command.upgrade(config, head)
    oldest = update(meta).where(meta.c.name == version.OLDEST)
    connection.execute(oldest.values(value=version.REVISIONS[head]))
    return True


def _configure() -> Config:
    from alembic.config import Config

    config = Config()
    for name, value in {
        "script_location": str(Path(__file__).parent),
        "path_separator": "newline",
        "version_locations": "\n".join(map(str, FOLDERS)),
    }.items():
        config.set_main_option(name, value.replace("%", "%%"))
    return config
