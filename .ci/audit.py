"""Audits the dependencies: licences and sources of crates, and advisories; `make audit` calls it.

Licences, bans and sources need the lock file only, and are always checked. Advisories need the
RustSec database from GitHub, and the advisories of PyPI. Where these can't be reached, the audit
says that they were not checked; with --required, it fails.
"""

from __future__ import annotations

import argparse
import datetime as dt
import subprocess
import sys
import tempfile
import tomllib
import urllib.error
import urllib.request
from importlib.metadata import version
from pathlib import Path
from typing import NamedTuple

ROOT = Path(__file__).resolve().parents[1]
BIN = Path(sys.executable).parent
SECONDS = 60


class Advisory(NamedTuple):
    """An advisory that is let pass.

    Args:
        id: Its id, such as `RUSTSEC-2026-0001`.
        package: What it is about.
        reason: Why it does no harm here.
        until: The day from which on it has to be looked into again.
    """

    id: str
    package: str
    reason: str
    until: dt.date


def read_exceptions(text: str, today: dt.date) -> list[Advisory]:
    """Read the exceptions.

    Args:
        text: TOML, as in `.ci/audit.toml`.
        today: The date.

    Raises:
        ValueError: One lacks something, or has expired.
    """
    found = []
    for given in tomllib.loads(text).get("exception", []):
        if set(given) != set(Advisory._fields):
            raise ValueError(f"expected {', '.join(Advisory._fields)}, found {given}")
        texts = [given[name] for name in ("id", "package", "reason")]
        if not all(isinstance(text, str) and text for text in texts):
            raise ValueError(f"expected texts for id, package and reason, found {given}")
        if type(given["until"]) is not dt.date:
            raise ValueError(f"expected a date for until, found {given['until']!r}")
        one = Advisory(**given)
        if one.until <= today:
            raise ValueError(
                f"the exception for {one.id} expired on {one.until}: look into it again"
            )
        found.append(one)
    return found


def check_crates() -> bool:
    """Check licences, bans and sources of crates, which needs no advisories."""
    # The crates themselves have the licences; without them, this takes them from crates.io.
    return _run("cargo", "fetch", "--locked", "--quiet") and _run(
        BIN / "cargo-deny", "--locked", "--offline", "check", "licenses", "bans", "sources"
    )


def check_crate_advisories(exceptions: list[Advisory]) -> bool | None:
    """Check crates against RustSec; `None` where its database can't be fetched."""
    ignored = "".join(f"  {{ id = {one.id!r}, reason = 'audit.toml' }},\n" for one in exceptions)
    with tempfile.TemporaryDirectory() as folder:
        config = Path(folder) / "deny.toml"
        config.write_text(
            (ROOT / "deny.toml").read_text(encoding="utf-8")
            + f"\n[advisories]\nignore = [\n{ignored}]\n",
            encoding="utf-8",
        )
        deny = (BIN / "cargo-deny", "--locked")
        fetched = subprocess.run(
            [*deny, "fetch", "--config", config, "db"], cwd=ROOT, capture_output=True, check=False
        )
        if fetched.returncode:
            return None
        return _run(*deny, "check", "--config", config, "--disable-fetch", "advisories")


def check_python_advisories(exceptions: list[Advisory]) -> bool | None:
    """Check what is installed here against PyPI; `None` where it doesn't tell advisories."""
    known = f"https://pypi.org/pypi/pip-audit/{version('pip-audit')}/json"
    try:
        with urllib.request.urlopen(known, timeout=SECONDS):
            pass
    except (urllib.error.URLError, TimeoutError):
        return None
    ignored = [part for one in exceptions for part in ("--ignore-vuln", one.id)]
    audit = (BIN / "pip-audit", "--local", "--skip-editable", "--progress-spinner", "off")
    return _run(*audit, "--vulnerability-service", "pypi", "--strict", *ignored)


def main() -> int:
    """Run the audit, and say what was checked and what was not."""
    parser = argparse.ArgumentParser(description="Audit the dependencies.")
    parser.add_argument(
        "--required", action="store_true", help="fail where advisories can't be fetched"
    )
    required = parser.parse_args().required
    today = dt.datetime.now(dt.UTC).date()
    try:
        exceptions = read_exceptions((ROOT / ".ci/audit.toml").read_text(encoding="utf-8"), today)
    except ValueError as error:
        print(f".ci/audit.toml: {error}", file=sys.stderr)
        return 1
    found = {
        "crates: licences, bans, sources": (check_crates(), ""),
        "crates: advisories": (
            check_crate_advisories(exceptions),
            "the RustSec database on github.com can't be fetched from here",
        ),
        "Python packages: advisories": (
            check_python_advisories(exceptions),
            "pypi.org, or what stands in for it here, doesn't tell advisories",
        ),
    }
    for name, (passed, why) in found.items():
        said = f"NOT CHECKED: {why}" if passed is None else "ok" if passed else "FAILED"
        print(f"{name:34}{said}")
    failed = any(passed is False for passed, _ in found.values())
    unchecked = any(passed is None for passed, _ in found.values())
    return int(failed or (required and unchecked))


def _run(*command: object) -> bool:
    return subprocess.run(list(map(str, command)), cwd=ROOT, check=False).returncode == 0


if __name__ == "__main__":
    sys.exit(main())
