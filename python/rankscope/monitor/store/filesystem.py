"""Where a store may lie: not on a network, whose locks and syncs cannot be trusted."""

from __future__ import annotations

from pathlib import Path

from rankscope.errors import FileError

NETWORK = frozenset({"nfs", "nfs4", "cifs", "smb3", "smbfs", "afs", "ceph", "fuse.sshfs"})
MOUNTS = Path("/proc/self/mountinfo")


def refuse_network(path: Path, mounts: Path = MOUNTS) -> None:
    """Refuse a path on a file system of a network, where the system tells.

    Args:
        path: The path.
        mounts: What is mounted where, as Linux has it.

    Raises:
        FileError: It is on one.
    """
    kind = _kind_at(path.resolve(), mounts)
    if kind in NETWORK:
        raise FileError(
            f"expected a store on a local disk, found one on {kind}",
            hint="locks and syncs of network file systems cannot be trusted; use a local path",
            code="store_network",
            file=str(path),
        )


def _kind_at(path: Path, mounts: Path) -> str | None:
    """Find the kind of the file system that is mounted nearest above a path."""
    try:
        lines = mounts.read_text(encoding="utf-8", errors="surrogateescape").splitlines()
    except OSError:
        return None
    found: tuple[int, str] | None = None
    for line in lines:
        place, _, facts = line.partition(" - ")
        where = Path(place.split()[4].replace("\\040", " "))
        depth = len(where.parts)
        if path.is_relative_to(where) and (found is None or depth >= found[0]):
            found = depth, facts.split()[0]
    return None if found is None else found[1]
