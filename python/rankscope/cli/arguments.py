"""How the words of a command line are read."""

from __future__ import annotations

import argparse

from rankscope import Interval, __version__
from rankscope.errors import UsageError

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Sequence
    from typing import NoReturn


class Parser(argparse.ArgumentParser):
    """A parser whose mistakes are errors of the house."""

    def __init__(self, **settings: object) -> None:
        super().__init__(allow_abbrev=False, **settings)  # type: ignore[arg-type]

    def error(self, message: str) -> NoReturn:
        """Raise what is wrong with the words."""
        raise UsageError(message, hint=f"see {self.prog} --help", code="usage")

    def add_version(self) -> None:
        """Add `--version`."""
        self.add_argument("--version", action="version", version=f"rankscope {__version__}")


class Once(argparse.Action):
    """An option that may be given once."""

    def __call__(
        self,
        parser: argparse.ArgumentParser,
        namespace: argparse.Namespace,
        values: str | Sequence[object] | None,
        option_string: str | None = None,
    ) -> None:
        """Keep the value, or refuse it."""
        seen = namespace.__dict__.setdefault("_seen", set())
        if self.dest in seen:
            parser.error(f"expected {option_string} once, found it twice")
        seen.add(self.dest)
        setattr(namespace, self.dest, self.const if self.nargs == 0 else values)


class OnceFlag(Once):
    """A flag that may be given once."""

    def __init__(self, option_strings: Sequence[str], dest: str, help: str = "") -> None:  # noqa: A002 - argparse's name
        super().__init__(option_strings, dest, nargs=0, const=True, default=False, help=help)


def read_interval(options: argparse.Namespace) -> Interval | None:
    """Read which interval is asked for.

    Raises:
        UsageError: There is a seed without an interval.
        PolicyError: The level is none.
    """
    if options.interval is None:
        if options.seed is not None:
            raise UsageError(
                "expected --interval beside --seed, found none",
                hint="write --interval 0.95",
                code="usage",
            )
        return None
    return Interval(options.interval, seed=options.seed or 0)


def split_measures(texts: Sequence[str]) -> list[str]:
    """Split texts at commas and blanks that are outside brackets.

    Examples:
        >>> split_measures(["nDCG@10, AP", "RBP(p=0.9, rel=2)"])
        ['nDCG@10', 'AP', 'RBP(p=0.9, rel=2)']
    """
    names = []
    for text in texts:
        depth = 0
        name = ""
        for character in f"{text},":
            depth += (character in "([{") - (character in ")]}")
            if depth <= 0 and character in ", ":
                names.append(name)
                name = ""
            else:
                name += character
        names.append(name)
    return [name for name in names if name]
