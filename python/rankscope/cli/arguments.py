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


def add_measures_argument(parser: argparse.ArgumentParser, default: Sequence[str]) -> None:
    """Say which measures a command takes."""
    parser.add_argument(
        "-m",
        dest="measures",
        metavar="MEASURE",
        action="append",
        help=f"a measure, or several with commas between; {' '.join(default)} if left "
        "out; `rankscope measures` lists them",
    )


def add_policy_argument(parser: argparse.ArgumentParser) -> None:
    """Say that a command takes a policy."""
    parser.add_argument(
        "--policy",
        action=Once,
        default="",
        metavar="FIELD=VALUE,…",
        help="what is done where tools differ: ties, empty, missing, unjudged, unretrieved, "
        "negative, missing_gain, aggregate",
    )


def add_convention_argument(parser: argparse.ArgumentParser) -> None:
    """Say that a command takes a convention."""
    parser.add_argument(
        "--convention",
        action=Once,
        metavar="NAME",
        help="the library whose numbers are wanted, such as lightgbm; `rankscope conventions` "
        "lists them",
    )


def add_interval_arguments(parser: argparse.ArgumentParser, default: float | None = None) -> None:
    """Say which interval a command takes."""
    parser.add_argument(
        "--interval",
        action=Once,
        type=float,
        default=default,
        metavar="LEVEL",
        help="an interval around each mean that covers it with this probability, such as 0.95, "
        f"from a bootstrap over queries{f'; {default} if left out' if default else ''}",
    )
    parser.add_argument(
        "--seed",
        action=Once,
        type=int,
        metavar="N",
        help="what the bootstrap begins with, 0 if left out; one seed always gives one interval",
    )


def add_reading_arguments(parser: argparse.ArgumentParser) -> None:
    """Say how a command reads its files."""
    parser.add_argument(
        "--duplicates",
        action=Once,
        default="error",
        choices=("error", "first", "max"),
        help="which of two rows for one document counts",
    )
    parser.add_argument(
        "--score-type",
        action=Once,
        choices=("float64", "float32"),
        help="how scores are compared, float64 if left out; trec_eval 9 compares float32",
    )
    parser.add_argument(
        "--encoding", action=Once, default="utf-8", choices=("utf-8", "latin-1"), help="of files"
    )
    parser.add_argument(
        "--threads", action=Once, type=int, metavar="N", help="one a processor if left out"
    )
    parser.add_argument("--strict", action=OnceFlag, help="refuse what is suspicious but legal")


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
