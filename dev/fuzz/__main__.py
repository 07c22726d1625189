"""Runs one target under Atheris, with the arguments of libFuzzer: `python -m dev.fuzz csv FOLDERS`.

Without arguments, it prints the names of the targets.
"""

from __future__ import annotations

import sys


def main() -> None:
    """Fuzz until time is over, or something is found."""
    if len(sys.argv) == 1:
        from dev.fuzz.targets import TARGETS

        print(" ".join(TARGETS))
        return
    import atheris

    # Modules are loaded when they are first needed, also within a target.
    with atheris.instrument_imports(include=["rankscope", "tomllib"]):
        from dev.fuzz.targets import SEEDS, TARGETS

        name = sys.argv.pop(1)
        for seed in (SEEDS / name).iterdir():
            TARGETS[name](seed.read_bytes())  # what is slow to load doesn't count as slow
        atheris.Setup(sys.argv, TARGETS[name])
        atheris.Fuzz()


if __name__ == "__main__":
    main()
