"""Ask the peers, and write what they say: `python -m dev.parity [PEER ...]`."""

from __future__ import annotations

import argparse
import datetime as dt
import json
import os
import subprocess
import sys
import tempfile
from pathlib import Path

from dev.environments import ROOT, make_environment
from dev.parity import cases, compared, every, fused, golden, items, splits

PEERS = ROOT / "dev" / "parity" / "peers"
WORK = ROOT / "dev" / "parity" / "work"
SCRIPTS = ("measure", "compared", "every", "fused", "items", "splits")
"""What a peer computes: values under a convention, p-values, other values, fused runs, and
values of recommendations, and split logs."""


def main() -> int:
    """Write the cases, then the golden files of the peers that were named, or of all.

    Returns:
        Exit status: 0 where every peer answered, 1 where one did not.
    """
    names = sorted(path.parent.name for path in PEERS.glob("*/requirements.txt"))
    parser = argparse.ArgumentParser(prog="python -m dev.parity", description=__doc__)
    parser.add_argument("peers", nargs="*", metavar="PEER", help=", ".join(names))
    options = parser.parse_args()
    if unknown := sorted(set(options.peers) - set(names)):
        parser.error(f"expected some of {', '.join(names)}; found {', '.join(unknown)}")
    cases.PATH.write_text(cases.render(cases.generate()), encoding="utf-8")
    silent = [peer for peer in options.peers or names if not ask(peer)]
    for peer in silent:
        print(f"No answer of {peer}: see its messages above.", file=sys.stderr)
    return 1 if silent else 0


def ask(peer: str) -> bool:
    """Ask one peer in its own environment, and write its golden files.

    Args:
        peer: Its name.

    Returns:
        Whether it answered.
    """
    with tempfile.TemporaryDirectory() as folder:
        found = {}
        try:
            python = make_environment(WORK / f"env-{peer}", PEERS / peer / "requirements.txt")
            for script in SCRIPTS:
                if (PEERS / peer / f"{script}.py").exists():
                    answers = Path(folder) / f"{script}.json"
                    subprocess.run(
                        [python, "-m", f"dev.parity.peers.{peer}.{script}", answers],
                        check=True,
                        cwd=folder,  # some write logs where they run
                        env=os.environ | {"PYTHONPATH": str(ROOT)},
                    )
                    found[script] = json.loads(answers.read_text(encoding="utf-8"))
        except subprocess.CalledProcessError:
            return False
    today = {"verified": dt.datetime.now(tz=dt.UTC).date().isoformat()}
    paths = [golden.write(today | convention) for convention in found.get("measure", ())]
    if "compared" in found:
        paths.append(compared.write(peer, today | found["compared"]))
    if "every" in found:
        paths.append(every.write(peer, today | found["every"]))
    if "fused" in found:
        paths.append(fused.write(peer, today | found["fused"]))
    if "items" in found:
        paths.append(items.write(peer, today | found["items"]))
    if "splits" in found:
        paths.append(splits.write(peer, today | found["splits"]))
    for path in paths:
        print(path.relative_to(ROOT))
    return True


if __name__ == "__main__":
    sys.exit(main())
