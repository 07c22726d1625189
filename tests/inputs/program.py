"""Runs the command line many times, without starting an interpreter each time.

A process that has loaded the package waits for requests, and forks a child for each. What one child
had to load of the package, the process loads too, so that the next children find it there.
"""

from __future__ import annotations

import json
import os
import subprocess
import sys
from importlib import import_module
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from pathlib import Path
    from typing import NoReturn


class Program:
    """The process that forks.

    Args:
        folder: Where the streams of its children are.
        modules: What it loads before it forks, so that no child has to.
    """

    def __init__(self, folder: Path, *modules: str) -> None:
        self._folder = folder
        self._process = subprocess.Popen(
            [sys.executable, __file__, *modules],
            stdin=subprocess.PIPE,
            stdout=subprocess.PIPE,
            text=True,
            cwd=folder,
        )

    def run(self, *words: str, given: bytes = b"") -> subprocess.CompletedProcess[bytes]:
        """Run the program with what stands on its standard input."""
        assert self._process.stdin is not None
        assert self._process.stdout is not None
        streams = [self._folder / name for name in ("stdin", "stdout", "stderr")]
        streams[0].write_bytes(given)
        request = {"words": words, "streams": [str(path) for path in streams]}
        self._process.stdin.write(json.dumps(request) + "\n")
        self._process.stdin.flush()
        status = int(self._process.stdout.readline())
        return subprocess.CompletedProcess(
            words, status, streams[1].read_bytes(), streams[2].read_bytes()
        )

    def close(self) -> None:
        """End the process."""
        self._process.communicate("")


def main() -> None:
    """Fork a child for each request."""
    from rankscope.cli import main as run  # noqa: PLC0415 - only this process needs it

    for module in sys.argv[1:]:
        import_module(module)
    for line in sys.stdin:
        request = json.loads(line)
        reader, writer = os.pipe()
        child = os.fork()
        if child == 0:
            os.close(reader)
            modes = (os.O_RDONLY, os.O_WRONLY | os.O_CREAT | os.O_TRUNC)
            for number, path in enumerate(request["streams"]):
                os.dup2(os.open(path, modes[number > 0], 0o600), number)
            known = set(sys.modules)
            status = run(request["words"])
            loaded = [name for name in sys.modules if name not in known]
            os.write(writer, " ".join(name for name in loaded if is_ours(name)).encode())
            end(status)
        os.close(writer)
        with os.fdopen(reader) as told:
            loaded = told.read().split()
        _, status = os.waitpid(child, 0)
        sys.stdout.write(f"{os.waitstatus_to_exitcode(status)}\n")
        sys.stdout.flush()
        for module in loaded:
            import_module(module)


def is_ours(module: str) -> bool:
    """Whether a module is of the package."""
    return module.startswith("rankscope.")


def end(status: int) -> NoReturn:
    """End a child, and leave the streams of its parent alone."""
    sys.stdout.flush()
    sys.stderr.flush()
    os._exit(status)


if __name__ == "__main__":
    main()
