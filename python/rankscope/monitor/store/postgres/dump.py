"""Restores a store from a file of pg_dump, with the tools of PostgreSQL."""

from __future__ import annotations

import os
import shutil
import subprocess
from contextlib import closing
from functools import partial

from rankscope.errors import FileError, UsageError
from rankscope.monitor.store.postgres.address import read_address
from rankscope.monitor.store.postgres.startup import list_tables
from rankscope.monitor.store.postgres.store import PostgresReader, open_postgres_reader

TOOL = "pg_restore"


def restore_dump(path: str, url: str) -> None:
    """Restore a file of `pg_dump --format=custom` in a database without such a store.

    Raises:
        UsageError: The tool is not installed, or there is a store already.
        FileError: The file is none of them, or it cannot be restored as a whole.
    """
    address = read_address(url)
    with closing(PostgresReader(address)) as reader:
        if reader.query(partial(list_tables, address=address)) is not None:
            raise UsageError(
                f"the database has a schema {address.schema} already",
                hint="restore to a new database, which createdb makes",
                code="store_there",
            )
    tool = shutil.which(TOOL)
    if tool is None:
        raise UsageError(
            f"{TOOL} is not installed",
            hint="install the client programs of PostgreSQL",
            code="missing_program",
        )
    password = address.url.password
    done = subprocess.run(  # noqa: S603 - a list of words, of which the user names the file
        [
            *(tool, "--exit-on-error", "--single-transaction", "--no-owner", "--no-privileges"),
            f"--dbname={address.for_tools}",
            path,
        ],
        env=os.environ | ({} if password is None else {"PGPASSWORD": str(password)}),
        stdin=subprocess.DEVNULL,
        capture_output=True,
        text=True,
        errors="replace",
        check=False,
    )
    if done.returncode:
        reason = (done.stderr.strip().splitlines() or ["it says no reason"])[0]
        raise FileError(
            f"the dump cannot be restored: {reason:.300}",
            hint="use another dump, or another database; nothing was restored",
            code="backup_damaged",
            file=path,
        )
    # The dump has the schema of the store that was dumped.
    open_postgres_reader(url, is_for_upgrade=True).close()
