"""How many cases a test generates."""

from __future__ import annotations

from typing import Any

from hypothesis import settings


def examples(count: int, **more: Any) -> settings:
    """Generate so many cases where the usual profile has 100, and ten times as many if thorough.

    Args:
        count: How many cases. A test whose cases cost more than most has fewer of them.
        more: Other settings of Hypothesis, such as `stateful_step_count`.
    """
    usual = 100 if settings.default is None else settings.default.max_examples
    return settings(max_examples=count * usual // 100, **more)
