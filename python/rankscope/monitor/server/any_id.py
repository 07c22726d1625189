"""Ids in paths: any text that is not empty, with slashes and ends of lines."""

from __future__ import annotations

from starlette.convertors import Convertor, register_url_convertor


class AnyId(Convertor[str]):
    """What stands for an id in the path of a route, as `{ranking_id:id}`."""

    regex = "(?s:.+)"

    def convert(self, value: str) -> str:
        """Give the id."""
        return value

    def to_string(self, value: str) -> str:
        """Give its text."""
        return value


def register_ids() -> None:
    """Let paths have ids."""
    register_url_convertor("id", AnyId())
