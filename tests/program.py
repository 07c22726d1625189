"""Runs the command line many times, without starting an interpreter each time.

A process that has loaded the package forks a child for each call. What one child had to load of
the package, the process loads too, so that the next children find it there. Shells find a program
of the name `rankscope` in a folder, which does the same.
"""

from __future__ import annotations

import atexit
import json
import os
import shutil
import signal
import socket
import subprocess
import sys
import tempfile
from contextlib import suppress
from functools import cache
from importlib import import_module
from pathlib import Path
from threading import Thread

SOCKET = "socket"
COMMAND = "rankscope"
LOADED = ("rankscope.", "matplotlib", "numpy", "pyarrow")
"""What the process loads of what its children did: what is slow to load, and starts no threads."""


class Program:
    """The process that forks."""

    def __init__(self, folder):
        self.folder = folder
        command = folder / COMMAND
        # Neither the user's settings nor `site` are needed to ask.
        command.write_text(f"#!{sys.executable} -IS\n{Path(__file__).read_text('utf-8')}", "utf-8")
        command.chmod(0o700)
        self._process = subprocess.Popen(
            [sys.executable, __file__, str(folder / SOCKET)], stdout=subprocess.PIPE
        )
        assert self._process.stdout is not None
        assert self._process.stdout.readline() == b"ready\n"

    def run(self, *words, given=b"", environment=None, folder=None):
        """Run the program with what comes through a pipe on its standard input."""
        reader, writer = os.pipe()
        sender = Thread(target=send, args=[writer, given])
        sender.start()
        with (
            os.fdopen(reader, "rb") as stdin,
            tempfile.TemporaryFile() as stdout,
            tempfile.TemporaryFile() as stderr,
        ):
            streams = [stream.fileno() for stream in (stdin, stdout, stderr)]
            status = ask(
                str(self.folder / SOCKET),
                [os.fsdecode(word) for word in words],
                streams,
                {**os.environ, **(environment or {})},
                folder or str(Path.cwd()),
            )
            stdin.close()
            sender.join()
            stdout.seek(0)
            stderr.seek(0)
            return subprocess.CompletedProcess(words, status, stdout.read(), stderr.read())

    def close(self):
        self._process.kill()
        self._process.communicate()
        shutil.rmtree(self.folder)


def send(writer, data):
    """Write to a pipe, which the reader may not read to its end."""
    with suppress(BrokenPipeError), os.fdopen(writer, "wb") as file:
        file.write(data)


@cache
def start_program():
    """Start the program that all tests of this process share."""
    program = Program(Path(tempfile.mkdtemp(prefix="program")))
    atexit.register(program.close)
    return program


def ask(address, words, streams, environment, folder):
    """Run the program elsewhere, on streams of this process, and give its exit status."""
    request = {"words": words, "environment": dict(environment), "folder": folder}
    with socket.socket(socket.AF_UNIX) as connection:
        connection.connect(address)
        socket.send_fds(connection, [b"."], streams)
        connection.sendall(json.dumps(request).encode())
        connection.shutdown(socket.SHUT_WR)
        with connection.makefile() as status:
            return int(status.read())


def serve(address):
    """Fork a child for each connection."""
    import rankscope._cli  # noqa: F401 - only this process needs it, and its children

    reader, writer = os.pipe()
    os.set_blocking(reader, False)
    with socket.socket(socket.AF_UNIX) as listener:
        listener.bind(address)
        listener.listen()
        sys.stdout.write("ready\n")
        sys.stdout.flush()
        while True:
            connection, _ = listener.accept()
            load(reader)
            if os.fork() == 0:
                listener.close()
                answer(connection, writer)
            connection.close()
            reap()


def load(reader):
    try:
        names = os.read(reader, 1 << 16).decode().split()
    except BlockingIOError:
        return
    for name in names:
        import_module(name)


def reap():
    try:
        while os.waitpid(-1, os.WNOHANG)[0]:
            pass
    except ChildProcessError:
        pass


def answer(connection, writer):
    """Run the program in a child of this process, and answer with its exit status."""
    _, streams, _, _ = socket.recv_fds(connection, 1, 3)
    with connection.makefile() as sent:
        request = json.loads(sent.read())
    child = os.fork()
    if child == 0:
        connection.close()
        for number, stream in enumerate(streams):
            os.dup2(stream, number)
    for stream in streams:
        os.close(stream)
    if child == 0:
        run(request, writer)
    _, status = os.waitpid(child, 0)
    connection.sendall(str(os.waitstatus_to_exitcode(status)).encode())
    os._exit(0)


def run(request, writer):
    """Run the program in this process, and tell what it had to load."""
    from rankscope._cli import main

    # The old objects remember what the old files were, such as whether they have a position.
    sys.stdin, sys.stdout, sys.stderr = (open(0), open(1, "w"), open(2, "w", buffering=1))  # noqa: SIM115
    os.chdir(request["folder"])
    os.environ.clear()
    os.environ.update(request["environment"])
    known = set(sys.modules)
    status = main(request["words"])
    for name in [name for name in sys.modules if name not in known]:
        if name.startswith(LOADED):
            os.write(writer, f"{name}\n".encode())
    sys.stdout.flush()
    sys.stderr.flush()
    os._exit(status)


def end(status):
    """End as the program ended: with its status, or by its signal."""
    if status < 0:
        signal.signal(-status, signal.SIG_DFL)
        os.kill(os.getpid(), -status)
    sys.exit(status)


if __name__ == "__main__":
    here = Path(__file__)
    if here.name == COMMAND:
        end(ask(str(here.with_name(SOCKET)), sys.argv[1:], [0, 1, 2], os.environ, str(Path.cwd())))
    serve(sys.argv[1])
