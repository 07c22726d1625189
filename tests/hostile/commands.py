"""Every command of the program with its arguments, as its parser has them."""

from __future__ import annotations

import argparse
from typing import TYPE_CHECKING, NamedTuple

from rankscope.cli import COMMANDS, GROUPS, _load
from rankscope.cli.arguments import Parser

if TYPE_CHECKING:
    from collections.abc import Iterator


class Command(NamedTuple):
    """A command, with the words that name it.

    Attributes:
        words: Such as `("monitor", "rule", "add")`.
        positionals: Its positional arguments.
        options: Its options, without `--help`.
    """

    words: tuple[str, ...]
    positionals: tuple[argparse.Action, ...]
    options: tuple[argparse.Action, ...]

    @property
    def name(self) -> str:
        """The words as one."""
        return " ".join(self.words)


def list_commands() -> list[Command]:
    """List every command that can be run."""
    found = []
    for name in COMMANDS:
        if name in GROUPS:
            for child in GROUPS[name]:
                found += _walk((name, child), _parse_of(f"{name}.{child}"))
        else:
            found += _walk((name,), _parse_of(name))
    return found


def _parse_of(name: str) -> argparse.ArgumentParser:
    parser = Parser(prog=name)
    _load(name).add_arguments(parser)
    return parser


def _walk(words: tuple[str, ...], parser: argparse.ArgumentParser) -> Iterator[Command]:
    actions = parser._actions
    for action in actions:
        if isinstance(action, argparse._SubParsersAction):
            for name, child in action.choices.items():
                yield from _walk((*words, name), child)
            return
    shown = [action for action in actions if not isinstance(action, argparse._HelpAction)]
    yield Command(
        words,
        tuple(action for action in shown if not action.option_strings),
        tuple(action for action in shown if action.option_strings),
    )


def takes_value(option: argparse.Action) -> bool:
    """Whether something follows an option."""
    return option.nargs != 0
