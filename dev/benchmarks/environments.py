"""The Python environment of each tool: ours from `make develop`, a peer's made on demand."""

from __future__ import annotations

import os
import shutil
from typing import TYPE_CHECKING

from dev.environments import ROOT, make_environment

if TYPE_CHECKING:
    from pathlib import Path

PEERS = ROOT / "dev" / "benchmarks" / "peers"
WORK = ROOT / "dev" / "benchmarks" / "work"
OURS = "ours"
PREFIX = "env-"
TREC_EVAL = shutil.which(os.environ.get("TREC_EVAL", "trec_eval"))
"""The program, which isn't installed here."""


def interpreter(name: str) -> Path:
    """Find the interpreter of an environment; a peer's is made first where it is missing or stale.

    Args:
        name: `ours`, or `env-` and the name of a peer.

    Returns:
        Path of the interpreter.

    Raises:
        SystemExit: The environment of ours was not made yet.
    """
    if name == OURS:
        ours = ROOT / ".venv" / "bin" / "python"
        if not ours.exists():
            raise SystemExit(f"Expected our environment, found no {ours}.\nHint: make develop")
        return ours
    return make_environment(WORK / name, PEERS / name.removeprefix(PREFIX) / "requirements.txt")
