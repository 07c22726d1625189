"""Every command of the program with its arguments, as its parser has them."""

from __future__ import annotations

import argparse
from typing import NamedTuple

from rankscope._cli.commands import COMMANDS, Group
from rankscope._cli.parser import Parser


class Command(NamedTuple):
    """A command as its parser has it, without `--help`, and its module in `rankscope._cli`."""

    words: tuple[str, ...]
    positionals: tuple[argparse.Action, ...]
    options: tuple[argparse.Action, ...]
    module: str

    @property
    def name(self):
        return " ".join(self.words)


def list_commands():
    return [*_walk((), COMMANDS)]


def _walk(words, group):
    for name, command in group.commands.items():
        if isinstance(command, Group):
            yield from _walk((*words, name), command)
            continue
        parser = Parser(prog=name)
        command.add_arguments(parser)
        shown = [each for each in parser._actions if not isinstance(each, argparse._HelpAction)]
        yield Command(
            (*words, name),
            tuple(action for action in shown if not action.option_strings),
            tuple(action for action in shown if action.option_strings),
            command.function.partition(":")[0],
        )


def takes_value(option):
    """Whether something follows an option."""
    return option.nargs != 0
