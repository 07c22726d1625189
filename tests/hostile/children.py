"""Does what may end the process in a child."""

from __future__ import annotations

import json
import os
import signal
import sys
from typing import TYPE_CHECKING

import rankscope as rs

if TYPE_CHECKING:
    from collections.abc import Callable, Iterable


def outcomes_of(acts: Iterable[Callable[[], object]]) -> list[str]:
    """Do things one after another in a child of this process, and in another one where it ends.

    Args:
        acts: What to do.

    Returns:
        Of each `ok`, the code of the error and whether it names a file, the name of another
        exception, or `signal` with its number.
    """
    waiting = list(acts)
    outcomes: list[str] = []
    while len(outcomes) < len(waiting):
        outcomes += _do_until_one_ends(waiting[len(outcomes) :])
    return outcomes


def _do_until_one_ends(acts: list[Callable[[], object]]) -> list[str]:
    reader, writer = os.pipe()
    sys.stdout.flush()
    child = os.fork()
    if child == 0:
        for act in acts:
            signal.alarm(60)  # or what hangs would hang the tests
            os.write(writer, json.dumps(_do(act)).encode() + b"\n")
        os._exit(0)
    os.close(writer)
    with os.fdopen(reader) as answer:
        outcomes = [str(json.loads(line)) for line in answer]
    status = os.waitpid(child, 0)[1]
    return outcomes if status == 0 else [*outcomes, f"signal {os.WTERMSIG(status)}"]


def _do(act: Callable[[], object]) -> str:
    try:
        act()
    except rs.RankscopeError as error:
        return error.code if error.file else f"{error.code} without a file"
    except BaseException as error:  # noqa: BLE001 - it is named
        return f"{type(error).__name__}: {error}"[:500]
    return "ok"
