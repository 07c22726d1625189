from __future__ import annotations

from importlib import import_module
from typing import get_args

import rankscope.file as files
from rankscope.file import EVENT_FORMATS, FORMATS, TABLE_FORMATS


def literal(name: str) -> tuple[str, ...]:
    """The choices that editors offer, which stand where only type checkers look."""
    source = import_module("inspect").getsource(files)
    line = next(line for line in source.splitlines() if line.strip().startswith(f"{name}:"))
    return get_args(eval(line.partition(" = ")[2], {"Literal": import_module("typing").Literal}))  # noqa: S307


def test_editors_offer_the_formats_of_the_table() -> None:
    assert sorted(literal("Format")) == sorted(TABLE_FORMATS)
    assert sorted(literal("EventFormat")) == sorted(EVENT_FORMATS)


def test_every_reader_opens_files_and_every_ending_means_one_format() -> None:
    endings = [ending for row in FORMATS.values() for ending in row.endings]
    assert len(endings) == len(set(endings))
    for row in FORMATS.values():
        if row.reader:
            module, _, name = row.reader.partition(":")
            assert callable(getattr(import_module(f"rankscope._inputs.{module}"), name))
        else:
            assert row.name in {"trec", "json"}
