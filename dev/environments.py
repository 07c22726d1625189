"""Python environments of the tools that are compared, each with pinned packages."""

from __future__ import annotations

import subprocess
import sys
import venv
from pathlib import Path

ROOT = Path(__file__).resolve().parents[1]


def installed_packages(python: Path) -> dict[str, str]:
    """List the packages of an environment.

    Args:
        python: Its interpreter.

    Returns:
        Versions by package name.
    """
    listing = (
        "import importlib.metadata as m; "
        "print(*sorted({d.name + '==' + d.version for d in m.distributions()}), sep='\\n')"
    )
    lines = subprocess.check_output([python, "-c", listing], text=True).split()
    return dict(line.split("==") for line in lines)


def make_environment(folder: Path, requirements: Path) -> Path:
    """Make the environment of a peer, where it is missing or stale.

    Args:
        folder: Where it is kept.
        requirements: A file of exact versions.

    Returns:
        Path of its interpreter.

    Raises:
        CalledProcessError: A package cannot be installed; the installer has said why.
    """
    python, stamp = folder / "bin" / "python", folder / "installed.txt"
    wanted = f"{sys.version}\n{requirements.read_text(encoding='utf-8')}"
    if not stamp.exists() or stamp.read_text(encoding="utf-8") != wanted:
        print(f"Making {folder.name} …", file=sys.stderr)
        venv.create(folder, clear=True, with_pip=True)
        install = ["-m", "pip", "install", "--quiet", "--disable-pip-version-check"]
        subprocess.run([python, *install, "--requirement", requirements], check=True)
        stamp.write_text(wanted, encoding="utf-8")
    return python
