"""Find a convention by its name."""

from __future__ import annotations

from rankscope.conventions.spec import Convention
from rankscope.conventions.table import TABLE
from rankscope.errors import UsageError
from rankscope.names import find_closest, quote


def find(name: Convention | str) -> Convention:
    """Return the convention with a name, or with a name and version.

    Args:
        name: A name such as `lightgbm` or `trec_eval@10.0`. Without a version, this is the newest
            version that was run, or the newest one if none was.

    Raises:
        UsageError: There is no such convention.

    Examples:
        >>> find("trec_eval"), find("trec_eval@10.0")
        (Convention('trec_eval@9.0.8'), Convention('trec_eval@10.0'))
    """
    if isinstance(name, Convention):
        return name
    if not isinstance(name, str):
        raise UsageError(
            f"expected a convention or its name, found {type(name).__name__}",
            hint="write 'trec_eval' or 'lightgbm@4.7.0'",
            code="unknown_convention",
        )
    stem, _, version = name.partition("@")
    versions = [row for row in TABLE if row.name == stem]
    if not versions:
        raise _unknown(name)
    if not version:
        return max(versions, key=_standing)
    for row in versions:
        if row.version == version:
            return row
    known = " and ".join(row.address for row in versions)
    raise UsageError(
        f"unknown version of {stem}: {quote(name)}",
        hint=f"the known versions are {known}",
        code="unknown_convention",
    )


def _standing(row: Convention) -> tuple[bool, list[int]]:
    digits = [part for part in row.version.split(".") if part.isdigit()]
    return row.verified == "run", [int(part) for part in digits]


def _unknown(name: str) -> UsageError:
    names = list(dict.fromkeys(row.name for row in TABLE))
    closest = find_closest(name, names)
    return UsageError(
        f"unknown convention {quote(name)}",
        hint=f"did you mean {closest}?" if closest else f"the conventions are {', '.join(names)}",
        code="unknown_convention",
    )
