"""What people pick from lists in forms: models and versions, each as one value of a field."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from urllib.parse import parse_qsl, urlencode

from rankscope._show.table import show
from rankscope.monitor.server.pages.measure_view import name_version
from rankscope.monitor.store.records import Version

MOST_NAMED = 10
"""Choices that a refusal names, the newest first."""


def write_choice(**parts: str | None) -> str:
    """Write what is picked together as one value, which `read_choice` reads.

    Examples:
        >>> write_choice(model="a b", version=None), read_choice("model=a+b&version=")
        ('model=a+b', {'model': 'a b', 'version': ''})
    """
    return urlencode({name: part for name, part in parts.items() if part is not None})


def read_choice(text: str) -> dict[str, str]:
    """Read the parts of a value; none of an empty one."""
    return dict(parse_qsl(text, keep_blank_values=True))


def list_rankers(versions: Iterable[Version]) -> dict[str, str]:
    """List the models and versions that can be picked, the newest first, by their value."""
    listed = [each for each in versions if not each.folded][::-1]
    models = dict.fromkeys(each.model for each in listed)
    rankers = {write_choice(): "all rankings"}
    if len(models) > 1:
        named = {write_choice(model=name): f"all versions of {name}" for name in models if name}
        rankers |= named
    for each in listed:
        value = write_choice(model=each.model, version=each.version)
        rankers[value] = name_version(each.model, each.version)
    return rankers


def find_rankers(rankers: Iterable[str], model: str | None, version: str | None) -> list[str]:
    """Return the values that a model and a version may mean: of a version alone, several models."""
    asked = write_choice(model=model, version=version)
    wanted = read_choice(asked).items()
    fitting = [each for each in rankers if wanted <= read_choice(each).items()]
    return [asked] if asked in fitting else fitting


def refuse_ranker(rankers: Mapping[str, str], model: str | None, version: str | None) -> str:
    """Say what can be picked where there are no rankings of a model or a version."""
    *names, last = list(rankers.values())[:MOST_NAMED]
    there = f"{', '.join(names)} or {last}" if names else last
    return f"There are no rankings of {show(name_version(model, version))}. Choose {there}."


WORDS = {"write_choice": write_choice}
