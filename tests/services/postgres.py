"""A PostgreSQL server of its own in a temporary folder, for the tests of stores."""

from __future__ import annotations

import os
import shutil
import subprocess
import tempfile
from itertools import count
from pathlib import Path

INSTALLED = Path("/usr/lib/postgresql")
OWNER = "postgres"
SETTINGS = {
    "listen_addresses": "",
    # No test loses the power, and a write that reached the kernel survives the end of a process.
    "fsync": "off",
    "full_page_writes": "off",
    "max_connections": "60",
    "shared_buffers": "32MB",
    "autovacuum": "off",
}


MEMORY = Path("/dev/shm")  # noqa: S108 - a folder of its own is made there
ROOM = 2 << 30


def find_memory():
    """Return a folder in memory if there is room: a store has many small files."""
    is_large = MEMORY.is_dir() and shutil.disk_usage(MEMORY).free > ROOM
    return MEMORY if is_large and os.access(MEMORY, os.W_OK) else None


class Cluster:
    """A server that listens on a socket in its folder; it ends with the block.

    `initdb` refuses to run as root, so root runs it as the user that Debian's package makes.
    """

    def __init__(self):
        found = sorted(INSTALLED.glob("*/bin/pg_ctl"), key=lambda path: int(path.parts[-3]))
        control = str(found[-1]) if found else shutil.which("pg_ctl")
        assert control is not None, "expected PostgreSQL, found none: run make test-services"
        self._programs = Path(control).parent
        self._owner = OWNER if os.geteuid() == 0 else None
        self.folder = Path(tempfile.mkdtemp(prefix="rankscope-postgres-", dir=find_memory()))
        self._numbers = count(1)

    def __enter__(self):
        if self._owner is not None:
            shutil.chown(self.folder, self._owner)
        data = self.folder / "data"
        self._run("initdb", "-D", data, "-U", OWNER, "-A", "trust", "-E", "UTF8", "--no-sync")
        with (data / "postgresql.conf").open("a") as file:
            file.write(f"unix_socket_directories = '{self.folder}'\n")
            file.writelines(f"{name} = '{value}'\n" for name, value in SETTINGS.items())
        self.start()
        return self

    def __exit__(self, *_raised):
        self.stop("fast")
        shutil.rmtree(self.folder)

    def start(self):
        log = self.folder / "log"
        self._run("pg_ctl", "-D", self.folder / "data", "-l", log, "-w", "start")

    def stop(self, mode="immediate"):
        """Stop the server, by default at once, as a crash would."""
        self._run("pg_ctl", "-D", self.folder / "data", "-m", mode, "-w", "stop")

    def url(self, schema=None):
        """The URL of a store of its own, or of a schema."""
        name = schema or f"store{next(self._numbers)}"
        return f"postgresql://{OWNER}@/postgres?host={self.folder}&schema={name}"

    def _run(self, program, *arguments):
        # The server keeps what it inherits open, so that nothing is read through pipes.
        with (self.folder / "output").open("ab") as output:
            subprocess.run(
                [self._programs / program, *map(str, arguments)],
                user=self._owner,
                cwd=self.folder,
                stdout=output,
                stderr=output,
                check=True,
            )
