"""Does what may end the process in a child."""

from __future__ import annotations

import os
import sys
from typing import TYPE_CHECKING

import rankscope as rs

if TYPE_CHECKING:
    from collections.abc import Callable


def outcome_of(act: Callable[[], object]) -> str:
    """Do something in a child of this process.

    Args:
        act: What to do.

    Returns:
        `ok`, the code of the error and whether it names a file, the name of another exception, or
        `signal` with its number.
    """
    reader, writer = os.pipe()
    sys.stdout.flush()
    child = os.fork()
    if child == 0:
        try:
            act()
            outcome = "ok"
        except rs.RankscopeError as error:
            outcome = error.code if error.file else f"{error.code} without a file"
        except BaseException as error:  # noqa: BLE001 - it is named
            outcome = f"{type(error).__name__}: {error}"[:500]
        os.write(writer, outcome.encode(errors="replace"))
        os._exit(0)
    os.close(writer)
    with os.fdopen(reader, errors="replace") as answer:
        outcome = answer.read()
    status = os.waitpid(child, 0)[1]
    return outcome if status == 0 else f"signal {os.WTERMSIG(status)}"
