"""What became of an attempt to deliver a notification."""

from __future__ import annotations

from dataclasses import dataclass

GONE = 410


@dataclass(frozen=True, slots=True)
class Attempt:
    """The result of an attempt to deliver a notification.

    Args:
        problem: What was wrong; empty if it was delivered.
        wait: For how many seconds the other side asks to be left alone.
        is_gone: Whether it will never take anything again.
    """

    problem: str = ""
    wait: float = 0.0
    is_gone: bool = False


def judge_reply(status: int, retry_after: float) -> Attempt:
    """Return what the status of an answer means."""
    if status in range(200, 300):
        return Attempt()
    if status == GONE:
        return Attempt("status 410, which means that it is gone", is_gone=True)
    return Attempt(f"status {status}", retry_after)
